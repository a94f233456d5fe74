"""Everything of a Messages body but its messages: how Chat's words are said in it, and read from it.

- ``max_tokens`` is required here: ``DEFAULT_MAX_TOKENS``, beside any thinking budget, stands in (Q4).
- ``temperature`` is 0..1; beyond, the API answers 400 ("temperature: range: 0..1"), so the nearest end
  is sent. (SDK 2.14.0 types no sampling parameter any more; newer models refuse them.)
- ``reasoning_effort`` is a thinking budget, ``BUDGETS``; ``none`` is ``thinking: disabled``. Budgets are at
  least 1,024 and below ``max_tokens``. Thinking stays off where the last assistant message calls tools
  without signed thinking, and where a call is forced: the API refuses both with 400 (S3); so it does
  a ``temperature`` but 1, a ``top_p`` below 0.95 and any ``top_k`` while thinking (Anthropic, "Extended
  thinking", "Feature compatibility"), which are left out.
- A JSON schema is ``output_config.format``, always strict, without a name: read back as ``FORMAT_NAME``.
- ``user``, or ``safety_identifier``, is ``metadata.user_id``; the ``service_tier`` ``default`` is
  ``standard_only``.
- ``allowed_tools`` is said by sending only those tools (Q7).

What has neither a canonical form nor a Chat word is ``native``; so is a list of tools that holds more than
plain functions (server tools, cache marks), beside its functions in canonical form.

Source: anthropic SDK 2.14.0, ``types/message_create_params.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.types import (
    JSON,
    JsonSchemaFormat,
    Loss,
    NamedChoice,
    Part,
    Reasoning,
    Request,
    Tool,
    ToolCall,
)
from conformance.wires.anthropic_media import WIRE
from conformance.wires.losses import pointer
from conformance.wires.schemas import for_grammar, is_strict

DEFAULT_MAX_TOKENS = 4096

FORMAT_NAME = "response"
"""The name of a schema that this wire gave none: Chat requires one."""

BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}
"""Thinking tokens by OpenAI's ``reasoning_effort``: our choice, since no vendor publishes a table."""

_NO_PARAMETERS: Mapping[str, JSON] = {"type": "object", "properties": {}}
_MIN_BUDGET = 1024
_MIN_THINKING_TOP_P = 0.95
_TIERS = {"auto": "auto", "default": "standard_only"}
_CHOICES = {"none": "none", "auto": "auto", "required": "any"}

_SAYS_NOTHING: dict[str, tuple[JSON, ...]] = {
    "frequency_penalty": (0,),
    "logit_bias": ({},),
    "logprobs": (False,),
    "metadata": ({},),
    "n": (1,),
    "presence_penalty": (0,),
    "response_format": ({"type": "text"},),
    "store": (False,),
}
"""Values that ask for what this wire does anyway (``null`` does everywhere)."""


# -------------------------------------------------------------------------------------------- encoding


def encode_parameters(request: Request, losses: list[Loss]) -> dict[str, Any]:
    """The members of the body beside ``model``, ``system`` and ``messages``."""
    extra = {k: v for k, v in request.extra.items() if v is not None and v not in _SAYS_NOTHING.get(k, ())}
    request = _with_allowed_tools(request, extra, losses)
    thinking = _take_effort(request, extra, losses)
    body: dict[str, Any] = {"max_tokens": _max_tokens(request, thinking, losses)}
    if request.tools:
        tools = (_for_grammar(tool, f"/tools/{i}", losses) for i, tool in enumerate(request.tools))
        body["tools"] = [encode_tool(tool) for tool in tools]
    choice = _encode_choice(request, losses)
    optional = {
        "tool_choice": choice,
        "stream": request.stream or None,
        "stop_sequences": None if request.stop is None else list(request.stop),
        "output_config": _output_config(request, losses),
        "thinking": thinking,
        "metadata": _take_user(extra, losses),
        "service_tier": _take_tier(extra),
        **_sampling(request, extra, losses, thinks=(thinking or {}).get("type") == "enabled"),
    }
    if request.n is not None and request.n != 1:
        losses.append(Loss("/n", "one answer is all that this wire gives"))
    for key in extra:
        raw = key in ("messages", "tools")
        why = "sent verbatim in openai-chat's words" if raw else "no word of this wire says it"
        losses.append(Loss(pointer("extra", key), why))
    return body | {k: v for k, v in optional.items() if v is not None}


def _for_grammar(tool: Tool, at: str, losses: list[Loss]) -> Tool:
    if not tool.strict:
        return tool
    return replace(
        tool, parameters=for_grammar(tool.parameters or _NO_PARAMETERS, f"{at}/parameters", losses)
    )


def encode_tool(tool: Tool) -> dict[str, Any]:
    """A tool of the body; ``input_schema`` is required, and an object's."""
    schema = dict(tool.parameters or _NO_PARAMETERS)
    out: dict[str, Any] = {"name": tool.name, "input_schema": schema}
    if tool.description:
        out["description"] = tool.description
    if tool.strict is not None:
        out["strict"] = tool.strict
    return out


def _with_allowed_tools(request: Request, extra: dict[str, Any], losses: list[Loss]) -> Request:
    """Chat's ``allowed_tools``, which has no canonical form and no word here."""
    choice = extra.get("tool_choice")
    allowed = choice.get("allowed_tools") if isinstance(choice, dict) else None
    tools = allowed.get("tools") if isinstance(allowed, dict) else None
    mode = allowed.get("mode") if isinstance(allowed, dict) else None
    if request.tool_choice is not None or not isinstance(tools, list) or mode not in ("auto", "required"):
        return request
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)]
    names = {str(function.get("name")) for function in functions if isinstance(function, dict)}
    del extra["tool_choice"]
    losses.append(Loss("/extra/tool_choice", "only the allowed tools are sent", "form"))
    kept = tuple(tool for tool in request.tools if tool.name in names)
    return replace(request, tools=kept, tool_choice="required" if mode == "required" else "auto")


def _encode_choice(request: Request, losses: list[Loss]) -> dict[str, Any] | None:
    choice, parallel = request.tool_choice, request.parallel_tool_calls
    out: dict[str, Any] | None = None
    if isinstance(choice, NamedChoice):
        out = {"type": "tool", "name": choice.name}
    elif choice is not None:
        out = {"type": _CHOICES[choice]}
    if parallel is None:
        return out
    if choice == "none":
        losses.append(Loss("/parallel_tool_calls", "a choice of none has no place for it", "form"))
        return out
    return (out or {"type": "auto"}) | {"disable_parallel_tool_use": not parallel}


def _sampling(
    request: Request, extra: dict[str, Any], losses: list[Loss], *, thinks: bool
) -> dict[str, float | None]:
    temperature, top_p, top_k = request.temperature, extra.pop("top_p", None), extra.pop("top_k", None)
    refused = {
        "/temperature": temperature not in (None, 1),
        "/extra/top_p": isinstance(top_p, int | float) and top_p < _MIN_THINKING_TOP_P,
        "/extra/top_k": top_k is not None,
    }
    if not thinks or not any(refused.values()):
        return {"temperature": _temperature(temperature, losses), "top_p": top_p, "top_k": top_k}
    losses += [Loss(at, "not while thinking") for at, is_refused in refused.items() if is_refused]
    return {
        "temperature": None if refused["/temperature"] else temperature,
        "top_p": None if refused["/extra/top_p"] else top_p,
    }


def _temperature(value: float | None, losses: list[Loss]) -> float | None:
    if value is None or 0 <= value <= 1:
        return value
    nearest = 1.0 if value > 1 else 0.0
    losses.append(Loss("/temperature", f"{value} is outside 0..1: {nearest} is sent"))
    return nearest


def _output_config(request: Request, losses: list[Loss]) -> dict[str, Any] | None:
    wanted = request.response_format
    if wanted is None:
        return None
    if wanted.name != FORMAT_NAME:
        losses.append(Loss("/response_format/name", "schemas have no name here", "form"))
    schema = for_grammar(wanted.schema, "/response_format/schema", losses)
    if wanted.strict != is_strict(schema):
        losses.append(Loss("/response_format/strict", "any schema is held to", "form"))
    return {"format": {"type": "json_schema", "schema": schema}}


def _take_effort(request: Request, extra: dict[str, Any], losses: list[Loss]) -> dict[str, Any] | None:
    effort, at = extra.get("reasoning_effort"), "/extra/reasoning_effort"
    if effort == "none":
        del extra["reasoning_effort"]
        return {"type": "disabled"}
    budget = BUDGETS.get(effort) if isinstance(effort, str) else None
    if budget is None:
        return None
    del extra["reasoning_effort"]
    if request.tool_choice == "required" or isinstance(request.tool_choice, NamedChoice):
        losses.append(Loss(at, "thinking is off: a call is forced"))
        return None
    last = next((m for m in reversed(request.messages) if m.role == "assistant"), None)
    parts = last.parts if last else ()
    if any(isinstance(p, ToolCall) for p in parts) and not any(_is_signed(p) for p in parts):
        losses.append(Loss(at, "thinking is off: the calls in the history have no signed thinking"))
        return None
    if request.max_tokens is not None and budget >= request.max_tokens:
        budget = request.max_tokens - 1
        if budget < _MIN_BUDGET:
            losses.append(Loss(at, f"no room for thinking in {request.max_tokens} tokens"))
            return None
        losses.append(Loss(at, f"cut to the {budget} tokens below max_tokens", "form"))
    return {"type": "enabled", "budget_tokens": budget}


def _is_signed(part: Part) -> bool:
    return isinstance(part, Reasoning) and WIRE in (part.opaque or {})


def _max_tokens(request: Request, thinking: Mapping[str, Any] | None, losses: list[Loss]) -> int:
    if request.max_tokens is not None:
        return request.max_tokens
    given = DEFAULT_MAX_TOKENS + int((thinking or {}).get("budget_tokens", 0))
    if "max_tokens" not in request.native.get(WIRE, {}):
        losses.append(Loss("/max_tokens", f"required here: {given} is sent", "form"))
    return given


def _take_user(extra: dict[str, Any], losses: list[Loss]) -> dict[str, Any] | None:
    user = extra.pop("user", None)
    if isinstance(extra.get("safety_identifier"), str):
        if user is None:
            user = extra.pop("safety_identifier")
            losses.append(Loss("/extra/safety_identifier", "told as user_id", "form"))
        elif user == extra["safety_identifier"]:
            del extra["safety_identifier"]
    return None if user is None else {"user_id": user}


def _take_tier(extra: dict[str, Any]) -> str | None:
    tier = extra.get("service_tier")
    said = _TIERS.get(tier) if isinstance(tier, str) else None
    if said is not None:
        del extra["service_tier"]
    return said


# -------------------------------------------------------------------------------------------- decoding


def decode_parameters(members: dict[str, JSON]) -> tuple[dict[str, Any], dict[str, Any], dict[str, JSON]]:
    """Fields of a canonical request, its ``extra`` and the ``native`` rest that ``members`` say."""
    native = dict(members)
    fields: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, (canonical, kinds) in _PLAIN.items():
        if type(native.get(name)) in kinds:
            fields[canonical] = native.pop(name)
    stop = native.get("stop_sequences")
    if isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        fields["stop"] = tuple(stop)
        del native["stop_sequences"]
    if isinstance(native.get("tools"), list):
        fields["tools"] = _read_tools(native)
    _read_choice(native, fields)
    _read_format(native, fields)
    _read_extra(native, extra)
    return fields, extra, native


_PLAIN: dict[str, tuple[str, tuple[type, ...]]] = {
    "max_tokens": ("max_tokens", (int,)),
    "stream": ("stream", (bool,)),
    "temperature": ("temperature", (int, float)),
}


def _read_tools(native: dict[str, Any]) -> tuple[Tool, ...]:
    items = native["tools"]
    tools = tuple(tool for tool in map(_read_tool, items) if tool is not None)
    if [encode_tool(tool) for tool in tools] == items:
        del native["tools"]
    return tools


def _read_tool(item: Any) -> Tool | None:
    if not isinstance(item, dict) or item.get("type") not in (None, "custom"):
        return None
    name, schema = item.get("name"), item.get("input_schema")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    description, strict = item.get("description"), item.get("strict")
    return Tool(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=schema,
        strict=strict if isinstance(strict, bool) else None,
    )


def _read_choice(native: dict[str, Any], fields: dict[str, Any]) -> None:
    choice = native.get("tool_choice")
    if not isinstance(choice, dict):
        return
    rest = dict(choice)
    kind = rest.pop("type", None)
    said = next((ours for ours, theirs in _CHOICES.items() if theirs == kind), None)
    if kind == "tool" and isinstance(rest.get("name"), str):
        fields["tool_choice"] = NamedChoice(rest.pop("name"))
    elif said is not None:
        fields["tool_choice"] = said
    else:
        return
    if kind != "none" and isinstance(rest.get("disable_parallel_tool_use"), bool):
        fields["parallel_tool_calls"] = not rest.pop("disable_parallel_tool_use")
    _keep(native, "tool_choice", rest)


def _read_format(native: dict[str, Any], fields: dict[str, Any]) -> None:
    config = native.get("output_config")
    if not isinstance(config, dict):
        return
    wanted = config.get("format")
    if not isinstance(wanted, dict) or wanted.keys() != {"type", "schema"}:
        return
    if wanted["type"] == "json_schema" and isinstance(wanted["schema"], dict):
        schema = wanted["schema"]
        fields["response_format"] = JsonSchemaFormat(FORMAT_NAME, schema, is_strict(schema))
        _keep(native, "output_config", {k: v for k, v in config.items() if k != "format"})


def _read_extra(native: dict[str, Any], extra: dict[str, Any]) -> None:
    if type(native.get("top_p")) in (int, float):
        extra["top_p"] = native.pop("top_p")
    metadata = native.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("user_id"), str):
        extra["user"] = metadata["user_id"]
        _keep(native, "metadata", {k: v for k, v in metadata.items() if k != "user_id"})
    tier = next((ours for ours, theirs in _TIERS.items() if theirs == native.get("service_tier")), None)
    if tier is not None:
        extra["service_tier"] = tier
        del native["service_tier"]
    thinking = native.get("thinking")
    for effort, budget in BUDGETS.items():
        if thinking == {"type": "enabled", "budget_tokens": budget}:
            extra["reasoning_effort"] = effort
    if thinking == {"type": "disabled"}:
        extra["reasoning_effort"] = "none"
    if "reasoning_effort" in extra:
        del native["thinking"]


def _keep(native: dict[str, Any], key: str, rest: dict[str, Any]) -> None:
    """Leave in ``native`` what was not read of one of its objects."""
    if rest:
        native[key] = rest
    else:
        del native[key]
