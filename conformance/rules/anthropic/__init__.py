"""Rules of the ``anthropic-messages`` wire: importing this registers them."""

from conformance.rules.anthropic import (
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
)

__all__ = [
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
]
