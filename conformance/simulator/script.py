"""A script: a YAML file that fixes the model's turns.

The first turn of the file that fits answers; one without a condition fits once in a run. What fits nothing is
answered as without a script. A scripted turn is said as it stands, also where a request forbids or demands
something else: a call of a tool that was not offered, a text that is not the JSON asked for. Only stop
sequences and the token cap cut it. Nothing in a script is executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import jsonschema_rs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from conformance.config import MAX_CONFIG_BYTES, ConfigError, did_you_mean, line_of, read_yaml
from conformance.simulator.improvise import compact
from conformance.simulator.request import ChatRequest
from conformance.simulator.turns import Chosen, markers_in
from conformance.types import Part, Reasoning, Refusal, Text, ToolCall, Turn

_SEARCHED = 20_000
_MOST_WRITTEN = 1_000_000
_STRICT = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(BaseModel):
    """A tool call. ``arguments`` are an object, or a string that goes out as it is, JSON or not."""

    model_config = _STRICT

    name: str = Field(min_length=1)
    arguments: dict[str, Any] | str = {}

    @field_validator("arguments")
    @classmethod
    def _is_bounded(cls, value: dict[str, Any] | str) -> dict[str, Any] | str:
        waiting: list[Any] = [value]
        size = 0
        while waiting:
            here = waiting.pop()
            size += 1 + (len(here) if isinstance(here, str) else 0)
            if size > _MOST_WRITTEN:
                most = f"{_MOST_WRITTEN:,}"
                raise ValueError(f"larger than {most} characters, counting what an alias repeats")
            if isinstance(here, dict):
                waiting += here.keys()
                waiting += here.values()
            elif isinstance(here, list):
                waiting += here
            elif not isinstance(here, str | int | float | None):
                raise ValueError(f"{here!r} has no JSON: put it in quotes")
        return value


class ScriptedTurn(BaseModel):
    """When a turn fits, and what it says.

    ``marker``, ``contains`` (in any case) and ``matches`` look at the first 20,000 characters of the last
    user message; ``after: tools`` makes them look at the results of calls, too, and fit only where such were
    sent last. ``matches`` is a regular expression that is found there; it has neither look-around nor
    back-references, so that no text can make it slow. ``number`` counts the requests of a run from 1. All
    that is given must hold. ``fault`` is the name of a fault that the answer meets.
    """

    model_config = _STRICT

    marker: str | None = None
    contains: str | None = None
    matches: str | None = None
    number: int | None = Field(default=None, ge=1)
    after: Literal["user", "tools"] | None = None

    reasoning: str | None = None
    text: str | None = None
    refusal: str | None = None
    calls: tuple[ScriptedCall, ...] = ()
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter"] | None = None
    fault: str | None = None

    @field_validator("matches")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                _pattern(value)
            except jsonschema_rs.ValidationError:
                why = "not a regular expression, or one with look-around or back-references"
                raise ValueError(why) from None
        return value

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.calls and all(v is None for v in (self.reasoning, self.text, self.refusal, self.fault)):
            raise ValueError("says nothing: give text, reasoning, refusal, calls or fault")
        return self

    @property
    def turn(self) -> Turn:
        """What it says: reasoning, text, refusal, calls, in this order."""
        said = ((Reasoning, self.reasoning), (Text, self.text), (Refusal, self.refusal))
        parts: list[Part] = [kind(text) for kind, text in said if text is not None]
        for call in self.calls:
            given = call.arguments
            parts.append(ToolCall("", call.name, given if isinstance(given, str) else compact(given)))
        return Turn(tuple(parts), self.finish_reason)

    @property
    def conditional(self) -> bool:
        """Whether it fits again and again."""
        return (self.marker, self.contains, self.matches, self.number, self.after) != (None,) * 5

    def fits(self, request: ChatRequest, number: int) -> bool:
        """Whether it answers ``request``, the run's ``number``-th."""
        if self.number not in (None, number):
            return False
        last = request.messages[-1].role if request.messages else "user"
        searching = (self.marker, self.contains, self.matches) != (None,) * 3
        after = self.after or ("user" if searching else None)
        if after is not None and (last == "tool") != (after == "tools"):
            return False
        if not searching:
            return True
        text = "\n".join(_texts(request))[:_SEARCHED]
        return (
            (self.marker is None or self.marker in markers_in((text,)))
            and (self.contains is None or self.contains.casefold() in text.casefold())
            and (self.matches is None or _pattern(self.matches).is_valid(text))
        )


class ScriptFile(BaseModel):
    """The whole of a script."""

    model_config = _STRICT

    turns: tuple[ScriptedTurn, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Script:
    """A script as read, with the name and line of each turn."""

    turns: tuple[tuple[str, ScriptedTurn], ...] = ()

    def choose(self, request: ChatRequest, number: int, played: set[int]) -> Chosen | None:
        """The turn that answers the run's ``number``-th request; the positions ``played`` are used up."""
        for position, (origin, turn) in enumerate(self.turns):
            if position in played or not turn.fits(request, number):
                continue
            if not turn.conditional:
                played.add(position)
            return Chosen(turn.turn, origin, verbatim=True, fault=turn.fault)
        return None


def load_script(path: Path, faults: tuple[str, ...]) -> Script:
    """The script in a file; ``faults`` are the names that a turn may give.

    Raises:
        ConfigError: it can't be used; the message reads ``FILE:LINE: key: what is wrong``, a line each.
    """
    try:
        raw = path.read_bytes()[: MAX_CONFIG_BYTES + 1]
        text = raw.decode()
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read: {error}") from None
    if len(raw) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_CONFIG_BYTES} bytes, that is no script")
    _, data = read_yaml(text, str(path))
    if not isinstance(data, dict):
        raise ConfigError(f"{path}:1: a mapping with the key turns is wanted: turns: [{{text: Hello}}]")
    try:
        file = ScriptFile.model_validate(data)
    except ValidationError as error:
        found = error.errors()
        # A list whose only item is wrong is also told to be too short.
        own = [problem for problem in found if problem["type"] != "too_short"] or found
        raise ConfigError("\n".join(dict.fromkeys(_problem(path, problem) for problem in own))) from None
    for number, turn in enumerate(file.turns):
        if turn.fault is not None and turn.fault not in faults:
            said = f"no fault {turn.fault!r}{did_you_mean(turn.fault, faults)}; there are {', '.join(faults)}"
            raise ConfigError(
                f"{path}:{line_of(path, ('turns', number, 'fault'))}: turns.{number}.fault: {said}"
            )
    named = tuple(
        (f"{path.name}:{line_of(path, ('turns', number))}", turn) for number, turn in enumerate(file.turns)
    )
    return Script(named)


@lru_cache(maxsize=256)
def _pattern(text: str) -> jsonschema_rs.Validator:
    """Holds for texts in which the expression is found, in time linear in their length."""
    return jsonschema_rs.Draft202012Validator({"pattern": text}, pattern_options=jsonschema_rs.RegexOptions())


def _texts(request: ChatRequest) -> Iterator[str]:
    """The last user message, and what comes after it of tools' results."""
    since: list[str] = []
    for message in reversed(request.messages):
        if message.role == "user":
            since.append(message.text)
            break
        if message.role == "tool":
            since.append(message.text)
    return reversed(since)


def _problem(path: Path, problem: Any) -> str:
    """A validation error in a line: where, what, and the fix where it is known."""
    keys = tuple(
        key
        for key in problem["loc"]
        if not isinstance(key, str) or key in _KEYS or problem["type"] == "extra_forbidden"
    )
    where = ".".join(str(key) for key in keys)
    match problem["type"]:
        case "extra_forbidden":
            known = [
                *(
                    ScriptedCall if "calls" in keys else ScriptedTurn if len(keys) > 1 else ScriptFile
                ).model_fields
            ]
            said = f"unknown key{did_you_mean(str(keys[-1]), known)}; there are {', '.join(known)}"
        case "missing":
            said = "is missing"
        case _:
            said = problem["msg"].removeprefix("Value error, ")
    return f"{path}:{line_of(path, keys)}: {where}: {said}"


_KEYS = frozenset((*ScriptFile.model_fields, *ScriptedTurn.model_fields, *ScriptedCall.model_fields))
