"""Call ids within the characters that this wire allows, reversibly.

Anthropic refuses a ``tool_use.id`` that does not match ``^[a-zA-Z0-9_-]+$`` (its 400: "String should match
pattern"). Ids that fit stay as they are. Others (Kimi's ``functions.f:0``) become ``esc_`` and the id, with
every character outside ``[A-Za-z0-9-]`` as its code point in hexadecimal between underscores; whatever
reads an id turns exactly these back. So ids need no table, and an answer echoed later pairs.
"""

from __future__ import annotations

import re

_PREFIX = "esc_"
_FITS = re.compile(r"[A-Za-z0-9_-]+")
_TO_ESCAPE = re.compile(r"[^A-Za-z0-9-]")
_ESCAPED = re.compile(r"(?:[A-Za-z0-9-]|_[0-9a-f]{1,6}_)+")
_ONE = re.compile(r"_([0-9a-f]+)_")


def escape(call_id: str) -> str:
    """The id in this wire's characters. ``""`` is not an id, and stays."""
    if not call_id or (_FITS.fullmatch(call_id) and unescape(call_id) == call_id):
        return call_id
    return _PREFIX + _TO_ESCAPE.sub(lambda found: f"_{ord(found[0]):x}_", call_id)


def unescape(call_id: str) -> str:
    """The id that ``escape`` was given; any other text stays as it is."""
    body = call_id.removeprefix(_PREFIX)
    if body == call_id or not _ESCAPED.fullmatch(body):
        return call_id
    try:
        original = _ONE.sub(lambda found: chr(int(found[1], 16)), body)
    except ValueError:  # beyond the last code point
        return call_id
    return original if escape(original) == call_id else call_id
