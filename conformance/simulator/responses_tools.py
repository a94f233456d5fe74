"""Tools, the choice among them and the format of the text in a Responses request.

Source: ``FunctionToolParam``, ``ToolChoice`` and ``ResponseTextConfigParam`` of openai-python 3.57.0; the
guide "Function calling", "Strict mode": where ``strict`` is left out, the schema is made a strict one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator import schemas
from conformance.simulator.answer import refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.messages import PastMessage
from conformance.types import JsonSchemaFormat, NamedChoice, Tool

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST = 128
_TOOL = ("type", "name", "description", "parameters", "strict")
_UNSUPPORTED_OF_TOOL = ("allowed_callers", "defer_loading", "output_schema", "async")

Choice = Literal["none", "auto", "required"] | NamedChoice | None
Format = JsonSchemaFormat | Literal["json_object"] | None


def read_tools(body: Fields) -> tuple[Tool, ...]:
    """The functions that may be called; each has ``strict`` decided.

    Raises:
        Refused: OpenAI would refuse them with 400.
    """
    return tuple(_tool(item) for item in body.objects("tools", 0, _MOST) or ())


def _tool(item: Fields) -> Tool:
    if item.choice("type", ("function",)) is None:
        raise missing(item.param("type"))
    item.closed((*_TOOL, *_UNSUPPORTED_OF_TOOL))
    for member in _UNSUPPORTED_OF_TOOL:
        if item.raw(member) not in (None, False, ["direct"]):
            raise wrong_value(item.param(member), "it is not supported with this model")
    name = item.needed_text("name")
    if not _NAME.fullmatch(name):
        raise wrong_value(
            item.param("name"), f"expected a string that matches the pattern '^{_NAME.pattern}$'"
        )
    item.object("parameters")
    parameters = item.raw("parameters")
    parameters = {"type": "object", "properties": {}} if parameters is None else parameters
    strict = item.boolean("strict")
    wrong = schemas.problem(parameters)
    if wrong is None and parameters.get("type") != "object":
        wrong = "schema must be a JSON Schema of 'type: \"object\"'"
    if wrong is None and strict:
        wrong = schemas.strict_problem(parameters)
    if wrong is not None:
        message = f"Invalid schema for function '{name}': {wrong}."
        raise refusal(message, param=item.param("parameters"), code="invalid_function_parameters")
    if strict is None:
        made = _made_strict(parameters)
        strict = schemas.strict_problem(made) is None
        parameters = made if strict else parameters
    return Tool(name, item.text("description") or "", parameters, strict)


def _made_strict(schema: Any) -> Any:
    """``schema`` with all its objects closed and all their members required."""
    if isinstance(schema, list):
        return [_made_strict(child) for child in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _made_within(name, child) for name, child in schema.items()}
    if schema.get("type") == "object":
        made.setdefault("properties", {})
        made.setdefault("additionalProperties", False)
        made["required"] = list(made["properties"])
    return made


def _made_within(keyword: str, child: Any) -> Any:
    if keyword in ("properties", "$defs", "definitions") and isinstance(child, dict):
        return {name: _made_strict(named) for name, named in child.items()}
    return _made_strict(child) if keyword in ("items", "anyOf") else child


def told_tools(body: Mapping[str, Any], tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as a response repeats them."""
    return [
        {
            "type": "function",
            "description": given.get("description"),
            "name": tool.name,
            "parameters": tool.parameters,
            "strict": tool.strict,
        }
        for given, tool in zip(body.get("tools") or (), tools, strict=True)
    ]


# -------------------------------------------------------------------------------------------- choice


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice among the tools, and which may be called."""

    choice: Choice
    allowed: frozenset[str]


def read_choice(body: Fields, tools: Sequence[Tool]) -> Chosen:
    """The choice among the tools.

    Raises:
        Refused: OpenAI would refuse it with 400.
    """
    value = body.raw("tool_choice")
    names = frozenset(tool.name for tool in tools)
    if value is None or value in ("auto", "none"):
        return Chosen((value or "auto") if tools else None, names)
    if not tools:
        raise wrong_value("tool_choice", "it needs 'tools' to be specified")
    if isinstance(value, str):
        return Chosen(_mode(value, "tool_choice", ("none", "auto", "required")), names)
    if not isinstance(value, dict):
        raise wrong_type("tool_choice", "a string or an object", value)
    choice = Fields(value, "tool_choice")
    kind = choice.choice("type", ("function", "allowed_tools"))
    if kind is None:
        raise missing("tool_choice.type")
    if kind == "function":
        choice.closed(("type", "name"))
        name = _declared(choice, names)
        return Chosen(NamedChoice(name), frozenset({name}))
    choice.closed(("type", "mode", "tools"))
    entries = choice.objects("tools", 1, _MOST)
    if entries is None:
        raise missing("tool_choice.tools")
    mode = _mode(choice.needed_text("mode"), "tool_choice.mode", ("auto", "required"))
    return Chosen(mode, frozenset(_allowed(entry, names) for entry in entries))


def _mode(value: str, param: str, allowed: Sequence[str]) -> Literal["none", "auto", "required"]:
    match value:
        case "none" | "auto" | "required" if value in allowed:
            return value
        case _:
            raise wrong_value(param, f"supported values are {', '.join(allowed)}")


def _allowed(entry: Fields, names: frozenset[str]) -> str:
    if entry.choice("type", ("function",)) is None:
        raise missing(entry.param("type"))
    return _declared(entry, names)


def _declared(entry: Fields, names: frozenset[str]) -> str:
    name = entry.needed_text("name")
    if name not in names:
        message = f"Tool choice '{name[:64]}' not found in 'tools' parameter."
        raise refusal(message, param=entry.param("name"), code="invalid_value")
    return name


# ---------------------------------------------------------------------------------------------- text


def read_format(body: Fields, messages: Sequence[PastMessage]) -> Format:
    """The format of the answer.

    Raises:
        Refused: OpenAI would refuse it with 400.
    """
    text = body.object("text")
    if text is None:
        return None
    text.closed(("format", "verbosity"))
    text.choice("verbosity", ("low", "medium", "high"))
    given = text.object("format")
    if given is None:
        return None
    match given.choice("type", ("text", "json_object", "json_schema")):
        case "text":
            given.closed(("type",))
            return None
        case "json_object":
            given.closed(("type",))
            if not any("json" in message.text.lower() for message in messages):
                message = "'text.format' of type 'json_object' needs the word 'json' in the input messages."
                raise refusal(message, param="input")
            return "json_object"
        case "json_schema":
            return _schema_format(given)
        case _:
            raise missing(given.param("type"))


def _schema_format(given: Fields) -> JsonSchemaFormat:
    given.closed(("type", "name", "schema", "strict", "description"))
    name = given.needed_text("name")
    if not _NAME.fullmatch(name):
        raise wrong_value(given.param("name"), f"it must match ^{_NAME.pattern}$")
    given.text("description")
    given.needed_object("schema")
    schema = given.raw("schema")
    strict = given.boolean("strict") or False
    wrong = schemas.problem(schema) or (schemas.strict_problem(schema) if strict else None)
    if wrong is not None:
        message = f"Invalid schema for response_format '{name}': {wrong}."
        raise refusal(message, param="text.format.schema", code="invalid_json_schema")
    return JsonSchemaFormat(name, schema, strict)


def told_text(body: Mapping[str, Any]) -> dict[str, Any]:
    """The text configuration as a response repeats it."""
    given = body.get("text") or {}
    form = dict(given.get("format") or {"type": "text"})
    if form["type"] == "json_schema":
        form = {"type": "json_schema", "description": None, "strict": False} | {
            name: value for name, value in form.items() if value is not None
        }
    return {"format": form, "verbosity": given.get("verbosity") or "medium"}
