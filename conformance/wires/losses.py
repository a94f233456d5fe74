"""What the encoders of all wires lose alike: other wires' opaque slots, other wires' native members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import JSON, Loss, Opaque, Part, Reasoning, Text, WireName


def pointer(*tokens: str | int) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def own(opaque: Opaque | None, wire: WireName, at: str, losses: list[Loss]) -> dict[str, Any]:
    """What ``wire`` itself once said of the part at ``at``; what other wires said is lost."""
    for other in opaque or {}:
        if other != wire:
            losses.append(Loss(at, f"what only {other} understands of it", "form"))
    return dict((opaque or {}).get(wire, {}))


def is_foreign(opaque: Opaque | None, wire: WireName) -> bool:
    """True of a part that is bound to other wires, and not to this one."""
    return bool(opaque) and wire not in (opaque or {})


def bound_elsewhere(part: Reasoning, wire: WireName, at: str, losses: list[Loss]) -> bool:
    """Whether reasoning is bound to other wires, which is a loss: none but them takes it back."""
    foreign = is_foreign(part.opaque, wire)
    if foreign:
        losses.append(Loss(at, f"reasoning bound to {', '.join(part.opaque or ())}"))
    return foreign


def said_elsewhere(part: Part, wire: WireName, at: str, losses: list[Loss]) -> bool:
    """Whether a part is but what other wires say (their tools' blocks, an item): all of it is lost."""
    foreign = isinstance(part, Text) and not part.text and is_foreign(part.opaque, wire)
    if foreign:
        losses.append(Loss(at, f"what only {', '.join(part.opaque or ())} has a form for"))
    return foreign


def merge_native(
    body: dict[str, JSON],
    native: Mapping[WireName, Mapping[str, JSON]],
    wire: WireName,
    losses: list[Loss],
) -> dict[str, JSON]:
    """The body with this wire's native members in it, object by object.

    Those of other wires are lost, unless there are some for this one: then each wire has its own.
    """
    for other, members in native.items():
        if wire not in native:
            losses += [Loss(pointer("native", other, key), f"a word of {other} alone") for key in members]
    return _merged(body, native.get(wire, {}))


def _merged(into: Mapping[str, JSON], more: Mapping[str, JSON]) -> dict[str, JSON]:
    out = dict(into)
    for key, value in more.items():
        old = out.get(key)
        out[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out
