"""What became of an exchange, for the client that made it: an answer, a refusal, or something to try again.

429, 5xx and broken connections may go away; 400, 401, 403, 404 and 422, and every other 4xx, will not. An
error inside a 200, whole or amid a stream, counts as the status that it means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

from conformance.profiles.answers import document_in
from conformance.profiles.errors import promoted
from conformance.profiles.profile import Asked, Profile, Refusal
from conformance.types import Ending, Exchange, FailureKind, HttpResponse
from conformance.wires import Wire

_GOES_AWAY: frozenset[FailureKind] = frozenset({"connect", "timeout", "protocol"})
_BROKEN: frozenset[Ending] = frozenset({"cut", "stalled"})
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_NO_TOOLS_THERE = re.compile(r"no endpoints found that support tool use", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """``answered``; ``refused``: the same will be refused again; ``failed``: trying again may help;
    ``elsewhere``: another model may take what this one can't.

    ``after_s``: how long the endpoint asks to wait, in seconds. ``why`` is a line for people.
    """

    kind: Literal["answered", "refused", "failed", "elsewhere"]
    why: str = ""
    after_s: float | None = None
    refusal: Refusal | None = None
    unusable: bool = False


ANSWERED = Outcome("answered")


def outcome(
    exchange: Exchange, seen: Exchange, asked: Asked | None, profile: Profile, wire: Wire, now: float
) -> Outcome:
    """What became of an exchange: as it came, and as it is ``seen`` once it is repaired.

    ``asked`` is ``None`` for bytes that no request stands behind, ``now`` is the time in seconds since 1970.
    """
    response = exchange.response
    if response is None or seen.response is None:
        failure = exchange.failure
        if failure is not None and failure.kind in _GOES_AWAY:
            return Outcome("failed", failure.message)
        return Outcome("refused", failure.message if failure else "nothing came")
    error = wire.error_of(response) or wire.error_of(seen.response)
    if error is not None:
        document = document_in(response)
        status = seen.response.status if seen.response.status >= 300 else response.status
        status = promoted(error, document) if status < 300 else status
        words = (error.message, str(error.code or ""), error.type)
        refusal = Refusal(status, " ".join(filter(None, words)), document)
        why = f"HTTP {response.status}{f' meaning {status}' if status != response.status else ''}"
        if status == 429 or status >= 500:
            return Outcome("failed", why, retry_after(response, now), refusal)
        lacking = _NO_TOOLS_THERE.search(error.message)
        return Outcome("elsewhere" if lacking else "refused", why, refusal=refusal)
    if exchange.ending in _BROKEN and response.status < 300:
        return Outcome("failed", f"the connection broke ({exchange.ending})")
    turns = wire.decode(seen.response) if seen.response.status < 300 else ()
    if exchange.ending != "complete" or asked is None or not turns:
        return ANSWERED
    why = profile.unusable(turns[0], asked) or ""
    return Outcome("failed", why, unusable=True) if why else ANSWERED


def retry_after(response: HttpResponse, now: float) -> float | None:
    """How long a response asks to wait, in seconds: ``retry-after-ms``, or ``retry-after`` as seconds or
    date.

    ``None`` where it asks for nothing that can be read (RFC 9110, section 10.2.3). Never negative.
    """
    said: Mapping[str, str] = {
        name: response.header(name) or "" for name in ("retry-after-ms", "retry-after")
    }
    if _NUMBER.fullmatch(said["retry-after-ms"].strip()):
        return float(said["retry-after-ms"]) / 1000
    given = said["retry-after"].strip()
    if _NUMBER.fullmatch(given):
        return float(given)
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
