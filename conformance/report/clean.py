"""Makes untrusted text safe to print: nothing in it can steer a terminal or hide.

Control codes (C0, C1, so also every ANSI sequence), bidirectional overrides, zero-width and other
invisible characters and lone surrogates are shown as backslash escapes, because in evidence a hidden
byte is often the very thing to see.
"""

from __future__ import annotations

import unicodedata


def clean_line(text: str, limit: int = 400) -> str:
    """``text`` on one line: line breaks and tabs are escaped too. ``limit`` is in characters."""
    shown = "".join(map(_visible, text[:limit]))
    return shown + _rest(text, limit)


def clean_block(text: str, limit: int = 20_000) -> str:
    """``text`` with its line feeds kept and everything else as in ``clean_line``."""
    shown = "".join(char if char == "\n" else _visible(char) for char in text[:limit])
    return shown + _rest(text, limit)


def _visible(char: str) -> str:
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    return char.encode("unicode_escape").decode("ascii")


def _rest(text: str, limit: int) -> str:
    more = len(text) - limit
    return f" [… {more} more characters]" if more > 0 else ""
