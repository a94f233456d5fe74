"""What JSON bodies of LLM endpoints look like from afar: enough to tell a recording from any other file.

Which wire a body is of, and whether it is one we have, is decided later, by everything that is known of the
exchange. The shapes are those of the providers' published schemas (OpenAI's and Anthropic's OpenAPI files,
Gemini's and Bedrock's API references, Ollama's ``docs/api.md``).
"""

from __future__ import annotations

from typing import Any

_ANTHROPIC_EVENTS = (
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
)
_BEDROCK_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "messageStop")


def is_request(value: Any) -> bool:
    """Whether this may be the body of a request for an answer."""
    return isinstance(value, dict) and any(
        isinstance(value.get(name), list | str) for name in ("messages", "input", "contents", "prompt")
    )


def is_answer(value: Any) -> bool:
    """Whether this may be the body of a whole answer, or of a refusal."""
    if isinstance(value, list):
        return bool(value) and all(is_gemini(one) or is_refusal(one) for one in value)
    return isinstance(value, dict) and (
        (isinstance(value.get("choices"), list) and not _has_delta(value))
        or is_gemini(value)
        or (value.get("type") == "message" and isinstance(value.get("content"), list))
        or value.get("object") == "response"
        or is_ollama(value)
        or (isinstance(value.get("output"), dict) and "stopReason" in value)
        or is_refusal(value)
    )


def is_event(value: Any) -> bool:
    """Whether this can be nothing but the data of one event of a stream."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return (
        value.get("object") == "chat.completion.chunk"
        or _has_delta(value)
        or (isinstance(kind, str) and (kind in _ANTHROPIC_EVENTS or kind.startswith("response.")))
        or (is_ollama(value) and value.get("done") is False)
        or any(isinstance(value.get(name), dict) for name in _BEDROCK_EVENTS)
    )


def is_gemini(value: Any) -> bool:
    """Whether this may be Gemini's answer, or a piece of its stream: the two look the same."""
    return isinstance(value, dict) and (
        isinstance(value.get("candidates"), list)
        or isinstance(value.get("promptFeedback"), dict)
        or (isinstance(value.get("usageMetadata"), dict) and "modelVersion" in value)
    )


def is_ollama(value: Any) -> bool:
    """Whether this may be Ollama's answer, or a line of its stream."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("done"), bool)
        and ("message" in value or "response" in value)
    )


def is_refusal(value: Any) -> bool:
    """Whether this may be the body of a refusal, in any provider's words."""
    return isinstance(value, dict) and (
        (isinstance(value.get("error"), dict) and "message" in value["error"])
        or (value.get("type") == "error" and "error" in value)
        or (value.get("object") == "error" and "message" in value)
    )


def _has_delta(value: dict[str, Any]) -> bool:
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and "delta" in first and "message" not in first
