"""Our turns are those of the official SDKs on every recorded answer that they can read, but where listed.

``differential.yaml`` explains each answer that is read differently, and each that an SDK can't read.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pytest
import yaml

from conformance.grade.files import exchanges
from conformance.grade.recognise import recognise
from conformance.grade.recorded import Recorded
from conformance.rules.reading import Reading, read
from conformance.types import HttpResponse, WireName
from conformance.wires import wire

from .official import Sdks, ours
from .support import CORPUS, needs_corpus

pytestmark = needs_corpus

ENOUGH: dict[WireName, tuple[int, int]] = {
    "openai-chat": (500, 1000),
    "openai-responses": (150, 210),
    "anthropic-messages": (90, 140),
    "gemini": (70, 120),
}
"""How many streams and how many whole answers of a wire are compared at least."""

LISTED: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "differential.yaml").read_text("utf-8"))
each_wire = pytest.mark.parametrize("name", ENOUGH)


@dataclass(slots=True)
class Compared:
    """What came of the answers of a wire: places of those read differently, and of those an SDK refused."""

    streams: int = 0
    whole: int = 0
    differ: set[str] = field(default_factory=set)
    refused: dict[str, HttpResponse] = field(default_factory=dict)


def answers() -> Iterator[tuple[str, WireName, Reading, HttpResponse]]:
    """Every successful answer of the wires that have an official SDK, whatever the recording kept of it."""
    for one in exchanges([CORPUS / "dev"]):
        if not isinstance(one, Recorded):
            continue
        reading = read(0, one.exchange)
        name = recognise(reading, one.file, one.wire).wire
        response = one.exchange.response
        if (
            name not in ENOUGH
            or response is None
            or not reading.succeeded
            or reading.path.endswith("/models")
        ):
            continue
        if response.body.strip():
            file = PurePath(one.file).relative_to(CORPUS / "dev")
            yield f"{file}@{one.position}", name, reading, response


@pytest.fixture(scope="module")
def compared() -> dict[str, Compared]:
    for kit in ("openai", "anthropic", "google.genai"):
        pytest.importorskip(kit, reason=f"the SDK {kit} is not installed")
    found: dict[str, Compared] = {name: Compared() for name in ENOUGH}
    sdks = Sdks()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's, on members of another type than the SDK declares
        for place, name, reading, response in answers():
            one, streamed = found[name], reading.stream is not None
            try:
                theirs = sdks.read(name, response.body, streamed)
            except Exception:
                one.refused[place] = response
                continue
            one.streams += streamed
            one.whole += not streamed
            if [ours(turn) for turn in wire(name).decode(response)] != theirs:
                one.differ.add(place)
    return found


def listed(name: str, kind: str) -> set[str]:
    return {place for entry in LISTED[name][kind] for place in entry["places"]}


@each_wire
def test_enough_answers_are_compared(compared: dict[str, Compared], name: WireName) -> None:
    streams, whole = ENOUGH[name]
    assert compared[name].streams >= streams
    assert compared[name].whole >= whole


@each_wire
def test_texts_calls_and_finishes_are_the_sdks_but_where_the_list_says_why(
    compared: dict[str, Compared], name: WireName
) -> None:
    assert compared[name].differ == listed(name, "differ")


@each_wire
def test_the_sdk_refuses_no_answer_but_where_the_list_says_why(
    compared: dict[str, Compared], name: WireName
) -> None:
    assert compared[name].refused.keys() == listed(name, "refused")


@each_wire
def test_what_the_sdk_refuses_is_a_turn_or_an_error_here(
    compared: dict[str, Compared], name: WireName
) -> None:
    mute = [
        place
        for place, response in compared[name].refused.items()
        if not wire(name).decode(response) and wire(name).error_of(response) is None
    ]
    assert mute == []


def test_every_wire_that_is_listed_is_compared() -> None:
    assert sorted(LISTED) == sorted(ENOUGH)
