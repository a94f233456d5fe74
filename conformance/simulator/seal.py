"""Opaque tokens: what this endpoint gave out is told from what anybody else made or altered.

The key is fixed, so that a recorded conversation goes on with another simulator.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from conformance.simulator import chance

_KEY = b"conformance reference endpoint"
_SALT_BYTES = 24


def sealed(kind: str, text: str = "") -> str:
    """A fresh token of this ``kind`` that vouches for ``text``, in base64."""
    salt = chance.token_bytes(_SALT_BYTES)
    return base64.b64encode(salt + _mac(kind, salt, text)).decode()


def genuine(given: str, kind: str, text: str = "") -> bool:
    """Whether ``given`` is a token of this ``kind`` that vouches for ``text``."""
    try:
        raw = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return False
    salt = raw[:_SALT_BYTES]
    return hmac.compare_digest(raw[_SALT_BYTES:], _mac(kind, salt, text))


def _mac(kind: str, salt: bytes, text: str) -> bytes:
    return hmac.digest(_KEY, kind.encode() + b"\0" + salt + text.encode(), hashlib.sha256)
