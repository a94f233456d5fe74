"""``<invoke name="...">`` with ``<parameter name="...">``: DeepSeek's DSML and MiniMax M2.

Not XML: names may lose their quotes (repaired), values are raw text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.dialects.calls import Undecodable, arguments, decode, raw_call
from conformance.dialects.grammar import WAIT, Context, Missed, Wait, flags, may_become
from conformance.dialects.jsontext import Value, scan, skip_space
from conformance.dialects.parsed import Call, Flag
from conformance.dialects.schema_types import child, typed
from conformance.dialects.tagged import Body, BodyOrNot, cut, quoted

_LONGEST_HEAD = 700
_QUOTED = r"""(?:"(?P<double>[^"<>\n]{1,256})"|'(?P<single>[^'<>\n]{1,256})'|(?P<bare>[^\s"'<>/=]{1,256}))"""


@dataclass(frozen=True)
class Tags:
    """The tag names of one format. ``told``: a parameter says with ``string=`` whether it is text or JSON."""

    invoke: str
    parameter: str
    invoke_end: str
    parameter_end: str
    told: bool = False

    @cached_property
    def invoke_head(self) -> re.Pattern[str]:
        return re.compile(rf"{re.escape(self.invoke)}\s+name\s*=\s*{_QUOTED}\s*(?P<empty>/?)>")

    @cached_property
    def parameter_head(self) -> re.Pattern[str]:
        told = r"""(?:\s+string\s*=\s*["']?(?P<string>true|false)["']?)?""" if self.told else "(?P<string>)"
        return re.compile(rf"{re.escape(self.parameter)}\s+name\s*=\s*{_QUOTED}{told}\s*>")


def _name(head: re.Match[str]) -> tuple[str, bool]:
    """The quoted name of a tag, and whether it stood in double quotes."""
    double = head.group("double")
    return (double, True) if double is not None else (head.group("single") or head.group("bare"), False)


def invoke(text: str, at: int, context: Context, tags: Tags) -> BodyOrNot:
    """Read one ``<invoke>``."""
    head = tags.invoke_head.match(text, at)
    if head is None:
        if ">" not in text[at + len(tags.invoke) : at + _LONGEST_HEAD] and len(text) - at < _LONGEST_HEAD:
            return cut(text) if context.final else WAIT
        return quoted(at + len(tags.invoke))
    name, clean = _name(head)
    found: set[Flag] = set() if clean else {"repaired"}
    if head.group("empty"):
        return Body(Call(name, "{}", {}, None, at, head.end()), head.end(), frozenset(found))
    start = skip_space(text, head.end())
    if start == len(text):
        return cut(text) if context.final else WAIT
    if text[start] == "{":
        return _json(text, at, start, name, found, context, tags)
    schema = context.schema(name)
    args: dict[str, Any] = {}
    position = start
    while not text.startswith(tags.invoke_end, position):
        key_head = tags.parameter_head.match(text, position)
        if key_head is None:
            begun = text.startswith(tags.parameter, position)
            if (
                begun
                and len(text) - position < _LONGEST_HEAD
                and ">" not in text[position + 1 + len(tags.parameter) :]
            ):
                return cut(text) if context.final else WAIT
            if position == len(text) or may_become(text, position, (tags.parameter, tags.invoke_end)):
                return cut(text) if context.final else WAIT
            return Missed(head.end(), flags("malformed"), position)
        end = text.find(tags.parameter_end, key_head.end())
        if end < 0:
            return cut(text) if context.final else WAIT
        key, clean = _name(key_head)
        told = key_head.group("string") or None
        if not clean or key in args or (tags.told and told is None):
            found.add("repaired")
        args[key], odd = _value(text[key_head.end() : end], told, child(schema, key), schema)
        found |= odd
        position = skip_space(text, end + len(tags.parameter_end))
    end = position + len(tags.invoke_end)
    call = raw_call(name, args, at, end)
    return Body(call, end, frozenset(found)) if call else Missed(end, flags("malformed"), end)


def _value(raw: str, told: str | None, schema: Any, root: Any) -> tuple[Any, frozenset[Flag]]:
    if told is None:
        return typed(raw, schema, root)
    if told == "true":
        return raw, flags()
    for python in (False, True):
        got = scan(raw, skip_space(raw, 0), python=python)
        if isinstance(got, Value) and skip_space(raw, got.end) == len(raw):
            return got.value, flags("repaired") if python or not got.exact else flags()
    return raw, flags("type-mismatch")


def _json(
    text: str, at: int, start: int, name: str, found: set[Flag], context: Context, tags: Tags
) -> BodyOrNot:
    got = decode(text, start, final=context.final)
    if isinstance(got, Wait):
        return WAIT
    if isinstance(got, Undecodable):
        return got.missed(text, start, "malformed")
    read = arguments(got.value, None if got.repaired else text[start : got.end])
    if read is None:
        return Missed(start, flags("malformed"), got.end)
    end = skip_space(text, got.end)
    if text.startswith(tags.invoke_end, end):
        end += len(tags.invoke_end)
    elif not context.final and (end == len(text) or may_become(text, end, (tags.invoke_end,))):
        return WAIT
    else:
        end = got.end
        found.add("unclosed")
    if got.repaired:
        found.add("repaired")
    return Body(Call(name, read[1], read[0], None, at, end), end, frozenset(found) | read[2])
