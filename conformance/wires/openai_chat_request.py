"""Canonical requests as Chat bodies, and back.

``encode`` after ``decode_request`` and the other way round are the identity on the canonical subset:
no empty text, neighbouring plain texts joined, assistant parts in the order reasoning, content,
refusal, calls (a Chat message has no other), no ``think`` spelling (inline markup is not taken apart).

Where a part's ``opaque`` goes: a call's beside ``id`` and ``function`` (Gemini's ``extra_content``);
a text's into its content part, which makes the content a list; an image's into ``image_url``
(``detail``); a reasoning's into the message (``reasoning_details``), with the reasoning only. A refusal
has no place for one. In calls, ``{"type": "custom"}`` and ``{"function_call": true}`` select OpenAI's
custom and legacy forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from conformance.types import (
    JSON,
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Part,
    Reasoning,
    Refusal,
    Request,
    Role,
    Text,
    Tool,
    ToolCall,
    Turn,
)
from conformance.wires.facts import Ledger
from conformance.wires.openai_chat_choice import REASONING_FIELDS, Choice

_ROLES = get_args(Role)
_MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")


# -------------------------------------------------------------------------------------------- encoding


def encode(request: Request, *, model: str, max_tokens_field: str = "max_tokens") -> dict[str, JSON]:
    """The Chat body of ``request``: what is ``None`` is left out, ``extra`` is merged last."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [encode_message(m, echo_reasoning=request.echo_reasoning) for m in request.messages],
    }
    if request.tools:
        body["tools"] = [_encode_tool(tool) for tool in request.tools]
    choice, fmt = request.tool_choice, request.response_format
    optional = {
        "tool_choice": (
            {"type": "function", "function": {"name": choice.name}}
            if isinstance(choice, NamedChoice)
            else choice
        ),
        "parallel_tool_calls": request.parallel_tool_calls,
        "response_format": None
        if fmt is None
        else {
            "type": "json_schema",
            "json_schema": {"name": fmt.name, "schema": dict(fmt.schema), "strict": fmt.strict},
        },
        "stream": request.stream or None,
        "stream_options": None if request.include_usage is None else {"include_usage": request.include_usage},
        max_tokens_field: request.max_tokens,
        "temperature": request.temperature,
        "stop": None if request.stop is None else list(request.stop),
        "n": request.n,
    }
    return body | {k: v for k, v in optional.items() if v is not None} | dict(request.extra)


def encode_message(message: Message, *, echo_reasoning: bool) -> dict[str, Any]:
    """One message of a Chat body.

    Text alone is a string, ``null`` beside calls or a refusal when there is none; with an image, or
    where a text has an ``opaque``, the content is a list of parts.
    """
    parts = [p for p in message.parts if echo_reasoning or not isinstance(p, Reasoning)]
    calls = [p for p in parts if isinstance(p, ToolCall)]
    refusal = "".join(p.text for p in parts if isinstance(p, Refusal))
    content = _encode_content(parts)
    if content is None and not calls and not refusal:
        content = ""
    out: dict[str, Any] = {"role": message.role, "content": content}
    for part in parts:
        if isinstance(part, Reasoning):
            _encode_reasoning(part, out)
    if refusal:
        out["refusal"] = refusal
    for call in calls:
        if (call.opaque or {}).get("function_call"):
            out["function_call"] = {"name": call.name, "arguments": call.arguments}
        else:
            out.setdefault("tool_calls", []).append(_encode_call(call))
    if message.tool_call_id is not None:
        out["tool_call_id"] = message.tool_call_id
    return out


def to_chat(turn: Turn) -> dict[str, Any]:
    """The turn as one canonical Chat message.

    Reasoning of every spelling is in ``reasoning_content``; keys without a value are left out, except
    ``content``, which is ``null`` then.
    """
    plain = tuple(p for p in turn.parts if not isinstance(p, Reasoning))
    message = encode_message(Message("assistant", plain), echo_reasoning=False)
    message["content"] = message["content"] or None
    return message | ({"reasoning_content": turn.reasoning} if turn.reasoning else {})


def _encode_content(parts: list[Part]) -> str | list[dict[str, Any]] | None:
    items: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text):
            items.append({"type": "text", "text": part.text, **(part.opaque or {})})
        elif isinstance(part, Image):
            items.append({"type": "image_url", "image_url": {"url": part.url, **(part.opaque or {})}})
        elif isinstance(part, Reasoning) and part.spelling == "think":
            items.append({"type": "text", "text": f"<think>{part.text}</think>"})
        elif isinstance(part, Reasoning) and part.spelling == "thinking":
            items.append({"type": "thinking", "thinking": [{"type": "text", "text": part.text}]})
    if not items:
        return None
    if all(item.keys() == {"type", "text"} for item in items):
        return "".join(item["text"] for item in items)
    return items


def _encode_reasoning(part: Reasoning, out: dict[str, Any]) -> None:
    """Into the field it was read from; a spelling that Chat does not know becomes ``reasoning_content``."""
    opaque = dict(part.opaque or {})
    details = opaque.pop("reasoning_details", None)
    if part.spelling == "reasoning_details":
        details = details or [{"type": "reasoning.text", "text": part.text}]
    elif part.spelling not in ("think", "thinking"):
        field = part.spelling if part.spelling in REASONING_FIELDS else "reasoning_content"
        out[field] = out.get(field, "") + part.text
    if details:
        out["reasoning_details"] = [*out.get("reasoning_details", []), *details]
    out.update({k: v for k, v in opaque.items() if k not in out})


def _encode_call(call: ToolCall) -> dict[str, Any]:
    opaque = dict(call.opaque or {})
    if opaque.get("type") == "custom":
        form = {"type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    else:
        form = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {"id": call.id, **form, **opaque}


def _encode_tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name, "parameters": dict(tool.parameters)}
    if tool.description:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


# -------------------------------------------------------------------------------------------- decoding


def decode_request(body: dict[str, JSON]) -> Request:
    """The canonical request that a Chat body says; the model is not part of it.

    A top-level field that has no canonical form, or an unexpected value, goes to ``extra`` untouched. Of
    messages, ``name`` and unknown keys are dropped. ``echo_reasoning`` is true when a message carries
    reasoning. Raises ``ValueError`` when ``messages`` is no list of messages with known roles.
    """
    extra = {k: v for k, v in body.items() if k not in ("model", "messages")}
    fields: dict[str, Any] = {}
    for name, (canonical, read) in _READERS.items():
        if name in extra and canonical not in fields:
            try:
                fields[canonical] = read(extra[name])
            except (TypeError, ValueError, KeyError):
                continue
            del extra[name]
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise ValueError("messages: not a list")
    decoded = tuple(_decode_message(message, i) for i, message in enumerate(messages))
    echo = any(isinstance(part, Reasoning) for message in decoded for part in message.parts)
    return Request(messages=decoded, echo_reasoning=echo, extra=extra, **fields)


def _decode_message(message: JSON, position: int) -> Message:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise ValueError(f"messages/{position}: not a message with a role of {', '.join(_ROLES)}")
    reader = Choice(0, Ledger())
    reader.absorb(message, "", whole=True)
    parts, _ = reader.parts()
    call_id = message.get("tool_call_id")
    role: Any = message["role"]
    return Message(role, parts, call_id if isinstance(call_id, str) else None)


def _exact(value: Any, *types: type) -> Any:
    if type(value) not in types:
        raise TypeError(type(value).__name__)
    return value


def _only(value: Any, *keys: str) -> dict[str, Any]:
    """The object, if it has no other keys."""
    if not isinstance(value, dict) or not value.keys() <= set(keys):
        raise ValueError(keys)
    return value


def _read_tools(value: Any) -> tuple[Tool, ...]:
    return tuple(_read_tool(item) for item in _exact(value, list))


def _read_tool(item: Any) -> Tool:
    if _only(item, "type", "function")["type"] != "function":
        raise ValueError("type")
    function = _only(item["function"], "name", "description", "parameters", "strict")
    strict = function.get("strict")
    return Tool(
        name=_exact(function["name"], str),
        description=_exact(function.get("description", ""), str),
        parameters=_exact(function.get("parameters", {}), dict),
        strict=None if "strict" not in function else _exact(strict, bool),
    )


def _read_tool_choice(value: Any) -> str | NamedChoice:
    if value in ("none", "auto", "required"):
        return str(value)
    if _only(value, "type", "function")["type"] != "function":
        raise ValueError("type")
    return NamedChoice(_exact(_only(value["function"], "name")["name"], str))


def _read_format(value: Any) -> JsonSchemaFormat:
    if _only(value, "type", "json_schema")["type"] != "json_schema":
        raise ValueError("type")
    inner: Mapping[str, Any] = _only(value["json_schema"], "name", "schema", "strict")
    return JsonSchemaFormat(
        name=_exact(inner["name"], str),
        schema=_exact(inner["schema"], dict),
        strict=_exact(inner.get("strict", False), bool),
    )


def _read_stop(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(_exact(s, str) for s in _exact(value, list))


_READERS: dict[str, tuple[str, Any]] = {
    "tools": ("tools", _read_tools),
    "tool_choice": ("tool_choice", _read_tool_choice),
    "parallel_tool_calls": ("parallel_tool_calls", lambda v: _exact(v, bool)),
    "response_format": ("response_format", _read_format),
    "stream": ("stream", lambda v: _exact(v, bool)),
    "stream_options": (
        "include_usage",
        lambda v: _exact(_only(v, "include_usage")["include_usage"], bool),
    ),
    **{field: ("max_tokens", lambda v: _exact(v, int)) for field in _MAX_TOKENS_FIELDS},
    "temperature": ("temperature", lambda v: _exact(v, int, float)),
    "stop": ("stop", _read_stop),
    "n": ("n", lambda v: _exact(v, int)),
}
