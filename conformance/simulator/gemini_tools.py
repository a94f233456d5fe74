"""The functions in a Gemini request and how they may be called.

Source: google-genai 3.6.1, ``types.FunctionDeclaration``, ``types.Tool``, ``types.FunctionCallingConfig``;
Gemini API guide "Function calling".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator.answer import refusal
from conformance.simulator.gemini_fields import SERVER_TOOLS
from conformance.simulator.gemini_json import invalid, snake
from conformance.simulator.gemini_schemas import json_schema, plain_schema
from conformance.types import Tool

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_NAME_RULE = (
    "Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128."
)
_MAX_FUNCTIONS = 512


@dataclass(frozen=True, slots=True)
class Calling:
    """What may be called: ``required`` forbids text, ``None`` is a request without functions."""

    choice: Literal["none", "auto", "required"] | None
    allowed: frozenset[str]


def read_tools(tools: Sequence[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """The functions of all ``tools``.

    Raises:
        Refused: 400 for a declaration that Gemini refuses, and for tools that Google would run.
    """
    found: dict[str, Tool] = {}
    for index, tool in enumerate(tools):
        path = f"tools[{index}]"
        for name in (*SERVER_TOOLS, "mcpServers"):
            if name in tool:
                message = f"Tool '{snake(name)}' is not supported by this model."
                raise refusal(message, param=f"{path}.{snake(name)}", code="unsupported_parameter")
        for place, declaration in enumerate(tool.get("functionDeclarations", ())):
            made = _function(declaration, f"{path}.function_declarations[{place}]")
            if made.name in found:
                message = f"Duplicate function declaration found: {made.name}"
                raise refusal(message, param=f"{path}.function_declarations[{place}].name")
            found[made.name] = made
    if len(found) > _MAX_FUNCTIONS:
        raise invalid("tools", f"at most {_MAX_FUNCTIONS} function declarations are allowed.")
    return tuple(found.values())


def _function(declaration: Mapping[str, Any], path: str) -> Tool:
    name = declaration.get("name", "")
    if not _NAME.fullmatch(name):
        raise invalid(f"{path}.name", _NAME_RULE)
    parameters = _schema(declaration, "parameters", "parametersJsonSchema", path)
    _schema(declaration, "response", "responseJsonSchema", path)
    if parameters.get("type", "object") != "object":
        raise invalid(f"{path}.parameters", "functionDeclaration parameters schema should be of type OBJECT.")
    return Tool(name, declaration.get("description", ""), parameters)


def _schema(declaration: Mapping[str, Any], own: str, plain: str, path: str) -> dict[str, Any]:
    """The schema under ``own`` (OpenAPI) or ``plain`` (JSON Schema), an empty one without either."""
    if own in declaration and plain in declaration:
        raise invalid(f"{path}.{snake(plain)}", f"it can't be set together with {snake(own)}.")
    if own in declaration:
        return json_schema(declaration[own], f"{path}.{own}")
    return plain_schema(declaration.get(plain, {}), f"{path}.{snake(plain)}")


def read_calling(config: Mapping[str, Any], tools: Sequence[Tool]) -> Calling:
    """What the ``toolConfig`` allows.

    Raises:
        Refused: 400 for functions demanded that are not declared, and names allowed in another mode than ANY
            and VALIDATED.
    """
    calling = config.get("functionCallingConfig", {})
    mode = calling.get("mode", "AUTO")
    names = frozenset(tool.name for tool in tools)
    path = "tool_config.function_calling_config"
    if mode in ("ANY", "VALIDATED") and not tools:
        message = "Function calling config is set without function_declarations."
        raise refusal(message, param=path)
    allowed = calling.get("allowedFunctionNames", ())
    if allowed and mode not in ("ANY", "VALIDATED"):
        message = "Please set allowed_function_names only when function calling mode is ANY or VALIDATED."
        raise refusal(message, param=f"{path}.allowed_function_names")
    for index, name in enumerate(allowed):
        if name not in names:
            raise invalid(f"{path}.allowed_function_names[{index}]", f"'{name[:128]}' is not declared.")
    if not tools:
        return Calling(None, names)
    reached = frozenset(allowed) or names
    match mode:
        case "NONE":
            return Calling("none", frozenset())
        case "ANY":
            return Calling("required", reached)
        case _:
            return Calling("auto", reached)
