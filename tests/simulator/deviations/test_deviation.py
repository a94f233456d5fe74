"""What a deviation changes, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from conformance.simulator.answer import Action, Actions, Bytes, Close, Event, Hang, Head, Reset, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations import DEVIATIONS
from conformance.types import HttpRequest

CHAT = HttpRequest("POST", "/p/any/v1/chat/completions", (), b'{"model": "reference", "stream": true}')
MESSAGES = HttpRequest(
    "POST", "/p/any/v1/messages", (("anthropic-version", "2023-06-01"),), b'{"model": "reference"}'
)
WHOLE = [Respond(200, (), {"id": "a"})]


def named(value: Any = "b", **options: Any) -> Behaviour:
    return DEVIATIONS["answer-with"](values={"/id": value}, **options)


def ids(actions: Actions) -> list[Any]:
    return [action.body["id"] for action in actions if isinstance(action, Respond)]


def test_the_same_with_the_same_options_is_one() -> None:
    assert named() == named()
    assert len({named(), named(), named("c"), named(wires=["gemini"])}) == 3


def test_it_changes_the_answers_of_its_wires() -> None:
    assert ids(named().rewire(CHAT, WHOLE)) == ["b"]
    assert ids(named().rewire(MESSAGES, WHOLE)) == ["a"]
    assert ids(named(wires=["anthropic-messages"]).rewire(MESSAGES, WHOLE)) == ["b"]


def test_it_changes_the_answers_to_requests_that_meet_its_condition() -> None:
    streamed = [{"at": "/stream", "one_of": [True]}]
    assert ids(named(when=streamed).rewire(CHAT, WHOLE)) == ["b"]
    assert ids(named(when=[{**streamed[0], "is_not": True}]).rewire(CHAT, WHOLE)) == ["a"]


def test_the_honest_answer_itself_is_not_changed() -> None:
    honest = Respond(200, (), {"id": "a", "choices": [{"delta": {}}]})
    list(named().rewire(CHAT, [honest]))
    assert honest.body["id"] == "a"


def test_what_is_not_changed_is_the_same_actions() -> None:
    assert list(named("a").rewire(CHAT, WHOLE)) == WHOLE


@pytest.mark.parametrize(
    "actions",
    [
        [Hang()],
        [Bytes(b"no HTTP")],
        [Head(200, ()), Event({"id": "a"}), Reset()],
        [Head(200, ()), Event({"id": "a"}), Close()],
    ],
)
def test_what_a_fault_broke_stays_broken(actions: list[Action]) -> None:
    assert list(named().rewire(CHAT, actions)) == actions


def test_what_never_ends_goes_on() -> None:
    def endless() -> Iterator[Action]:
        yield Head(200, ())
        while True:
            yield Event({"id": "a"})

    begun = list(islice(named().rewire(CHAT, endless()), 200_000))
    assert begun[-1] == Event({"id": "a"})


def test_options_that_nobody_knows_are_refused() -> None:
    with pytest.raises(TypeError):
        DEVIATIONS["answer-with"](colour="red")
