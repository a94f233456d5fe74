"""A Responses request, validated as OpenAI does.

Source: ``ResponseCreateParams`` of openai-python 3.57.0. Unknown members are refused, as the API refuses
them, and so are known ones that this endpoint can't honour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.simulator.answer import Refused, refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.messages import PastMessage
from conformance.simulator.request import (
    CACHE_KEY_CHARACTERS,
    CONTEXT_TOKENS,
    ChatRequest,
    prompt_tokens_of,
)
from conformance.simulator.responses_conversation import check, past_messages, resolved, shortened
from conformance.simulator.responses_items import Item, read_items
from conformance.simulator.responses_store import ResponseStore
from conformance.simulator.responses_tools import read_choice, read_format, read_tools
from conformance.types import Tool

_TEXTS = ("safety_identifier", "user")
_UNSUPPORTED = (
    "access_programs",
    "background_options",
    "context_management",
    "conversation",
    "image",
    "moderation",
    "prompt",
)
_MEMBERS = frozenset(
    {
        *_TEXTS,
        "prompt_cache_key",
        *_UNSUPPORTED,
        "background",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
    }
)
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SUMMARIES = ("auto", "concise", "detailed")
_TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
_LOGPROBS = "message.output_text.logprobs"
_ENCRYPTED = "reasoning.encrypted_content"
_INCLUDED = (
    _LOGPROBS,
    _ENCRYPTED,
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "web_search_call.action.sources",
    "web_search_call.results",
)
_LEAST_CAP = 16
_METADATA = (16, 64, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesRequest(ChatRequest):
    """A valid Responses request of the persona ``owner``.

    ``given`` are the items that it brings, ``previous`` is the response that it goes on from; ``summary`` and
    ``encrypted`` say how reasoning shows.
    """

    owner: str
    given: tuple[Item, ...]
    previous: str | None
    store: bool
    summary: bool
    encrypted: bool


def read_responses_request(
    body: dict[str, Any], model: str, store: ResponseStore, owner: str
) -> ResponsesRequest:
    """The request in ``body`` to an endpoint that serves ``model``.

    Raises:
        Refused: 400 for an invalid request and another model, 404 for an unknown item.
    """
    fields = Fields(body)
    fields.closed(_MEMBERS)
    asked = fields.needed_text("model")
    if asked != model:
        message = f"The requested model '{asked[:200]}' does not exist."
        raise refusal(message, param="model", code="model_not_found")
    _check_plain(fields)
    previous, before = _before(fields, store, owner)
    given = resolved(read_items(fields), store, owner)
    items = (*before, *given)
    if not items:
        raise missing("input")
    check(items)
    tools = read_tools(fields)
    chosen = read_choice(fields, tools)
    messages, tokens = _fitting(fields, past_messages(fields.text("instructions"), items), tools)
    stream = fields.boolean("stream") or False
    included = _included(fields)
    reasoning = fields.object("reasoning") or Fields({})
    return ResponsesRequest(
        body=body,
        model=model,
        messages=messages,
        tools=tools,
        choice=chosen.choice,
        allowed=chosen.allowed,
        parallel=fields.boolean("parallel_tool_calls") is not False,
        format=read_format(fields, past_messages(None, items)),
        stream=stream,
        include_usage=True,
        cap=fields.integer("max_output_tokens", _LEAST_CAP, 2**31 - 1),
        stop=(),
        n=1,
        logprobs=_LOGPROBS in included,
        top_logprobs=fields.integer("top_logprobs", 0, 20) or 0,
        prompt_tokens=tokens,
        obfuscate=_obfuscated(fields, stream),
        think=_effort(reasoning) != "none",
        owner=owner,
        given=given,
        previous=previous,
        store=fields.boolean("store") is not False,
        summary=any(reasoning.has(name) for name in ("summary", "generate_summary")),
        encrypted=_ENCRYPTED in included,
    )


def _check_plain(fields: Fields) -> None:
    for name in _UNSUPPORTED:
        if fields.has(name):
            raise _unsupported(name)
    if fields.boolean("background"):
        raise _unsupported("background")
    for name in _TEXTS:
        fields.text(name)
    fields.text("prompt_cache_key", CACHE_KEY_CHARACTERS)
    fields.number("temperature", 0, 2)
    fields.number("top_p", 0, 1)
    fields.integer("max_tool_calls", 1, 2**31 - 1)
    fields.choice("service_tier", _TIERS)
    fields.choice("prompt_cache_retention", ("in_memory", "24h"))
    caching = fields.object("prompt_cache_options")
    if caching is not None:
        caching.closed(("mode", "ttl"))
        caching.choice("mode", ("implicit",))
        caching.choice("ttl", ("30m", "12h"))
    _check_metadata(fields)


def _unsupported(name: str) -> Refused:
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return refusal(message, param=name, code="unsupported_parameter")


def _check_metadata(fields: Fields) -> None:
    metadata = fields.object("metadata")
    if metadata is None:
        return
    names = list(metadata.names())
    most, name_length, length = _METADATA
    if len(names) > most:
        raise wrong_value(
            "metadata", f"it must have at most {most} properties", "object_above_max_properties"
        )
    for name in names:
        value = metadata.raw(name)
        if not isinstance(value, str):
            raise wrong_type(f"metadata.{name[:name_length]}", "a string", value)
        if len(name) > name_length or len(value) > length:
            wanted = f"keys have at most {name_length} characters, values {length}"
            raise wrong_value(f"metadata.{name[:name_length]}", wanted, "string_above_max_length")


def _before(fields: Fields, store: ResponseStore, owner: str) -> tuple[str | None, tuple[Item, ...]]:
    previous = fields.text("previous_response_id")
    if previous is None:
        return None, ()
    items = store.conversation(owner, previous)
    if items is None:
        message = f"Previous response with id '{previous[:100]}' not found."
        raise refusal(message, param="previous_response_id", code="previous_response_not_found")
    return previous, items


def _included(fields: Fields) -> frozenset[str]:
    value = fields.raw("include")
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise wrong_type("include", "an array of strings", value)
    for i, name in enumerate(value):
        if name not in _INCLUDED:
            raise wrong_value(f"include[{i}]", f"supported values are {', '.join(_INCLUDED)}")
    return frozenset(value)


def _obfuscated(fields: Fields, stream: bool) -> bool:
    options = fields.object("stream_options")
    if options is None:
        return True
    if not stream:
        raise wrong_value("stream_options", "it is only allowed when 'stream' is true")
    options.closed(("include_obfuscation",))
    return options.boolean("include_obfuscation") is not False


def _effort(reasoning: Fields) -> str | None:
    reasoning.closed(("effort", "summary", "generate_summary", "context", "mode"))
    reasoning.choice("summary", _SUMMARIES)
    reasoning.choice("generate_summary", _SUMMARIES)
    reasoning.choice("context", ("auto", "current_turn", "all_turns"))
    reasoning.choice("mode", ("standard",))
    return reasoning.choice("effort", _EFFORTS)


def _fitting(
    fields: Fields, messages: tuple[PastMessage, ...], tools: tuple[Tool, ...]
) -> tuple[tuple[PastMessage, ...], int]:
    """The messages that the model reads and their tokens; with ``truncation`` the oldest give way."""
    dropping = fields.choice("truncation", ("auto", "disabled")) == "auto"
    tokens = prompt_tokens_of(messages, tools)
    if tokens <= CONTEXT_TOKENS:
        return messages, tokens
    around = prompt_tokens_of((), tools)
    costs = [prompt_tokens_of((message,), ()) - prompt_tokens_of((), ()) for message in messages]
    fewer = shortened(messages, costs, CONTEXT_TOKENS - around) if dropping else None
    if fewer is None:
        message = (
            "Your input exceeds the context window of this model. Please adjust your input and try again."
        )
        raise refusal(message, param="input", code="context_length_exceeded")
    return fewer, prompt_tokens_of(fewer, tools)
