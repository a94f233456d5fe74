"""Trips of canonical requests and turns over every wire, and what is compared after them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import settings

from conformance.types import (
    WIRES,
    HttpResponse,
    Loss,
    Message,
    Part,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
)
from conformance.wires import Wire, wire

SPOKEN: dict[str, Wire] = {name: wire(name) for name in WIRES}
every_wire = pytest.mark.parametrize("name", SPOKEN)
every_pair = pytest.mark.parametrize(("first", "second"), list(product(SPOKEN, SPOKEN)))

few = settings(deadline=None, max_examples=15)
some = settings(deadline=None, max_examples=50)

WITHOUT_IDS = ("gemini", "ollama")
"""Wires that may mint ids: there a call and its results are matched by name and order."""

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = Tool("get_weather", "The weather in a city", SCHEMA)


def over(name: str, request: Request) -> tuple[Request, list[Loss]]:
    """The request after a trip over a wire, and what the wire said it lost."""
    spoken, losses = SPOKEN[name], list[Loss]()
    body = spoken.encode(request, model="m", losses=losses)
    sent = json.loads(json.dumps(body, allow_nan=False))
    return spoken.decode_request(sent, path=spoken.path("m", request.stream)), losses


def answered(name: str, *turns: Turn) -> tuple[tuple[Turn, ...], list[Loss]]:
    """The turns after a trip over a wire as an answer, and what the wire said it lost."""
    spoken, losses = SPOKEN[name], list[Loss]()
    body = spoken.encode_turns(turns, model="m", losses=losses)
    return spoken.decode(HttpResponse(200, (), json.dumps(body, allow_nan=False).encode())), losses


def asking(*messages: Message, **more: Any) -> Request:
    """A request; ``max_tokens`` is there because Anthropic must have it (Q4), with room to think."""
    return Request(messages, **{"max_tokens": 4096, "tools": (TOOL,), **more})


def meaning(losses: Sequence[Loss]) -> list[Loss]:
    return [loss for loss in losses if loss.weight == "meaning"]


def said(messages: Sequence[Message]) -> list[tuple[str, Any]]:
    """What a conversation says, apart from its form: ids by the order of calls, neighbours merged."""
    numbers: dict[str, int] = {}
    out: list[tuple[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            out.append(("result", (numbers.get(message.tool_call_id or ""), text_of(message.parts))))
            continue
        for part in message.parts:
            if isinstance(part, ToolCall):
                numbers[part.id] = len(numbers)
                out.append(("call", (numbers[part.id], part.name, json.loads(part.arguments))))
            elif isinstance(part, Text) and out and out[-1][0] == message.role:
                out[-1] = (message.role, out[-1][1] + part.text)
            elif isinstance(part, Text) and part.text:
                out.append((message.role, part.text))
    return out


def text_of(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def alike(request: Request) -> Request:
    """The request with equals the same: ``strict`` absent or false, a schema absent or empty, choice auto."""
    empty = {"type": "object", "properties": {}}
    tools = [replace(t, strict=bool(t.strict), parameters=t.parameters or empty) for t in request.tools]
    return replace(request, tools=tuple(tools), tool_choice=request.tool_choice or "auto")


def ids_of(messages: Sequence[Message]) -> list[str]:
    return [part.id for message in messages for part in message.parts if isinstance(part, ToolCall)]
