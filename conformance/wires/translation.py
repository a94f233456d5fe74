"""Requests and answers from one format into another, always through the canonical form.

A format is a wire or ``langchain`` (messages alone). Losses come from both ends: what the source says and
the canonical form does not hold (``path`` points into the input, and ``what`` says so), and what the target
can't say (``path`` points into the canonical form).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from conformance.transport.sse import parse as parse_events
from conformance.types import JSON, Fact, HttpResponse, Loss, Turn
from conformance.wires import Wire, langchain, wire
from conformance.wires.arguments import is_exact
from conformance.wires.body import is_stream, parse
from conformance.wires.losses import pointer

Kind: TypeAlias = Literal["request", "response"]

_ASKS = ("messages", "input", "contents", "prompt")
_ANSWERS = ("choices", "output", "candidates")
_SAID = (*_ANSWERS, "content", "message", "citations", "search_results")
"""The members of an answer that hold what the model said; the others tell of the answer."""
_WHOSE = {
    "messages": "openai-chat, anthropic-messages or ollama",
    "input": "openai-responses",
    "contents": "gemini",
}
"""Whose requests have a member."""
_LABELS = ("id", "status", "index", "seed")
"""Members by which a provider knows what it sent itself; they say nothing to anyone else."""
_CARRIED = ("native_finish_reason",)
"""Members that the canonical form drops where they repeat what another says."""


class Unusable(ValueError):
    """The input is not what it was said to be; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class Translation:
    """``facts``: what was odd in an answer and could be read all the same."""

    value: JSON
    losses: tuple[Loss, ...]
    facts: tuple[Fact, ...] = ()


def translate(
    source: str, target: str, body: bytes, *, kind: Kind | None = None, model: str = ""
) -> Translation:
    """A request, a whole answer or a recorded stream of ``source`` as a body of ``target``.

    ``kind`` is recognised by content where it is not given; ``model`` replaces the one in the input. Raises
    ``Unusable`` for bytes that are neither.
    """
    kind = kind or kind_of(body)
    return (_request if kind == "request" else _answer)(source, target, body, model)


def kind_of(body: bytes) -> Kind:
    """A request has messages, an input or contents, and no answer repeats them but beside its own words."""
    try:
        value = parse(body.decode("utf-8-sig"))
    except ValueError:
        return "response"
    if isinstance(value, list):  # LangChain's messages, or the array form of Gemini's stream
        return "request" if all(isinstance(v, dict) and "type" in v for v in value) else "response"
    keys = value.keys() if isinstance(value, dict) else set()
    return "request" if keys & {*_ASKS} and not keys & {*_ANSWERS} else "response"


# -------------------------------------------------------------------------------------------- requests


def _request(source: str, target: str, body: bytes, model: str) -> Translation:
    losses: list[Loss] = []
    value = _json(body, losses)
    field = "max_tokens"
    if source == "langchain":
        try:
            request = langchain.decode_request(value, losses)
        except ValueError as error:
            raise Unusable(str(error)) from None
    else:
        if not isinstance(value, dict):
            raise Unusable(f"a request of {source} is an object, not {_name(value)}")
        spoken = _wire(source)
        try:
            request = spoken.decode_request(value)
        except ValueError as error:
            whose = next((f"; {key}: as of {whose}" for key, whose in _WHOSE.items() if key in value), "")
            raise Unusable(f"no request of {source}: {error}{whose}") from None
        field = "max_completion_tokens" if "max_completion_tokens" in value else field
        again = spoken.encode(request, model="", losses=[], max_tokens_field=field)
        _left_out(value, again, "", losses)
    given = value.get("model") if isinstance(value, dict) else None
    model = model or (given if isinstance(given, str) else "")
    if target == "langchain":
        return Translation(langchain.encode_request(request, losses), tuple(losses))
    out = _wire(target).encode(request, model=model, losses=losses, max_tokens_field=field)
    if out.get("model") == "":
        raise Unusable("no model: the input names none, and none was given (--model NAME)")
    return Translation(out, tuple(losses))


def _left_out(said: JSON, again: JSON, at: str, losses: list[Loss]) -> None:
    """The members of ``said`` that its own wire did not say again from the canonical form.

    Where the two differ in form (a string for a list of one text, lists of other lengths), nothing can be
    compared, and nothing is reported.
    """
    if isinstance(said, dict) and isinstance(again, dict):
        for key, value in said.items():
            if again.get(key) is not None:
                _left_out(value, again[key], at + pointer(key), losses)
            elif key not in _CARRIED and _says_something(value):
                weight: Literal["meaning", "form"] = "form" if key in _LABELS else "meaning"
                losses.append(Loss(at + pointer(key), "in the input: has no canonical form", weight))
    elif isinstance(said, list) and isinstance(again, list) and len(said) == len(again):
        for i, (value, other) in enumerate(zip(said, again, strict=True)):
            _left_out(value, other, f"{at}/{i}", losses)


def _says_something(value: JSON) -> bool:
    if isinstance(value, dict | list):
        return any(map(_says_something, value.values() if isinstance(value, dict) else value))
    return not (value is None or value is False or value == "")


# --------------------------------------------------------------------------------------------- answers


def _answer(source: str, target: str, body: bytes, model: str) -> Translation:
    losses: list[Loss] = []
    if source == "langchain":
        turns = _langchain_turns(body, losses)
    else:
        turns = _wire_turns(_wire(source), body, losses)
    facts = tuple(dict.fromkeys(fact for turn in turns for fact in turn.facts))
    facts += tuple(
        Fact("unfinished", f"/turns/{i}", "no end is told: it was cut, or is still going on")
        for i, turn in enumerate(turns)
        if turn.finish_reason is None and source != "langchain"
    )
    turns = tuple(replace(turn, model=model or turn.model) for turn in turns)
    if target != "langchain":
        out: JSON = _wire(target).encode_turns(turns, model=model, losses=losses)
    else:
        messages = langchain.encode_turns(turns, losses, model=model)
        out = messages[0] if len(messages) == 1 else messages
    try:
        json.dumps(out, allow_nan=False)
    except ValueError:
        raise Unusable("a number in it is not finite: JSON has no word for it") from None
    return Translation(out, tuple(losses), facts)


def _langchain_turns(body: bytes, losses: list[Loss]) -> tuple[Turn, ...]:
    try:
        return langchain.decode_turns(_json(body, losses), losses)
    except ValueError as error:
        raise Unusable(str(error)) from None


def _wire_turns(spoken: Wire, body: bytes, losses: list[Loss]) -> tuple[Turn, ...]:
    """The turns of a whole answer or a stream; an answer that ended in an error is none."""
    response = HttpResponse(200, (), body)
    turns, error = spoken.decode(response), spoken.error_of(response)
    if error is not None:
        raise Unusable(f"an error, not an answer: {error.message}")
    if not turns:
        if not is_stream(response):
            _json(body, losses)
        raise Unusable(f"no answer of {spoken.name} in it")
    text = body.decode("utf-8-sig", "replace")
    try:
        said = parse(text)
    except ValueError:  # a stream: its events have no counterpart in a whole answer
        events = parse_events(body).events if is_stream(response) else ()
        _changed([event.data for event in events] or text.split("\n"), losses)
        return turns
    _changed([text], losses)
    if isinstance(said, dict):
        again = spoken.encode_turns(turns, model="", losses=[])
        _left_out({key: said[key] for key in _SAID if key in said}, again, "", losses)
    return turns


# ----------------------------------------------------------------------------------------------- input


def _wire(name: str) -> Wire:
    try:
        return wire(name)  # type: ignore[arg-type]
    except LookupError as error:
        raise Unusable(str(error)) from None


def _json(body: bytes, losses: list[Loss]) -> Any:
    """The JSON of a body, read strictly: what would be lost by reading it is refused."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unusable(f"not UTF-8: byte {error.start}") from None
    if not text.strip():
        raise Unusable("nothing in it")
    found = _Strict(losses)
    try:
        parse(text)  # bounds the nesting
        return found.read(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unusable(f"not JSON: {error.msg} ({where})") from None
    except ValueError as error:
        raise Unusable(f"not usable JSON: {error}") from None


def _changed(texts: list[str], losses: list[Loss]) -> None:
    """Tell what reading the JSON of an answer changed: such JSON is read leniently, not refused."""
    found = _Strict(losses, lenient=True)
    for text in texts:
        with suppress(ValueError, RecursionError):
            found.read(text)


class _Strict:
    """Reads JSON, and tells of the first number that a double does not hold.

    A repeated key or a number beyond any is a ``ValueError``, or a loss where ``lenient``.
    """

    def __init__(self, losses: list[Loss], *, lenient: bool = False) -> None:
        self._losses = losses
        self._lenient = lenient
        self._told: set[str] = set()

    def read(self, text: str) -> Any:
        return json.loads(
            text,
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._integer,
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                self._odd(f"the key {key[:40]!r} stands twice", "the last one counts")
            found[key] = value
        return found

    def _constant(self, name: str) -> float:
        return self._unkept(name)

    def _float(self, digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            return self._unkept(digits)
        mantissa = digits.lower().partition("e")[0].lstrip("-0.").replace(".", "")
        as_printed = self._lenient and len(mantissa) <= _PRINTED
        if not as_printed and not is_exact(digits, value):
            self._tell(f"digits of {digits[:40]} that a double does not hold")
        return value

    def _integer(self, digits: str) -> int | float:
        try:
            return int(digits)
        except ValueError:  # Python refuses integers of thousands of digits
            return self._unkept(f"an integer of {len(digits)} digits")

    def _unkept(self, number: str) -> float:
        self._odd(f"{number[:40]} is no number that can be kept", "it is read as a double")
        return math.nan

    def _odd(self, what: str, read_as: str) -> None:
        if not self._lenient:
            raise ValueError(what)
        self._tell(f"{what}: {read_as}")

    def _tell(self, what: str) -> None:
        if what not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(what)
            self._losses.append(Loss("", f"in the input: {what}"))


_MOST_TOLD = 20
_PRINTED = 17
"""Digits that every double is told apart by: servers print theirs so, where fewer would do."""


def _name(value: Any) -> str:
    return {list: "a list", str: "a string", type(None): "null"}.get(type(value), "a number")
