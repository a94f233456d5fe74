"""Rules of the ``gemini`` wire: importing this registers them."""

from conformance.rules.gemini import (
    accounts,
    conversation,
    envelope,
    errors,
    models,
    parts,
    stream,
    structured,
)

__all__ = [
    "accounts",
    "conversation",
    "envelope",
    "errors",
    "models",
    "parts",
    "stream",
    "structured",
]
