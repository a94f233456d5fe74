"""Responses bodies as canonical requests; see ``openai_responses_request`` for what comes back the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.types import JSON, JsonSchemaFormat, Message, NamedChoice, Reasoning, Request, Text, Tool
from conformance.wires.body import compact
from conformance.wires.openai_responses_facts import silent
from conformance.wires.openai_responses_items import IDENTITY, WIRE, Reader, read_content
from conformance.wires.openai_responses_parts import RESULTS
from conformance.wires.openai_responses_request import LOGPROBS, SAME, nested_choice

_STATE = ("previous_response_id", "conversation", "prompt")
"""Members that bring messages of their own, so that ``input`` may be left out."""


def decode_request(body: dict[str, JSON]) -> Request:
    """The canonical request that a Responses body says; the model is not part of it.

    Members that Chat has a word for go to ``extra`` in Chat's words, all others to ``native``; ``null`` says
    nothing. Consecutive assistant items are one message. A list with a tool that is no plain function
    stands in ``native`` as it is, and its functions in ``tools``. Raises ``ValueError`` when there is no
    input, or when an item in it is none.
    """
    asked = _Asked()
    for key, value in body.items():
        if value is not None and key not in ("model", "input", "instructions"):
            asked.take(key, value)
    messages: list[Message] = []
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        messages += [Message.system(instructions)] if instructions else []
    elif instructions is not None:
        asked.native["instructions"] = instructions
    given = body.get("input")
    if isinstance(given, str):
        messages.append(Message("user", (Text(given),) if given else ()))
    elif isinstance(given, list):
        messages += decode_items(given)
    elif given is not None or not any(body.get(key) for key in _STATE):
        raise ValueError("input: neither a string nor a list of items")
    echo = any(isinstance(part, Reasoning) for message in messages for part in message.parts)
    return Request(
        messages=tuple(messages),
        echo_reasoning=echo,
        extra=asked.extra,
        native={WIRE: asked.native} if asked.native else {},
        **asked.fields,
    )


def decode_items(items: list[Any]) -> list[Message]:
    """Input items as messages; those of one assistant turn are folded into one.

    Raises ``ValueError`` for an item without a known role or a type.
    """
    out: list[Message] = []
    turn: Reader | None = None
    custom: set[str] = set()
    for i, given in enumerate(items):
        item = _typed(given, i)
        message = _decode_item(item, i, custom)
        if message is None:
            turn = turn or Reader(silent)
            turn.read(item, "")
            continue
        if turn is not None:
            out.append(Message("assistant", tuple(turn.parts)))
        turn = None
        out.append(message)
    return out if turn is None else [*out, Message("assistant", tuple(turn.parts))]


def _typed(item: Any, position: int) -> dict[str, Any]:
    """The item with its type, which messages and references may leave out."""
    if isinstance(item, dict):
        kind = item.get("type")
        if isinstance(kind, str) and kind:
            return item
        if kind is None and ("role" in item or isinstance(item.get("id"), str)):
            return {**item, "type": "message" if "role" in item else "item_reference"}
    raise ValueError(f"input/{position}: not an item with a type or a role")


def _decode_item(item: dict[str, Any], position: int, custom: set[str]) -> Message | None:
    """The message that an item is; ``None`` for an item of the assistant's."""
    kind, call_id = item["type"], item.get("call_id")
    if kind == "message":
        role: Any = item.get("role")
        if role == "assistant":
            return None
        if role not in ("system", "developer", "user"):
            raise ValueError(f"input/{position}: a role other than system, developer, user, assistant")
        rest = _rest(item, "role", "content")
        return Message(role, tuple(read_content(item.get("content"), "", silent, rest)))
    if kind in RESULTS:
        return _decode_result(item, kind, custom)
    if kind.endswith("_output") and isinstance(call_id, str):
        return Message("tool", (Text("", {WIRE: {"item": item}}),), call_id)
    if kind == "custom_tool_call" and isinstance(call_id, str):
        custom.add(call_id)
    return None


def _decode_result(item: dict[str, Any], kind: str, custom: set[str]) -> Message:
    call_id = item.get("call_id")
    rest = _rest(item, "call_id", "output")
    if (kind == "custom_tool_call_output") != (call_id in custom if isinstance(call_id, str) else False):
        rest["type"] = kind
    output = item.get("output")
    if output is not None and not isinstance(output, str | list):
        output = compact(output)
    parts = read_content([] if output is None else output, "", silent, rest)
    if not parts and rest:
        parts = [Text("", {WIRE: {"item": rest}})]
    return Message("tool", tuple(parts), call_id if isinstance(call_id, str) else None)


def _rest(item: dict[str, Any], *said: str) -> dict[str, Any]:
    known = (*IDENTITY, "type", *said)
    return {key: value for key, value in item.items() if key not in known and value is not None}


class _Asked:
    """The members of a body beside its messages, each in its place."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.extra: dict[str, Any] = {}
        self.native: dict[str, JSON] = {}
        self._takers: dict[str, Callable[[Any], bool]] = {
            "stream": lambda v: self._field("stream", v, bool),
            "temperature": lambda v: self._field("temperature", v, int, float),
            "parallel_tool_calls": lambda v: self._field("parallel_tool_calls", v, bool),
            "max_output_tokens": self._take_cap,
            "tools": self._take_tools,
            "tool_choice": self._take_choice,
            "text": self._take_text,
            "reasoning": self._take_reasoning,
            "include": self._take_include,
            "stream_options": lambda v: self._extra("stream_options", v) if isinstance(v, dict) else False,
        }

    def take(self, key: str, value: Any) -> None:
        taker = self._takers.get(key)
        if taker is not None and taker(value):
            return
        if key in SAME and key != "store":
            self.extra[key] = value
        else:
            self.native[key] = value

    def _field(self, name: str, value: Any, *types: type) -> bool:
        if type(value) in types:
            self.fields[name] = value
        return name in self.fields

    def _extra(self, name: str, value: Any) -> bool:
        self.extra[name] = value
        return True

    def _take_cap(self, value: Any) -> bool:
        return self._field("max_tokens", value, int) or self._extra("max_tokens", value)

    def _take_tools(self, value: Any) -> bool:
        tools = [_tool(item) for item in value] if isinstance(value, list) else []
        known = tuple(tool for tool in tools if tool is not None)
        if known:
            self.fields["tools"] = known
        return bool(known) and len(known) == len(tools)

    def _take_choice(self, value: Any) -> bool:
        if value in ("none", "auto", "required"):
            self.fields["tool_choice"] = value
            return True
        nested = nested_choice(value)
        if nested is None:
            return False
        if nested["type"] == "function" and isinstance(name := nested["function"]["name"], str):
            self.fields["tool_choice"] = NamedChoice(name)
            return True
        return self._extra("tool_choice", nested)

    def _take_text(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        rest = {key: member for key, member in value.items() if member is not None}
        if "verbosity" in rest:
            self._extra("verbosity", rest.pop("verbosity"))
        fmt = rest.get("format")
        kind = fmt.get("type") if isinstance(fmt, dict) else None
        if isinstance(fmt, dict) and kind in ("json_object", "text") and len(fmt) == 1:
            self._extra("response_format", rest.pop("format"))
        elif isinstance(fmt, dict) and kind == "json_schema" and _is_schema(fmt):
            strict = fmt.get("strict")
            self.fields["response_format"] = JsonSchemaFormat(fmt["name"], fmt["schema"], bool(strict))
            more = {k: v for k, v in fmt.items() if k not in ("type", "name", "schema", "strict")}
            rest = {k: v for k, v in rest.items() if k != "format"} | ({"format": more} if more else {})
        if rest:
            self.native["text"] = rest
        return True

    def _take_reasoning(self, value: Any) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("effort"), str):
            return False
        self._extra("reasoning_effort", value["effort"])
        rest = {k: v for k, v in value.items() if k != "effort" and v is not None}
        if rest:
            self.native["reasoning"] = rest
        return True

    def _take_include(self, value: Any) -> bool:
        if not isinstance(value, list) or LOGPROBS not in value:
            return False
        self._extra("logprobs", True)
        rest = [key for key in value if key != LOGPROBS]
        if rest:
            self.native["include"] = rest
        return True


def _tool(item: Any) -> Tool | None:
    """The function that a tool is; ``None`` for any other, or one with members of its own."""
    if not isinstance(item, dict) or item.get("type") != "function":
        return None
    name, description = item.get("name"), item.get("description")
    parameters, strict = item.get("parameters"), item.get("strict")
    if not item.keys() <= {"type", "name", "description", "parameters", "strict"}:
        return None
    if not isinstance(name, str) or not isinstance(description, str | None):
        return None
    if not isinstance(parameters, dict | None) or not isinstance(strict, bool | None):
        return None
    return Tool(name, description or "", parameters or {}, strict)


def _is_schema(fmt: dict[str, Any]) -> bool:
    strict = fmt.get("strict")
    return (
        isinstance(fmt.get("name"), str)
        and isinstance(fmt.get("schema"), dict)
        and (strict is None or isinstance(strict, bool))
    )
