"""The model: the ideal turn for a prompt, and what a request's parameters make of a turn."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from conformance.simulator import schemas
from conformance.simulator.answer import Refused, refusal
from conformance.simulator.improvise import call_of, compact, echo, improvised
from conformance.simulator.request import ChatRequest
from conformance.simulator.tokens import tokens
from conformance.types import NamedChoice, Part, Reasoning, Refusal, Text, Tool, ToolCall, Turn

_MARKER = re.compile(r"\[\[([A-Za-z0-9][A-Za-z0-9._/-]{0,127})\]\]")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A turn and where it comes from: a marker's name, a place in a script, or ``improvised``.

    One that is ``verbatim`` is said as it stands, whatever the request allows or demands. ``fault`` names
    what happens to the answer.
    """

    turn: Turn
    origin: str
    verbatim: bool = False
    fault: str | None = None


def choose(request: ChatRequest, scripts: Mapping[str, Turn]) -> Chosen:
    """The scripted turn of the last marker ``[[name]]`` in a user or tool message, or an improvised one."""
    markers = markers_in(message.text for message in request.messages if message.role in ("user", "tool"))
    if not markers:
        return Chosen(improvised(request), "improvised")
    if markers[-1] not in scripts:
        return Chosen(improvised(request), f"improvised (no script {markers[-1]})")
    return Chosen(scripts[markers[-1]], markers[-1])


def markers_in(texts: Iterable[str]) -> list[str]:
    """The names of all markers ``[[name]]``, in order."""
    return [name for text in texts for name in _MARKER.findall(text)]


def obey(turn: Turn, request: ChatRequest, *, verbatim: bool = False) -> Turn:
    """``turn`` bent to the request: tool choice, response format, stop sequences, token cap, finish reason.

    Of one that is ``verbatim`` only stop sequences and the cap take something away. What comes of it has the
    stop sequence that ended it as its ``native_finish_reason``, if one did.

    Raises:
        Refused: a call or an answer is demanded whose schema this endpoint can't satisfy.
    """
    parts = turn.parts if verbatim else _bent(turn.parts, request)
    parts, stopped = _stopped(parts, request.stop)
    parts, full = _capped(parts, request.cap)
    if full:
        return replace(turn, parts=parts, finish_reason="length", native_finish_reason=None, usage=None)
    turn = replace(turn, native_finish_reason=stopped)
    still_called = _has(parts, ToolCall)
    kept = turn.finish_reason is not None and stopped is None and still_called == bool(turn.calls)
    if not kept:
        named = isinstance(request.choice, NamedChoice)
        # OpenAI says "stop" beside the calls of a named choice (vllm-project/vllm PR 25054).
        turn = replace(turn, finish_reason="tool_calls" if still_called and not named else "stop")
    return replace(turn, parts=parts)


def _bent(parts: tuple[Part, ...], request: ChatRequest) -> tuple[Part, ...]:
    thought = (part for part in parts if request.think or not isinstance(part, Reasoning))
    parts = _with_calls(tuple(thought), request)
    if not _has(parts, ToolCall) and not _has(parts, Refusal):
        parts = _with_text(parts, request)
    return parts


def count(parts: Iterable[Part]) -> int:
    """How many tokens the parts cost."""
    return sum(len(tokens(text)) for part in parts for text in _texts(part))


def spent(turn: Turn) -> int:
    """How many tokens a turn costs: as many as it says, since more may have been written, or its parts."""
    told = turn.usage.completion_tokens if turn.usage is not None else None
    return count(turn.parts) if told is None else told


def _texts(part: Part) -> tuple[str, ...]:
    match part:
        case Text(text) | Reasoning(text) | Refusal(text):
            return (text,)
        case ToolCall(_, name, arguments):
            return (name, arguments)
        case _:
            return ()


def _has(parts: Iterable[Part], kind: type[Part]) -> bool:
    return any(isinstance(part, kind) for part in parts)


# -------------------------------------------------------------------------------------------- calls


def _with_calls(parts: tuple[Part, ...], request: ChatRequest) -> tuple[Part, ...]:
    may_call = request.choice not in (None, "none")
    must_call = request.choice == "required" or isinstance(request.choice, NamedChoice)
    kept: list[Part] = []
    calls = 0
    for part in parts:
        if isinstance(part, ToolCall):
            if not may_call or part.name not in request.allowed or (calls and not request.parallel):
                continue
            calls += 1
        kept.append(part)
    if must_call and not calls:
        kept = [part for part in kept if isinstance(part, Reasoning)]
        kept.append(_improvised_call(request))
    return tuple(kept)


def _improvised_call(request: ChatRequest) -> ToolCall:
    tool: Tool = next(tool for tool in request.tools if tool.name in request.allowed)
    try:
        return call_of(tool)
    except schemas.Unsatisfiable:
        raise _unsupported(f"function '{tool.name}'", "tools") from None


def _unsupported(what: str, param: str) -> Refused:
    message = f"The schema of {what} uses constraints that this endpoint can't satisfy."
    return refusal(message, param=param, code="unsupported_schema")


# --------------------------------------------------------------------------------------------- text


def _with_text(parts: tuple[Part, ...], request: ChatRequest) -> tuple[Part, ...]:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    wanted = _formatted(text, request)
    if wanted == text and text:
        return parts
    others = tuple(part for part in parts if not isinstance(part, Text))
    return (*others, Text(wanted or echo(request.messages)))


def _formatted(text: str, request: ChatRequest) -> str:
    """``text`` if it has the format that is asked for, something of that format otherwise."""
    if request.format is None:
        return text
    schema = {"type": "object"} if request.format == "json_object" else request.format.schema
    with contextlib.suppress(ValueError):
        if schemas.conforms(schema, json.loads(text)):
            return text
    if request.format == "json_object":
        return compact({"answer": echo(request.messages)})
    try:
        return compact(schemas.conforming(schema))
    except schemas.Unsatisfiable:
        raise _unsupported("'response_format'", "response_format") from None


def _stopped(parts: tuple[Part, ...], stop: tuple[str, ...]) -> tuple[tuple[Part, ...], str | None]:
    """The parts before the first stop sequence, and that sequence."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    ends = [(end, sequence) for sequence in stop if (end := text.find(sequence)) >= 0]
    if not ends:
        return parts, None
    left, met = min(ends)
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Text):
            if left < len(part.text):
                return (*kept, Text(part.text[:left])), met
            left -= len(part.text)
        kept.append(part)
    return tuple(kept), met


def _capped(parts: tuple[Part, ...], cap: int | None) -> tuple[tuple[Part, ...], bool]:
    """Cut where the cap is reached; ending the turn costs a token too, as it does in a model."""
    if cap is None or count(parts) < cap:
        return parts, False
    left = cap
    kept: list[Part] = []
    for part in parts:
        cost = count((part,))
        if cost <= left:
            left -= cost
            kept.append(part)
            continue
        if isinstance(part, ToolCall):
            left -= len(tokens(part.name))
            if left > 0:
                kept.append(replace(part, arguments="".join(tokens(part.arguments)[:left])))
        elif left > 0:
            kept.append(_shortened(part, left))
        break
    return tuple(kept), True


def _shortened(part: Part, left: int) -> Part:
    match part:
        case Text(text) | Reasoning(text) | Refusal(text):
            return replace(part, text="".join(tokens(text)[:left]))
        case _:
            return part
