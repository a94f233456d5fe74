"""How these tests talk to a running simulator over Anthropic's wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from conformance.simulator import Simulator

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather in a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TIME: dict[str, Any] = {"name": "get_time", "input_schema": {"type": "object"}}
COMPUTER: dict[str, Any] = {
    "type": "computer_20250124",
    "name": "computer",
    "display_width_px": 800,
    "display_height_px": 600,
}
THINKING: dict[str, Any] = {"type": "enabled", "budget_tokens": 1024}
EDITING = "context-management-2025-06-27"
NEW, OLD = "2026-10-21", "2023-06-01"


def user(*content: Any) -> dict[str, Any]:
    """A user message: one text, or blocks."""
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {**user(*content), "role": "assistant"}


def system(*content: Any) -> dict[str, Any]:
    return {**user(*content), "role": "system"}


def text(words: str, **members: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **members}


def use(call_id: str, name: str = "get_weather", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any = "cold", **members: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}


class Messages:
    """A persona of a simulator, as a client of Anthropic's API sees it."""

    def __init__(self, simulator: Simulator, client: httpx.Client, persona: str = "reference") -> None:
        self._base = simulator.base_url(persona, "anthropic-messages")
        self._client = client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._client.get(self._base + path, headers=_headers(NEW, "") | headers)

    def send(self, content: bytes, headers: Mapping[str, str]) -> httpx.Response:
        return self._client.post(self._base + "/v1/messages", content=content, headers=headers)

    def ask(self, *messages: Any, version: str = NEW, beta: str = "", **members: Any) -> httpx.Response:
        """Post a request; strings are user messages, members ``None`` are left out."""
        turns = [user(message) if isinstance(message, str) else message for message in messages]
        body = {"model": "reference", "max_tokens": 4096, "messages": turns, **members}
        content = json.dumps({name: value for name, value in body.items() if value is not None})
        return self.send(content.encode(), _headers(version, beta))

    def message(self, *messages: Any, **members: Any) -> Any:
        """The message of an answer that must be good."""
        response = self.ask(*messages, **members)
        assert response.status_code == 200, response.text
        return response.json()

    def events(self, *messages: Any, **members: Any) -> list[Any]:
        """The documents of a stream; each event must be named as its document says."""
        response = self.ask(*messages, stream=True, **members)
        assert response.status_code == 200, response.text
        blocks = response.content.decode().split("\n\n")
        assert blocks.pop() == ""
        named = [block.partition("\ndata: ") for block in blocks]
        documents = [json.loads(data) for _, _, data in named]
        assert [name for name, _, _ in named] == [f"event: {document['type']}" for document in documents]
        return documents

    def error(self, *messages: Any, status: int = 400, **members: Any) -> str:
        """The message of a refusal, whose shape is checked."""
        response = self.ask(*messages, **members)
        assert response.status_code == status, response.text
        return error_message(response)


def error_message(response: httpx.Response) -> str:
    """The message of Anthropic's error document."""
    document = response.json()
    assert document["type"] == "error"
    assert document["request_id"] == response.headers["request-id"]
    assert response.headers.get_list("request-id") == [document["request_id"]]
    assert set(document) == {"type", "error", "request_id"}
    assert set(document["error"]) == {"type", "message"}
    message = document["error"]["message"]
    assert isinstance(message, str)
    return message


def _headers(version: str, beta: str) -> dict[str, str]:
    headers = {"x-api-key": "sk-reference", "anthropic-version": version}
    return headers | {"anthropic-beta": beta} if beta else headers


def assembled(events: list[Any]) -> Any:
    """The message that the events of a stream add up to, by Anthropic's "Streaming messages"."""
    message = events[0]["message"]
    partial: dict[int, str] = {}
    for event in events[1:]:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                _grow(message["content"][event["index"]], event["delta"], partial, event["index"])
            case "content_block_stop" if event["index"] in partial:
                message["content"][event["index"]]["input"] = json.loads(partial[event["index"]] or "{}")
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
                message |= {name: event[name] for name in ("context_management",) if name in event}
            case _:
                assert event["type"] in ("ping", "content_block_stop", "message_stop")
    return message


def _grow(block: dict[str, Any], delta: dict[str, Any], partial: dict[int, str], index: int) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "input_json_delta":
            partial[index] = partial.get(index, "") + delta["partial_json"]
        case other:
            raise AssertionError(other)
