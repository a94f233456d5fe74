"""How these tests talk to the simulator in Gemini's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from conformance.simulator import Simulator

KEY = {"x-goog-api-key": "sk-reference"}
WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER", "minimum": 1, "maximum": 7}},
        "required": ["city"],
    },
}
TIME: dict[str, Any] = {
    "name": "get_time",
    "parametersJsonSchema": {"type": "object", "properties": {}, "additionalProperties": False},
}
TOOLS = [{"functionDeclarations": [WEATHER, TIME]}]


def user(*parts: Any) -> dict[str, Any]:
    """A user content; a string is a text part."""
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(name: str, **members: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **members}}


def answer(name: str, response: Any = None, **members: Any) -> dict[str, Any]:
    response = {"output": "cold"} if response is None else response
    return {"functionResponse": {"name": name, "response": response, **members}}


class Gemini:
    """The reference persona, spoken to over plain HTTP."""

    def __init__(self, simulator: Simulator, client: httpx.Client) -> None:
        self.base = simulator.base_url("reference", "gemini")
        self._client = client

    def get(self, path: str, headers: Mapping[str, str] = KEY) -> httpx.Response:
        return self._client.get(self.base + path, headers=headers)

    def post(self, path: str, body: Any, headers: Mapping[str, str] = KEY) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._client.post(self.base + path, content=content, headers=headers)

    def ask(self, *contents: Any, **members: Any) -> httpx.Response:
        """Ask for a whole answer; strings are user contents."""
        return self.post("/v1beta/models/reference:generateContent", self.body(*contents, **members))

    def candidate(self, *contents: Any, **members: Any) -> Any:
        """The first candidate of an answer that must be good."""
        response = self.ask(*contents, **members)
        assert response.status_code == 200, response.text
        return response.json()["candidates"][0]

    def chunks(self, *contents: Any, **members: Any) -> list[Any]:
        """The chunks of a stream of events."""
        path = "/v1beta/models/reference:streamGenerateContent?alt=sse"
        response = self.post(path, self.body(*contents, **members))
        assert response.status_code == 200, response.text
        blocks = response.content.decode().split("\n\n")
        assert blocks[-1] == ""
        assert all(block.startswith("data: {") for block in blocks[:-1])
        return [json.loads(block[6:]) for block in blocks[:-1]]

    @staticmethod
    def body(*contents: Any, **members: Any) -> dict[str, Any]:
        turns = [user(content) if isinstance(content, str) else content for content in contents]
        return {"contents": turns, **members}


def parts(candidate: Any) -> list[Any]:
    found: list[Any] = candidate["content"].get("parts", [])
    return found


def texts(chunks: list[Any], thought: bool = False) -> str:
    """The text of a stream's first candidate, or its thoughts."""
    found = [
        part["text"]
        for chunk in chunks
        for candidate in chunk["candidates"]
        for part in parts(candidate)
        if candidate["index"] == 0 and "text" in part and part.get("thought", False) == thought
    ]
    return "".join(found)
