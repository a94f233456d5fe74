"""Settings of a request: Gemini's ``generationConfig``, ``toolConfig`` and their like, and OpenAI Chat's
words.

``reasoning_effort`` is ``thinkingLevel`` in capitals, ``none`` a ``thinkingBudget`` of 0: the map that
Google documents for its OpenAI-compatible endpoint, in the words of the current models (ai.google.dev,
OpenAI compatibility; older ones know budgets alone, which stay in ``native``). A schema's name and
``strict`` have no word.

Source: google-genai 3.6.1, ``types.GenerationConfig``, ``FunctionCallingConfig``, ``ThinkingConfig``,
``ServiceTier``.
"""

from __future__ import annotations

from typing import Any

from conformance.types import JsonSchemaFormat, Loss, NamedChoice, Request
from conformance.wires.gemini_names import from_gemini, to_gemini
from conformance.wires.gemini_schema import json_schema
from conformance.wires.losses import pointer
from conformance.wires.schemas import is_strict

FORMAT_NAME = "response"
"""The name of a schema that came without one."""

_CANONICAL = {
    "max_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "stop": "stopSequences",
    "n": "candidateCount",
}
_SAMPLING = {
    "top_p": "topP",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
_ALSO = {"max_completion_tokens": "maxOutputTokens", "top_k": "topK"}
_TIERS = {"default": "standard", "flex": "flex", "priority": "priority"}
_MOST = "XHIGH"
_MODES = {"none": "NONE", "auto": "AUTO", "required": "ANY"}


# -------------------------------------------------------------------------------------------- encoding


def encode_config(request: Request, losses: list[Loss]) -> dict[str, Any]:
    """The members of a body beside its conversation and its tools."""
    config: dict[str, Any] = {}
    for name, key in _CANONICAL.items():
        value = getattr(request, name)
        if value is not None:
            config[key] = list(value) if name == "stop" else value
    body: dict[str, Any] = {}
    if request.response_format is not None:
        config |= _encode_format(request.response_format, "/response_format", losses)
    for key, value in request.extra.items():
        if value is None:
            losses.append(Loss(pointer("extra", key), "null: left out", "form"))
        elif key in _CANONICAL or key in _SAMPLING or key in _ALSO:
            value = [value] if key == "stop" and isinstance(value, str) else value
            config[{**_CANONICAL, **_SAMPLING, **_ALSO}[key]] = value
        elif key == "reasoning_effort":
            config["thinkingConfig"] = _encode_effort(value, losses)
        elif key == "response_format":
            config |= _encode_raw_format(value, losses)
        elif key == "service_tier" and value in ("auto", *_TIERS):
            body |= {} if value == "auto" else {"serviceTier": _TIERS[value]}
        elif key == "store":
            body["store"] = value
        elif key != "tool_choice":
            said = key in ("messages", "tools")
            what = "sent verbatim in openai-chat's words" if said else "no word for it"
            losses.append(Loss(pointer("extra", key), what))
    if request.parallel_tool_calls is False:
        losses.append(Loss("/parallel_tool_calls", "no word for one call at most"))
    return body | ({"generationConfig": config} if config else {})


def encode_choice(request: Request, losses: list[Loss]) -> tuple[dict[str, Any] | None, set[str] | None]:
    """The ``functionCallingConfig``, and the names of the only tools to declare (``None``: all)."""
    raw = request.extra.get("tool_choice")
    if raw is not None:
        names = _allowed(raw)
        if isinstance(raw, str) and raw in _MODES:
            return {"mode": _MODES[raw]}, None
        if names is None:
            losses.append(Loss("/extra/tool_choice", "no word for it"))
            return None, None
        if raw["allowed_tools"]["mode"] == "required":
            allowed = [to_gemini(name) for name in names]
            return {"mode": "ANY", "allowedFunctionNames": allowed}, None
        losses.append(Loss("/extra/tool_choice", "the other tools: only the allowed ones are sent", "form"))
        return {"mode": "AUTO"}, set(names)
    choice = request.tool_choice
    if isinstance(choice, NamedChoice):
        return {"mode": "ANY", "allowedFunctionNames": [to_gemini(choice.name)]}, None
    return (None if choice is None else {"mode": _MODES[choice]}), None


def _allowed(raw: Any) -> list[str] | None:
    """The names of a Chat ``allowed_tools`` choice (OpenAI API reference, chat/create)."""
    try:
        inner = raw["allowed_tools"]
        names = [tool["function"]["name"] for tool in inner["tools"]]
        ok = raw["type"] == "allowed_tools" and inner["mode"] in ("auto", "required")
    except (TypeError, KeyError, IndexError):
        return None
    return names if ok and names and all(isinstance(name, str) for name in names) else None


def _encode_effort(effort: Any, losses: list[Loss]) -> dict[str, Any]:
    if effort == "none":
        return {"thinkingBudget": 0}
    if effort == "max":
        losses.append(Loss("/extra/reasoning_effort", f"{_MOST} is the most there is", "form"))
        return {"thinkingLevel": _MOST}
    return {"thinkingLevel": effort.upper() if isinstance(effort, str) else effort}


def _encode_format(fmt: JsonSchemaFormat, at: str, losses: list[Loss]) -> dict[str, Any]:
    if fmt.name != FORMAT_NAME:
        losses.append(Loss(f"{at}/name", "the name of the schema", "form"))
    if fmt.strict != is_strict(fmt.schema):
        losses.append(Loss(f"{at}/strict", "any schema is held to", "form"))
    return {"responseMimeType": "application/json", "responseJsonSchema": dict(fmt.schema)}


def _encode_raw_format(value: Any, losses: list[Loss]) -> dict[str, Any]:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "text":
        return {"responseMimeType": "text/plain"}
    if kind == "json_object":
        return {"responseMimeType": "application/json"}
    inner = value.get("json_schema") if kind == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict):
        losses.append(Loss("/extra/response_format", "no word for it"))
        return {}
    losses.append(Loss("/extra/response_format", "the name of the schema, and strict", "form"))
    return {"responseMimeType": "application/json", "responseJsonSchema": schema}


# -------------------------------------------------------------------------------------------- decoding


def decode_config(config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of a ``Request`` and ``extra`` that a ``generationConfig`` says; what it says is taken out of
    it.
    """
    fields: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, key in _CANONICAL.items():
        value = config.get(key)
        if name == "stop":
            if isinstance(value, list) and all(isinstance(stop, str) for stop in value):
                fields[name] = tuple(config.pop(key))
        elif type(value) in ((int, float) if name == "temperature" else (int,)):
            fields[name] = config.pop(key)
    for name, key in _SAMPLING.items():
        if config.get(key) is not None:
            extra[name] = config.pop(key)
    thinking = config.get("thinkingConfig")
    if isinstance(thinking, dict):
        extra |= _decode_effort(thinking)
        if not thinking:
            del config["thinkingConfig"]
    _decode_format(config, fields, extra)
    return fields, extra


def _decode_effort(thinking: dict[str, Any]) -> dict[str, Any]:
    level = thinking.get("thinkingLevel")
    if isinstance(level, str) and level.lower() != "none":
        return {"reasoning_effort": thinking.pop("thinkingLevel").lower()}
    budget = thinking.get("thinkingBudget")
    if level is None and type(budget) is int and budget == 0:
        del thinking["thinkingBudget"]
        return {"reasoning_effort": "none"}
    return {}


def _decode_format(config: dict[str, Any], fields: dict[str, Any], extra: dict[str, Any]) -> None:
    kind = config.get("responseMimeType")
    schema = config.get("responseJsonSchema")
    old = config.get("responseSchema")
    if kind == "text/plain" and schema is None and old is None:
        extra["response_format"] = {"type": "text"}
    elif kind != "application/json":
        return
    elif isinstance(schema, dict):
        fields["response_format"] = JsonSchemaFormat(FORMAT_NAME, schema, is_strict(schema))
        del config["responseJsonSchema"]
    elif schema is None and isinstance(old, dict):
        schema = json_schema(old)
        fields["response_format"] = JsonSchemaFormat(FORMAT_NAME, schema, is_strict(schema))
        del config["responseSchema"]
    elif schema is None and old is None:
        extra["response_format"] = {"type": "json_object"}
    else:
        return
    del config["responseMimeType"]


def decode_choice(config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same of a ``functionCallingConfig``."""
    mode, names = config.get("mode"), config.get("allowedFunctionNames")
    if mode not in _MODES.values() or (names is not None and not _is_names(names, mode)):
        return {}, {}
    del config["mode"]
    config.pop("allowedFunctionNames", None)
    if not names:
        return {"tool_choice": next(word for word, known in _MODES.items() if known == mode)}, {}
    if len(names) == 1:
        return {"tool_choice": NamedChoice(from_gemini(names[0]))}, {}
    tools = [{"type": "function", "function": {"name": from_gemini(name)}} for name in names]
    allowed = {"mode": "required", "tools": tools}
    return {}, {"tool_choice": {"type": "allowed_tools", "allowed_tools": allowed}}


def _is_names(names: Any, mode: Any) -> bool:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return False
    return mode == "ANY" or not names


def decode_tier(body: dict[str, Any]) -> dict[str, Any]:
    """``extra`` that the members beside ``generationConfig`` say; what is said is taken out of ``body``."""
    extra: dict[str, Any] = {}
    tier = next((word for word, known in _TIERS.items() if known == body.get("serviceTier")), None)
    if tier is not None:
        extra["service_tier"] = tier
        del body["serviceTier"]
    if isinstance(body.get("store"), bool):
        extra["store"] = body.pop("store")
    return extra
