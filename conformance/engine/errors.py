"""What can go wrong in the engine itself; light to import."""

from __future__ import annotations


class EngineError(Exception):
    """pytest itself failed: a bug of ours, or a broken installation; the message is its output."""
