"""Where a step goes and with which headers, and what stands for the endpoint's model in it."""

from __future__ import annotations

import asyncio

import pytest

from conformance.engine.drive import WRONG_KEY, Target, perform
from conformance.simulator import Persona, Simulator
from conformance.transport.client import Limits, LiveTransport
from conformance.types import Ask, Auth, HttpRequest, Message, Raw, Reply, Request, WireName
from conformance.wires import wire

MODEL = "org/name:7b"


def sent(*steps: Raw | Ask, over: WireName = "openai-chat") -> list[Reply]:
    """The replies of an endpoint that serves ``MODEL``."""

    async def main() -> list[Reply]:
        persona = Persona("slash", model=MODEL, key="k")
        async with Simulator([persona], {}) as simulator:
            transport = LiveTransport(Limits())
            target = Target(simulator.base_url("slash", over), wire(over), MODEL, key="k")
            replies = [reply for step in steps for reply in await perform(step, ("",), target, transport)]
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


ANTHROPIC: WireName = "anthropic-messages"
HELLO = Request((Message.user("Say hello."),), max_tokens=64)


def test_what_a_question_says_in_its_headers_goes_out_beside_the_wires_own() -> None:
    (reply,) = sent(Ask(HELLO, headers=(("anthropic-beta", "b-1"),)), over=ANTHROPIC)
    headers = dict(reply.exchange.request.headers)
    assert (headers["anthropic-beta"], headers["anthropic-version"]) == ("b-1", "2023-06-01")


@pytest.mark.parametrize(
    "step",
    [
        Ask(HELLO, headers=(("Anthropic-Version", "2026-10-21"),)),
        Raw("POST", "@chat", b"{}", headers=(("Anthropic-Version", "2026-10-21"),)),
    ],
    ids=lambda step: type(step).__name__,
)
def test_a_header_of_a_steps_own_takes_the_place_of_the_wires(step: Ask | Raw) -> None:
    (reply,) = sent(step, over=ANTHROPIC)
    versions = [
        value for name, value in reply.exchange.request.headers if name.lower() == "anthropic-version"
    ]
    assert versions == ["2026-10-21"]


@pytest.mark.parametrize("auth", ["own", "wrong"])
def test_a_key_goes_as_a_bearer_token_where_the_endpoint_asks_for_that(auth: Auth) -> None:
    target = Target("http://x", wire(ANTHROPIC), MODEL, key="k", bearer=True)
    key = {"own": "k", "wrong": WRONG_KEY}[auth]
    assert target.credentials(auth) == (
        ("anthropic-version", "2023-06-01"),
        ("Authorization", f"Bearer {key}"),
    )


def test_without_a_key_nothing_is_sent_as_a_bearer_token() -> None:
    assert Target("http://x", wire("openai-chat"), MODEL, bearer=True).credentials("own") == ()
