"""LangChain messages: a message codec beside the wires, for langchain-core 1.x.

The JSON is that of ``langchain_core.messages.messages_to_dict``: a list of ``{"type": "ai", "data": {...}}``.
It knows messages and nothing of a request around them: tools, choices and parameters are bound to LangChain's
model object. The decoders read what Python dumps, chunk types included, and report what they leave out with a
pointer into their input.

``content`` is a string where there is only text, before any calls; else a list of standard blocks in the
parts' order, calls among them (``output_version: v1``). Calls whose arguments are no JSON object are
``invalid_tool_calls``, with the string as it came.

Of a message in a history, ``id``, ``usage_metadata`` and ``response_metadata`` tell of the answer it once
was: they are no part of what is said to the model, and leaving them out is no loss. Nor is an ``artifact``
(it is never sent to a model).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.types import (
    JSON,
    Loss,
    Message,
    Part,
    Reasoning,
    Refusal,
    Request,
    Role,
    Text,
    ToolCall,
    Turn,
)
from conformance.wires.arguments import strict, text_of
from conformance.wires.langchain_answer import decode_metadata, encode_metadata
from conformance.wires.langchain_blocks import call_of, decode_block, encode_part, extras_of, opaque_in
from conformance.wires.losses import pointer

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
}
_TYPES: dict[Role, str] = {"user": "human", "assistant": "ai", "tool": "tool"}
_CHUNKS = {
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "ChatMessageChunk": "chat",
}
_ROLE_KEY = "__openai_role__"
_KNOWN_KWARGS = (_ROLE_KEY, "tool_calls", "function_call", "refusal", "reasoning_content")


# -------------------------------------------------------------------------------------------- encoding


def encode_request(request: Request, losses: list[Loss]) -> list[JSON]:
    """The messages of a request; whatever else it asks for is lost."""
    for name in ("tools", "tool_choice", "parallel_tool_calls", "response_format", "max_tokens",
                 "temperature", "stop", "n"):  # fmt: skip
        if getattr(request, name) not in (None, ()):
            losses.append(Loss(f"/{name}", "LangChain binds it to the model, not to messages"))
    for name in ("stream", "include_usage"):
        if getattr(request, name):
            losses.append(Loss(f"/{name}", "LangChain decides it where the model is called", "form"))
    losses += [Loss(pointer("extra", k), "LangChain binds it to the model") for k in request.extra]
    for wire, members in request.native.items():
        losses += [Loss(pointer("native", wire, key), f"a word of {wire} alone") for key in members]
    return [_encode_message(m, f"/messages/{i}", losses) for i, m in enumerate(request.messages)]


def _encode_message(message: Message, at: str, losses: list[Loss]) -> dict[str, Any]:
    """One message, as ``langchain_core.messages.message_to_dict`` gives it."""
    kind = _TYPES.get(message.role, "system")
    kwargs = {_ROLE_KEY: "developer"} if message.role == "developer" else {}
    content, calls, invalid = _encode_parts(message.parts, at, losses)
    v1 = kind == "ai" and isinstance(content, list)
    data: dict[str, Any] = {
        "content": content,
        "additional_kwargs": kwargs,
        "response_metadata": {"output_version": "v1"} if v1 else {},
        "type": kind,
        "name": None,
        "id": None,
    }
    if kind == "ai":
        data |= {"tool_calls": calls, "invalid_tool_calls": invalid, "usage_metadata": None}
    elif kind == "tool":
        status = "error" if message.is_error else "success"
        data |= {"tool_call_id": message.tool_call_id or "", "artifact": None, "status": status}
    return {"type": kind, "data": data}


def encode_turns(turns: Sequence[Turn], losses: list[Loss], *, model: str = "") -> list[JSON]:
    """One ``ai`` message for each turn, with finish reason, model and usage in its metadata."""
    out: list[JSON] = []
    for i, turn in enumerate(turns):
        at = f"/turns/{i}"
        message = _encode_message(Message("assistant", turn.parts), at, losses)
        data = message["data"]
        response, usage = encode_metadata(replace(turn, model=turn.model or model or None), at, losses)
        data["response_metadata"] |= response
        data |= {"usage_metadata": usage, "id": turn.id}
        out.append(message)
    return out


def _encode_parts(
    parts: Sequence[Part], at: str, losses: list[Loss]
) -> tuple[str | list[Any], list[Any], list[Any]]:
    blocks: list[Any] = []
    calls: list[Any] = []
    invalid: list[Any] = []
    for j, part in enumerate(parts):
        if not isinstance(part, ToolCall):
            blocks.append(encode_part(part))
            continue
        call = _encode_call(part, f"{at}/parts/{j}", losses)
        (invalid if call["type"] == "invalid_tool_call" else calls).append(call)
        extras = extras_of(part)
        blocks.append(call | ({"extras": extras} if extras else {}))
    texts = [part for part in parts if isinstance(part, Text)]
    rest = parts[len(texts) :]
    plain = parts[: len(texts)] == (*texts,) and all(isinstance(part, ToolCall) for part in rest)
    if plain and not any(part.opaque for part in parts) and (not calls or not invalid):
        return "".join(part.text for part in texts), calls, invalid
    return blocks, calls, invalid


def _encode_call(call: ToolCall, at: str, losses: list[Loss]) -> dict[str, Any]:
    """A ``tool_call``, or an ``invalid_tool_call`` where the arguments are no JSON object."""
    inexact: list[str] = []
    nothing = call.arguments.strip() in ("", "null")
    args = {} if nothing else strict(call.arguments, inexact)
    where = f"{at}/arguments"
    if not isinstance(args, dict):
        error = "not a JSON object"
        return {"name": call.name, "args": call.arguments, "id": call.id or None, "error": error,
                "type": "invalid_tool_call"}  # fmt: skip
    if inexact:
        losses.append(Loss(where, f"a number that no double holds: {inexact[0][:40]}"))
    elif text_of(args) != call.arguments:
        losses.append(Loss(where, "the spelling of the JSON text", "form"))
    return {"name": call.name, "args": args, "id": call.id or None, "type": "tool_call"}


# -------------------------------------------------------------------------------------------- decoding


def decode_request(value: Any, losses: list[Loss]) -> Request:
    """The messages as a request, reasoning with them. Raises ``ValueError`` when they are none."""
    inner = value.get("messages") if isinstance(value, dict) else value
    base = "/messages" if isinstance(value, dict) else ""
    if not isinstance(inner, list):
        raise ValueError("messages: not a list of LangChain messages")
    messages = tuple(_decode(item, f"{base}/{i}", losses) for i, item in enumerate(inner))
    if isinstance(value, dict):
        losses += [Loss(pointer(key), "beside the messages") for key in value if key != "messages"]
    echo = any(isinstance(part, Reasoning) for message in messages for part in message.parts)
    return Request(messages, echo_reasoning=echo)


def decode_turns(value: Any, losses: list[Loss]) -> tuple[Turn, ...]:
    """One ``ai`` message, or a list of them, as turns. Raises ``ValueError`` when it is none."""
    items = value if isinstance(value, list) else [value]
    turns = []
    for i, item in enumerate(items):
        at = f"/{i}" if isinstance(value, list) else ""
        message = _decode(item, at, losses)
        if message.role != "assistant":
            raise ValueError(f"{at or '/'}: not an ai message")
        turns.append(decode_metadata(_data(item, at), message.parts))
    return tuple(turns)


def _data(item: Any, at: str) -> dict[str, Any]:
    """The message itself: ``messages_to_dict`` wraps it in ``{"type", "data"}``, ``model_dump`` does not."""
    if isinstance(item, dict) and isinstance(item.get("type"), str):
        data = item.get("data", item)
        if isinstance(data, dict) and "content" in data:
            return data
    raise ValueError(f"{at or '/'}: not a LangChain message (no type, or no content)")


def _decode(item: Any, at: str, losses: list[Loss]) -> Message:
    data = _data(item, at)
    at = f"{at}/data" if "data" in item else at
    given = data.get("additional_kwargs")
    kwargs: dict[str, Any] = given if isinstance(given, dict) else {}
    kind = _CHUNKS.get(item["type"], item["type"])
    role = _ROLES.get(str(data.get("role")) if kind == "chat" else kind)
    if role is None:
        raise ValueError(f"{at or '/'}: a message of type {kind!r} has no canonical role")
    if role == "system" and kwargs.get(_ROLE_KEY) == "developer":
        role = "developer"
    if data.get("name") is not None:
        losses.append(Loss(f"{at}/name", "the name of who speaks"))
    losses += [
        Loss(f"{at}{pointer('additional_kwargs', key)}", "what a provider package left there")
        for key in kwargs
        if key not in _KNOWN_KWARGS and kwargs[key]
    ]
    parts = _Parts(data, kwargs, at, losses).read(is_ai=role == "assistant")
    call_id = data.get("tool_call_id")
    return Message(
        role,
        parts,
        str(call_id) if role == "tool" and isinstance(call_id, str | int) else None,
        is_error=role == "tool" and data.get("status") == "error",
    )


class _Parts:
    """Reads the parts of one message."""

    def __init__(self, data: dict[str, Any], kwargs: dict[str, Any], at: str, losses: list[Loss]) -> None:
        self._data = data
        self._kwargs = kwargs
        self._at = at
        self._losses = losses
        metadata = data.get("response_metadata")
        provider = metadata.get("model_provider") if isinstance(metadata, dict) else None
        self._provider = provider if isinstance(provider, str) else ""

    def read(self, *, is_ai: bool) -> tuple[Part, ...]:
        """The parts, neighbouring plain texts joined; calls without a block of their own come last."""
        waiting = self._calls() if is_ai else {}
        parts: list[Part] = []
        content = self._data["content"]
        for i, block in enumerate([content] if isinstance(content, str) else _listed(content)):
            if is_ai and isinstance(block, dict) and block.get("type") in _CALL_BLOCKS:
                parts.append(self._placed(block, waiting))
            elif isinstance(block, dict) and block.get("type") == "input_json_delta":
                continue  # Anthropic's stream: the pieces of a call that is in tool_calls
            else:
                part = decode_block(block, f"{self._at}/content/{i}", self._losses, provider=self._provider)
                parts += [] if part is None or part == Text("") else [part]
        for queue in waiting.values():
            parts += queue
        if is_ai:
            parts = self._beside(parts)
        return _joined(parts)

    def _calls(self) -> dict[tuple[str, str], deque[ToolCall]]:
        """The calls by id and name; the raw strings of ``additional_kwargs`` where they say the same."""
        raw: dict[str, str] = {}
        derived: list[ToolCall] = []
        for entry in _listed(self._kwargs.get("tool_calls")):
            function = entry.get("function") if isinstance(entry, dict) else None
            if isinstance(function, dict) and isinstance(text := function.get("arguments"), str):
                derived.append(call_of({"id": entry.get("id"), "name": function.get("name")}, text))
                raw[derived[-1].id] = text
        entries = [*_listed(self._data.get("tool_calls")), *_listed(self._data.get("invalid_tool_calls"))]
        calls = [_call(entry) for entry in entries if isinstance(entry, dict)] or derived
        found: dict[tuple[str, str], deque[ToolCall]] = {}
        for call in calls:
            text = raw.get(call.id)
            if text is not None and text_of(strict(text)) == call.arguments:
                call = replace(call, arguments=text)
            found.setdefault((call.id, call.name), deque()).append(call)
        return found

    @staticmethod
    def _placed(block: dict[str, Any], waiting: dict[tuple[str, str], deque[ToolCall]]) -> ToolCall:
        """The call that a block stands for, taken from the lists beside the content where it is there."""
        call = _call(block)
        queue = waiting.get((call.id, call.name))
        return replace(queue.popleft(), opaque=opaque_in(block)) if queue else call

    def _beside(self, parts: list[Part]) -> list[Part]:
        """The parts with those that provider packages keep in ``additional_kwargs``."""
        reasoning, refusal = self._kwargs.get("reasoning_content"), self._kwargs.get("refusal")
        if isinstance(reasoning, str) and reasoning and not any(isinstance(p, Reasoning) for p in parts):
            parts = [Reasoning(reasoning), *parts]
        if isinstance(refusal, str) and refusal and not any(isinstance(p, Refusal) for p in parts):
            parts = [*parts, Refusal(refusal)]
        legacy = self._kwargs.get("function_call")
        if isinstance(legacy, dict) and isinstance(text := legacy.get("arguments"), str):
            call = call_of({"name": legacy.get("name")}, text)
            parts = [*parts, replace(call, opaque={"openai-chat": {"function_call": True}})]
        return parts


_CALL_BLOCKS = ("tool_call", "invalid_tool_call", "tool_use")


def _call(entry: dict[str, Any]) -> ToolCall:
    args = entry.get("args", entry.get("input"))
    return call_of(entry, args if isinstance(args, str) else text_of({} if args is None else args))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    runs: list[list[Part]] = []
    for part in parts:
        plain = isinstance(part, Text) and part.opaque is None
        if plain and runs and isinstance(last := runs[-1][-1], Text) and last.opaque is None:
            runs[-1].append(part)
        else:
            runs.append([part])
    return tuple(
        run[0] if len(run) == 1 else Text("".join(p.text for p in run if isinstance(p, Text))) for run in runs
    )
