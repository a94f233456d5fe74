"""The formats that share ``<tool_call>`` and ``<function=``: Hermes JSON, Qwen3-Coder's and GLM's raw values.

The first characters behind the tag say which it is (the other families' spelling is read too, and flagged
*ambiguous* and *repaired*). Raw values are no XML: nothing in them is decoded, the schema gives their type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from conformance.dialects.calls import (
    NAME,
    Undecodable,
    arguments,
    calls_of,
    closed,
    decode,
    raw_call,
)
from conformance.dialects.grammar import WAIT, Context, Found, Missed, Outcome, Wait, flags, may_become
from conformance.dialects.jsontext import skip_space
from conformance.dialects.parsed import Call, Flag
from conformance.dialects.schema_types import child, typed

Form = Literal["json", "function", "function-json", "arg-key"]
"""A body: JSON, ``<function=N>`` with parameters, ``<function=N>`` with JSON, a name with ``<arg_key>``."""

CALL, CALL_END = "<tool_call>", "</tool_call>"
FUNCTION, FUNCTION_END = "<function=", "</function>"
PARAMETER, PARAMETER_END = "<parameter=", "</parameter>"
FUNCTION_ATTRIBUTE = '<function name="'

_FUNCTION_NAME = re.compile(rf"<function=({NAME})(>?)")
_ATTRIBUTE_NAME = re.compile(rf'<function name="({NAME})">')
_PARAMETER_KEY = re.compile(r"<parameter=([^<>\n]{1,256})>")
_VALUE_END = re.compile(r"</parameter>|<parameter=|</function>")
_GLM_NAME = re.compile(rf"({NAME})\s*")
_GLM_KEY = re.compile(r"<arg_key>([^<]{1,256})</arg_key>\s*<arg_value>")
_GLM_VALUE_END = "</arg_value>"
_LONGEST_HEAD = 300


@dataclass(frozen=True, slots=True)
class Body:
    """A call read from a body, and where that ends."""

    call: Call
    end: int
    flags: frozenset[Flag]


BodyOrNot: TypeAlias = Body | Missed | Wait


def quoted(resume: int) -> Missed:
    """An opening tag without what belongs behind it."""
    return Missed(resume, flags("quoted"))


def cut(text: str, looked: int | None = None) -> Missed:
    """The text ends inside a region."""
    return Missed(len(text), flags("malformed"), len(text) if looked is None else looked)


def tool_call(text: str, at: int, context: Context, own: Form) -> Outcome:
    """Read ``<tool_call>`` at ``at``, by what its body begins with."""
    inside = at + len(CALL)
    start = skip_space(text, inside)
    if start == len(text):
        return cut(text) if context.final else WAIT
    if text[start] in "{[":
        outcome = json_body(text, at, inside, start, CALL_END, context)
        return outcome if own == "json" else _foreign(outcome)
    if text.startswith(FUNCTION, start):
        outcome = functions(text, start, context, "function", wrapped=True)
        return outcome if own == "function" else _foreign(outcome)
    if not context.final and may_become(text, start, (FUNCTION,)):
        return WAIT
    outcome = _glm(text, at, start, inside, context)
    return outcome if own == "arg-key" else _foreign(outcome)


def _foreign(outcome: Outcome) -> Outcome:
    if isinstance(outcome, Found):
        return Found(outcome.end, outcome.pieces, outcome.flags | {"ambiguous", "repaired"})
    return outcome


def json_body(
    text: str, at: int, resume: int, start: int, close: str, context: Context, *, optional: bool = False
) -> Outcome:
    """JSON between tags; ``resume``: where to read on when it is no call."""
    got = decode(text, start, final=context.final)
    if isinstance(got, Wait):
        return got
    if isinstance(got, Undecodable):
        return got.missed(text, resume, "malformed")
    read = calls_of(text, got, at)
    if read is None:
        return Missed(resume, flags("malformed"), got.end)
    return closed(text, got.end, close, *read, final=context.final, optional=optional)


# ------------------------------------------------------------------------------------- <function=


def functions(text: str, start: int, context: Context, own: Form, *, wrapped: bool) -> Outcome:
    """One or more ``<function=`` in a row; ``wrapped``: inside ``<tool_call>``, which has to close."""
    calls: list[Call] = []
    found: frozenset[Flag] = flags() if wrapped or own == "function-json" else flags("repaired")
    position = start
    while True:
        body = function(text, position, context, own)
        if isinstance(body, Wait):
            return body
        if isinstance(body, Missed):
            if calls:
                return Found(position, tuple(calls), found | {"malformed"})
            return body
        calls.append(body.call)
        found |= body.flags
        position = skip_space(text, body.end)
        if not wrapped:
            break
        if not text.startswith(FUNCTION, position):
            if not context.final and may_become(text, position, (FUNCTION,)):
                return WAIT
            break
    if wrapped:
        return closed(text, body.end, CALL_END, calls, found, final=context.final)
    if own == "function":  # the outer opening tag was left out, its closing tag may stand there all the same
        return closed(text, body.end, CALL_END, calls, found, final=context.final, optional=True)
    return Found(body.end, tuple(calls), found)


def function(text: str, at: int, context: Context, own: Form) -> BodyOrNot:
    """Read one ``<function=NAME>`` (or ``<function name="NAME">``) with either body."""
    head = _FUNCTION_NAME.match(text, at) or _ATTRIBUTE_NAME.match(text, at)
    if head is None or head.end() == len(text):
        if not context.final and len(text) - at < _LONGEST_HEAD:
            return WAIT
        return quoted(at + len(FUNCTION))
    name, bracket = head.group(1), head.group(0).endswith(">")
    start = skip_space(text, head.end()) if bracket else head.end()
    if start == len(text):
        return cut(text) if context.final else WAIT
    if text[start] == "{":
        body = _function_json(text, at, start, name, bracket, context)
        return body if own == "function-json" else _foreign_body(body)
    if not bracket:
        return quoted(head.end())
    if text.startswith((PARAMETER, FUNCTION_END), start):
        body = _function_parameters(text, at, start, name, context)
        plain = own == "function" or text.startswith(FUNCTION_END, start)
        return body if plain else _foreign_body(body)
    if not context.final and may_become(text, start, (PARAMETER, FUNCTION_END)):
        return WAIT
    return quoted(head.end())


def _foreign_body(body: BodyOrNot) -> BodyOrNot:
    return (
        Body(body.call, body.end, body.flags | {"ambiguous", "repaired"}) if isinstance(body, Body) else body
    )


def _function_json(text: str, at: int, start: int, name: str, bracket: bool, context: Context) -> BodyOrNot:
    got = decode(text, start, final=context.final)
    if isinstance(got, Wait):
        return got
    if isinstance(got, Undecodable):
        return got.missed(text, start, "malformed")
    read = arguments(got.value, None if got.repaired else text[start : got.end])
    if read is None:
        return Missed(start, flags("malformed"), got.end)
    found: frozenset[Flag] = flags("repaired") if got.repaired or not bracket else flags()
    end = skip_space(text, got.end)
    if not bracket and text.startswith(">", end):  # the bracket went astray
        end = skip_space(text, end + 1)
    if text.startswith(FUNCTION_END, end):
        end += len(FUNCTION_END)
    elif not context.final and FUNCTION_END.startswith(text[end : end + len(FUNCTION_END)]):
        return WAIT
    else:
        end, found = got.end, found | {"unclosed"}
    return Body(Call(name, read[1], read[0], None, at, end), end, found)


def _function_parameters(text: str, at: int, start: int, name: str, context: Context) -> BodyOrNot:
    schema = context.schema(name)
    args: dict[str, Any] = {}
    found: set[Flag] = set()
    position = start
    while True:
        position = skip_space(text, position)
        if text.startswith(FUNCTION_END, position):
            end = position + len(FUNCTION_END)
            break
        key = _PARAMETER_KEY.match(text, position)
        if key is None:
            if text.startswith(CALL_END, position):  # </function> was left out
                end = position
                found.add("repaired")
                break
            if may_become(text, position, (PARAMETER, FUNCTION_END, CALL_END)) or position == len(text):
                return cut(text) if context.final else WAIT
            if text.startswith(PARAMETER, position) and len(text) - position < _LONGEST_HEAD:
                return cut(text) if context.final else WAIT
            return Missed(at + len(FUNCTION), flags("malformed"), position)
        close = _VALUE_END.search(text, key.end())
        if close is None:
            return cut(text) if context.final else WAIT
        position = close.start()
        if close.group() == PARAMETER_END:
            position = close.end()
        else:
            found.add("repaired")
        if key.group(1) in args:
            found.add("repaired")
        raw = _without_outer_breaks(text[key.end() : close.start()])
        args[key.group(1)], odd = typed(raw, child(schema, key.group(1)), schema)
        found |= odd
    call = raw_call(name, args, at, end)
    if call is None:
        return Missed(end, flags("malformed"), end)
    return Body(call, end, frozenset(found))


def _without_outer_breaks(raw: str) -> str:
    return raw.removeprefix("\n").removesuffix("\n")


# -------------------------------------------------------------------------------------------- GLM


def _glm(text: str, at: int, start: int, resume: int, context: Context) -> Outcome:
    head = _GLM_NAME.match(text, start)
    if head is None:
        return quoted(resume)
    position = head.end()
    if position == len(text) or may_become(text, position, ("<arg_key>", CALL_END)):
        if not context.final:
            return WAIT
        whole = head.group(1) in context.tools
        return Missed(len(text), flags("malformed" if whole else "quoted"))
    if not text.startswith(("<arg_key>", CALL_END), position):
        return quoted(resume)
    schema = context.schema(head.group(1))
    args: dict[str, Any] = {}
    found: set[Flag] = set()
    while not text.startswith(CALL_END, position):
        key = _GLM_KEY.match(text, position)
        if key is None:
            unfinished = may_become(text, position, (CALL_END,)) or position == len(text)
            open_key = text.startswith("<arg_key>", position) or may_become(text, position, ("<arg_key>",))
            if unfinished or (open_key and len(text) - position < _LONGEST_HEAD):
                return cut(text) if context.final else WAIT
            return Missed(resume, flags("malformed"), position)
        close = text.find(_GLM_VALUE_END, key.end())
        if close < 0:
            return cut(text) if context.final else WAIT
        if key.group(1) in args:
            found.add("repaired")
        raw = text[key.end() : close]
        args[key.group(1)], odd = typed(raw, child(schema, key.group(1)), schema)
        found |= odd
        position = skip_space(text, close + len(_GLM_VALUE_END))
    end = position + len(CALL_END)
    call = raw_call(head.group(1), args, at, end)
    return Found(end, (call,), frozenset(found)) if call else Missed(end, flags("malformed"), end)
