"""Canonical requests as Responses bodies, and back.

``decode_request`` of what ``encode`` says gives the same request on the canonical subset: no empty text but
those that carry an opaque, assistant messages apart and not empty, reasoning spelled ``summary_text`` or
``reasoning_text`` and only where it is echoed, media in user and tool messages only, every call with an id of
1 to 64 characters, a cap of 16 or more, no ``stop``, ``n``, ``include_usage`` or error flag,
``extra`` in words that Responses has too, nothing of other wires. Beyond it, ``losses`` tells what is lost.

The first message becomes ``instructions`` when it is a system message of one text and others follow it; in
JSON mode it stays in the input, where OpenAI looks for the word "JSON". A tool's ``strict`` that is not told
is sent as ``null``: the key is required, and leaving it out means true at OpenAI and false at others.
``store``, ``previous_response_id`` and ``conversation`` are ``native``: the canonical request is stateless,
the caller says where state is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import JSON, Loss, NamedChoice, Request, Text, Tool, ToolCall
from conformance.wires.losses import merge_native, own, pointer
from conformance.wires.openai_responses_items import WIRE
from conformance.wires.openai_responses_parts import CallIds, Writer, input_item

MIN_OUTPUT_TOKENS = 16
"""Least ``max_output_tokens`` (Open Responses schema; OpenAI refuses less)."""

LOGPROBS = "message.output_text.logprobs"
"""What ``include`` says for Chat's ``logprobs`` (OpenAI API reference, responses/create)."""

SAME = frozenset(
    {
        "temperature",
        "top_p",
        "top_logprobs",
        "parallel_tool_calls",
        "stream",
        "metadata",
        "user",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "prompt_cache_options",
        "moderation",
        "service_tier",
        "store",
    }
)
"""Members with one name and meaning in Chat's ``extra`` and here (openai SDK, both create params)."""

CAPS = ("max_completion_tokens", "max_tokens")

_VERBATIM = ("messages", "tools")


def encode(request: Request, *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The Responses body of ``request``; ``native`` is merged last, ``include`` as a set."""
    body: dict[str, Any] = {"model": model}
    first = _instructions(request)
    if first is not None:
        body["instructions"] = first.text
        own(first.opaque, WIRE, "/messages/0/parts/0", losses)
    body["input"] = _encode_input(request, 0 if first is None else 1, losses)
    if request.tools:
        body["tools"] = [_encode_tool(tool) for tool in request.tools]
    choice, fmt = request.tool_choice, request.response_format
    optional = {
        "tool_choice": {"type": "function", "name": choice.name}
        if isinstance(choice, NamedChoice)
        else choice,
        "parallel_tool_calls": request.parallel_tool_calls,
        "stream": request.stream or None,
        "max_output_tokens": request.max_tokens,
        "temperature": request.temperature,
        "text": None
        if fmt is None
        else {
            "format": {
                "type": "json_schema",
                "name": fmt.name,
                "schema": dict(fmt.schema),
                "strict": fmt.strict,
            }
        },
    }
    body |= {key: value for key, value in optional.items() if value is not None}
    if request.stop:
        losses.append(Loss("/stop", "Responses has no stop sequences"))
    if request.n not in (None, 1):
        losses.append(Loss("/n", "Responses gives one answer"))
    if request.include_usage is False:
        losses.append(Loss("/include_usage", "Responses always tells the usage", "form"))
    for key, value in request.extra.items():
        if not _encode_extra(key, value, body):
            said = (
                "sent verbatim in openai-chat's words" if key in _VERBATIM else "Responses has no such member"
            )
            losses.append(Loss(pointer("extra", key), said))
    cap = body.get("max_output_tokens")
    if isinstance(cap, int) and 0 < cap < MIN_OUTPUT_TOKENS:
        where = next((pointer("extra", key) for key in CAPS if key in request.extra), "/max_tokens")
        losses.append(Loss(where, f"{cap} raised to the least there is, {MIN_OUTPUT_TOKENS}", "form"))
        body["max_output_tokens"] = MIN_OUTPUT_TOKENS
    asked = body.get("include", [])
    merged = merge_native(body, request.native, WIRE, losses)
    included = merged.get("include")
    if isinstance(included, list):
        merged["include"] = [*(key for key in asked if key not in included), *included]
    return merged


def _instructions(request: Request) -> Text | None:
    """The text that goes to ``instructions``, if any does."""
    asked = request.extra.get("response_format")
    if len(request.messages) < 2 or (isinstance(asked, dict) and asked.get("type") == "json_object"):
        return None
    first = request.messages[0]
    if first.role != "system" or len(first.parts) != 1 or not isinstance(first.parts[0], Text):
        return None
    text = first.parts[0]
    return text if text.text and WIRE not in (text.opaque or {}) else None


def _encode_input(request: Request, start: int, losses: list[Loss]) -> list[dict[str, Any]]:
    messages = request.messages
    calls = (part.id for m in messages for part in m.parts if isinstance(part, ToolCall))
    ids = CallIds([*calls, *(m.tool_call_id for m in messages)], losses)
    writer = Writer(ids, losses, echo_reasoning=request.echo_reasoning, answer=False)
    after_assistant = False
    for i in range(start, len(messages)):
        message, at, before = messages[i], f"/messages/{i}", len(writer.items)
        if message.role == "assistant":
            writer.write(message.parts, at)
            if after_assistant and len(writer.items) > before:
                losses.append(Loss(at, "the boundary to the assistant message before it", "form"))
        else:
            writer.items.append(input_item(message, ids, writer.custom, at, losses))
        after_assistant = message.role == "assistant" and (after_assistant or len(writer.items) > before)
    return writer.items


def _encode_tool(tool: Tool) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description:
        out["description"] = tool.description
    return out | {"parameters": dict(tool.parameters), "strict": tool.strict}


# ------------------------------------------------------------------------------------ extra, in Chat's words


def _encode_extra(key: str, value: Any, body: dict[str, Any]) -> bool:
    """Put a member of ``extra`` into the body; False when there is no word for it. ``null`` says nothing."""
    if key in SAME:
        body[key] = value
    elif value is None:
        return True
    elif key in CAPS:
        body["max_output_tokens"] = value
    elif key == "reasoning_effort":
        body["reasoning"] = {"effort": value}
    elif key == "verbosity":
        body["text"] = {**body.get("text", {}), "verbosity": value}
    elif key == "logprobs" and isinstance(value, bool):
        body |= {"include": [LOGPROBS]} if value else {}
    elif key == "stream_options" and isinstance(value, dict):
        rest = {name: option for name, option in value.items() if name != "include_usage"}
        body |= {"stream_options": rest} if rest else {}
    elif key == "modalities":
        return bool(value == ["text"])
    elif key == "response_format":
        return _encode_format(value, body)
    elif key == "tool_choice":
        choice = flat_choice(value)
        body |= {} if choice is None else {"tool_choice": choice}
        return choice is not None
    else:
        return False
    return True


def _encode_format(value: Any, body: dict[str, Any]) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "json_schema" and isinstance(value.get("json_schema"), dict):
        fmt = {"type": kind, **value["json_schema"]}
    elif kind in ("json_object", "text"):
        fmt = {"type": kind}
    else:
        return False
    body["text"] = {**body.get("text", {}), "format": fmt}
    return True


def flat_choice(value: Any) -> JSON:
    """A Chat ``tool_choice`` in this wire's flat form; ``None`` for what is none."""
    if isinstance(value, str):
        return value
    kind = value.get("type") if isinstance(value, dict) else None
    inner = value.get(kind) if isinstance(kind, str) else None
    if kind in ("function", "custom") and isinstance(inner, dict) and isinstance(inner.get("name"), str):
        return {"type": kind, "name": inner["name"]}
    if kind == "allowed_tools" and isinstance(inner, dict) and isinstance(inner.get("tools"), list):
        tools = [flat_choice(tool) for tool in inner["tools"]]
        if all(isinstance(tool, dict) for tool in tools):
            return {"type": kind, "mode": inner.get("mode"), "tools": tools}
    return None


def nested_choice(value: Any) -> Mapping[str, Any] | None:
    """The inverse of ``flat_choice`` for objects; ``None`` for what Chat has no form for."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind in ("function", "custom") and value.keys() == {"type", "name"}:
        return {"type": kind, kind: {"name": value["name"]}}
    if (
        kind == "allowed_tools"
        and value.keys() == {"type", "mode", "tools"}
        and isinstance(value["tools"], list)
    ):
        tools = [nested_choice(tool) for tool in value["tools"]]
        if all(tool is not None and tool["type"] != kind for tool in tools):
            return {"type": kind, kind: {"mode": value["mode"], "tools": tools}}
    return None
