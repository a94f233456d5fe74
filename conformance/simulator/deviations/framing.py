"""Deviations of how the events of a stream are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.simulator import broken_streams
from conformance.simulator.answer import Actions
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.broken_transport import Change
from conformance.simulator.deviations.deviation import CHAT, Maker, labelled
from conformance.simulator.fronts import front_of
from conformance.types import HttpRequest, WireName


@dataclass(frozen=True, slots=True)
class Framing(Behaviour):
    """A change to the actions of the answers on some wires."""

    change: Change = field(default=lambda actions, _: actions, compare=False)
    wires: tuple[WireName, ...] = CHAT

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        front = front_of(request)
        return self.change(actions, front) if front.wire in self.wires else actions


def _framing(name: str, change_of: Callable[..., Change]) -> tuple[str, Maker]:
    def made(wires: Sequence[WireName] = CHAT, **options: Any) -> Behaviour:
        return Framing(labelled(name, wires=wires, **options), change_of(**options), tuple(wires))

    return name, made


FRAMING: Mapping[str, Maker] = dict(
    (
        _framing("comments-between-events", broken_streams.with_comments),
        _framing("empty-data-events", broken_streams.with_empty_data),
        _framing("events-unnamed", lambda: broken_streams.without_names),
        _framing("events-without-space", lambda: broken_streams.without_space),
        _framing("payload-after", broken_streams.before_payload),
        _framing("stream-without-done", lambda: broken_streams.without_done),
        _framing("stream-without-finish", lambda: broken_streams.without_finish),
    )
)
"""Makers by name."""
