"""Rules of the ``anthropic-messages`` wire: importing this registers them."""

from conformance.rules.anthropic import (
    alike,
    blocks,
    choice,
    envelope,
    errors,
    history,
    models,
    stopping,
    stream,
    stream_blocks,
    stream_end,
    structured,
)

__all__ = [
    "alike",
    "blocks",
    "choice",
    "envelope",
    "errors",
    "history",
    "models",
    "stopping",
    "stream",
    "stream_blocks",
    "stream_end",
    "structured",
]
