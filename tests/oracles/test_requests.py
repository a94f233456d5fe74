"""The official SDKs send every request that our wires write, and the simulator takes it from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.types import Opaque, Request, WireName
from conformance.wires import wire

from .conftest import Telling
from .oracle import Oracle
from .said import Said, ours, without_ids
from .spoken import CELLS, Simulated

Oracles = Callable[[WireName], Oracle]

cells = pytest.mark.parametrize(("over", "scenario"), CELLS)

UNTYPED = {
    ("openai-chat", "/messages/*/reasoning_content"): "reasoning is echoed in other providers' member",
    ("openai-chat", "/x_conformance_unknown"): "unknown on purpose",
    ("openai-chat", "/x_conformance"): "unknown on purpose",
    ("openai-chat", "/tool_choice: no such word"): "null on purpose",
    ("anthropic-messages", "/temperature"): "SDK fault anthropic-no-sampling",
    ("anthropic-messages", "/top_p"): "SDK fault anthropic-no-sampling",
}
"""What the SDKs' types of requests don't know of what we send, and why it is sent all the same."""


@cells
def test_the_sdk_sends_every_request_as_we_write_it(
    tell: Telling, oracle: Oracles, over: WireName, scenario: str
) -> None:
    for told in tell(over, scenario):
        assert told.sent.url.partition("?")[0] in told.exchange.request.url
        sent = json.loads(told.sent.body)
        assert oracle(over).alike(sent) == oracle(over).alike(told.question.body)


@cells
def test_the_sdk_means_every_request_as_we_read_it(tell: Telling, over: WireName, scenario: str) -> None:
    """Where it spells a request otherwise; signatures have one spelling, and one SDK cuts schemas down."""
    for told in tell(over, scenario):
        sent = json.loads(told.sent.body)
        if sent != told.question.body:
            meant = wire(over).decode_request(sent, path=told.sent.url)
            asked = wire(over).decode_request(dict(told.question.body), path=told.exchange.request.url)
            if over == "ollama":
                meant, asked = replace(meant, tools=()), replace(asked, tools=())
            assert signed_alike(meant) == signed_alike(asked)


def signed_alike(request: Request) -> Request:
    """The request, its signatures in plain base64."""
    messages = [
        replace(message, parts=tuple(replace(part, opaque=_plain(part.opaque)) for part in message.parts))
        for message in request.messages
    ]
    return replace(request, messages=tuple(messages))


def _plain(opaque: Opaque | None) -> Opaque | None:
    if opaque is None or "gemini" not in opaque:
        return opaque
    own = opaque["gemini"]
    spelled = {k: v.replace("-", "+").replace("_", "/") for k, v in own.items() if k == "thoughtSignature"}
    return {**opaque, "gemini": {**own, **spelled}}


@cells
def test_the_simulator_takes_every_request_of_the_sdk(
    tell: Telling, oracle: Oracles, simulated: Simulated, over: WireName, scenario: str
) -> None:
    """With the SDK's own headers, too; ids and signatures are new in every answer."""
    for told in tell(over, scenario):
        again = simulated.again(told.sent, over)
        assert again.response is not None
        assert again.response.status == 200
        turns = wire(over).decode(again.response)
        if told.exchange.ending == "complete":
            said = [without_ids(ours(turn, ordered=oracle(over).ordered)) for turn in turns]
            assert [gist(each) for each in said] == [gist(without_ids(each)) for each in told.theirs]


def gist(said: Said) -> Said:
    """Without what depends on ids and on the length of the request."""
    return replace(said, usage=None, id=None)


@cells
def test_the_sdks_types_know_every_member_that_we_send(tell: Telling, over: WireName, scenario: str) -> None:
    assert {(over, path) for told in tell(over, scenario) for path in told.unsaid} <= UNTYPED.keys()


def test_no_untyped_member_is_listed_in_vain(tell: Telling) -> None:
    found = {
        (over, path) for over, scenario in CELLS for told in tell(over, scenario) for path in told.unsaid
    }
    assert found == UNTYPED.keys()
