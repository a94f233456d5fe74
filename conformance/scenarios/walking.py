"""A scenario's script without an endpoint: every request it makes when all answers are the ideal ones."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.scenarios.base import ModelDidNot, Scenario, Stuck, asks_of
from conformance.types import Exchange, HttpRequest, HttpResponse, Reply, Step, Together, Turn


def imagined(scenario: Scenario) -> Iterator[Step]:
    """The steps of the script when every answer is the ideal one; a raw step gets an empty answer."""
    script = scenario.script()
    asked = 0
    try:
        step = next(script)
        while True:
            yield step
            asks = asks_of(step)
            turns: list[Turn | None] = list(scenario.ideal[asked : asked + len(asks)]) or [None]
            asked += len(asks)
            replies = tuple(Reply(_IMAGINED, turn) for turn in turns)
            step = script.send(replies if isinstance(step, Together) else replies[0])
    except (StopIteration, Stuck, ModelDidNot):
        return


_IMAGINED = Exchange(
    request=HttpRequest("POST", "", (), b""),
    response=HttpResponse(200, (), b""),
    ending="complete",
    wire="openai-chat",
)
