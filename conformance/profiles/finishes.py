"""Why an answer ended, in OpenAI's words."""

from __future__ import annotations

from typing import Any

from conformance.types import NamedChoice, Request

WORDS = {
    "stop": "stop",
    "end": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "finish_reason_unspecified": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "malformed_function_call": "stop",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "refusal": "content_filter",
}
"""Words of Gemini, Anthropic, Cohere, TGI and OpenAI's older API, in lower case, and what they mean."""


def finish_word(reason: Any, request: Request, *, calls: bool, legacy: bool = False) -> str:
    """The finish reason of a finished answer: a known word, and one that agrees with its calls.

    ``legacy``: the answer holds a ``function_call`` of the API before tools. With a named choice the
    reference itself says ``stop`` beside a call, so that stays.
    """
    if legacy and reason == "function_call":
        return "function_call"
    word = WORDS.get(reason.lower(), reason) if isinstance(reason, str) else ""
    if not word:
        return "tool_calls" if calls else "stop"
    if calls and word == "stop" and not isinstance(request.tool_choice, NamedChoice):
        return "tool_calls"
    return "stop" if word == "tool_calls" and not calls else word
