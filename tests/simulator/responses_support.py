"""How these tests talk to a running simulator over OpenAI's Responses wire."""

from __future__ import annotations

import json
from typing import Any

import httpx

from conformance.simulator import Simulator

from .support import WEATHER as NESTED

WEATHER: dict[str, Any] = {"type": "function", "strict": False, **NESTED["function"]}
TIME: dict[str, Any] = {"type": "function", "name": "get_time", "parameters": None, "strict": False}
TOOLS = [WEATHER, TIME]


def message(role: str, *content: Any, **members: Any) -> dict[str, Any]:
    """A message item: one text, or parts."""
    parts = content[0] if isinstance(content[0], str) else list(content)
    return {"type": "message", "role": role, "content": parts, **members}


def call(call_id: str, name: str = "get_weather", **arguments: Any) -> dict[str, Any]:
    spelled = json.dumps(arguments, separators=(",", ":"))
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": spelled}


def output(call_id: str, said: Any = "cold", **members: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": said, **members}


class Responses:
    """A persona of a simulator, as a client of the Responses API sees it."""

    def __init__(self, simulator: Simulator, client: httpx.Client, persona: str = "reference") -> None:
        self._url = simulator.base_url(persona, "openai-responses") + "/responses"
        self._client = client

    def ask(self, given: Any = None, **members: Any) -> httpx.Response:
        """Post a request; members ``None`` are left out."""
        body = {"model": "reference", "input": given, **members}
        return self.send({name: value for name, value in body.items() if value is not None})

    def send(self, body: Any, key: str = "sk-reference") -> httpx.Response:
        headers = {"authorization": f"Bearer {key}"}
        return self._client.post(self._url, content=json.dumps(body).encode(), headers=headers)

    def response(self, given: Any = None, **members: Any) -> Any:
        """The document of an answer that must be good."""
        answered = self.ask(given, **members)
        assert answered.status_code == 200, answered.text
        return answered.json()

    def events(self, given: Any = None, **members: Any) -> list[Any]:
        """The documents of a stream; each event must be named and numbered."""
        answered = self.ask(given, stream=True, **members)
        assert answered.status_code == 200, answered.text
        blocks = answered.content.decode().split("\n\n")
        assert blocks.pop() == ""
        named = [block.partition("\ndata: ") for block in blocks]
        documents = [json.loads(data) for _, _, data in named]
        assert [name for name, _, _ in named] == [f"event: {document['type']}" for document in documents]
        assert [document["sequence_number"] for document in documents] == list(range(len(documents)))
        return documents

    def error(self, given: Any = None, status: int = 400, **members: Any) -> Any:
        """The error of a refusal."""
        refused = self.ask(given, **members)
        assert refused.status_code == status, refused.text
        error = refused.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error


def assembled(events: list[Any]) -> list[Any]:
    """The output that the events of a stream add up to, from their deltas."""
    items: list[Any] = []
    for event in events:
        kind = event["type"].removeprefix("response.")
        item: Any = items[event["output_index"]] if "item_id" in event else None
        match kind:
            case "output_item.added":
                assert event["output_index"] == len(items)
                items.append(json.loads(json.dumps(event["item"])))
            case "content_part.added":
                assert event["content_index"] == len(item["content"])
                item["content"].append(event["part"])
            case "reasoning_summary_part.added":
                assert event["summary_index"] == len(item["summary"])
                item["summary"].append(event["part"])
            case "output_text.delta":
                part = item["content"][event["content_index"]]
                part["text"] += event["delta"]
                part["logprobs"] += event["logprobs"]
            case "refusal.delta":
                item["content"][event["content_index"]]["refusal"] += event["delta"]
            case "reasoning_summary_text.delta":
                item["summary"][event["summary_index"]]["text"] += event["delta"]
            case "function_call_arguments.delta":
                item["arguments"] += event["delta"]
            case "output_item.done":
                items[event["output_index"]]["status"] = event["item"]["status"]
            case _:
                assert kind.endswith((".done", "created", "in_progress", "completed", "incomplete"))
    return items
