"""Gemini's answers, whole and streamed, written from a canonical turn.

Source: google-genai 3.6.1, ``types.GenerateContentResponse`` and its kin; Gemini API guides "Thinking" and
"Thought signatures"; recorded streams for what each chunk holds. A chunk is a whole response; calls come
whole; nothing marks the end but ``finishReason``.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.simulator import chance, gemini_signatures
from conformance.simulator.answer import Action, Actions, Bytes, Event, Head, Headers, Pause, Respond, encode
from conformance.simulator.arguments import as_object
from conformance.simulator.gemini_request import GeminiRequest
from conformance.simulator.tokens import groups, tokens
from conformance.simulator.turns import count, spent
from conformance.types import Part, Reasoning, Refusal, Text, ToolCall, Turn

WHOLE_TYPE: Headers = (("content-type", "application/json; charset=UTF-8"),)
EVENTS_TYPE: Headers = (("content-type", "text/event-stream"),)
_FINISH = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}
_LOGPROB = -0.01
_VOCABULARY = 262_144


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part to send, if it shows, with what it costs and the tokens of its text."""

    part: dict[str, Any] | None
    thoughts: int = 0
    spent: int = 0
    shown: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    """One candidate: its pieces and how it ends."""

    pieces: tuple[_Piece, ...]
    end: Mapping[str, str]


def write(turn: Turn, request: GeminiRequest, gap_s: float) -> Actions:
    """The honest answer: ``turn`` as each of the candidates, ``gap_s`` seconds between chunks."""
    if request.bare_enum:
        turn = replace(turn, parts=tuple(_unquoted(part) for part in turn.parts))
    said = [_said(turn, request) for _ in range(request.n)]
    if not request.stream:
        return [Respond(200, WHOLE_TYPE, _whole(said, request))]
    chunks = _chunks(said, request)
    return _events(chunks, gap_s) if request.sse else _array(chunks, gap_s)


def _unquoted(part: Part) -> Part:
    """A text that is a JSON string, perhaps cut short, as what it says."""
    if not isinstance(part, Text):
        return part
    try:
        value = json.loads(part.text)
    except ValueError:
        return Text(part.text.strip('"'))
    return Text(value) if isinstance(value, str) else part


# ------------------------------------------------------------------------------------------- pieces


def _said(turn: Turn, request: GeminiRequest) -> _Said:
    end = {"finishReason": _FINISH.get(turn.finish_reason or "", "STOP")}
    pieces: list[_Piece] = []
    signed = not request.think
    for part in turn.parts:
        match part:
            case Reasoning(text):
                pieces += _thoughts(text, request)
            case Text(text) | Refusal(text):
                if request.choice != "required":
                    pieces += _texts(text, request)
            case ToolCall(_, name, arguments):
                args = as_object(arguments)
                if args is not None:
                    call = _call(name, args, sign=not signed)
                    pieces.append(_Piece(call, spent=count((part,))))
                    signed = True
                elif turn.finish_reason != "length":
                    message = f"Malformed function call: {name}({arguments[:200]})"
                    end = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": message}
            case _:
                continue
    if pieces and turn.usage is not None:
        unsaid = spent(turn) - sum(piece.spent + piece.thoughts for piece in pieces)
        pieces[-1] = replace(pieces[-1], spent=pieces[-1].spent + max(0, unsaid))
    return _Said(tuple(pieces), end)


def _call(name: str, args: dict[str, Any], sign: bool) -> dict[str, Any]:
    call = {"name": name, "args": args, "id": gemini_signatures.call_id(sign)}
    signature = {"thoughtSignature": gemini_signatures.fresh()} if sign else {}
    return {"functionCall": call, **signature}


def _thoughts(text: str, request: GeminiRequest) -> Iterator[_Piece]:
    for group in _groups(text, request):
        shown = {"text": "".join(group), "thought": True} if request.include_thoughts else None
        yield _Piece(shown, thoughts=len(group))


def _texts(text: str, request: GeminiRequest) -> Iterator[_Piece]:
    for group in _groups(text, request):
        yield _Piece({"text": "".join(group)}, spent=len(group), shown=group)


def _groups(text: str, request: GeminiRequest) -> list[list[str]]:
    """The pieces of a text: all of it where the answer is whole."""
    found = tokens(text)
    return groups(found) if request.stream else [found] if found else []


# ------------------------------------------------------------------------------------------- answers


def _whole(said: Sequence[_Said], request: GeminiRequest) -> dict[str, Any]:
    candidates = [_candidate(one.pieces, index, request, one.end) for index, one in enumerate(said)]
    return _response(candidates, [piece for one in said for piece in one.pieces], request, _response_id())


def _chunks(said: Sequence[_Said], request: GeminiRequest) -> Iterator[dict[str, Any]]:
    """Each visible piece as a response of its own; the last of a candidate says how it ends."""
    identity = _response_id()
    so_far: list[_Piece] = []
    for index, one in enumerate(said):
        waiting: list[_Piece] = []
        for piece in one.pieces:
            if piece.part is not None and waiting:
                yield _response([_candidate(waiting, index, request, {})], so_far, request, identity)
                waiting = []
            so_far.append(piece)
            if piece.part is not None:
                waiting = [piece]
        yield _response([_candidate(waiting, index, request, one.end)], so_far, request, identity)


def _candidate(
    pieces: Sequence[_Piece], index: int, request: GeminiRequest, end: Mapping[str, str]
) -> dict[str, Any]:
    parts = [piece.part for piece in pieces if piece.part is not None]
    content: dict[str, Any] = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    shown = [token for piece in pieces for token in piece.shown]
    return {"content": content, **end, "index": index, **_logprobs(shown, request)}


def _response(
    candidates: Sequence[Any], pieces: Sequence[_Piece], request: GeminiRequest, identity: str
) -> dict[str, Any]:
    return {
        "candidates": candidates,
        "usageMetadata": _usage(pieces, request),
        "modelVersion": request.model,
        "responseId": identity,
    }


def _response_id() -> str:
    return base64.urlsafe_b64encode(chance.token_bytes(17)).rstrip(b"=").decode()


def _usage(pieces: Sequence[_Piece], request: GeminiRequest) -> dict[str, Any]:
    """The counts; those of nothing are left out, as zeros are in ProtoJSON."""
    prompt = request.prompt_tokens
    thoughts = sum(piece.thoughts for piece in pieces)
    spent = sum(piece.spent for piece in pieces)
    usage = {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": request.cached_tokens,
        "candidatesTokenCount": spent,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": prompt + spent + thoughts,
    }
    details = [{"modality": "TEXT", "tokenCount": prompt}]
    return {**{name: tokens for name, tokens in usage.items() if tokens}, "promptTokensDetails": details}


def _events(chunks: Iterator[dict[str, Any]], gap_s: float) -> Iterator[Action]:
    yield Head(200, EVENTS_TYPE)
    for chunk in chunks:
        yield Event(chunk)
        yield Pause(gap_s)


def _array(chunks: Iterator[dict[str, Any]], gap_s: float) -> Iterator[Action]:
    """The stream of a client that did not ask for events: one JSON array, element by element."""
    yield Head(200, WHOLE_TYPE)
    before = b"["
    for chunk in chunks:
        yield Bytes(before + encode(chunk))
        yield Pause(gap_s)
        before = b"\n,\r\n"
    yield Bytes(b"\n]")


# ------------------------------------------------------------------------------------------ logprobs


def _logprobs(shown: Sequence[str], request: GeminiRequest) -> dict[str, Any]:
    if not request.logprobs or not shown:
        return {}
    result: dict[str, Any] = {
        "chosenCandidates": [_token(token, _LOGPROB) for token in shown],
        "logProbabilitySum": _LOGPROB * len(shown),
    }
    if request.top_logprobs:
        result["topCandidates"] = [{"candidates": _rivals(token, request.top_logprobs)} for token in shown]
    return {"avgLogprobs": _LOGPROB, "logprobsResult": result}


def _rivals(token: str, wanted: int) -> list[dict[str, Any]]:
    rivals = [token, *(f"{token}{number}" for number in range(1, 20))][:wanted]
    return [_token(rival, _LOGPROB - 2.0 * rank) for rank, rival in enumerate(rivals)]


def _token(token: str, value: float) -> dict[str, Any]:
    return {"token": token, "tokenId": zlib.crc32(token.encode()) % _VOCABULARY, "logProbability": value}
