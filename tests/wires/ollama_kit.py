"""Ollama's forms for the tests: written from its documents, apart from the wire under test."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from conformance.types import (
    HttpResponse,
    Image,
    JsonSchemaFormat,
    Loss,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
    Usage,
)
from conformance.wires.ollama import Ollama
from conformance.wires.schemas import is_strict

from .gemini_kit import PNG, arguments, objects, words

WIRE = Ollama()
NDJSON = (("Content-Type", "application/x-ndjson"),)
JSON_TYPE = (("Content-Type", "application/json; charset=utf-8"),)
AT = "2026-01-01T00:00:00Z"
SPELLING = "message.thinking"

tool_names = st.sampled_from(["f", "get_weather", "größe"])
pictures = st.sampled_from(
    [Image(f"data:image/png;base64,{PNG}"), Image("data:application/octet-stream;base64,AAAA")]
)


def encode(*messages: Message, **fields: Any) -> dict[str, Any]:
    return WIRE.encode(Request(messages, **fields), model="m", losses=[])


def losses_of(*messages: Message, **fields: Any) -> list[tuple[str, str]]:
    losses: list[Loss] = []
    WIRE.encode(Request(messages, **fields), model="m", losses=losses)
    return [(loss.path, loss.weight) for loss in losses]


def response(body: Any, status: int = 200, headers: Any = JSON_TYPE) -> HttpResponse:
    return HttpResponse(status, headers, body if isinstance(body, bytes) else json.dumps(body).encode())


def line(message: Any = None, **rest: Any) -> dict[str, Any]:
    """A line of a stream; ``message`` is what it says beside its role."""
    said = {"role": "assistant", "content": ""} | (message or {})
    return {"model": "m", "created_at": AT, "message": said, "done": False} | rest


def last(**rest: Any) -> dict[str, Any]:
    return line(done=True, done_reason="stop", **rest)


def call(name: Any = "f", arguments: Any = None, **rest: Any) -> dict[str, Any]:
    function = {"name": name} | ({} if arguments is None else {"arguments": arguments})
    return {"function": function} | rest


def ndjson(lines: Iterable[Any]) -> bytes:
    return "".join(f"{entry if isinstance(entry, str) else json.dumps(entry)}\n" for entry in lines).encode()


def assemble(*lines: Any) -> Turn:
    (turn,) = WIRE.decode(response(ndjson(lines), headers=NDJSON))
    return turn


def facts(turn: Turn) -> list[tuple[str, str]]:
    return [(fact.name, fact.path) for fact in turn.facts]


@st.composite
def said_parts(draw: st.DrawFn, *, thinking: bool = False) -> list[Part]:
    parts: list[Part] = []
    if thinking and draw(st.booleans()):
        parts.append(Reasoning(draw(words), SPELLING))
    if draw(st.booleans()):
        parts.append(Text(draw(words)))
    return parts + draw(st.lists(pictures, max_size=2))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Messages of the canonical subset."""
    messages: list[Message] = []
    count = 0
    for role in draw(st.lists(st.sampled_from(["system", "user", "assistant"]), min_size=1, max_size=6)):
        if role != "assistant":
            messages.append(Message(role, tuple(draw(said_parts()))))  # type: ignore[arg-type]
            continue
        if messages and messages[-1].role == "assistant":
            continue
        calls = []
        for _ in range(draw(st.integers(0, 3))):
            calls.append(ToolCall(f"call_{count}", draw(tool_names), draw(arguments)))
            count += 1
        messages.append(Message("assistant", (*draw(said_parts(thinking=True)), *calls)))
        silent: set[str] = set()
        for each in calls:
            if draw(st.booleans()) and each.name not in silent:
                messages.append(Message("tool", (Text(draw(words)),), each.id))
            else:
                silent.add(each.name)
    return tuple(messages)


tools = st.lists(
    st.builds(Tool, tool_names, st.sampled_from(["", "Does it."]), objects.filter(bool)),
    max_size=2,
    unique_by=lambda tool: tool.name,
).map(tuple)
extras = st.fixed_dictionaries(
    {},
    optional={
        "top_p": st.floats(0, 1),
        "seed": st.integers(),
        "presence_penalty": st.floats(-2, 2),
        "frequency_penalty": st.floats(-2, 2),
        "logprobs": st.booleans(),
        "top_logprobs": st.integers(0, 20),
        "reasoning_effort": st.sampled_from(["none", "low", "medium", "high"]),
    },
)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    messages = draw(conversations())
    schema = draw(st.one_of(st.none(), objects.filter(bool)))
    return Request(
        messages,
        tools=draw(tools),
        response_format=None if schema is None else JsonSchemaFormat("response", schema, is_strict(schema)),
        stream=draw(st.booleans()),
        max_tokens=draw(st.one_of(st.none(), st.integers(0, 10**6))),
        temperature=draw(st.one_of(st.none(), st.floats(0, 2))),
        stop=draw(st.one_of(st.none(), st.lists(words, max_size=2).map(tuple))),
        echo_reasoning=any(isinstance(part, Reasoning) for m in messages for part in m.parts),
        extra=draw(extras),
        native=draw(st.sampled_from([{}, {"ollama": {"keep_alive": "5m", "options": {"num_ctx": 4096}}}])),
    )


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    parts = draw(said_parts(thinking=True))
    calls = [ToolCall(f"c{i}", draw(tool_names), draw(arguments)) for i in range(draw(st.integers(0, 3)))]
    counts = draw(st.one_of(st.none(), st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))))
    own = "tool_calls" if calls else "stop"
    reason, native = draw(st.sampled_from([(own, None), ("length", None), (own, "load"), (None, None)]))
    usage = None if counts is None else Usage(*counts, sum(counts))
    return Turn((*parts, *calls), reason, usage, None, "m", (), native)


def lines(body: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    """A whole answer as the lines of a stream: texts split, calls together or apart, by ``chance``."""
    message = body["message"]
    said: list[dict[str, Any]] = []
    for key in ("thinking", "content"):
        text = message.get(key, "")
        cuts = sorted(chance.choices(range(len(text) + 1), k=chance.randint(0, 4)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        said += [{"content": "", key: piece} for piece in pieces if piece]
    said += [{"content": "", "images": [picture]} for picture in message.get("images", ())]
    calls = message.get("tool_calls", [])
    said += [{"content": "", "tool_calls": [each]} for each in calls] if chance.random() < 0.5 else []
    if calls and "tool_calls" not in (said[-1] if said else {}):
        said.append({"content": "", "tool_calls": calls})
    head = {key: body[key] for key in ("model", "created_at")}
    out = [{**head, "message": {"role": "assistant", **entry}, "done": False} for entry in said]
    tail = {key: value for key, value in body.items() if key not in ("message",)}
    return [*out, {**tail, "message": {"role": "assistant", "content": ""}}]
