"""How these tests talk to the simulator in Ollama's words."""

from __future__ import annotations

import json
from typing import Any

import httpx

from conformance.simulator import Simulator

from .support import TIME, WEATHER, user

TOOLS = [WEATHER, TIME]


def called(*names: str, **members: Any) -> dict[str, Any]:
    """An assistant message that calls each function once."""
    calls = [{"function": {"name": name, "arguments": {}, **members}} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(name: str | None, content: str = "cold", **members: Any) -> dict[str, Any]:
    label = {} if name is None else {"tool_name": name}
    return {"role": "tool", "content": content, **label, **members}


class Ollama:
    """The reference persona, spoken to over plain HTTP and without a key."""

    def __init__(self, simulator: Simulator, client: httpx.Client) -> None:
        self.base = simulator.base_url("reference", "ollama")
        self._client = client

    def get(self, path: str) -> httpx.Response:
        return self._client.get(self.base + path)

    def post(self, path: str, body: Any) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._client.post(self.base + path, content=content)

    def ask(self, *messages: Any, **members: Any) -> httpx.Response:
        """Ask for a whole answer, unless a member says otherwise; strings are user messages."""
        turns = [user(message) if isinstance(message, str) else message for message in messages]
        return self.post("/api/chat", {"model": "reference", "messages": turns, "stream": False, **members})

    def answer(self, *messages: Any, **members: Any) -> Any:
        """An answer that must be good."""
        response = self.ask(*messages, **members)
        assert response.status_code == 200, response.text
        return response.json()

    def lines(self, *messages: Any, **members: Any) -> list[Any]:
        """The objects of a stream of lines."""
        response = self.ask(*messages, stream=True, **members)
        assert response.status_code == 200, response.text
        lines = response.content.decode().split("\n")
        assert lines[-1] == ""
        return [json.loads(line) for line in lines[:-1]]
