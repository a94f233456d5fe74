"""What ``check-request`` says: objections to a request, grouped by the places that they are about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from conformance.cli.outputs import one_line
from conformance.types import WireName

if TYPE_CHECKING:
    from conformance.quirks.paths import Place
    from conformance.quirks.requests import Objection

_MAX_PLACES = 5
_FEW = 5
_MAX_VALUE = 60
_MAX_SAID = 300
_WIDE = 110
_MARGIN = 16


def always(objection: Objection, asked: frozenset[str]) -> list[str]:
    """Those of the providers ``asked`` about that are known to do it on every route, not on some perhaps."""
    return [name for name in objection.quirk.had_by if name in asked]


def told(wire: WireName, body: Mapping[str, Any], found: Sequence[Objection], asked: frozenset[str]) -> str:
    """The objections as text, and who has any; ``asked`` are the providers that were asked about."""
    groups: dict[tuple[str, ...], list[Objection]] = {}
    for objection in sorted(found, key=lambda one: _order(one.places[0])):
        groups.setdefault(tuple(place.pointer for place in objection.places), []).append(objection)
    lines: list[str] = []
    for group in groups.values():
        lines.append(_heading(group[0].places, body))
        for objection in sorted(group, key=lambda one: (one.effect != "refused", not always(one, asked))):
            lines += _one(objection, asked)
        lines.append("")
    whom = ", ".join(sorted(asked)) if len(asked) <= _FEW else f"{len(asked)} providers"
    lines.append(f"{wire} request, held against what is known of {whom}")
    for effects, verb in ((("refused",), "refused"), (("ignored", "changed"), "altered")):
        here = [objection for objection in found if objection.effect in effects]
        sure = dict.fromkeys(name for objection in here for name in always(objection, asked))
        some = dict.fromkeys(name for one in here for name in _who(one, asked) if name not in sure)
        lines += _row(f"{verb} by", ", ".join(sure) or "nobody", 2)
        if some:
            lines += _row("perhaps by", ", ".join(some), 2)
    return "\n".join(one_line(line) for line in lines)


def document(wire: WireName, found: Iterable[Objection], asked: frozenset[str]) -> dict[str, Any]:
    """The objections as JSON."""
    return {"wire": wire, "objections": [_entry(objection, asked) for objection in found]}


def _who(objection: Objection, asked: frozenset[str]) -> list[str]:
    return [name for name in objection.quirk.providers if name in asked]


def _order(place: Place) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if isinstance(step, int) else (-1, step) for step in place.path)


def _heading(places: Sequence[Place], body: Mapping[str, Any]) -> str:
    if not places[0].path:
        return "the request as a whole"
    shown = ", ".join(place.pointer for place in places[:_MAX_PLACES])
    if len(places) > _MAX_PLACES:
        return f"{shown} and {len(places) - _MAX_PLACES} more"
    if any(_is_missing(place, body) for place in places):
        return f"{shown}: missing"
    if len(places) > 1 or isinstance(places[0].value, (dict, list)):
        return shown
    value = json.dumps(places[0].value, ensure_ascii=False)
    return f"{shown}: {value if len(value) <= _MAX_VALUE else value[:_MAX_VALUE] + '…'}"


def _is_missing(place: Place, body: Mapping[str, Any]) -> bool:
    holder: Any = body
    for step in place.path[:-1]:
        holder = holder[step]
    return isinstance(holder, dict) and place.path[-1] not in holder


def _one(objection: Objection, asked: frozenset[str]) -> list[str]:
    quirk = objection.quirk
    sure = always(objection, asked)
    some = [name for name in _who(objection, asked) if name not in sure]
    who = [", ".join(sure)] if sure else []
    who += [f"perhaps {', '.join(some)}"] if some else []
    more = len(quirk.sources) - 1
    lines = [f"  {'' if sure else 'may be '}{objection.effect}: {quirk.id}"]
    lines += _row("what", quirk.title)
    lines += _row("who", "; ".join(who))
    lines += _row("comes back", _comes_back(objection))
    lines += _row("workaround", quirk.workaround)
    lines += _row("source", quirk.sources[0])
    if more:
        lines += _row("", f"and {more} more: conformance explain {quirk.id}")
    if quirk.confidence == "unconfirmed":
        lines += _row("unconfirmed", "the evidence is weak or contradicts itself")
    return lines


def _row(name: str, text: str, indent: int = 4) -> list[str]:
    first, *rest = wrap(text, _WIDE - _MARGIN, break_on_hyphens=False) or [""]
    head = f"{'':<{indent}}{name}"
    return [f"{head:<{_MARGIN}}{first}", *(f"{'':<{_MARGIN}}{line}" for line in rest)]


def _comes_back(objection: Objection) -> str:
    answer = objection.answer
    if answer is None:
        return objection.quirk.observed
    if answer.hangs:
        return "nothing, until the client gives up"
    return f"{answer.status} {_said(_body(objection))[:_MAX_SAID]}".rstrip()


def _said(body: Any) -> str:
    """What an error's body says, wherever it says it."""
    inner = body[0] if isinstance(body, list) and body else body
    for key in ("error", "message"):
        inner = inner.get(key, inner) if isinstance(inner, dict) else inner
    text = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
    return "" if body is None else text


def _body(objection: Objection) -> Any:
    return objection.answer.body_at(objection.places[0], "") if objection.answer else None


def _entry(objection: Objection, asked: frozenset[str]) -> dict[str, Any]:
    quirk, answer = objection.quirk, objection.answer
    return {
        "quirk": quirk.id,
        "title": quirk.title,
        "effect": objection.effect,
        "providers": _who(objection, asked),
        "always": always(objection, asked),
        "places": [place.pointer for place in objection.places],
        "status": answer.status if answer and not answer.hangs else None,
        "body": None if answer and answer.hangs else _body(objection),
        "hangs": answer.hangs if answer else False,
        "observed": quirk.observed,
        "workaround": quirk.workaround,
        "confidence": quirk.confidence,
        "note": quirk.note,
        "sources": list(quirk.sources),
    }
