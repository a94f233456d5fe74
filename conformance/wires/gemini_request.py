"""Canonical requests as Gemini bodies (generateContent), and back.

Decoding what ``encode`` says gives the same request on the canonical subset: at most one system message,
and first; no neighbours of one role but tool messages, which stand in the order of their calls and answer
calls; no empty text; call arguments and results as ``arguments.text_of`` writes them, results in one text
before their media; ids in every call; ``thought`` the spelling of reasoning, and ``echo_reasoning`` true
with any; the words of ``extra`` that ``gemini_config`` knows.

Leading system messages are joined into ``systemInstruction``; a later one becomes a user text that says
what it is. ``stream`` is a matter of the path. The dummy signature that Gemini 3 takes for calls it did not
make is not sent: it is a workaround, and no part of the wire.

Source: google-genai 3.6.1, ``types.Content``, ``types.FunctionDeclaration``; issues
google-gemini/gemini-cli 3814, 17208 (as many results as calls).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.types import JSON, Loss, Message, Part, Reasoning, Request, Text, Tool
from conformance.wires.gemini_config import (
    decode_choice,
    decode_config,
    decode_tier,
    encode_choice,
    encode_config,
)
from conformance.wires.gemini_names import from_gemini, members, to_gemini
from conformance.wires.gemini_parts import WIRE, decode_part, encode_part
from conformance.wires.gemini_results import decode_result, encode_result
from conformance.wires.gemini_schema import json_schema
from conformance.wires.losses import bound_elsewhere, merge_native, said_elsewhere
from conformance.wires.pairing import Ids, Placed, placed

INSTRUCTION = "Instruction from the system: "
"""What a system message begins with that became a user text."""

OPENING = "(The model begins.)"
"""What the user says where nobody did before the model: there must be contents, and calls follow a user's."""

_SYSTEM = ("system", "developer")


# -------------------------------------------------------------------------------------------- encoding


def encode(request: Request, *, losses: list[Loss]) -> dict[str, JSON]:
    """The body of ``request``."""
    messages = placed(request.messages)
    leading = next((i for i, m in enumerate(messages) if m.message.role not in _SYSTEM), len(messages))
    contents = _contents(messages[leading:], request.echo_reasoning, losses) if messages else []
    body: dict[str, Any] = {"contents": contents}
    system = _system(messages[:leading], losses)
    if system:
        body["systemInstruction"] = {"parts": system}
    choice, only = encode_choice(request, losses)
    if request.tools:
        declared = [
            _declare(tool, f"/tools/{i}", losses)
            for i, tool in enumerate(request.tools)
            if only is None or tool.name in only
        ]
        if declared:
            body["tools"] = [{"functionDeclarations": declared}]
    if choice is not None:
        body["toolConfig"] = {"functionCallingConfig": choice}
    return merge_native(body | encode_config(request, losses), request.native, WIRE, losses)


def _system(messages: Sequence[Placed], losses: list[Loss]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for item in messages:
        at = f"/messages/{item.index}"
        _developer(item.message, at, losses)
        encoded: list[dict[str, Any]] = []
        for j, part in enumerate(item.message.parts):
            if not isinstance(part, Text):
                losses.append(Loss(f"{at}/parts/{j}", "a system instruction is text"))
            elif part.text or part.opaque:
                encoded += [said] if (said := encode_part(part, f"{at}/parts/{j}", losses)) else []
        if not encoded:
            losses.append(Loss(at, "the message: nothing is left in it", "form"))
        elif parts:
            losses.append(Loss(at, "joined to the system message before", "form"))
            encoded.insert(0, {"text": "\n\n"})
        parts += encoded
    if len(messages) > 1 and all(part.keys() == {"text"} for part in parts):
        return [{"text": "".join(part["text"] for part in parts)}] if parts else []
    return parts


def _developer(message: Message, at: str, losses: list[Loss]) -> None:
    if message.role == "developer":
        losses.append(Loss(f"{at}/role", "developer said as system", "form"))


def _contents(messages: Sequence[Placed], echo_reasoning: bool, losses: list[Loss]) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = []
    before = ""
    for item in messages:
        message, at = item.message, f"/messages/{item.index}"
        role = "model" if message.role == "assistant" else "user"
        if message.role == "tool":
            parts = [encode_result(message, item.call, at, losses)]
            if item.moved:
                losses.append(Loss(at, "its place: results stand in the order of their calls", "form"))
        else:
            parts = _parts(message, at, echo_reasoning, losses)
            if not parts:
                losses.append(Loss(at, "the message: nothing is left in it", "form"))
                continue
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
            if message.role not in _SYSTEM and not (before == "tool" and message.role in ("tool", "user")):
                losses.append(Loss(at, "joined to the message before", "form"))
        else:
            contents.append({"role": role, "parts": parts})
        before = message.role
    if not contents or contents[0]["role"] == "model":
        losses.append(Loss("/messages", f"a user begins here: {OPENING!r} stands first", "form"))
        contents.insert(0, {"role": "user", "parts": [{"text": OPENING}]})
    return contents


def _parts(message: Message, at: str, echo_reasoning: bool, losses: list[Loss]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for j, part in enumerate(message.parts):
        where = f"{at}/parts/{j}"
        if isinstance(part, Reasoning):
            signed = "thoughtSignature" in (part.opaque or {}).get(WIRE, {})
            if not signed and not echo_reasoning:
                continue
            if bound_elsewhere(part, WIRE, where, losses):
                continue
        elif said_elsewhere(part, WIRE, where, losses) or part == Text(""):
            continue
        encoded = encode_part(part, where, losses)
        parts += [encoded] if encoded is not None else []
    if message.role in _SYSTEM:
        losses.append(Loss(at, "its role: told as a text of the user", "form"))
        parts.insert(0, {"text": INSTRUCTION})
    if not message.parts or (not parts and all(isinstance(part, Text) for part in message.parts)):
        return [{"text": ""}]
    return parts


def _declare(tool: Tool, at: str, losses: list[Loss]) -> dict[str, Any]:
    name = to_gemini(tool.name)
    if name != tool.name:
        losses.append(Loss(f"{at}/name", f"renamed to {name}", "form"))
    if tool.strict is not None:
        losses.append(Loss(f"{at}/strict", "no word for it", "meaning" if tool.strict else "form"))
    out: dict[str, Any] = {"name": name}
    if tool.description:
        out["description"] = tool.description
    if tool.parameters:
        out["parametersJsonSchema"] = dict(tool.parameters)
    return out


# -------------------------------------------------------------------------------------------- decoding


def decode_request(body: dict[str, JSON], *, stream: bool) -> Request:
    """The canonical request that a body says.

    Members without canonical form or Chat word go to ``native``; tools that are no function declarations,
    or say more than a canonical tool, take the whole ``tools`` there, beside the canonical ones. Calls
    without an id get ``call_0``, ``call_1`` ... Raises ``ValueError`` when ``contents`` is no list of
    contents of known roles.
    """
    left = members(body)
    left.pop("model", None)
    fields: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    messages = _decode_system(left) + _decode_contents(left.pop("contents", None))
    config = left.get("generationConfig")
    if isinstance(config, dict):
        left["generationConfig"] = config = members(config)
        if isinstance(config.get("thinkingConfig"), dict):
            config["thinkingConfig"] = members(config["thinkingConfig"])
        more, also = decode_config(config)
        fields, extra = fields | more, extra | also
        if not config:
            del left["generationConfig"]
    tool_config = left.get("toolConfig")
    if isinstance(tool_config, dict):
        left["toolConfig"] = tool_config = members(tool_config)
        calling = tool_config.get("functionCallingConfig")
        if isinstance(calling, dict):
            tool_config["functionCallingConfig"] = calling = members(calling)
            more, also = decode_choice(calling)
            fields, extra = fields | more, extra | also
            if not calling:
                del tool_config["functionCallingConfig"]
        if not tool_config:
            del left["toolConfig"]
    fields["tools"], whole = _decode_tools(left.get("tools"))
    if whole:
        left.pop("tools", None)
    extra |= decode_tier(left)
    echo = any(isinstance(part, Reasoning) for message in messages for part in message.parts)
    return Request(
        messages=tuple(messages),
        stream=stream,
        echo_reasoning=echo,
        extra=extra,
        native={WIRE: left} if left else {},
        **fields,
    )


def _decode_system(left: dict[str, Any]) -> list[Message]:
    system = left.get("systemInstruction")
    if isinstance(system, str):
        system = {"parts": [{"text": system}]}
    if not isinstance(system, dict) or not isinstance(system.get("parts"), list):
        return []
    del left["systemInstruction"]
    parts = _decode_parts(system["parts"], Ids())
    return [Message("system", tuple(part for part in parts if not isinstance(part, Message)))]


def _decode_contents(contents: Any) -> list[Message]:
    if not isinstance(contents, list):
        raise ValueError("contents: not a list")
    out: list[Message] = []
    ids = Ids(_given_ids(contents))
    for i, content in enumerate(contents):
        role = content.get("role", "user") if isinstance(content, dict) else None
        if role not in ("user", "model", "function"):
            raise ValueError(f"contents/{i}: not a content with a role of user, model")
        parts = content.get("parts")
        if role == "model":
            ids.begin()
        decoded = _decode_parts(parts if isinstance(parts, list) else [], ids)
        results = [item for item in decoded if isinstance(item, Message)]
        rest: tuple[Part, ...] = tuple(item for item in decoded if not isinstance(item, Message))
        out += results
        if rest or not results:
            out.append(Message("assistant" if role == "model" else "user", rest))
    return out


def _given_ids(contents: list[Any]) -> set[str]:
    found: set[str] = set()
    for content in contents:
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            for datum in members(part).values() if isinstance(part, dict) else ():
                given = datum.get("id") if isinstance(datum, dict) else None
                found |= {given} if isinstance(given, str) else set()
    return found


def _decode_parts(parts: list[Any], ids: Ids) -> list[Part | Message]:
    """The parts of a content, its results as tool messages."""
    out: list[Part | Message] = []
    for item in parts:
        raw = {"text": item} if isinstance(item, str) else members(item) if isinstance(item, dict) else {}
        if raw.get("functionResponse") is None:
            out += decode_part(raw, "", _unheard, lambda given, name, _: ids.call(given, name))
            continue
        given, name, said, failed = decode_result(raw, _unheard)
        out.append(Message("tool", said, tool_call_id=ids.result(given, name), is_error=failed))
    return out


def _unheard(*_: str) -> None:
    """Requests have no facts."""


def _decode_tools(tools: Any) -> tuple[tuple[Tool, ...], bool]:
    """The functions declared, and whether they are all that ``tools`` says."""
    found: list[Tool] = []
    whole = isinstance(tools, list) or tools is None
    for entry in tools if isinstance(tools, list) else ():
        entry = members(entry) if isinstance(entry, dict) else {}
        declared = entry.get("functionDeclarations")
        whole = whole and isinstance(declared, list) and entry.keys() == {"functionDeclarations"}
        for item in declared if isinstance(declared, list) else ():
            declaration = members(item) if isinstance(item, dict) else {}
            tool = _decode_tool(declaration)
            found += [tool] if tool else []
            known = {"name", "description", "parameters", "parametersJsonSchema"}
            whole = whole and tool is not None and declaration.keys() <= known
    return tuple(found), whole


def _decode_tool(declaration: dict[str, Any]) -> Tool | None:
    name, description = declaration.get("name"), declaration.get("description", "")
    if not isinstance(name, str) or not isinstance(description, str):
        return None
    schema, old = declaration.get("parametersJsonSchema"), declaration.get("parameters")
    parameters = schema if isinstance(schema, dict) else json_schema(old) if isinstance(old, dict) else {}
    return Tool(from_gemini(name), description, parameters)
