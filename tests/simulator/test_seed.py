"""With a seed the same requests bring the same bytes, however many there are at once."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from conformance.simulator import PERSONAS, Simulator, running
from conformance.types import WIRES, Turn, WireName
from conformance.types.canonical import Reasoning, Text, ToolCall

KEY = PERSONAS["reference"].key
SCRIPTS = {"all": Turn((Reasoning("Hm."), Text("So."), ToolCall("", "get_time", "{}")))}
TOOL: dict[str, Any] = {"name": "get_time", "description": "", "parameters": {"type": "object"}}
ASKED: dict[WireName, tuple[str, dict[str, Any]]] = {
    "openai-chat": (
        "/chat/completions",
        {
            "model": "reference",
            "messages": [{"role": "user", "content": "[[all]]"}],
            "tools": [{"type": "function", "function": TOOL}],
            "stream": True,
        },
    ),
    "openai-responses": (
        "/responses",
        {
            "model": "reference",
            "input": "[[all]]",
            "tools": [{"type": "function", **TOOL}],
            "include": ["reasoning.encrypted_content"],
            "stream": True,
        },
    ),
    "anthropic-messages": (
        "/v1/messages",
        {
            "model": "reference",
            "max_tokens": 4000,
            "messages": [{"role": "user", "content": "[[all]]"}],
            "tools": [{"name": "get_time", "input_schema": {"type": "object"}}],
            "thinking": {"type": "enabled", "budget_tokens": 2000},
            "stream": True,
        },
    ),
    "gemini": (
        "/v1beta/models/reference:streamGenerateContent?alt=sse",
        {
            "contents": [{"role": "user", "parts": [{"text": "[[all]]"}]}],
            "tools": [{"functionDeclarations": [{"name": "get_time", "description": "It"}]}],
        },
    ),
    "ollama": (
        "/api/chat",
        {
            "model": "reference",
            "messages": [{"role": "user", "content": "[[all]]"}],
            "tools": [{"type": "function", "function": TOOL}],
        },
    ),
}


def headers(wire: WireName) -> dict[str, str]:
    if wire == "gemini":
        return {"x-goog-api-key": KEY}
    version = {"anthropic-version": "2023-06-01"} if wire == "anthropic-messages" else {}
    return {"authorization": f"Bearer {KEY}", **version}


def answers(seed: int | None, wire: WireName, times: int = 1) -> list[tuple[Any, bytes]]:
    path, body = ASKED[wire]
    with (
        running(Simulator([PERSONAS["reference"]], SCRIPTS, gap_s=0, seed=seed)) as simulator,
        httpx.Client(headers=headers(wire)) as client,
    ):
        got = [client.post(simulator.base_url("reference", wire) + path, json=body) for _ in range(times)]
    assert {response.status_code for response in got} == {200}, got[0].text
    return [(response.headers.raw, response.content) for response in got]


@pytest.mark.parametrize("wire", WIRES)
def test_the_same_seed_brings_the_same_bytes_and_another_seed_others(wire: WireName) -> None:
    assert answers(7, wire) == answers(7, wire)
    assert answers(7, wire) != answers(8, wire)


@pytest.mark.parametrize("wire", WIRES)
def test_without_a_seed_ids_are_fresh(wire: WireName) -> None:
    assert answers(None, wire)[0][1] != answers(None, wire)[0][1]


def test_a_request_that_is_repeated_gets_an_id_of_its_own() -> None:
    (_, first), (_, second) = answers(7, "openai-chat", times=2)
    assert first != second


def test_requests_at_once_get_what_they_get_one_after_another() -> None:
    path, body = ASKED["openai-chat"]
    bodies = [{**body, "user": f"u{i}"} for i in range(20)]

    async def ask(*, at_once: bool) -> list[bytes]:
        async with (
            Simulator([PERSONAS["reference"]], SCRIPTS, seed=1) as simulator,
            httpx.AsyncClient(headers=headers("openai-chat"), timeout=30) as client,
        ):
            posts = [client.post(simulator.base_url("reference") + path, json=one) for one in bodies]
            if at_once:
                return [response.content for response in await asyncio.gather(*reversed(posts))][::-1]
            return [(await post).content for post in posts]

    assert asyncio.run(ask(at_once=True)) == asyncio.run(ask(at_once=False))
