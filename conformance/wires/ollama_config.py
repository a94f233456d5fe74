"""Settings and tools of a request: what Ollama says in ``options``, ``think`` and ``format``, and OpenAI
Chat's words.

``reasoning_effort`` is ``think``: ``none`` is false, ``low``, ``medium`` and ``high`` are themselves, other
efforts of Chat the nearest. A schema's name and ``strict`` have no word, nor has the choice of a tool.

Source: ollama/ollama fb307609, ``docs/openapi.yaml`` (ChatRequest, ModelOptions); ollama-python 0.6.3,
``_types.py`` (``Options``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import JSON, JsonSchemaFormat, Loss, NamedChoice, Request, Tool
from conformance.wires.losses import pointer
from conformance.wires.schemas import is_strict

FORMAT_NAME = "response"
"""The name of a schema that came without one."""

_CANONICAL = {"max_tokens": "num_predict", "temperature": "temperature", "stop": "stop"}
_OPTIONS = ("top_p", "seed", "presence_penalty", "frequency_penalty")
_ALSO = {"max_completion_tokens": "num_predict", "top_k": "top_k"}
_TOP = ("logprobs", "top_logprobs")
_EFFORTS = ("low", "medium", "high")
_NEAREST = {"minimal": "low", "xhigh": "high", "max": "high"}
_EMPTY: Mapping[str, JSON] = {"type": "object", "properties": {}}


# -------------------------------------------------------------------------------------------- encoding


def encode_tools(request: Request, losses: list[Loss]) -> list[dict[str, Any]]:
    """The tools to send, ``tool_choice`` considered."""
    raw = request.extra.get("tool_choice")
    choice = request.tool_choice if raw is None else raw
    at = "/tool_choice" if raw is None else "/extra/tool_choice"
    only = _allowed(choice)
    if choice == "none":
        if request.tools:
            losses.append(Loss(at, "said by leaving the tools out", "form"))
        return []
    if only is not None:
        losses.append(Loss(at, "the other tools: only the allowed ones are sent", "form"))
    elif choice not in (None, "auto"):
        losses.append(Loss(at, "no word for it"))
    return [
        _declare(tool, f"/tools/{i}", losses)
        for i, tool in enumerate(request.tools)
        if only is None or tool.name in only
    ]


def _allowed(choice: Any) -> set[str] | None:
    """The names of a Chat ``allowed_tools`` choice that leaves the model free (OpenAI API reference)."""
    if isinstance(choice, str | NamedChoice):
        return None
    try:
        inner = choice["allowed_tools"]
        names = [tool["function"]["name"] for tool in inner["tools"]]
        return {str(name) for name in names} if inner["mode"] == "auto" else None
    except (TypeError, KeyError, IndexError):
        return None


def _declare(tool: Tool, at: str, losses: list[Loss]) -> dict[str, Any]:
    if tool.strict is not None:
        losses.append(Loss(f"{at}/strict", "no word for it", "meaning" if tool.strict else "form"))
    if not tool.parameters:
        losses.append(Loss(f"{at}/parameters", "none: sent as an object without properties", "form"))
    function: dict[str, Any] = {"name": tool.name, "parameters": dict(tool.parameters or _EMPTY)}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}


def encode_settings(request: Request, losses: list[Loss]) -> dict[str, Any]:
    """The members of a body beside its messages, its tools and ``stream``."""
    body: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for name, key in _CANONICAL.items():
        value = getattr(request, name)
        if value is not None:
            options[key] = list(value) if name == "stop" else value
    fmt = request.response_format
    if fmt is not None:
        body["format"] = dict(fmt.schema)
        if fmt.name != FORMAT_NAME:
            losses.append(Loss("/response_format/name", "the name of the schema", "form"))
        if fmt.strict != is_strict(fmt.schema):
            losses.append(Loss("/response_format/strict", "any schema is held to", "form"))
    if request.n not in (None, 1):
        losses.append(Loss("/n", "one answer is all there is"))
    if request.parallel_tool_calls is False:
        losses.append(Loss("/parallel_tool_calls", "no word for one call at most"))
    for key, value in request.extra.items():
        at = pointer("extra", key)
        if value is None:
            losses.append(Loss(at, "null: left out", "form"))
        elif key in _CANONICAL or key in _OPTIONS or key in _ALSO:
            options[{**_CANONICAL, **_ALSO}.get(key, key)] = value
        elif key in _TOP:
            body[key] = value
        elif key == "reasoning_effort":
            body["think"] = _think(value, losses)
        elif key == "response_format":
            body |= _raw_format(value, losses)
        elif key != "tool_choice":
            said = key in ("messages", "tools")
            losses.append(Loss(at, "sent verbatim in openai-chat's words" if said else "no word for it"))
    return body | ({"options": options} if options else {})


def _think(effort: Any, losses: list[Loss]) -> Any:
    if effort == "none":
        return False
    nearest = _NEAREST.get(effort, effort) if isinstance(effort, str) else effort
    if nearest != effort:
        losses.append(Loss("/extra/reasoning_effort", f"{effort} said as {nearest}", "form"))
    return nearest


def _raw_format(value: Any, losses: list[Loss]) -> dict[str, Any]:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "text":
        return {}
    if kind == "json_object":
        return {"format": "json"}
    inner = value.get("json_schema") if kind == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict):
        losses.append(Loss("/extra/response_format", "no word for it"))
        return {}
    losses.append(Loss("/extra/response_format", "the name of the schema, and strict", "form"))
    return {"format": schema}


# -------------------------------------------------------------------------------------------- decoding


def decode_settings(body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of a ``Request`` and ``extra`` that a body says; what it says is taken out of it."""
    fields: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    options = body.get("options")
    if isinstance(options, dict):
        body["options"] = options = dict(options)
        fields, extra = _decode_options(options)
        if not options:
            del body["options"]
    extra |= {key: body.pop(key) for key in _TOP if body.get(key) is not None}
    think = body.get("think")
    if think is False or think in _EFFORTS:
        del body["think"]
        extra["reasoning_effort"] = think or "none"
    fmt = body.get("format")
    if isinstance(fmt, dict) and fmt:
        fields["response_format"] = JsonSchemaFormat(FORMAT_NAME, fmt, is_strict(fmt))
        del body["format"]
    elif fmt in ("", "json"):
        del body["format"]
        extra |= {"response_format": {"type": "json_object"}} if fmt else {}
    return fields, extra


def _decode_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    fields: dict[str, Any] = {}
    for name, key in _CANONICAL.items():
        value = options.get(key)
        if name == "stop":
            value = [value] if isinstance(value, str) else value
            if isinstance(value, list) and all(isinstance(stop, str) for stop in value):
                fields[name] = tuple(value)
                del options[key]
        elif type(value) in ((int, float) if name == "temperature" else (int,)):
            fields[name] = options.pop(key)
    return fields, {key: options.pop(key) for key in _OPTIONS if options.get(key) is not None}


def decode_tools(tools: Any) -> tuple[tuple[Tool, ...], bool]:
    """The functions declared, and whether they are all that ``tools`` says."""
    found: list[Tool] = []
    whole = isinstance(tools, list) or tools is None
    for item in tools if isinstance(tools, list) else ():
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict):
            whole = False
            continue
        name, description = function.get("name"), function.get("description", "")
        parameters = function.get("parameters", {})
        if isinstance(name, str) and isinstance(description, str) and isinstance(parameters, dict):
            found.append(Tool(name, description, parameters))
        else:
            whole = False
        known = function.keys() <= {"name", "description", "parameters"}
        whole = whole and known and item == {"type": "function", "function": function}
    return tuple(found), whole
