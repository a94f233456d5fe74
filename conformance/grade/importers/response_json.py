"""Answers alone, as JSON: one a file, one a line, or a list; Gemini's JSON array of pieces is one answer."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import Origin, json_body
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.shapes import is_answer, is_gemini
from conformance.grade.source import Head, Source, Unreadable

name = "response-json"


def looks_like(head: Head) -> bool:
    """The first value has the members of an answer or of a refusal."""
    return is_answer(head.item)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Nobody knows who printed the file, so its spelling is no evidence."""
    origin = Origin(source, name, "reformatted")
    if isinstance(source.head.json, list) and is_gemini(source.head.item) and not source.head.lines:
        source.json()
        yield origin.recorded(0, None, None, (), Decoded(source.whole()))
        return
    for position, value in enumerate(source.values()):
        if isinstance(value, Unreadable) or not is_answer(value):
            yield origin.unusable(f"not an answer: {origin.why(value)}", position)
        else:
            yield origin.recorded(position, None, None, (), json_body(value))
