"""The events of a stream, a JSON value a line or in a list; and Ollama's NDJSON, which is so on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import Origin, as_events, table
from conformance.grade.recorded import KEPT, Recorded, Unusable
from conformance.grade.shapes import is_event, is_gemini, is_ollama
from conformance.grade.source import MAX_WHOLE, Head, Source, Unreadable

name = "event-lines"

_SEEN = 5  # Azure sends up to two chunks without a choice before the first that tells


def looks_like(head: Head) -> bool:
    """One of the first values is an event; of Gemini's pieces, which look like answers, two are compared."""
    first = list(islice(head.items, _SEEN))
    return any(map(is_event, first)) or (head.lines and is_gemini(head.item) and _are_pieces(first))


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """One exchange, or more where a second answer begins behind the end of the first."""
    if is_ollama(source.head.item) and not isinstance(source.head.json, list):
        wire = Origin(source, name, "wire", KEPT["wire"] - {"headers"})
        yield wire.recorded(0, None, None, (), Decoded(source.whole()))
        return
    origin = Origin(source, name, "event-data")
    for position, events in enumerate(_answers(source)):
        yield origin.recorded(position, None, None, (), Decoded(events))


def _answers(source: Source) -> Iterator[bytes]:
    events = bytearray()
    ended = False
    for value in source.values():
        if isinstance(value, Unreadable):
            raise value
        if ended and _begins(value):
            yield bytes(events)
            events.clear()
            ended = False
        events += as_events([value])
        ended = ended or _ends(value)
        if len(events) > MAX_WHOLE:
            raise Unreadable(f"a stream larger than {MAX_WHOLE >> 20} MiB")
    yield bytes(events)


def _ends(event: Any) -> bool:
    kind = table(event).get("type")
    return kind in ("message_stop", "response.completed", "response.incomplete", "response.failed") or any(
        table(choice).get("finish_reason") for choice in _choices(event)
    )


def _begins(event: Any) -> bool:
    """Whether an answer begins here, if the one before has ended: usage may still follow an end."""
    kind = table(event).get("type")
    return kind in ("message_start", "response.created") or any(
        "role" in table(table(choice).get("delta")) and not table(choice).get("finish_reason")
        for choice in _choices(event)
    )


def _choices(event: Any) -> list[Any]:
    choices = table(event).get("choices")
    return choices if isinstance(choices, list) else []


def _are_pieces(lines: list[Any]) -> bool:
    """Whether lines of Gemini's are pieces of one answer: of one id, or the first without an end."""
    answers = [line for line in lines if is_gemini(line)]
    ids = [line.get("responseId") for line in answers[:2]]
    if len(ids) > 1 and None not in ids:
        return bool(ids[0] == ids[1])
    candidates = answers[0].get("candidates") if answers else None
    first = table(candidates[0]) if isinstance(candidates, list) and candidates else {}
    return not first.get("finishReason")
