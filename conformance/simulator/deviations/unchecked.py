"""Deviations of how a request is read: what nobody checks is taken for something sensible."""

from __future__ import annotations

import copy
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.quirks.conditions import Condition
from conformance.quirks.paths import places
from conformance.simulator import seal
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import CHAT, Maker, condition, labelled
from conformance.simulator.deviations.members import put, take
from conformance.types import WireName


@dataclass(frozen=True, slots=True)
class AnyModel(Behaviour):
    """Every model is served, by the one that is there."""

    name: str = "any-model-served"

    def serves(self, model: str) -> bool:  # noqa: ARG002
        return True


@dataclass(frozen=True, slots=True)
class ReadAs(Behaviour):
    """A request that meets ``when`` is read with ``values`` at these paths and nothing at ``without``."""

    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    without: tuple[str, ...] = ()
    when: Condition | None = field(default=None, hash=False)
    wires: tuple[WireName, ...] = CHAT

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:
        if wire not in self.wires or (self.when is not None and not self.when.culprits(body, model)):
            return body
        read = copy.deepcopy(body)
        put(read, self.values)
        take(read, self.without)
        return body if read == body else read


def _read_as(
    values: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
    when: Sequence[Mapping[str, Any]] | None = None,
    wires: Sequence[WireName] = CHAT,
) -> Behaviour:
    told = labelled("read-as", values=values, without=without, when=when, wires=wires)
    return ReadAs(told, values or {}, tuple(without), condition(when), tuple(wires))


@dataclass(frozen=True, slots=True)
class IdsToldApart(Behaviour):
    """Calls of a history that share an id, or have none, are told apart by order; so are their results."""

    name: str = "call-ids-told-apart"

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:  # noqa: ARG002
        read = copy.deepcopy(body)
        told: defaultdict[str, deque[str]] = defaultdict(deque)
        used: set[str] = set()
        for kind, holder, key in list(_mentions(wire, read)):
            said = holder[key] if isinstance(holder.get(key), str) else ""
            if kind == "call":
                name = f"{said}#{len(used)}" if said in used or not said else said
                told[said].append(name)
                used.add(name)
                holder[key] = name
            elif told[said]:
                holder[key] = told[said].popleft()
        return body if read == body else read


@dataclass(frozen=True, slots=True)
class SignaturesUnchecked(Behaviour):
    """Thinking blocks of Anthropic's wire come back with any signature."""

    name: str = "signatures-unchecked"

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:  # noqa: ARG002
        if wire != "anthropic-messages":
            return body
        read = copy.deepcopy(body)
        blocks = list(places(read, "/messages/*/content/*[type=thinking]"))
        for block in blocks:
            if isinstance(text := block.value.get("thinking"), str):
                block.value["signature"] = seal.sealed("thinking", text)
        return read if blocks else body


_Mention = tuple[Literal["call", "result"], dict[str, Any], str]


def _mentions(wire: WireName, body: Mapping[str, Any]) -> Iterator[_Mention]:
    """Where a history names a call: who makes it, and who answers it, in order."""
    if wire == "openai-responses":
        for item in _objects(body.get("input")):
            if item.get("type") in ("function_call", "function_call_output"):
                yield ("call" if item["type"] == "function_call" else "result"), item, "call_id"
    elif wire == "openai-chat":
        for message in _objects(body.get("messages")):
            for call in _objects(message.get("tool_calls")):
                yield "call", call, "id"
            if message.get("role") == "tool":
                yield "result", message, "tool_call_id"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


UNCHECKED: Mapping[str, Maker] = {
    "any-model-served": AnyModel,
    "read-as": _read_as,
    "call-ids-told-apart": IdsToldApart,
    "signatures-unchecked": SignaturesUnchecked,
}
"""Makers by name."""
