"""Headers that clients go by when a request failed or is to be paced, and bodies that say too much."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from conformance.rules.examples import error
from conformance.rules.registry import rule
from conformance.rules.sources import docs, sdk
from conformance.rules.views import OPENAI_WIRES, Answered, ErrorAnswer, Violation

RETRIES = sdk("_base_client.py _should_retry")
LONGEST = 120
"""Seconds beyond which openai-python does not wait (``_constants.py MAX_RETRY_AFTER_DELAY``)."""

SECONDS = re.compile(r"[0-9]{1,15}(?:\.[0-9]+)?")
COUNT = re.compile(r"[0-9]+")
DURATION = re.compile(r"(?=.)(?:\d+d)?(?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?(?:s|ms))?")
LIMITS = tuple(
    (f"x-ratelimit-{fact}-{what}", fact == "reset")
    for fact in ("limit", "remaining", "reset")
    for what in ("requests", "tokens")
)
TRACE = re.compile(
    r"""Traceback\ \(most\ recent\ call\ last\)      # Python
    | \.py\\?",\ line\ \d+                           # Python, a frame
    | \bat\ [\w$.<>]+\ ?\([^()\s]*:\d+(?::\d+)?\)    # JavaScript, Java
    | goroutine\ \d+\ \[                             # Go
    | thread\ '[^']*'\ panicked\ at                  # Rust
    """,
    re.VERBOSE,
)


@rule(
    "err.retry-after-max-120",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="SHOULD",
    basis="sdk",
    source=(RETRIES, sdk("_constants.py MAX_RETRY_AFTER_DELAY")),
    violating=error(429, headers={"retry-after": "3600"}),
    conforming=error(429, headers={"retry-after": "3600", "x-should-retry": "false"}),
    consequence="openai-python 3.57.0 does not retry at all; older ones wait a few seconds and retry in vain",
)
def retry_after_max(reply: Answered) -> Iterator[Violation]:
    """Retry-After does not exceed 120 seconds unless no retry is wanted.

    Not wanted is a retry where x-should-retry is false. A date counts from the response's own Date.
    """
    if reply.status < 400 or reply.header("x-should-retry") == "false":
        return
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = (reply.header(name) or "").strip()
        if not value:
            continue
        wait = float(value) / divisor if SECONDS.fullmatch(value) else _until(value, reply.header("date"))
        if wait is not None and wait > LONGEST:
            yield reply.found("headers", name, wanted=f"at most {LONGEST} seconds")
            return


@rule(
    "err.should-retry-header",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="MAY",
    basis="sdk",
    source=RETRIES,
    violating=error(429, headers={"x-should-retry": "1"}),
    conforming=error(429, headers={"x-should-retry": "false"}),
    consequence="openai-python compares with true and false alone, and then goes by the status",
)
def should_retry(reply: Answered) -> Iterator[Violation]:
    """x-should-retry, if sent, is true or false and overrides the status."""
    if reply.header("x-should-retry") not in (None, "true", "false"):
        yield reply.found("headers", "x-should-retry", wanted="true or false")


@rule(
    "err.ratelimit-headers-format",
    wires=OPENAI_WIRES,
    level="MAY",
    basis="prose",
    source=docs("guides/rate-limits headers"),
    violating=error(429, headers={"x-ratelimit-remaining-requests": "many"}),
    conforming=error(
        429, headers={"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}
    ),
    consequence="clients that pace themselves by them cannot",
)
def ratelimit_format(reply: Answered) -> Iterator[Violation]:
    """x-ratelimit-{limit,remaining,reset}-{requests,tokens}, if present, are counts and durations (6m0s).

    Values that a recorder blanked out are left alone.
    """
    for name, is_duration in LIMITS:
        value = reply.header(name)
        if value is None or "redact" in value.lower():
            continue
        if not (DURATION if is_duration else COUNT).fullmatch(value.strip()):
            yield reply.found("headers", name, wanted="a duration as 6m0s" if is_duration else "an integer")


@rule(
    "err.no-stack-trace",
    wires=(*OPENAI_WIRES, "anthropic-messages", "gemini", "ollama"),
    level="SHOULD",
    basis="convention",
    source="RFC 9110 section 15.6.1",
    violating=error(500, error={"message": 'Traceback (most recent call last):\n  File "serve.py", line 7'}),
    conforming=error(500, error={"message": "The server had an error."}),
    consequence="users see the server's insides, and attackers its paths and versions",
)
def no_trace(refusal: ErrorAnswer) -> Iterator[Violation]:
    """Error messages hold no stack traces or file paths."""
    response = refusal.reading.exchange.response
    text = response.body[:100_000].decode(errors="replace") if response else ""
    if match := TRACE.search(text):
        at = max(0, match.start() - 20)
        yield refusal.found(wanted="a message without a trace", saw=text[at : match.end() + 60])


def _until(date: str, now: str | None) -> float | None:
    """Seconds from one HTTP date to another; ``None`` where either is none."""
    try:
        return (parsedate_to_datetime(date) - parsedate_to_datetime(now or "")).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
