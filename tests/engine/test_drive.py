"""Where a raw step goes, and what stands for the endpoint's model in it."""

from __future__ import annotations

import asyncio

import pytest

from conformance.engine.drive import Target, perform
from conformance.simulator import Persona, Simulator
from conformance.transport.client import Limits, LiveTransport
from conformance.types import HttpRequest, Raw, Reply
from conformance.wires import wire

MODEL = "org/name:7b"


def sent(*steps: Raw) -> list[Reply]:
    """The replies of an endpoint that serves ``MODEL``."""

    async def main() -> list[Reply]:
        persona = Persona("slash", model=MODEL, key="k")
        async with Simulator([persona], {}) as simulator:
            transport = LiveTransport(Limits())
            target = Target(simulator.base_url("slash"), wire("openai-chat"), MODEL, key="k")
            replies = [reply for step in steps for reply in await perform(step, (), target, transport)]
            await transport.aclose()
            return replies

    return asyncio.run(main())


def request(step: Raw) -> HttpRequest:
    return sent(step)[0].exchange.request


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/nope", "/v1/nope"),
        ("/@chat", "/v1/@chat"),
        ("@chat", "/v1/chat/completions"),
        ("@models", "/v1/models"),
        ("@models/no-such-model", "/v1/models/no-such-model"),
        ("@models/{{model}}", "/v1/models/org%2Fname%3A7b"),
    ],
)
def test_a_path_is_relative_or_begins_with_the_wires_own(path: str, url: str) -> None:
    assert request(Raw("GET", path)).url.endswith(url)


def test_a_model_with_a_slash_is_one_segment_that_the_endpoint_finds() -> None:
    (reply,) = sent(Raw("GET", "@models/{{model}}"))
    response = reply.exchange.response
    assert response is not None
    assert (response.status, f'"id":"{MODEL}"'.encode() in response.body) == (200, True)


def test_in_a_body_the_model_is_the_inside_of_a_json_string() -> None:
    assert request(Raw("POST", "@chat", b'{"model": "{{model}}"}')).body == b'{"model": "org/name:7b"}'
