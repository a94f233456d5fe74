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


def _cut_completed() -> Change:
    """A response that was cut says that it is completed, and so do its items."""

    def change(answer: Answer) -> None:
        for document in documents(answer):
            if document.get("type") == "response.incomplete":
                document["type"] = "response.completed"
            response = document.get("response") or document
            items = [document.get("item"), *(response.get("output") or ())]
            for holder in (response, *items):
                if isinstance(holder, dict) and holder.get("status") == "incomplete":
                    holder["status"] = "completed"
            if response.get("incomplete_details"):
                response["incomplete_details"] = None

    return change


def _event_completed() -> Change:
    """The last event of a response that was cut is that of a completed one; its status stays."""

    def change(answer: Answer) -> None:
        for document in documents(answer):
            if document.get("type") == "response.incomplete":
                document["type"] = "response.completed"

    return change


def _blocks_closed_last() -> Change:
    """The content blocks of a message are all closed at its end, just before its delta."""

    def change(answer: Answer) -> None:
        if answer.events is None or answer.status >= 300:
            return
        stops = [event for event in answer.events if _type(event) == "content_block_stop"]
        rest = [event for event in answer.events if _type(event) != "content_block_stop"]
        at = next((n for n, event in enumerate(rest) if _type(event) == "message_delta"), len(rest))
        answer.events[:] = [*rest[:at], *stops, *rest[at:]]

    return change


def _type(event: Any) -> Any:
    return event.get("type") if isinstance(event, dict) else None


def _choices(document: Any) -> Sequence[Any]:
    return document.get("choices", ()) if isinstance(document, dict) else ()


FINISHES: Mapping[str, Maker] = dict(
    (
        deviation("finish-reasons-are", _reasons),
        deviation("finish-in-every-chunk", _in_every_chunk),
        deviation("finish-with-last-delta", _with_last_delta),
        deviation("cut-is-completed", _cut_completed),
        deviation("incomplete-event-is-completed", _event_completed),
        deviation("blocks-closed-last", _blocks_closed_last),
    )
)
"""Makers by name."""
