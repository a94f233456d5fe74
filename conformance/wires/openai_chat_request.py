"""Canonical requests as Chat bodies, and back.

``encode`` after ``decode_request`` and the other way round are the identity on the canonical subset:
no empty text, neighbouring plain texts joined, assistant parts in the order reasoning, content,
refusal, calls (a Chat message has no other), no ``think`` spelling (inline markup is not taken apart),
media in user messages only, no error flag, nothing of other wires. Beyond it, ``losses`` tells what is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from conformance.types import (
    JSON,
    JsonSchemaFormat,
    Loss,
    Message,
    NamedChoice,
    Reasoning,
    Request,
    Role,
    Tool,
)
from conformance.wires.facts import Ledger
from conformance.wires.losses import merge_native
from conformance.wires.openai_chat_choice import Choice
from conformance.wires.openai_chat_message import WIRE, encode_messages

_ROLES = get_args(Role)
_MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")


# -------------------------------------------------------------------------------------------- encoding


def encode(
    request: Request, *, model: str, losses: list[Loss], max_tokens_field: str = "max_tokens"
) -> dict[str, JSON]:
    """The Chat body of ``request``: what is ``None`` is left out, ``extra``, then ``native``, merged last."""
    body: dict[str, Any] = {
        "model": model,
        "messages": encode_messages(request.messages, losses, echo_reasoning=request.echo_reasoning),
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
    body |= {k: v for k, v in optional.items() if v is not None} | dict(request.extra)
    return merge_native(body, request.native, WIRE, losses)


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
    messages, ``name`` and unknown keys are dropped; unknown content parts are empty texts that carry them.
    ``echo_reasoning`` is true when a message carries reasoning. Raises ``ValueError`` when ``messages`` is no
    list of messages with known roles.
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
    reader = Choice(0, Ledger(), keep_unknown=True)
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
