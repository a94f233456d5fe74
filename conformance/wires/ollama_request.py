"""Canonical requests as bodies of Ollama's ``/api/chat``, and back.

Decoding what ``encode`` says gives the same request on the canonical subset: parts in the order reasoning,
text, pictures, calls, one of each of the first two; pictures as base64 whose first bytes tell what they
are; calls with the ids ``call_0``, ``call_1`` ... in the order of the conversation, results in the order of
their calls, none left out before another of its name; ``message.thinking`` the spelling of reasoning, and
``echo_reasoning`` true with any; the words of ``extra`` that have a place here. Of messages, unknown
members are dropped when read.

The wire has no ids: a result belongs to the first call of its name without one. ``stream`` is always said,
since the endpoint streams unless told not to. Tools that must not be called are not sent.

Source: ollama/ollama fb307609, ``docs/openapi.yaml`` (ChatRequest) and
``docs/capabilities/tool-calling.mdx``; ollama-python 0.6.3, ``_types.py`` (``Options``,
``Message.thinking``, ``tool_name``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import (
    JSON,
    Image,
    Loss,
    Message,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    ToolCall,
    WireName,
)
from conformance.wires.arguments import object_of, text_of
from conformance.wires.losses import bound_elsewhere, merge_native, own, said_elsewhere
from conformance.wires.media import data_url, inline, picture_kind
from conformance.wires.ollama_config import decode_settings, decode_tools, encode_settings, encode_tools
from conformance.wires.pairing import Ids, placed

WIRE: WireName = "ollama"

SPELLING = "message.thinking"
"""The spelling of this wire's reasoning; ``thinking`` alone is a content part of other wires."""

_ROLES = ("system", "user", "assistant", "tool")
_UNKNOWN_PICTURE = "application/octet-stream"


# -------------------------------------------------------------------------------------------- encoding


def encode(request: Request, *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The body of ``request``."""
    body: dict[str, Any] = {"model": model, "messages": _messages(request, losses)}
    tools = encode_tools(request, losses)
    if tools:
        body["tools"] = tools
    body["stream"] = request.stream
    body |= encode_settings(request, losses)
    return merge_native(body, request.native, WIRE, losses)


def _messages(request: Request, losses: list[Loss]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    ids = Ids()
    read_as: list[str] = []
    in_turn = False
    for item in placed(request.messages):
        message, at = item.message, f"/messages/{item.index}"
        if message.role == "assistant" and not in_turn:
            ids.begin()
        in_turn = message.role == "assistant"
        if item.moved:
            losses.append(Loss(at, "its place: results stand in the order of their calls", "form"))
        for j, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                read_as.append(ids.call("", part.name))
                if read_as[-1] != part.id:
                    losses.append(Loss(f"{at}/parts/{j}/id", "ids are not sent", "form"))
        out.append(encode_message(message, at, losses, echo_reasoning=request.echo_reasoning))
        if message.role == "developer":
            losses.append(Loss(f"{at}/role", "developer said as system", "form"))
        if message.role != "tool":
            continue
        if item.call is None:
            ids.result("", "")
            losses.append(Loss(at, "which call it answers: none has its id", "form"))
            continue
        out[-1]["tool_name"] = item.call.name
        if ids.result("", item.call.name) != read_as[item.number]:
            losses.append(Loss(at, f"which of the calls of {item.call.name} it answers"))
    return out


def encode_message(message: Message, at: str, losses: list[Loss], *, echo_reasoning: bool) -> dict[str, Any]:
    """One message, of a request or an answer; ``at`` is where losses point."""
    texts: list[str] = []
    thinking: list[str] = []
    images: list[str] = []
    calls: list[dict[str, Any]] = []
    ranks: list[int] = []
    any_text = False
    more: dict[str, Any] = {}
    if message.is_error:
        texts.append("Error: ")
        losses.append(Loss(f"{at}/is_error", 'told in words: "Error: "', "form"))
    for j, part in enumerate(message.parts):
        where = f"{at}/parts/{j}"
        if isinstance(part, Reasoning) and (not echo_reasoning or bound_elsewhere(part, WIRE, where, losses)):
            continue
        if said_elsewhere(part, WIRE, where, losses):
            continue
        extra = own(part.opaque, WIRE, where, losses)
        if isinstance(part, Text | Refusal):
            if isinstance(part, Refusal):
                losses.append(Loss(where, "a refusal, told as text", "form"))
            elif part.text and any_text:
                losses.append(Loss(where, "a text of its own: joined to the one before", "form"))
            texts.append(part.text)
            ranks += [1] if part.text else []
            any_text = any_text or bool(part.text)
        elif isinstance(part, Reasoning):
            if thinking:
                losses.append(Loss(where, "a thought of its own: joined to the one before", "form"))
            thinking.append(part.text)
            ranks.append(0)
        elif isinstance(part, ToolCall):
            function: dict[str, Any] = {
                "name": part.name,
                "arguments": object_of(part.arguments, where, losses),
            }
            calls.append(dict(merge_native({"function": function}, {WIRE: extra}, WIRE, losses)))
            ranks.append(3)
            continue
        elif isinstance(part, Image):
            picture = _picture(part, where, losses)
            images += [] if picture is None else [picture]
            ranks += [] if picture is None else [2]
        else:
            losses.append(Loss(where, "a sound or document: pictures are all that a message takes"))
        more |= extra
    if ranks != sorted(ranks):
        losses.append(Loss(at, "the order of its parts: thinking, text, pictures, calls", "form"))
    role = "system" if message.role == "developer" else message.role
    out: dict[str, Any] = {"role": role, "content": "".join(texts)}
    optional = {"thinking": "".join(thinking), "images": images, "tool_calls": calls}
    return {**out, **{key: value for key, value in optional.items() if value}, **more}


def _picture(part: Image, at: str, losses: list[Loss]) -> str | None:
    found = inline(part.url)
    if found is None:
        losses.append(Loss(at, "a picture by its address: Ollama takes data alone"))
        return None
    kind, data = found
    if data_url(picture_kind(data) or _UNKNOWN_PICTURE, data) != part.url:
        losses.append(Loss(at, f"that the picture is {kind or 'none'}", "form"))
    return data


# -------------------------------------------------------------------------------------------- decoding


def decode_request(body: dict[str, JSON]) -> Request:
    """The canonical request that a body says; the model is not part of it.

    Members without canonical form or Chat word go to ``native``; tools that say more than canonical ones
    take the whole ``tools`` there, beside the canonical ones. Raises ``ValueError`` when ``messages`` is no
    list of messages with known roles.
    """
    left = dict(body)
    left.pop("model", None)
    messages = _decode_messages(left.pop("messages", None))
    stream = left.pop("stream", None) is not False
    fields, extra = decode_settings(left)
    tools, whole = decode_tools(left.get("tools"))
    if whole:
        left.pop("tools", None)
    echo = any(isinstance(part, Reasoning) for message in messages for part in message.parts)
    return Request(
        messages=tuple(messages),
        tools=tools,
        stream=stream,
        echo_reasoning=echo,
        extra=extra,
        native={WIRE: left} if left else {},
        **fields,
    )


def picture(data: str) -> Image:
    """A picture from bare base64: its first bytes say what it is."""
    return Image(data_url(picture_kind(data) or _UNKNOWN_PICTURE, data))


def _decode_messages(messages: Any) -> list[Message]:
    if not isinstance(messages, list):
        raise ValueError("messages: not a list")
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise ValueError(f"messages/{i}: not a message with a role of {', '.join(_ROLES)}")
    ids = Ids(
        call["id"] for message in messages for call in _calls(message) if isinstance(call.get("id"), str)
    )
    out: list[Message] = []
    before = ""
    for message in messages:
        role: Any = message["role"]
        if role == "assistant" and before != "assistant":
            ids.begin()
        before = role
        parts = _decode_parts(message)
        for call in _calls(message):
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            name, given, arguments = function.get("name"), call.get("id"), function.get("arguments")
            name = name if isinstance(name, str) else ""
            text = (
                arguments if isinstance(arguments, str) else text_of({} if arguments is None else arguments)
            )
            parts.append(ToolCall(ids.call(given if isinstance(given, str) else "", name), name, text))
        if role != "tool":
            out.append(Message(role, tuple(parts)))
            continue
        name, given = message.get("tool_name"), message.get("tool_call_id")
        found = ids.result(given if isinstance(given, str) else "", name if isinstance(name, str) else "")
        out.append(Message("tool", tuple(parts), tool_call_id=found))
    return out


def _decode_parts(message: Mapping[str, Any]) -> list[Part]:
    parts: list[Part] = []
    thinking, content, images = (message.get(key) for key in ("thinking", "content", "images"))
    if isinstance(thinking, str) and thinking:
        parts.append(Reasoning(thinking, SPELLING))
    if isinstance(content, str) and content:
        parts.append(Text(content))
    for data in images if isinstance(images, list) else ():
        if isinstance(data, str) and data:
            parts.append(picture(data))
    return parts


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
