"""What an ``ai`` message of LangChain says of the answer it was: finish reason, model, id, token counts."""

from __future__ import annotations

from typing import Any

from conformance.types import Loss, Part, ToolCall, Turn, Usage

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}
"""Anthropic's and Gemini's words in OpenAI Chat's: provider packages leave their own in the metadata."""


def encode_metadata(turn: Turn, at: str, losses: list[Loss]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """``response_metadata`` and ``usage_metadata``; the latter must have all three totals."""
    response = {
        "finish_reason": turn.finish_reason,
        "native_finish_reason": turn.native_finish_reason,
        "model_name": turn.model,
    }
    if turn.finish_reason == "stop" and turn.calls:
        losses.append(Loss(f"{at}/finish_reason", "stop, read as tool_calls", "form"))
    usage = turn.usage
    out: dict[str, Any] | None = None
    if usage is not None and usage.prompt_tokens is not None and usage.completion_tokens is not None:
        total = usage.total_tokens
        out = {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens if total is None else total,
        }
        inputs = {"cache_read": usage.cached_tokens, "cache_creation": usage.cache_write_tokens}
        outputs = {"reasoning": usage.reasoning_tokens}
        for name, details in (("input_token_details", inputs), ("output_token_details", outputs)):
            known = {key: count for key, count in details.items() if count is not None}
            out |= {name: known} if known else {}
    elif usage is not None and usage != Usage():
        losses.append(Loss(f"{at}/usage", "counts without both totals"))
    return {key: value for key, value in response.items() if value is not None}, out


def decode_metadata(data: dict[str, Any], parts: tuple[Part, ...]) -> Turn:
    """The turn of these parts and of what the message says beside them.

    A finish reason of another provider is said in OpenAI Chat's words and kept as the native one. An end in
    good order beside calls is ``tool_calls``, whatever the provider called it.
    """
    given = data.get("response_metadata")
    metadata: dict[str, Any] = given if isinstance(given, dict) else {}
    said = _text(metadata, "finish_reason", "stop_reason", "done_reason")
    reason = _FINISH.get(said or "", said)
    if reason == "stop" and any(isinstance(part, ToolCall) for part in parts):
        reason = "tool_calls"
    native = _text(metadata, "native_finish_reason") or (said if said not in (reason, "stop") else None)
    return Turn(
        parts,
        reason,
        _usage(data.get("usage_metadata")),
        _text(data, "id"),
        _text(metadata, "model_name", "model"),
        native_finish_reason=native,
    )


def _text(found: dict[str, Any], *keys: str) -> str | None:
    values = (found.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def _usage(said: Any) -> Usage | None:
    if not isinstance(said, dict):
        return None

    def count(*path: str) -> int | None:
        value: Any = said
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    return Usage(
        count("input_tokens"),
        count("output_tokens"),
        count("total_tokens"),
        count("input_token_details", "cache_read"),
        count("input_token_details", "cache_creation"),
        count("output_token_details", "reasoning"),
    )
