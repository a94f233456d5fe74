"""Answers for the tests of the Responses wire: canonical turns, and the two ways an endpoint sends them.

Written from OpenAI's API reference, apart from the wire under test, so that one misreading cannot
hide on both sides.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.types import (
    Loss,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    ToolCall,
    Turn,
    Usage,
    WireName,
)
from conformance.wires.openai_responses import OpenAIResponses
from conformance.wires.openai_responses_stream import Assembler

WIRE = OpenAIResponses()
NAME: WireName = "openai-responses"

words = st.text(min_size=1, max_size=30)
arguments = st.one_of(
    words, st.dictionaries(words, st.one_of(words, st.integers(), st.none()), max_size=3).map(json.dumps)
)
CITED: Opaque = {"openai-responses": {"annotations": [{"type": "file_path", "file_id": "f", "index": 0}]}}
citations = st.sampled_from([None, CITED])
usages = st.one_of(st.none(), st.builds(Usage, *[st.integers(0, 10**6)] * 6))


def own(**members: Any) -> Opaque:
    """An opaque slot of this wire."""
    return {"openai-responses": members}


@st.composite
def spoken(draw: st.DrawFn) -> tuple[Part, ...]:
    """What an assistant says without opaque reasoning: parts in any order, ids unique."""
    parts: list[Part] = []
    for i in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["text", "refusal", "call", "reasoning", "custom"]))
        if kind == "text":
            parts.append(Text(draw(words), draw(citations)))
        elif kind == "refusal":
            parts.append(Refusal(draw(words)))
        elif kind == "reasoning":
            parts.append(Reasoning(draw(words), draw(st.sampled_from(["summary_text", "reasoning_text"]))))
        else:
            opaque = own(item={"type": "custom_tool_call"}) if kind == "custom" else None
            parts.append(ToolCall(f"call_{i}", draw(st.sampled_from(["f", "g"])), draw(arguments), opaque))
    return tuple(parts)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """A turn that this wire can say all of."""
    parts = draw(spoken())
    called = any(isinstance(part, ToolCall) for part in parts)
    finish = draw(st.sampled_from(["length", "content_filter", None, "tool_calls" if called else "stop"]))
    native = draw(st.sampled_from(["failed", "cancelled", "queued", None])) if finish is None else None
    return Turn(parts, finish, draw(usages), "resp_1", "m", (), native)


def without_facts(turn: Turn) -> Turn:
    return replace(turn, facts=())


def names(turn: Turn) -> list[str]:
    return [fact.name for fact in turn.facts]


# ------------------------------------------------------------------------------------------------- requests


def encode(*messages: Message, **fields: Any) -> dict[str, Any]:
    losses: list[Loss] = []
    body = WIRE.encode(Request(messages, **fields), model="m", losses=losses)
    assert losses == []
    return body


def decode(*items: Any, **fields: Any) -> Request:
    return WIRE.decode_request({"model": "m", "input": list(items), **fields})


def said(role: str, content: Any, **rest: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content, **rest}


# --------------------------------------------------------------------------------- answers as JSON, in full


def message(*content: dict[str, Any] | str, **rest: Any) -> dict[str, Any]:
    """A message item; a string is an output text."""
    parts = [text(c) if isinstance(c, str) else c for c in content]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}
    return item | rest


def text(said: str, **rest: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": said, "annotations": [], "logprobs": []} | rest


def call(call_id: str = "call_1", name: str = "f", arguments: Any = "{}", **rest: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name}
    return item | {"arguments": arguments, "status": "completed"} | rest


def reasoning(*summary: str, **rest: Any) -> dict[str, Any]:
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": s} for s in summary],
    }
    return item | rest


def answer(*output: Any, status: Any = "completed", **rest: Any) -> dict[str, Any]:
    body = {"id": "resp_1", "object": "response", "created_at": 1764448000, "status": status, "model": "m"}
    return body | {"error": None, "incomplete_details": None, "output": list(output), "usage": None} | rest


def read(body: Any) -> Turn:
    from .answers import response

    (turn,) = WIRE.decode(response(body))
    return turn


# ------------------------------------------------------------------------------------------ answers as events


def events(body: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    """The events of a stream that ends in ``body``: texts split by ``chance``, items one after the other."""
    start = body | {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    out: list[dict[str, Any]] = [
        {"type": "response.created", "response": start},
        {"type": "response.in_progress", "response": start},
    ]
    for index, item in enumerate(body["output"]):
        out += _item_events(item, index, chance)
    out.append({"type": f"response.{body['status']}", "response": body})
    return [event | {"sequence_number": i} for i, event in enumerate(out)]


def datas(events: Iterable[dict[str, Any]]) -> list[str]:
    return [json.dumps(event) for event in events]


def assemble(events: Iterable[dict[str, Any] | str]) -> Turn:
    assembler = Assembler()
    for event in events:
        assembler.feed(event if isinstance(event, str) else json.dumps(event))
    (turn,) = assembler.turns()
    return turn


_GROWS = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}


def _item_events(item: dict[str, Any], index: int, chance: random.Random) -> list[dict[str, Any]]:
    where = {"output_index": index, "item_id": item.get("id")}
    empty: dict[str, Any] = {key: "" for key in ("arguments", "input") if key in item}
    empty |= {key: [] for key in ("content", "summary") if key in item}
    began = {**item, "status": "in_progress", **empty}
    out: list[dict[str, Any]] = [{"type": "response.output_item.added", "output_index": index, "item": began}]
    if item["type"] in _GROWS:
        key, event = _GROWS[item["type"]]
        out += [{"type": f"response.{event}.delta", **where, "delta": d} for d in split(item[key], chance)]
        out.append({"type": f"response.{event}.done", **where, key: item[key]})
    for key in ("summary", "content"):
        for i, part in enumerate(item.get(key) or ()):
            out += _part_events(part, {**where, f"{key}_index": i}, chance)
    out.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return out


def _part_events(part: dict[str, Any], where: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    kind = part["type"]
    key = "refusal" if kind == "refusal" else "text"
    event = {"summary_text": "reasoning_summary_text"}.get(kind, kind)
    around = {"summary_text": "reasoning_summary_part"}.get(kind, "content_part")
    lists: dict[str, Any] = {name: [] for name in ("annotations", "logprobs") if name in part}
    more: dict[str, Any] = {"logprobs": []} if kind == "output_text" else {}
    out = [{"type": f"response.{around}.added", **where, "part": {"type": kind, key: "", **lists}}]
    for delta in split(part[key], chance):
        out.append({"type": f"response.{event}.delta", **where, "delta": delta, **more})
    for i, annotation in enumerate(part.get("annotations") or ()):
        name = "response.output_text.annotation.added"
        out.append({"type": name, **where, "annotation_index": i, "annotation": annotation})
    out.append({"type": f"response.{event}.done", **where, key: part[key], **more})
    return [*out, {"type": f"response.{around}.done", **where, "part": part}]


def split(said: str, chance: random.Random) -> list[str]:
    cuts = sorted(chance.choices(range(len(said) + 1), k=chance.randint(0, 5)))
    return [said[a:b] for a, b in zip([0, *cuts], [*cuts, len(said)], strict=True)]
