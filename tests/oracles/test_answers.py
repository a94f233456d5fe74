"""The official SDKs read every answer of the simulator as our wires do, whole and streamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.simulator import PERSONAS
from conformance.types import WIRES, WireName
from conformance.wires import wire

from .conftest import Telling
from .oracle import Oracle, Told
from .said import Said, ours, without_ids
from .spoken import CELLS

Oracles = Callable[[WireName], Oracle]


def agreed(told: Told, oracle: Oracle) -> tuple[Said, ...]:
    """What our wire reads, as far as the SDK's results can say it."""
    assert told.exchange.response is not None
    read = tuple(
        ours(turn, ordered=oracle.ordered) for turn in wire(oracle.wire).decode(told.exchange.response)
    )
    if not oracle.identified:
        read = tuple(without_ids(each) for each in read)
    if told.exchange.ending == "closed-by-us":
        # An SDK has ids, counts and models only of what it has read to the end.
        read = tuple(replace(each, usage=None, id=None, model=None) for each in read)
    return read


def as_told(told: Told) -> tuple[Said, ...]:
    if told.exchange.ending == "closed-by-us":
        return tuple(replace(each, usage=None, id=None, model=None) for each in told.theirs)
    return told.theirs


@pytest.mark.parametrize(("over", "scenario"), CELLS)
def test_the_sdk_reads_every_answer_as_we_do(
    tell: Telling, oracle: Oracles, over: WireName, scenario: str
) -> None:
    for told in tell(over, scenario):
        assert as_told(told) == agreed(told, oracle(over))


@pytest.mark.parametrize("over", WIRES)
@pytest.mark.parametrize("persona", [name for name, one in PERSONAS.items() if not one.quirks])
@pytest.mark.parametrize("scenario", ["stream.mixed-text-and-tool-use", "tools.parallel-calls"])
def test_the_sdk_reads_the_answers_of_every_persona_without_quirks_as_we_do(
    tell: Telling, oracle: Oracles, over: WireName, persona: str, scenario: str
) -> None:
    for told in tell(over, scenario, persona):
        assert as_told(told) == agreed(told, oracle(over))


def test_every_wire_is_heard_in_both_forms(tell: Telling) -> None:
    """Also over scenarios that come later: an oracle that is never asked agrees with everything."""
    for over in WIRES:
        asked = [told for each, scenario in CELLS if each == over for told in tell(over, scenario)]
        forms = [told.question.streamed for told in asked]
        assert forms.count(True) == forms.count(False) > 100, over
        assert any(words[0] == "call" for told in asked for each in told.theirs for words in each.parts)
        assert any(words[0] == "reasoning" for told in asked for each in told.theirs for words in each.parts)
        finishes = {each.finish for told in asked for each in told.theirs}
        assert finishes >= {"stop", "tool_calls", "length"}, over
