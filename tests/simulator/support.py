"""How these tests talk to a running simulator: plain HTTP, one persona at a time."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from conformance.simulator import Simulator
from conformance.types import Reasoning, Refusal, Text, ToolCall, Turn

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
            },
            "required": ["city"],
        },
    },
}
TIME: dict[str, Any] = {"type": "function", "function": {"name": "get_time"}}

SCRIPTS: Mapping[str, Turn] = {
    "plain": Turn((Text("The quick brown fox jumps over the lazy dog. Ærø 東京 😀 \u2028 end."),)),
    "call": Turn((ToolCall("ideal", "get_weather", '{"city":"Malmö","days":3}'),)),
    "parallel": Turn(
        (ToolCall("a", "get_weather", '{"city":"Paris"}'), ToolCall("b", "get_time", "{}")),
        finish_reason="tool_calls",
    ),
    "mixed": Turn((Text("Let me look."), ToolCall("a", "get_weather", '{"city":"Rome"}'))),
    "thinking": Turn((Reasoning("First, the facts."), Text("So it is."))),
    "interleaved": Turn(
        (
            Reasoning("The weather first."),
            Text("Two things."),
            ToolCall("a", "get_weather", '{"city":"Paris"}'),
            Reasoning("Now the time."),
            ToolCall("b", "get_time", "{}"),
        ),
        finish_reason="tool_calls",
    ),
    "refusal": Turn((Refusal("I can't help with that."),), finish_reason="stop"),
    "filtered": Turn((Text("I could tell"),), finish_reason="content_filter"),
    "screenshot": Turn((ToolCall("a", "computer", '{"action":"screenshot"}'),)),
    "done/1": Turn((Text("It is sunny."),)),
}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(*ids: str, **members: Any) -> dict[str, Any]:
    """An assistant message that calls ``get_weather`` once for each id."""
    calls = [
        {"id": i, "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}}
        for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **members}


def tool(call_id: str, content: Any = "cold") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


class Talk:
    """One persona of a simulator, as a client sees it."""

    def __init__(self, simulator: Simulator, persona: str, client: httpx.Client) -> None:
        self.base = simulator.base_url(persona)
        self._client = client
        self.headers = {"authorization": "Bearer sk-reference"}

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self._client.get(self.base + path, headers=self.headers, **options)

    def send(self, content: bytes, headers: Mapping[str, str] | None = None) -> httpx.Response:
        headers = self.headers if headers is None else headers
        return self._client.post(self.base + "/chat/completions", content=content, headers=headers)

    def ask(self, *messages: Any, **members: Any) -> httpx.Response:
        """Post a chat request; strings are user messages, members ``None`` are left out."""
        turns = [user(m) if isinstance(m, str) else m for m in messages]
        body = {"model": "reference", "messages": turns, **members}
        return self.send(json.dumps({k: v for k, v in body.items() if v is not None}).encode())

    def choice(self, *messages: Any, **members: Any) -> Any:
        """The first choice of an answer that must be good."""
        response = self.ask(*messages, **members)
        assert response.status_code == 200, response.text
        return response.json()["choices"][0]

    def events(self, *messages: Any, **members: Any) -> list[Any]:
        """The parsed events of a stream, without the ``[DONE]`` that must end it."""
        response = self.ask(*messages, stream=True, **members)
        assert response.status_code == 200, response.text
        blocks = response.content.decode().split("\n\n")
        assert blocks[-2:] == ["data: [DONE]", ""]
        assert all(block.startswith("data: {") for block in blocks[:-2])
        return [json.loads(block[6:]) for block in blocks[:-2]]


def deltas(events: list[Any], index: int = 0) -> list[Any]:
    return [c["delta"] for e in events for c in e["choices"] if c["index"] == index]


def exchange(base_url: str, *pieces: bytes, half_close: bool = False) -> bytes:
    """Send raw bytes, read until the server closes (or ten seconds have passed)."""
    where = urlsplit(base_url)
    assert where.hostname is not None
    with socket.create_connection((where.hostname, where.port or 80), timeout=10) as raw:
        for piece in pieces:
            raw.sendall(piece)
        if half_close:
            raw.shutdown(socket.SHUT_WR)
        answer = bytearray()
        while data := raw.recv(65536):
            answer += data
        return bytes(answer)
