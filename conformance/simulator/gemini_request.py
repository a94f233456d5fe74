"""A ``GenerateContentRequest``, validated as the Gemini API does.

Source: google-genai 3.6.1, ``types.GenerationConfig`` and its kin; Gemini API reference, "Generating
content".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator.answer import refusal
from conformance.simulator.gemini_contents import read_contents, read_instruction
from conformance.simulator.gemini_fields import REQUEST
from conformance.simulator.gemini_json import invalid, snake
from conformance.simulator.gemini_schemas import json_schema, plain_schema
from conformance.simulator.gemini_tools import read_calling, read_tools
from conformance.simulator.request import CONTEXT_TOKENS, ChatRequest, prompt_tokens_of
from conformance.types import JsonSchemaFormat

_RANGES: Mapping[str, tuple[float, float]] = {
    "candidateCount": (1, 8),
    "maxOutputTokens": (1, 2**31 - 1),
    "temperature": (0, 2),
    "topP": (0, 1),
    "topK": (1, 1000),
    "presencePenalty": (-2, 2),
    "frequencyPenalty": (-2, 2),
    "logprobs": (0, 20),
}
_UNSUPPORTED = ("speechConfig", "imageConfig", "audioTranscriptionConfig", "continuationToken")
_MAX_STOPS = 5
_MAX_BUDGET = 32_768
_PLAIN, _JSON, _ENUM = "text/plain", "application/json", "text/x.enum"


@dataclass(frozen=True, slots=True)
class GeminiRequest(ChatRequest):
    """A valid request.

    ``sse``: a stream is of events, else an array. ``bare_enum``: the text is one of an enumeration, unquoted.
    """

    include_thoughts: bool = False
    sse: bool = False
    bare_enum: bool = False


def read_gemini_request(body: Mapping[str, Any], model: str, stream: bool, sse: bool) -> GeminiRequest:
    """The request in ``body`` to the method that streams or does not.

    Raises:
        Refused: 400 for an invalid request, 403 for cached content that is not there.
    """
    given = REQUEST(body, "")
    if "cachedContent" in given:
        message = "CachedContent not found (or permission denied)"
        raise refusal(message, status=403, param="cached_content")
    config = given.get("generationConfig", {})
    _check_config(config)
    _check_safety(given.get("safetySettings", ()))
    instruction = given.get("systemInstruction")
    messages = read_contents(given.get("contents", ()))
    if instruction is not None:
        messages = (*read_instruction(instruction), *messages)
    tools = read_tools(given.get("tools", ()))
    calling = read_calling(given.get("toolConfig", {}), tools)
    prompt_tokens = prompt_tokens_of(messages, tools)
    if prompt_tokens > CONTEXT_TOKENS:
        message = (
            f"The input token count ({prompt_tokens}) exceeds the maximum number of tokens allowed "
            f"({CONTEXT_TOKENS})."
        )
        raise refusal(message, param="contents", code="context_length_exceeded")
    thinking = config.get("thinkingConfig", {})
    return GeminiRequest(
        body=body,
        model=model,
        messages=messages,
        tools=tools,
        choice=calling.choice,
        allowed=calling.allowed,
        parallel=True,
        format=_format(config),
        stream=stream,
        include_usage=True,
        cap=config.get("maxOutputTokens"),
        stop=tuple(config.get("stopSequences", ())),
        n=config.get("candidateCount", 1),
        logprobs=config.get("responseLogprobs", False),
        top_logprobs=config.get("logprobs", 0),
        prompt_tokens=prompt_tokens,
        obfuscate=False,
        think=thinking.get("thinkingBudget") != 0,
        include_thoughts=thinking.get("includeThoughts", False),
        sse=sse,
        bare_enum=config.get("responseMimeType") == _ENUM,
    )


def _check_config(config: Mapping[str, Any]) -> None:
    path = "generation_config"
    for name, (low, high) in _RANGES.items():
        if name in config and not low <= config[name] <= high:
            raise invalid(f"{path}.{snake(name)}", f"{snake(name)} must be in the range [{low}, {high}].")
    stops = config.get("stopSequences", ())
    if len(stops) > _MAX_STOPS:
        raise invalid(f"{path}.stop_sequences", f"at most {_MAX_STOPS} stop sequences are allowed.")
    if not all(stops):
        raise invalid(f"{path}.stop_sequences", "a stop sequence must not be empty.")
    if "logprobs" in config and not config.get("responseLogprobs"):
        raise invalid(f"{path}.logprobs", "it is only allowed when response_logprobs is true.")
    if set(config.get("responseModalities", ())) - {"TEXT", "MODALITY_UNSPECIFIED"}:
        raise invalid(f"{path}.response_modalities", "this model only responds with TEXT.")
    for name in _UNSUPPORTED:
        if name in config:
            raise invalid(f"{path}.{snake(name)}", "it is not supported by this model.")
    _check_thinking(config.get("thinkingConfig", {}), f"{path}.thinking_config")


def _check_thinking(thinking: Mapping[str, Any], path: str) -> None:
    budget = thinking.get("thinkingBudget")
    if budget is not None and not -1 <= budget <= _MAX_BUDGET:
        raise invalid(f"{path}.thinking_budget", f"it must be in the range [-1, {_MAX_BUDGET}].")
    if budget is not None and "thinkingLevel" in thinking:
        raise invalid(path, "only one of thinking_budget and thinking_level may be set.")
    if budget == 0 and thinking.get("includeThoughts"):
        raise invalid(f"{path}.include_thoughts", "it is only enabled when thinking is enabled.")


def _check_safety(settings: Any) -> None:
    """One setting a category at the most; this model never blocks anything."""
    seen: set[str] = set()
    for index, setting in enumerate(settings):
        path = f"safety_settings[{index}]"
        for name in ("category", "threshold"):
            if setting.get(name, "UNSPECIFIED").endswith("UNSPECIFIED"):
                raise invalid(f"{path}.{name}", f"{name} must be specified.")
        if setting["category"] in seen:
            raise invalid(f"{path}.category", "there may be only one setting for a category.")
        seen.add(setting["category"])


def _format(config: Mapping[str, Any]) -> JsonSchemaFormat | Literal["json_object"] | None:
    path = "generation_config"
    kind = config.get("responseMimeType", _PLAIN)
    if kind not in (_PLAIN, _JSON, _ENUM):
        raise invalid(
            f"{path}.response_mime_type", f"allowed mimetypes are `{_PLAIN}`, `{_JSON}`, `{_ENUM}`."
        )
    own, plain = config.get("responseSchema"), config.get("responseJsonSchema")
    if own is not None and plain is not None:
        raise invalid(f"{path}.response_json_schema", "it can't be set together with response_schema.")
    name = "response_schema" if own is not None else "response_json_schema"
    schema = None
    if own is not None:
        schema = json_schema(own, f"{path}.{name}")
    elif plain is not None:
        schema = plain_schema(plain, f"{path}.{name}")
    if kind == _ENUM and not (schema or {}).get("enum"):
        raise invalid(f"{path}.{name}", f"mime type `{_ENUM}` needs a schema with an enum.")
    if schema is None:
        return "json_object" if kind == _JSON else None
    if kind == _PLAIN:
        raise invalid(f"{path}.{name}", f"only allowed when response_mime_type is `{_JSON}` or `{_ENUM}`.")
    return JsonSchemaFormat("response", schema)
