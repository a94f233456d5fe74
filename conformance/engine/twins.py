"""A server has two paths: which requests of a scenario are asked the other way, too, and how.

Asked is what a scenario says in canonical form with our own key. Left out are requests that are closed
half-way, one that the scenario asks both ways itself, one that was asked before, whole ones that speak of
streams, and the text without tools that only shows what a model writes (``dialects.case``).
"""

from __future__ import annotations

from dataclasses import replace

from conformance.dialects.case import ALONE
from conformance.scenarios import Scenario
from conformance.scenarios.base import asks_of
from conformance.scenarios.walking import imagined
from conformance.types import Ask, Cancel, Request

_ABOUT_STREAMS = frozenset({"stream", "stream_options"})


def twins_of(scenario: Scenario) -> frozenset[int]:
    """The numbers of the scenario's requests that have a twin, counted as its ideal turns are."""
    asked: dict[int, Ask] = {}
    number = 0
    for step in imagined(scenario):
        for ask in asks_of(step):
            if not isinstance(step, Cancel) and _has_two_ways(ask):
                asked[number] = ask
            number += 1
    found: list[int] = []
    kept: list[Ask] = []  # one twin is enough for requests that are the same
    for number, ask in asked.items():
        other = the_other_way(ask)
        if not any(_alike(one, other) for one in asked.values()) and not any(
            _alike(one, ask) for one in kept
        ):
            found.append(number)
            kept.append(ask)
    return frozenset(found)


def _has_two_ways(ask: Ask) -> bool:
    request = ask.request
    members = {name for body in (request.extra, *request.native.values()) for name in body}
    of_streams = request.include_usage is not None or members & _ABOUT_STREAMS
    return ask.auth == "own" and ask.probe != ALONE and (request.stream or not of_streams)


def the_other_way(ask: Ask, *, usage: bool = True) -> Ask:
    """The same request, streamed (with its ``usage``) where a whole answer was asked for, else whole."""
    request = ask.request
    if not request.stream:
        return replace(ask, request=replace(request, stream=True, include_usage=usage or None))
    extra = {name: value for name, value in request.extra.items() if name not in _ABOUT_STREAMS}
    native = {
        wire: {name: value for name, value in body.items() if name not in _ABOUT_STREAMS}
        for wire, body in request.native.items()
    }
    whole = replace(request, stream=False, include_usage=None, extra=extra, native=native)
    return replace(ask, request=whole)


def _alike(one: Ask, another: Ask) -> bool:
    """Whether two requests are the same, whether or not usage is wanted in their streams."""
    return _bare(one) == _bare(another)


def _bare(ask: Ask) -> tuple[Request, str | None, tuple[tuple[str, str], ...]]:
    return replace(ask.request, include_usage=None), ask.model, ask.headers
