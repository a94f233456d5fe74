"""Rules of the ``openai-responses`` wire: importing this registers them."""

from conformance.rules.responses import (
    accounts,
    call_ids,
    choice,
    conversation,
    envelope,
    items,
    shapes,
    stream,
    stream_calls,
    stream_end,
    stream_items,
    stream_reasoning,
    stream_text,
)

__all__ = [
    "accounts",
    "call_ids",
    "choice",
    "conversation",
    "envelope",
    "items",
    "shapes",
    "stream",
    "stream_calls",
    "stream_end",
    "stream_items",
    "stream_reasoning",
    "stream_text",
]
