"""A deterministic stand-in for a tokenizer: up to four bytes of UTF-8 a token, never half a character."""

from __future__ import annotations

_TOKEN_BYTES = 4


def tokens(text: str) -> list[str]:
    """``text`` cut into tokens; joining them gives it back."""
    found: list[str] = []
    start = size = 0
    for position, character in enumerate(text):
        width = len(character.encode())
        if size + width > _TOKEN_BYTES:
            found.append(text[start:position])
            start, size = position, 0
        size += width
    if start < len(text):
        found.append(text[start:])
    return found


def estimate(text: str) -> int:
    """About how many tokens a prompt text has; cheap for long texts."""
    return -(-len(text.encode()) // _TOKEN_BYTES)


def groups(items: list[str], at_most: int = 32) -> list[list[str]]:
    """``items`` in runs of equal length, not more than ``at_most`` of them."""
    size = max(1, -(-len(items) // at_most))
    return [items[i : i + size] for i in range(0, len(items), size)]
