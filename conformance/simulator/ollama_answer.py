"""Ollama's chat answers, whole and as JSON lines, written from a canonical turn.

Source: ollama/ollama, ``docs/openapi.yaml`` (``ChatResponse``, ``ChatStreamEvent``), ``api/types.go`` and
``docs/api/streaming.mdx``: calls come whole, ``arguments`` as an object, numbered by ``function.index``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.simulator import chance
from conformance.simulator.answer import Action, Actions, Head, Headers, Line, Pause, Respond
from conformance.simulator.arguments import as_object
from conformance.simulator.ollama_request import OllamaRequest
from conformance.simulator.tokens import groups, tokens
from conformance.simulator.turns import spent
from conformance.types import Part, Reasoning, Refusal, Text, ToolCall, Turn

WHOLE_TYPE: Headers = (("content-type", "application/json; charset=utf-8"),)
LINES_TYPE: Headers = (("content-type", "application/x-ndjson"),)
_LOAD_NS = 20_000_000
_TOKEN_NS = 10_000_000


@dataclass(frozen=True, slots=True)
class _Piece:
    """One fragment of the message, with the tokens of the content that it shows."""

    member: str
    value: Any
    shown: Sequence[str] = ()


def write(turn: Turn, request: OllamaRequest, gap_s: float) -> Actions:
    """The honest answer that says ``turn``, ``gap_s`` seconds between the lines of a stream."""
    if request.only is not None:
        message = {"role": "assistant", "content": ""}
        return [
            Respond(
                200,
                WHOLE_TYPE,
                {**_head(request), "message": message, "done": True, "done_reason": request.only},
            )
        ]
    if request.stream:
        return _stream(turn, request, gap_s)
    return [Respond(200, WHOLE_TYPE, _whole(turn, request))]


def _head(request: OllamaRequest) -> dict[str, Any]:
    return {"model": request.model, "created_at": _now()}


def _now() -> str:
    """The time in RFC 3339, to the nanosecond."""
    seconds, nanoseconds = divmod(chance.now_ns(), 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09}Z"


def _ending(turn: Turn, request: OllamaRequest) -> dict[str, Any]:
    """What only the last object has; durations are in nanoseconds."""
    answered = spent(turn)
    prompt_ns, answer_ns = request.prompt_tokens * _TOKEN_NS // 100, answered * _TOKEN_NS
    return {
        "done": True,
        "done_reason": "length" if turn.finish_reason == "length" else "stop",
        "total_duration": _LOAD_NS + prompt_ns + answer_ns,
        "load_duration": _LOAD_NS,
        "prompt_eval_count": request.prompt_tokens,
        "prompt_eval_duration": prompt_ns,
        "eval_count": answered,
        "eval_duration": answer_ns,
    }


def _whole(turn: Turn, request: OllamaRequest) -> dict[str, Any]:
    pieces = list(_pieces(turn))
    message: dict[str, Any] = {"role": "assistant", "content": _joined(pieces, "content")}
    if thinking := _joined(pieces, "thinking"):
        message["thinking"] = thinking
    if calls := [call for piece in pieces if piece.member == "tool_calls" for call in piece.value]:
        message["tool_calls"] = calls
    shown = [token for piece in pieces for token in piece.shown]
    return {**_head(request), "message": message, **_logprobs(shown, request), **_ending(turn, request)}


def _joined(pieces: Iterable[_Piece], member: str) -> str:
    return "".join(piece.value for piece in pieces if piece.member == member)


def _stream(turn: Turn, request: OllamaRequest, gap_s: float) -> Iterator[Action]:
    yield Head(200, LINES_TYPE)
    for piece in _pieces(turn):
        message = {"role": "assistant", "content": "", piece.member: piece.value}
        yield Line({**_head(request), "message": message, **_logprobs(piece.shown, request), "done": False})
        yield Pause(gap_s)
    yield Line({**_head(request), "message": {"role": "assistant", "content": ""}, **_ending(turn, request)})


def _pieces(turn: Turn) -> Iterator[_Piece]:
    position = 0
    for part in turn.parts:
        call = _call(part, position)
        if call is not None:
            yield _Piece("tool_calls", [call])
            position += 1
        elif isinstance(part, Reasoning):
            yield from (_Piece("thinking", "".join(group)) for group in groups(tokens(part.text)))
        else:
            text = _text(part, turn)
            yield from (_Piece("content", "".join(group), group) for group in groups(tokens(text)))


def _call(part: Part, position: int) -> dict[str, Any] | None:
    arguments = as_object(part.arguments) if isinstance(part, ToolCall) else None
    if not isinstance(part, ToolCall) or arguments is None:
        return None
    function = {"index": position, "name": part.name, "arguments": arguments}
    return {"id": f"call_{chance.token_hex(4)}", "function": function}


def _text(part: Part, turn: Turn) -> str:
    """The content that a part is: a call that is no JSON stays in it, one that was cut short is lost."""
    match part:
        case Text(text) | Refusal(text):
            return text
        case ToolCall(_, name, arguments) if turn.finish_reason != "length":
            return f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}'
        case _:
            return ""


def _logprobs(shown: Sequence[str], request: OllamaRequest) -> dict[str, Any]:
    if not request.logprobs or not shown:
        return {}
    entries = []
    for token in shown:
        entry = _logprob(token, -0.01)
        if request.top_logprobs:
            rivals = [token, *(f"{token}{number}" for number in range(1, 20))][: request.top_logprobs]
            entry["top_logprobs"] = [_logprob(rival, -0.01 - 2.0 * rank) for rank, rival in enumerate(rivals)]
        entries.append(entry)
    return {"logprobs": entries}


def _logprob(token: str, value: float) -> dict[str, Any]:
    return {"token": token, "logprob": value, "bytes": list(token.encode())}
