"""Requests as a profile sends them, answers as the client behind it gets them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from conformance.profiles import Asked, profile, repaired
from conformance.types import HttpResponse, Message, Reasoning, Request, Text, Tool, ToolCall, WireName
from conformance.wires import wire

ALPHA = Tool("alpha", "First.", {"type": "object", "properties": {"a": {"type": "string"}}})
BETA = Tool("beta", "Second.", {"type": "object", "properties": {}})
HELLO = Request((Message.user("Hello."),))
WITH_ALPHA = Request((Message.user("Call alpha."),), tools=(ALPHA, BETA))
CALL = ToolCall("c1", "alpha", "{}")
JSON_TYPE = (("content-type", "application/json"),)
EVENTS_TYPE = (("content-type", "text/event-stream"),)


def said(text: str, *calls: ToolCall, thought: str = "") -> Message:
    """An assistant's message."""
    parts = (*((Reasoning(thought),) if thought else ()), *((Text(text),) if text else ()), *calls)
    return Message("assistant", parts)


def result(call: ToolCall, text: str = "ok") -> Message:
    """What a tool answered."""
    return Message.tool(call, text)


def sent(name: str, request: Request, model: str = "m", over: WireName = "openai-chat") -> dict[str, Any]:
    """The body that a profile sends for a request."""
    chosen, asked = profile(name), Asked(request, over, model)
    body = wire(over).encode(chosen.prepare(request, asked), model=model, losses=[])
    return chosen.prepare_body(body, asked)


def sent_for(name: str, body: dict[str, Any], model: str = "m", over: WireName = "openai-chat") -> Any:
    """The body that a profile makes of a body, without a canonical request behind it."""
    return profile(name).prepare_body(body, Asked(wire(over).decode_request(dict(body)), over, model))


def whole(name: str, document: Any, request: Request = WITH_ALPHA, over: WireName = "openai-chat") -> Any:
    """A whole answer as the client behind a profile gets it."""
    response = HttpResponse(200, JSON_TYPE, json.dumps(document).encode())
    return json.loads(repaired(profile(name), response, Asked(request, over)).body)


def message(name: str, given: dict[str, Any], reason: Any = "stop", request: Request = WITH_ALPHA) -> Any:
    """The choice that a client behind a profile gets for a message."""
    return whole(name, completion(given, reason), request)["choices"][0]


def completion(given: dict[str, Any], reason: Any = "stop") -> dict[str, Any]:
    """A whole Chat answer with one message."""
    choice = {"index": 0, "message": {"role": "assistant", **given}, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chunk(delta: Any = None, reason: Any = None, **more: Any) -> dict[str, Any]:
    """A chunk of a Chat stream."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**base, "choices": [choice], **more}


def call(**members: Any) -> dict[str, Any]:
    """A delta that holds one piece of a call."""
    return {"tool_calls": [members]}


START = chunk({"role": "assistant", "content": ""})
END = chunk({}, "tool_calls")
STOP = chunk({}, "stop")
WHOLE_CALL = call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": '{"a":"b"}'})
ONE = [("c1", "alpha", '{"a":"b"}')]
TWO = [("c1", "alpha", "{}"), ("c2", "beta", "{}")]
"""The calls of a stream, as `told_calls` gives them: of `WHOLE_CALL`, and of two."""
NAMED_LATE = [
    call(index=0, id="c1", function={"arguments": '{"a":'}),
    call(index=0, function={"name": "alpha"}),
    call(index=0, function={"arguments": '"b"}'}),
]


def framed(events: Iterable[Any]) -> bytes:
    """Events as a stream's bytes; strings stand as they are."""
    texts = (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def streamed(
    name: str, events: Iterable[Any] | bytes, request: Request = WITH_ALPHA, *, whole: bool = True
) -> list[Any]:
    """The events that the client behind a profile gets; the end marker stays a string."""
    body = events if isinstance(events, bytes) else framed(events)
    response = HttpResponse(200, EVENTS_TYPE, body)
    return read(repaired(profile(name), response, Asked(request), whole=whole).body)


def read(body: bytes) -> list[Any]:
    """The events of a plainly framed stream."""
    datas = [block.removeprefix("data: ") for block in body.decode().split("\n\n") if block]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


def deltas(events: Sequence[Any]) -> list[Any]:
    """The deltas of the first choice."""
    return [e["choices"][0]["delta"] for e in events if isinstance(e, dict) and e.get("choices")]


def reasons(events: Sequence[Any]) -> list[Any]:
    """Why each chunk says that the answer ended."""
    return [e["choices"][0]["finish_reason"] for e in events if isinstance(e, dict) and e.get("choices")]


def told_calls(events: Sequence[Any]) -> list[tuple[str, str, str]]:
    """The calls of a stream as (id, name, arguments), stitched by index alone."""
    found: dict[int, list[str]] = {}
    for delta in deltas(events):
        for piece in delta.get("tool_calls", ()):
            one = found.setdefault(
                piece["index"], [piece.get("id", ""), piece["function"].get("name", ""), ""]
            )
            one[2] += piece["function"].get("arguments", "")
    return [(one[0], one[1], one[2]) for one in found.values()]


USER = Message.user("Hello.")
LOOP = Request((USER, said("", CALL), result(CALL)), tools=(ALPHA,))
THOUGHT_LOOP = replace(LOOP, messages=(USER, said("", CALL, thought="hm"), result(CALL)))


def asked(**members: Any) -> Request:
    """A plain request with further words of Chat."""
    return replace(HELLO, extra=members)


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def assistant(body: dict[str, Any]) -> dict[str, Any]:
    """The first assistant message."""
    return next(message for message in body["messages"] if message["role"] == "assistant")
