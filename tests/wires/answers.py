"""Answers for the tests: canonical turns, and the two ways an endpoint can send them.

Written from OpenAI's API reference, apart from the wire under test, so that one misreading cannot
hide on both sides.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.types import HttpResponse, Opaque, Part, Reasoning, Refusal, Text, ToolCall, Turn, Usage
from conformance.wires.openai_chat import Assembler, OpenAIChat

WIRE = OpenAIChat()
JSON_TYPE = (("Content-Type", "application/json"),)
SSE_TYPE = (("Content-Type", "text/event-stream; charset=utf-8"),)


def own(**members: Any) -> Opaque:
    """The opaque slot of a part that came over this wire."""
    return {"openai-chat": members}


words = st.text(min_size=1, max_size=30)
arguments = st.one_of(
    words, st.dictionaries(words, st.one_of(words, st.integers(), st.none()), max_size=3).map(json.dumps)
)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """A regular turn: parts in a Chat message's order, ids unique."""
    parts: list[Part] = []
    if draw(st.booleans()):
        parts.append(Reasoning(draw(words), draw(st.sampled_from(["reasoning_content", "reasoning"]))))
    if draw(st.booleans()):
        parts.append(Text(draw(words)))
    if draw(st.booleans()):
        parts.append(Refusal(draw(words)))
    for i in range(draw(st.integers(0, 3))):
        parts.append(ToolCall(f"call_{i}", draw(st.sampled_from(["f", "get_weather"])), draw(arguments)))
    return Turn(
        parts=tuple(parts),
        finish_reason=draw(st.sampled_from(["stop", "length", "tool_calls"])),
        usage=draw(st.one_of(st.none(), st.builds(Usage, *[st.integers(0, 10**6)] * 3))),
        id="chatcmpl-1",
        model="m",
    )


answers = st.lists(turns(), min_size=1, max_size=3).map(
    lambda some: tuple(replace(turn, usage=some[0].usage) for turn in some)
)


def whole(turns: tuple[Turn, ...]) -> dict[str, Any]:
    """The answer as one JSON body."""
    body: dict[str, Any] = {
        "id": turns[0].id,
        "object": "chat.completion",
        "model": turns[0].model,
        "choices": [
            {"index": i, "message": _message(turn), "finish_reason": turn.finish_reason}
            for i, turn in enumerate(turns)
        ],
    }
    return body | ({"usage": _usage(turns[0])} if turns[0].usage else {})


def events(turns: tuple[Turn, ...], chance: random.Random) -> list[str]:
    """The answer as the data of a stream's events: split, and choices interleaved, by ``chance``."""
    queues = [_deltas(turn, chance) for turn in turns]
    out = []
    order = list(range(len(queues)))  # the SDK wants choices to begin in order, and OpenAI's do
    while any(queues):
        index = order.pop(0) if order else chance.choice([i for i, queue in enumerate(queues) if queue])
        delta, finish = queues[index].pop(0)
        out.append(_chunk(turns[0], [{"index": index, "delta": delta, "finish_reason": finish}]))
    if turns[0].usage:
        out.append(_chunk(turns[0], []) | {"usage": _usage(turns[0])})
    return [json.dumps(chunk, ensure_ascii=chance.random() < 0.5) for chunk in out] + ["[DONE]"]


def sse(datas: Iterable[str]) -> bytes:
    return "".join(f"data: {data}\n\n" for data in datas).encode()


def stream_of(*deltas: dict[str, Any] | None, finish: str | None = "stop") -> list[dict[str, Any]]:
    """Chunks of one choice, one per delta, then one that finishes it."""
    choices: list[dict[str, Any]] = [{"index": 0, "delta": d, "finish_reason": None} for d in deltas]
    if finish is not None:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    return [{"id": "c", "model": "m", "choices": [choice]} for choice in choices]


def assemble(chunks: Iterable[dict[str, Any] | str]) -> tuple[Turn, ...]:
    assembler = Assembler()
    for chunk in chunks:
        assembler.feed(chunk if isinstance(chunk, str) else json.dumps(chunk))
    return assembler.turns()


def call(
    index: Any = 0, id: Any = None, name: Any = None, arguments: Any = None, **rest: Any
) -> dict[str, Any]:
    """A tool-call delta with only what is given; a named one has its type."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    entry = {k: v for k, v in (("index", index), ("id", id)) if v is not None}
    return entry | ({"type": "function"} if name else {}) | {"function": function} | rest


def calls(*entries: Any) -> dict[str, Any]:
    return {"tool_calls": list(entries)}


def read(*deltas: dict[str, Any]) -> tuple[tuple[Any, ...], list[tuple[str, str]]]:
    (turn,) = assemble(stream_of(*deltas))
    return turn.parts, [(fact.name, fact.path) for fact in turn.facts]


def answer_with(message: dict[str, Any] | None, **choice: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | choice],
    }


def response(
    body: bytes | str | dict[str, Any] | list[Any], status: int = 200, headers: Any = JSON_TYPE
) -> HttpResponse:
    if isinstance(body, dict | list):
        body = json.dumps(body)
    return HttpResponse(status, headers, body if isinstance(body, bytes) else body.encode())


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": turn.text or None,
        "refusal": turn.refusal or None,
    }
    for part in turn.parts:
        if isinstance(part, Reasoning):
            message[part.spelling] = part.text
    if turn.calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in turn.calls
        ]
    return message


def _deltas(turn: Turn, chance: random.Random) -> list[tuple[dict[str, Any], str | None]]:
    out: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    for part in turn.parts:
        if isinstance(part, Reasoning):
            out += [{part.spelling: piece} for piece in _split(part.text, chance)]
        elif isinstance(part, Text):
            out += [{"content": piece} for piece in _split(part.text, chance)]
        elif isinstance(part, Refusal):
            out += [{"refusal": piece} for piece in _split(part.text, chance)]
    calls = [
        [{"index": i, "id": c.id, "type": "function", "function": {"name": c.name, "arguments": ""}}]
        + [{"index": i, "function": {"arguments": piece}} for piece in _split(c.arguments, chance)]
        for i, c in enumerate(turn.calls)
    ]
    waiting = calls  # calls begin in order; their pieces may interleave
    begun: list[list[dict[str, Any]]] = []
    while waiting or begun:
        if waiting and (not begun or chance.random() < 0.5):
            begun.append(waiting.pop(0))
            queue = begun[-1]
        else:
            queue = chance.choice(begun)
        out.append({"tool_calls": [queue.pop(0)]})
        begun = [queue for queue in begun if queue]
    return [(delta, None) for delta in out] + [({}, turn.finish_reason)]


def _split(text: str, chance: random.Random) -> list[str]:
    cuts = sorted(chance.choices(range(len(text) + 1), k=chance.randint(0, 5)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _chunk(turn: Turn, choices: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"id": turn.id, "object": "chat.completion.chunk", "created": 1, "model": turn.model}
    return head | {"choices": choices}


def _usage(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    assert usage is not None
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }
