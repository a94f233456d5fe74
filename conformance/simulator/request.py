"""A Chat Completions request, validated as OpenAI does.

Source: openai/openai-openapi, ``CreateChatCompletionRequest``. Unknown members are ignored;
known ones that this endpoint can't honour are refused, never silently dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator import schemas
from conformance.simulator.answer import refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.messages import PastMessage, read_messages
from conformance.simulator.tokens import estimate
from conformance.types import JsonSchemaFormat, NamedChoice, Tool

CONTEXT_TOKENS = 128_000
CACHE_KEY_CHARACTERS = 64
"""The most of a ``prompt_cache_key`` (theopenco/llmgateway PR 3110)."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_IMAGE_TOKENS = 85
_MAX_TOOLS = 128
_UNSUPPORTED = ("functions", "function_call", "audio", "web_search_options")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_TIERS = ("auto", "default", "flex", "scale", "priority", "fast")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A valid request.

    ``choice`` is ``None`` without tools; ``allowed`` names the functions that may be called; ``cap``
    is in tokens. ``obfuscate``: a stream's chunks carry padding. ``cached_tokens`` of the prompt were read
    before. A model that does not ``think`` spends no tokens on reasoning.
    """

    body: Mapping[str, Any]
    model: str
    messages: tuple[PastMessage, ...]
    tools: tuple[Tool, ...]
    choice: Literal["none", "auto", "required"] | NamedChoice | None
    allowed: frozenset[str]
    parallel: bool
    format: JsonSchemaFormat | Literal["json_object"] | None
    stream: bool
    include_usage: bool
    cap: int | None
    stop: tuple[str, ...]
    n: int
    logprobs: bool
    top_logprobs: int
    prompt_tokens: int
    obfuscate: bool
    cached_tokens: int = 0
    think: bool = True


def read_chat_request(body: Mapping[str, Any], model: str) -> ChatRequest:
    """The request in ``body`` to an endpoint that serves ``model``.

    Raises:
        Refused: 400 for an invalid request, 404 for another model.
    """
    fields = Fields(body)
    asked = fields.needed_text("model")
    if asked != model:
        message = f"The model '{asked}' does not exist, or you have no access to it."
        raise refusal(message, status=404, code="model_not_found")
    for name in _UNSUPPORTED:
        if fields.has(name):
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise refusal(message, param=name, code="unsupported_parameter")
    if fields.raw("modalities") not in (None, ["text"]):
        raise wrong_value("modalities", "this model only writes text")
    messages = read_messages(fields)
    _check_sampling(fields)
    tools = _tools(fields)
    choice, allowed = _choice(fields, tools)
    stream = fields.boolean("stream") or False
    logprobs = fields.boolean("logprobs") or False
    top_logprobs = fields.integer("top_logprobs", 0, 20)
    if top_logprobs is not None and not logprobs:
        raise wrong_value("top_logprobs", "it needs 'logprobs' to be true")
    prompt_tokens = prompt_tokens_of(messages, tools)
    if prompt_tokens > CONTEXT_TOKENS:
        message = f"The model's context is {CONTEXT_TOKENS} tokens; the messages have about {prompt_tokens}."
        raise refusal(message, param="messages", code="context_length_exceeded")
    parallel = fields.boolean("parallel_tool_calls")
    if parallel is not None and not tools:
        raise wrong_value("parallel_tool_calls", "it is only allowed when 'tools' are specified")
    include_usage, obfuscate = _stream_options(fields, stream)
    return ChatRequest(
        body=body,
        model=model,
        messages=messages,
        tools=tools,
        choice=choice,
        allowed=allowed,
        parallel=parallel is not False,
        format=_format(fields, messages),
        stream=stream,
        include_usage=include_usage,
        cap=_cap(fields),
        stop=_stop(fields),
        n=fields.integer("n", 1, 128) or 1,
        logprobs=logprobs,
        top_logprobs=top_logprobs or 0,
        prompt_tokens=prompt_tokens,
        obfuscate=obfuscate,
    )


def _check_sampling(fields: Fields) -> None:
    fields.number("temperature", 0, 2)
    fields.number("top_p", 0, 1)
    fields.number("presence_penalty", -2, 2)
    fields.number("frequency_penalty", -2, 2)
    fields.integer("seed", -(2**63), 2**63 - 1)
    fields.object("logit_bias")
    fields.object("metadata")
    fields.text("user")
    fields.text("prompt_cache_key", CACHE_KEY_CHARACTERS)
    fields.boolean("store")
    fields.choice("reasoning_effort", _EFFORTS)
    fields.choice("service_tier", _TIERS)


def _cap(fields: Fields) -> int | None:
    caps = [fields.integer(name, 1, 2**31 - 1) for name in ("max_tokens", "max_completion_tokens")]
    return min((cap for cap in caps if cap is not None), default=None)


def _stop(fields: Fields) -> tuple[str, ...]:
    value = fields.raw("stop")
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise wrong_type("stop", "a string or an array of strings", value)
    if len(texts) > 4:
        raise wrong_value("stop", "it must have at most 4 elements", "array_above_max_length")
    return tuple(text for text in texts if text)


def _stream_options(fields: Fields, stream: bool) -> tuple[bool, bool]:
    """``include_usage`` and ``include_obfuscation``, which is true unless said otherwise."""
    options = fields.object("stream_options")
    if options is None:
        return False, True
    if not stream:
        raise wrong_value("stream_options", "it is only allowed when 'stream' is true")
    return options.boolean("include_usage") or False, options.boolean("include_obfuscation") is not False


# -------------------------------------------------------------------------------------------- tools


def _tools(fields: Fields) -> tuple[Tool, ...]:
    return tuple(_tool(item) for item in fields.objects("tools", 1, _MAX_TOOLS) or ())


def _tool(item: Fields) -> Tool:
    if item.choice("type", ("function",)) is None:
        raise missing(item.param("type"))
    function = item.needed_object("function")
    name = function.needed_text("name")
    if not _NAME.fullmatch(name):
        raise wrong_value(function.param("name"), "it must match ^[A-Za-z0-9_-]{1,64}$")
    strict = function.boolean("strict")
    function.object("parameters")
    parameters = function.raw("parameters") or {}
    wrong = schemas.problem(parameters)
    if wrong is None and parameters.get("type", "object") != "object":
        wrong = "its type is not 'object'"
    if wrong is None and strict:
        wrong = schemas.strict_problem(parameters)
    if wrong is not None:
        message = f"Invalid schema for function '{name}': {wrong}."
        raise refusal(message, param=function.param("parameters"), code="invalid_function_parameters")
    return Tool(name, function.text("description") or "", parameters, strict)


def _choice(
    fields: Fields, tools: tuple[Tool, ...]
) -> tuple[Literal["none", "auto", "required"] | NamedChoice | None, frozenset[str]]:
    value = fields.raw("tool_choice")
    names = frozenset(tool.name for tool in tools)
    if value is None:
        return ("auto" if tools else None), names
    if not tools:
        raise wrong_value("tool_choice", "it is only allowed when 'tools' are specified")
    if isinstance(value, str):
        return _mode(value, "tool_choice"), names
    if not isinstance(value, dict):
        raise wrong_type("tool_choice", "a string or an object", value)
    choice = Fields(value, "tool_choice")
    kind = choice.choice("type", ("function", "allowed_tools"))
    if kind is None:
        raise missing("tool_choice.type")
    if kind == "function":
        named = _declared(choice, names)
        return NamedChoice(named), frozenset({named})
    allowed = choice.needed_object("allowed_tools")
    entries = allowed.objects("tools", 1, _MAX_TOOLS)
    if entries is None:
        raise missing(allowed.param("tools"))
    mode = _mode(allowed.needed_text("mode"), allowed.param("mode"))
    if mode == "none":
        raise wrong_value(allowed.param("mode"), "supported values are auto, required")
    return mode, frozenset(_declared(entry, names) for entry in entries)


def _mode(value: str, param: str) -> Literal["none", "auto", "required"]:
    match value:
        case "none" | "auto" | "required":
            return value
        case _:
            raise wrong_value(param, "supported values are none, auto, required")


def _declared(choice: Fields, names: frozenset[str]) -> str:
    function = choice.needed_object("function")
    name = function.needed_text("name")
    if name not in names:
        raise wrong_value(function.param("name"), f"there is no function '{name}' in 'tools'")
    return name


# --------------------------------------------------------------------------------- structured output


def _format(
    fields: Fields, messages: tuple[PastMessage, ...]
) -> JsonSchemaFormat | Literal["json_object"] | None:
    given = fields.object("response_format")
    if given is None:
        return None
    kind = given.choice("type", ("text", "json_object", "json_schema"))
    if kind is None:
        raise missing("response_format.type")
    if kind == "text":
        return None
    if kind == "json_object":
        if not any("json" in message.text.lower() for message in messages):
            message = "'response_format' of type 'json_object' needs the word 'json' in 'messages'."
            raise refusal(message, param="messages")
        return "json_object"
    described = given.needed_object("json_schema")
    name = described.needed_text("name")
    if not _NAME.fullmatch(name):
        raise wrong_value(described.param("name"), "it must match ^[A-Za-z0-9_-]{1,64}$")
    strict = described.boolean("strict") or False
    described.object("schema")
    schema = described.raw("schema")
    schema = {"type": "object"} if schema is None else schema
    wrong = schemas.problem(schema) or (schemas.strict_problem(schema) if strict else None)
    if wrong is not None:
        message = f"Invalid schema for response_format '{name}': {wrong}."
        raise refusal(message, param="response_format", code="invalid_json_schema")
    return JsonSchemaFormat(name, schema, strict)


def prompt_tokens_of(messages: tuple[PastMessage, ...], tools: tuple[Tool, ...]) -> int:
    """About how many tokens the prompt costs."""
    count = 3
    for message in messages:
        count += 4 + estimate(message.text) + estimate(message.thought) + _IMAGE_TOKENS * message.images
        count += sum(estimate(call.name) + estimate(call.arguments) for call in message.calls)
    return count + sum(8 + estimate(tool.name + tool.description + str(tool.parameters)) for tool in tools)
