"""Thought signatures: given out with calls, recognised when they come back.

Source: Gemini API guide "Thought signatures": the first call of a step carries one, it must come back
unaltered on the part that carried it, and models from Gemini 3 on refuse a call of the current turn that
lacks it. Two texts are documented to pass for histories that come from elsewhere. Here the calls that must be
signed are those with an id of ours: nothing can be demanded of a call that someone else made.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

from conformance.simulator import chance

_KEY = b"conformance reference endpoint"
_NONCE_BYTES = 24
_MARK_CHARACTERS = 4
_PASSES = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
# They come as the bytes they are, or as text that is taken for base64.
_PASSING = frozenset(_PASSES) | {base64.urlsafe_b64decode(text).hex() for text in _PASSES}


def fresh() -> str:
    """A signature, in base64."""
    nonce = chance.token_bytes(_NONCE_BYTES)
    return base64.b64encode(nonce + _seal(nonce)).decode()


def genuine(signature: bytes) -> bool:
    """Whether ``signature`` is one of ours, or passes without being one."""
    nonce, seal = signature[:_NONCE_BYTES], signature[_NONCE_BYTES:]
    if signature.hex() in _PASSING or signature.decode("utf-8", "replace") in _PASSING:
        return True
    return hmac.compare_digest(seal, _seal(nonce))


def call_id(signed: bool) -> str:
    """An id for a call: eight characters, the last four of which tell whether its part was signed."""
    stem = chance.token_hex(_MARK_CHARACTERS // 2)
    mark = _mark(stem)
    while not signed and mark == _mark(stem):
        mark = chance.token_hex(_MARK_CHARACTERS // 2)
    return stem + mark


def was_signed(identity: str) -> bool:
    """Whether the call with this id was given out with a signature."""
    stem, mark = identity[:_MARK_CHARACTERS], identity[_MARK_CHARACTERS:]
    return hmac.compare_digest(mark.encode(), _mark(stem).encode())


def _mark(stem: str) -> str:
    return _seal(stem.encode()).hex()[:_MARK_CHARACTERS]


def _seal(data: bytes) -> bytes:
    return hmac.new(_KEY, data, hashlib.sha256).digest()
