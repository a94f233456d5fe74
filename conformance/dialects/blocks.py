"""Regions that hold several calls between an opening and a closing marker."""

from __future__ import annotations

from collections.abc import Callable

from conformance.dialects.grammar import WAIT, Context, Found, Missed, Outcome, Wait, flags, may_become
from conformance.dialects.jsontext import skip_space
from conformance.dialects.parsed import Call, Flag
from conformance.dialects.tagged import Body, BodyOrNot, cut, quoted

ReadItem = Callable[[str, int, Context], BodyOrNot]


def block(
    text: str, start: int, close: str, item: str, read: ReadItem, context: Context, *also: Flag
) -> Outcome:
    """Read items, each beginning with ``item``, from ``start`` (behind the opening marker) to ``close``.

    A block that ends early keeps the calls that are complete; an item that is none ends it.
    """
    calls: list[Call] = []
    found = flags(*also)
    end = start
    while True:
        at = skip_space(text, end)
        if text.startswith(item, at):
            body = read(text, at, context)
            if isinstance(body, Wait):
                return WAIT
            if isinstance(body, Missed):
                if calls:
                    return Found(at, tuple(calls), found | {"malformed"})
                return Missed(len(text) if body.resume == len(text) else start, body.flags, body.looked)
            assert isinstance(body, Body)
            calls.append(body.call)
            found |= body.flags
            end = body.end
        elif text.startswith(close, at):
            if not calls:
                return Missed(at + len(close), flags("malformed"))
            return Found(at + len(close), tuple(calls), found)
        elif at == len(text) or may_become(text, at, (item, close)):
            if not context.final:
                return WAIT
            return Found(end, tuple(calls), found | {"unclosed"}) if calls else cut(text)
        else:
            return Found(end, tuple(calls), found | {"unclosed"}) if calls else quoted(start)
