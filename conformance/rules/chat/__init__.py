"""Rules of the ``openai-chat`` wire: importing this registers them."""

from conformance.rules.chat import (
    conversation,
    errors,
    message,
    response,
    stream,
    stream_end,
    stream_tools,
    stream_usage,
    structured,
    tool_calls,
    tool_choice,
    usage,
)

__all__ = [
    "conversation",
    "errors",
    "message",
    "response",
    "stream",
    "stream_end",
    "stream_tools",
    "stream_usage",
    "structured",
    "tool_calls",
    "tool_choice",
    "usage",
]
