"""Whole exchanges of the ``openai-responses`` wire from a few words: the material of its rules' examples.

The defaults are clean in every published reading: a response has the members that any of them demands.
A mapping patches the member it is named for, and ``ABSENT`` takes a member away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.rules import eventlists
from conformance.rules.eventlists import Event, framed
from conformance.rules.examples import (
    CREATED,
    MODEL,
    WEATHER_SCHEMA,
    Exchanges,
    Patch,
    conversation,
    dumped,
    exchange,
    patched,
)
from conformance.types import Ending, Expect, WireName

WIRES: tuple[WireName, ...] = ("openai-responses",)
USAGE: dict[str, Any] = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 12,
}
DONE_MARKER = b"data: [DONE]\n\n"


def tool(name: str = "get_weather", **more: Any) -> dict[str, Any]:
    """A function tool."""
    return {"type": "function", "name": name, "parameters": WEATHER_SCHEMA, "strict": True, **more}


def output_text(text: Any = "Hello.", **more: Any) -> dict[str, Any]:
    """A part of a message."""
    return patched({"type": "output_text", "text": text, "annotations": [], "logprobs": []}, more)


def message(*parts: Any, **more: Any) -> dict[str, Any]:
    """A message item; the parts are one text unless given."""
    content = list(parts) or [output_text()]
    base = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": content,
    }
    return patched(base, more)


def call(number: int = 1, arguments: Any = '{"city":"Oslo"}', **more: Any) -> dict[str, Any]:
    """A function call item."""
    base = {
        "type": "function_call",
        "id": f"fc_{number}",
        "status": "completed",
        "call_id": f"call_{number}",
        "name": "get_weather",
        "arguments": arguments,
    }
    return patched(base, more)


def custom_call(**more: Any) -> dict[str, Any]:
    """A call of a custom tool."""
    base = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "ring", "input": "abc"}
    return patched({**base, "status": "completed"}, more)


def reasoning(*content: str, summary: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A reasoning item with these texts as its content."""
    base: dict[str, Any] = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": text} for text in summary],
    }
    if content:
        base["content"] = [{"type": "reasoning_text", "text": text} for text in content]
    return patched(base, more)


def response(*items: Any, **top: Any) -> dict[str, Any]:
    """A response object."""
    base = {
        "id": "resp_1",
        "object": "response",
        "created_at": CREATED,
        "completed_at": CREATED + 1,
        "status": "completed",
        "background": False,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "model": MODEL,
        "output": list(items),
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": USAGE,
    }
    return patched(base, top)


def answer(
    *items: Any,
    asked: Patch | None = None,
    raw: bytes | None = None,
    http: int = 200,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    body: Any = None,
    **top: Any,
) -> Exchanges:
    """A request and its whole answer under a status of ``http``.

    ``top`` patches the response, ``body`` replaces it.
    """
    request = _asked(items, asked)
    whole = response(*(items or (message(),)), **{**_echo(request), **top}) if body is None else body
    return exchange(
        request=request,
        body=dumped(whole) if raw is None else raw,
        status=http,
        headers=headers,
        path="/responses",
        probe=probe,
        expect=expect,
        wire="openai-responses",
    )


def error(
    status: int = 400,
    *,
    asked: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "refusal",
) -> Exchanges:
    """A request that is refused."""
    refusal = {"message": "Bad.", "type": "invalid_request_error", "param": None, "code": None}
    return answer(asked=asked, body={"error": refusal}, http=status, probe=probe, expect=expect)


# ------------------------------------------------------------------------------------------- streams


def told(*items: Any, asked: Patch | None = None, **top: Any) -> list[Event]:
    """The events that stream these items; ``top`` patches the response at the end."""
    items = items or (message(),)
    echo = _echo(_asked(items, asked))
    begun = response(**{**echo, "status": "in_progress", "completed_at": None, "usage": None})
    ended = response(*items, **{**echo, **top})
    events: list[Event] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(items):
        events += [{**event, "output_index": index} for event in _of_item(item)]
    events.append({"type": f"response.{ended.get('status')}", "response": ended})
    return numbered(events)


def numbered(events: Sequence[Event]) -> list[Event]:
    """The events with their sequence numbers, from 0."""
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def without(events: Sequence[Event], type: str, place: int = 0) -> list[Event]:
    """The events without one of that type, numbered anew."""
    return numbered(eventlists.without(events, type, place))


def moved(events: Sequence[Event], type: str, to: int) -> list[Event]:
    """The events with the first one of that type elsewhere, numbered anew."""
    return numbered(eventlists.moved(events, type, to))


def with_event(events: Sequence[Event], to: int, **event: Any) -> list[Event]:
    """The events with one more, numbered anew."""
    return numbered(eventlists.with_event(events, to, **event))


def stream(
    events: Sequence[Event] | None = None,
    *,
    asked: Patch | None = None,
    end: bytes = b"",
    named: bool = True,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
) -> Exchanges:
    """A request and its streamed answer, which is a short text unless given. ``end`` follows the events."""
    events = told(asked=asked) if events is None else events
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    return exchange(
        request={**_asked(items, asked), "stream": True},
        body=b"".join(framed(event, named) for event in events) + end,
        headers={"content-type": "text/event-stream; charset=utf-8"},
        path="/responses",
        probe=probe,
        expect=expect,
        ending=ending,
        wire="openai-responses",
    )


def open_responses(events: Sequence[Event], **how: Any) -> Exchanges:
    """The same events in Open Responses' words: the marker at the end, other names for raw reasoning."""
    renamed = [
        {**event, "type": event["type"].replace("response.reasoning_text.", "response.reasoning.")}
        for event in events
    ]
    return stream(renamed, **{"end": DONE_MARKER, **how})


def failing(error: Patch) -> list[Event]:
    """The events of a stream that breaks while it thinks: an error with these members, and the end."""
    failed = {"code": "server_error", "message": "It broke."}
    begun = told(reasoning("Greet."), message())[:5]
    end = {"type": "response.failed", "response": response(status="failed", error=failed, usage=None)}
    return numbered([*begun, {"type": "error", **error}, end])


def open_run(*others: Exchanges) -> Exchanges:
    """A stream that only Open Responses has the names and the error of, and then these exchanges."""
    nested = {"type": "server_error", "code": "oom", "message": "It broke.", "param": None}
    return conversation(open_responses(failing({"error": nested})), *others)


def _of_item(item: dict[str, Any]) -> list[Event]:
    """The events of one item, without its ``output_index``."""
    about = {"item_id": item.get("id")}
    body: list[Event] = []
    empty: dict[str, Any] = {"status": "in_progress"} if "status" in item else {}
    match item.get("type"):
        case "function_call":
            empty["arguments"] = ""
            body = _pieces("response.function_call_arguments", item, "arguments", **about)
            body[-1]["name"] = item.get("name")
        case "custom_tool_call":
            empty["input"] = ""
            body = _pieces("response.custom_tool_call_input", item, "input", **about)
        case "message":
            empty["content"] = []
            for place, part in enumerate(item["content"]):
                body += _of_part(part, {**about, "content_index": place})
        case "reasoning":
            empty |= {"summary": []} | ({"content": []} if "content" in item else {})
            for place, part in enumerate(item.get("content") or ()):
                where = {**about, "content_index": place}
                body += _pieces("response.reasoning_text", part, "text", **where)
            for place, part in enumerate(item["summary"]):
                where = {**about, "summary_index": place}
                body += [
                    {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}, **where},
                    *_pieces("response.reasoning_summary_text", part, "text", **where),
                    {"type": "response.reasoning_summary_part.done", "part": part, **where},
                ]
    return [
        {"type": "response.output_item.added", "item": {**item, **empty}},
        *body,
        {"type": "response.output_item.done", "item": item},
    ]


def _of_part(part: dict[str, Any], where: dict[str, Any]) -> list[Event]:
    """The events of one part of a message."""
    refusal = part["type"] == "refusal"
    name, whole = ("response.refusal", "refusal") if refusal else ("response.output_text", "text")
    extra: dict[str, Any] = {} if refusal else {"logprobs": []}
    body = _pieces(name, part, whole, **where)
    notes = [
        {"type": f"{name}.annotation.added", "annotation_index": place, "annotation": note, **where}
        for place, note in enumerate(part.get("annotations") or ())
    ]
    return [
        {
            "type": "response.content_part.added",
            "part": {**part, whole: "", **({} if refusal else {"annotations": []})},
            **where,
        },
        *({**event, **extra} for event in body[:-1]),
        *notes,
        {**body[-1], **extra},
        {"type": "response.content_part.done", "part": part, **where},
    ]


def _pieces(name: str, holder: dict[str, Any], member: str, **where: Any) -> list[Event]:
    """A text in two deltas, and its end."""
    text = holder[member]
    middle = len(text) // 2
    deltas = [piece for piece in (text[:middle], text[middle:]) if piece]
    told_in = [{"type": f"{name}.delta", "delta": piece, **where} for piece in deltas]
    return [*told_in, {"type": f"{name}.done", member: text, **where}]


def _asked(items: Sequence[Any], asked: Patch | None) -> dict[str, Any]:
    calls = [item for item in items if isinstance(item, dict) and item.get("type") == "function_call"]
    base: dict[str, Any] = {"model": MODEL, "input": [{"role": "user", "content": "Say hello."}]}
    return patched(base | ({"tools": [tool()]} if calls else {}), asked or {})


def _echo(request: Patch) -> dict[str, Any]:
    """The members of a response that repeat the request."""
    repeated = ("tools", "tool_choice", "temperature", "top_p", "metadata", "parallel_tool_calls")
    return {name: request[name] for name in repeated if name in request}
