"""Laws of every profile: preparing twice is preparing once, nothing given is changed, what is right stays."""

from __future__ import annotations

import asyncio
import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.engine.drive import Brought, Question, Target, inexpressible, run_script
from conformance.engine.forms import form_of
from conformance.profiles import PROFILES, Asked, profile, repaired
from conformance.scenarios import SCENARIOS, scripts
from conformance.simulator import PERSONAS, Simulator, running
from conformance.transport.client import Limits, LiveTransport, Transport
from conformance.types import WIRES, Exchange, HttpResponse, Request, WireName
from conformance.wires import wire

from .support import ALPHA, EVENTS_TYPE, JSON_TYPE, WITH_ALPHA

MODELS = (
    "reference",
    "gpt-5-mini",
    "kimi-k2",
    "gemma-3",
    "gemini-3-pro",
    "mistral-large",
    "zai-glm-4.7",
    "MiniMax-M3.1",
)
EACH = pytest.mark.parametrize("name", PROFILES)

Seen = list[tuple[Asked, Exchange]]


class _Keeper:
    """A plain client that keeps what was asked and what came."""

    def __init__(self) -> None:
        self.seen: Seen = []

    async def send(self, question: Question, target: Target, transport: Transport) -> Brought:
        close = question.close_after_events
        exchange = await transport.send(question.http, wire=target.wire.name, close_after_events=close)
        form = form_of(question, target)
        request = question.canonical or (form.request if form else Request(()))
        self.seen.append((Asked(request, target.wire.name, target.model), exchange))
        return Brought(exchange)


@pytest.fixture(scope="session")
def reference() -> dict[WireName, Seen]:
    """All that the scenarios ask of the reference over each wire, and its answers."""
    found: dict[WireName, Seen] = {}
    with (
        running(Simulator([PERSONAS["reference"]], scripts(), gap_s=0)) as simulator,
        asyncio.Runner() as runner,
    ):
        transport = LiveTransport(Limits())
        for over in WIRES:
            target = Target(
                simulator.base_url("reference", over),
                wire(over),
                "reference",
                key=PERSONAS["reference"].key,
                scripted=True,
            )
            keeper = _Keeper()
            for scenario in SCENARIOS.values():
                # The reference has no parser of calls: what its model writes for one is a leak.
                if scenario.policy or scenario.chapter == "parser":
                    continue
                if inexpressible(scenario, target.wire) is None:
                    runner.run(run_script(scenario, target, transport, keeper))
            found[over] = keeper.seen
        runner.run(transport.aclose())
    return found


@EACH
@pytest.mark.parametrize("over", WIRES)
def test_an_answer_that_conforms_is_repaired_into_itself(
    name: str, over: WireName, reference: dict[WireName, Seen]
) -> None:
    changed = [
        exchange.response.body
        for asked, exchange in reference[over]
        if exchange.response is not None
        and repaired(profile(name), exchange.response, asked, whole=exchange.ending == "complete")
        is not exchange.response
    ]
    assert changed == []


@EACH
@pytest.mark.parametrize("over", WIRES)
def test_preparing_twice_is_preparing_once(
    name: str, over: WireName, reference: dict[WireName, Seen]
) -> None:
    chosen = profile(name)
    for number, (asked, _) in enumerate(reference[over]):
        about = Asked(asked.request, over, MODELS[number % len(MODELS)])
        once = chosen.prepare(asked.request, about)
        assert chosen.prepare(once, about) == once
        body = chosen.prepare_body(wire(over).encode(once, model="m", losses=[]), about)
        assert chosen.prepare_body(body, about) == body


@EACH
def test_nothing_that_is_given_is_changed(name: str, reference: dict[WireName, Seen]) -> None:
    chosen = profile(name)
    for asked, _ in reference["openai-chat"]:
        request = copy.deepcopy(asked.request)
        body = wire("openai-chat").encode(chosen.prepare(asked.request, asked), model="m", losses=[])
        kept = copy.deepcopy(body)
        chosen.prepare_body(body, asked)
        assert (asked.request, body) == (request, kept)


KEYS = [
    "choices",
    "delta",
    "message",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "index",
    "id",
    "usage",
    "content",
    "error",
    "finish_reason",
    "role",
    "output",
    "item",
    "response",
    "type",
    "output_index",
    "reasoning_details",
    "data",
    "object",
    "text",
    "thinking",
    "completion_tokens_details",
]
STRICT = replace(WITH_ALPHA, tools=(replace(ALPHA, strict=True),), parallel_tool_calls=False)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@EACH
@settings(max_examples=12)
@given(st.lists(JSONS, min_size=1, max_size=4), st.binary(max_size=30), st.sampled_from([200, 400]))
def test_no_answer_makes_a_profile_raise(
    name: str, documents: list[object], noise: bytes, status: int
) -> None:
    events = b"".join(b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents) + noise
    for over in WIRES:
        asked = Asked(STRICT, over)
        for headers, body in (
            (EVENTS_TYPE, events),
            (JSON_TYPE, json.dumps(documents[0]).encode()),
            (JSON_TYPE, noise),
        ):
            for whole in (True, False):
                repaired(profile(name), HttpResponse(status, headers, body), asked, whole=whole)


@EACH
@settings(max_examples=12)
@given(
    body=st.dictionaries(
        st.sampled_from(["messages", "tools", "input", "text", "thinking", "contents"]), JSONS
    )
)
def test_no_body_makes_a_profile_raise(name: str, body: dict[str, object]) -> None:
    for over in WIRES:
        profile(name).prepare_body(dict(body), Asked(WITH_ALPHA, over))
