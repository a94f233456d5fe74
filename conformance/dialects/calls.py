"""From decoded JSON to calls: the ladder of repairs, and what counts as a name and as arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from conformance.dialects.grammar import NO_FLAGS, WAIT, Found, Missed, Wait, flags
from conformance.dialects.jsontext import (
    Broken,
    Incomplete,
    Spans,
    Value,
    compact,
    load_object,
    scan,
    skip_space,
)
from conformance.dialects.parsed import Call, Flag

NAME = r"[^\s<>{}\[\]\"'=,;]{1,256}"
"""What may be a name in markup. Wide: whether there is such a tool is another question."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """JSON that ends at ``end``; ``repaired`` when only a lenient reading made sense of it."""

    end: int
    value: Any
    repaired: bool
    spans: Spans


@dataclass(frozen=True, slots=True)
class Undecodable:
    """No JSON: ``truncated`` at the end of the text, or wrong at ``looked``. ``keys``: as far as seen."""

    truncated: bool
    looked: int
    keys: tuple[str, ...] = ()

    def missed(self, text: str, resume: int, *found: Flag) -> Missed:
        """The region it stands in is none: what is cut off is content to its end."""
        return Missed(len(text) if self.truncated else resume, flags(*found), self.looked)


Decoding: TypeAlias = Decoded | Undecodable | Wait


def decode(text: str, at: int, *, final: bool) -> Decoding:
    """Read the JSON at ``at``: strictly, then without double braces, then as Python would write it."""
    strict = scan(text, at)
    if isinstance(strict, Value):
        return Decoded(strict.end, strict.value, not strict.exact, strict.spans)
    if isinstance(strict, Incomplete):
        return Undecodable(True, len(text), strict.keys) if final else WAIT
    looked = strict.at
    if text.startswith("{{", at):
        inner = decode(text, at + 1, final=final) if not text.startswith("{{{", at) else strict
        if isinstance(inner, Wait):
            return inner
        if isinstance(inner, Decoded):
            close = skip_space(text, inner.end)
            if close == len(text):
                return Undecodable(True, close) if final else WAIT
            if text[close] == "}":
                return Decoded(close + 1, inner.value, True, {})
        elif isinstance(inner, Undecodable) and inner.truncated:
            return inner
    lenient = scan(text, at, python=True)
    if isinstance(lenient, Value):
        return Decoded(lenient.end, lenient.value, True, {})
    if isinstance(lenient, Incomplete):
        return Undecodable(True, len(text), lenient.keys) if final else WAIT
    assert isinstance(lenient, Broken)
    return Undecodable(False, max(looked, lenient.at), strict.keys)


Arguments: TypeAlias = tuple[dict[str, Any], str, frozenset[Flag]]


def arguments(value: Any, raw: str | None = None) -> Arguments | None:
    """The arguments a decoded value stands for, as an object and as JSON; ``None`` where it is none.

    ``null`` means none; a string is decoded once (repaired). ``raw``: the JSON the value was read from.
    """
    if isinstance(value, dict):
        return value, compact(value) if raw is None else raw, NO_FLAGS
    if value is None:
        return {}, "{}", NO_FLAGS
    if isinstance(value, str):
        inner = load_object(value)
        if inner is not None:
            return inner, value.strip(), flags("repaired")
        if value.strip() in ("", "null"):
            return {}, "{}", flags("repaired")
    return None


@dataclass(frozen=True, slots=True)
class Keys:
    """How a format's JSON names things; the ``other`` key for arguments is a repair."""

    arguments: tuple[str, ...] = ("arguments",)
    other: tuple[str, ...] = ("parameters",)
    needed: bool = False  # an object without arguments is no call


HERMES = Keys()
LLAMA = Keys(("parameters", "arguments"), (), needed=True)


def call_of(
    value: Any, text: str, got: Decoded, start: int, keys: Keys
) -> tuple[Call, frozenset[Flag]] | None:
    """The call that a JSON object stands for, ``None`` where it stands for none."""
    found: set[Flag] = {"repaired"} if got.repaired else set()
    if isinstance(value, Mapping) and "name" not in value and isinstance(value.get("function"), Mapping):
        value = value["function"]
        found.add("repaired")
    if not isinstance(value, Mapping):
        return None
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    key = next((k for k in (*keys.arguments, *keys.other) if k in value), None)
    if key is None and keys.needed:
        return None
    if key in keys.other:
        found.add("repaired")
    where = got.spans.get(id(value), {}).get(key or "")
    read = arguments(
        value.get(key) if key else None, text[slice(*where)] if where and not got.repaired else None
    )
    if read is None:
        return None
    id_ = value.get("id")
    call = Call(name.strip(), read[1], read[0], id_ if isinstance(id_, str) and id_ else None, start, got.end)
    return call, frozenset(found) | read[2]


def calls_of(
    text: str, got: Decoded, start: int, keys: Keys = HERMES, *, lists: bool = False
) -> tuple[tuple[Call, ...], frozenset[Flag]] | None:
    """The calls of an object or of a list of objects (which is a repair unless the format has ``lists``)."""
    several = isinstance(got.value, list)
    found: frozenset[Flag] = flags("repaired") if several and not lists else NO_FLAGS
    calls: list[Call] = []
    for value in got.value if several else [got.value]:
        read = call_of(value, text, got, start, keys)
        if read is None:
            return None
        calls.append(read[0])
        found |= read[1]
    return (tuple(calls), found) if calls else None


def raw_call(name: str, args: dict[str, Any], start: int, end: int, *, id: str | None = None) -> Call | None:
    """A call whose arguments were not written as JSON; ``None`` where they can't be sent as UTF-8."""
    text = compact(args)
    return (
        None if _SURROGATE.search(text) or _SURROGATE.search(name) else Call(name, text, args, id, start, end)
    )


def closed(
    text: str,
    after: int,
    close: str,
    calls: Sequence[Call],
    found: frozenset[Flag],
    *,
    final: bool,
    optional: bool = False,
) -> Found | Wait:
    """The region ends behind ``close``; without it, behind what is complete (*unclosed* unless optional)."""
    at = skip_space(text, after)
    if text.startswith(close, at):
        end = at + len(close)
        return Found(end, (*calls[:-1], replace(calls[-1], end=end)), found)
    if not final and close.startswith(text[at : at + len(close)]):
        return WAIT
    return Found(after, tuple(calls), found if optional else found | {"unclosed"})
