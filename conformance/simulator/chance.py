"""Chance and time, as answers need them: ids, salts, padding, dates. A seed fixes both.

What an answer draws depends on the request it answers, not on those under way beside it: the same requests
bring the same bytes, however many there are at once.
"""

from __future__ import annotations

import hashlib
import string
import time
from contextvars import ContextVar
from random import Random, SystemRandom

FIXED_S = 1_700_000_000
"""The time of every answer under a seed, in Unix seconds."""

_ALPHANUMERIC = string.ascii_letters + string.digits
_SYSTEM: Random = SystemRandom()
_seeded: ContextVar[Random | None] = ContextVar("seeded", default=None)


def draw_from(seed: bytes | None) -> None:
    """From here on in this task, draw what the seed says and let time stand still; ``None``: neither."""
    # Ids are to be told apart, not to be kept secret.
    _seeded.set(None if seed is None else Random(hashlib.sha256(seed).digest()))  # noqa: S311


def token_bytes(size: int) -> bytes:
    """So many bytes."""
    return _source().randbytes(size)


def token_hex(size: int) -> str:
    """So many bytes, as twice as many hexadecimal digits."""
    return token_bytes(size).hex()


def letters(length: int) -> str:
    """So many letters and digits."""
    return "".join(_source().choices(_ALPHANUMERIC, k=length))


def now_ns() -> int:
    """The time, in nanoseconds since 1970."""
    return time.time_ns() if _seeded.get() is None else FIXED_S * 1_000_000_000


def now_s() -> int:
    """The time, in whole seconds since 1970."""
    return now_ns() // 1_000_000_000


def elapsed_ms(started_ns: int) -> int:
    """Milliseconds since ``started_ns``, a reading of ``now_ns``."""
    return (now_ns() - started_ns) // 1_000_000


def _source() -> Random:
    return _seeded.get() or _SYSTEM
