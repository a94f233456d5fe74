"""What an answer is said to cost: as many tokens as its turn tells, where more was written than is said."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from conformance.simulator import PERSONAS, Simulator, running
from conformance.simulator.request import read_chat_request
from conformance.simulator.turns import obey, spent
from conformance.types import WIRES, HttpResponse, Text, Turn, Usage, WireName
from conformance.wires import wire

from .asking import received

TOLD = Turn((Text("Hello there, all of you."),), "stop", Usage(completion_tokens=50))


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with running(Simulator([PERSONAS["reference"]], {"plain": TOLD}, gap_s=0)) as started:
        yield started


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("over", WIRES)
def test_every_wire_tells_what_the_turn_tells(
    over: WireName, stream: bool, client: httpx.Client, simulator: Simulator
) -> None:
    answer = received(client, simulator, "reference", over, stream)
    headers = tuple(answer.headers.multi_items())
    (turn,) = wire(over).decode(HttpResponse(answer.status_code, headers, answer.content))
    assert turn.text == TOLD.text
    assert turn.usage is not None
    assert turn.usage.completion_tokens == 50


def test_a_turn_that_tells_nothing_costs_what_it_says() -> None:
    assert spent(Turn(TOLD.parts)) == spent(Turn(TOLD.parts, usage=Usage())) < 50


def test_a_turn_that_is_cut_tells_nothing_more() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "max_tokens": 3}
    cut = obey(TOLD, read_chat_request(body, "m"))
    assert cut.finish_reason == "length"
    assert spent(cut) == 3
