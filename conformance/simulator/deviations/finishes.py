"""Deviations of how an answer says that it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.quirks.paths import places
from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.deviations.members import put
from conformance.simulator.mutants.mutant import Answer, Change

_REASONS = (
    "/choices/*/finish_reason",
    "/stop_reason",
    "/delta/stop_reason",
    "/candidates/*/finishReason",
    "/done_reason",
)
"""Where the wires say why an answer ended."""


def _reasons(reasons: Mapping[str, Any]) -> Change:
    """One reason is told as another; ``*`` stands for every reason that is not named."""

    def told(reason: Any) -> Any:
        return reasons.get(reason, reasons.get("*", reason))

    def change(answer: Answer) -> None:
        for document in documents(answer):
            for path in _REASONS:
                holder, _, key = path.rpartition("/")
                for place in places(document, holder):
                    if isinstance(place.value, dict) and place.value.get(key) is not None:
                        place.value[key] = told(place.value[key])

    return change


def _in_every_chunk(value: str) -> Change:
    """Every chunk says that its choice is over."""

    def change(answer: Answer) -> None:
        if answer.events is not None:
            for document in documents(answer):
                put(document, {"/choices/*/finish_reason": value})

    return change


def _with_last_delta() -> Change:
    """The last delta of a choice ends it, and no chunk of its own does."""

    def change(answer: Answer) -> None:
        before: dict[int, Any] = {}
        for document in list(answer.events or ()):
            for choice in _choices(document):
                if choice["finish_reason"] is None:
                    before[choice["index"]] = choice
                elif not choice["delta"] and choice["index"] in before and answer.events:
                    before[choice["index"]]["finish_reason"] = choice["finish_reason"]
                    answer.events.remove(document)

    return change


def _choices(document: Any) -> Sequence[Any]:
    return document.get("choices", ()) if isinstance(document, dict) else ()


FINISHES: Mapping[str, Maker] = dict(
    (
        deviation("finish-reasons-are", _reasons),
        deviation("finish-in-every-chunk", _in_every_chunk),
        deviation("finish-with-last-delta", _with_last_delta),
    )
)
"""Makers by name."""
