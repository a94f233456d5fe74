"""Several requests at once: each gets its own answer, and too many are told so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from conformance.rules.chat.views import ChatReply, Message
from conformance.rules.crowds import foreign_codes
from conformance.rules.examples import Exchanges, answer, conversation, error
from conformance.rules.registry import rule
from conformance.rules.sources import OPENAPI, docs
from conformance.rules.views import TRANSIENT, Run, Violation

CODES = docs("guides/error-codes")
UNPAID, LATE = 402, 408
"""Refusals that a burst may meet for another reason than its size."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The replies to requests that were under way at the same time (probe ``concurrent``)."""

    replies: tuple[ChatReply, ...]
    messages: tuple[Message, ...]

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        replies = _replies(run, "concurrent")
        if len(replies) > 1:
            places = {reply.reading.index for reply in replies}
            yield cls(replies, tuple(m for m in run.views(Message) if m.reading.index in places))


@dataclass(frozen=True, slots=True)
class Burst:
    """The replies to more equal requests at once than an endpoint may want (probe ``burst``)."""

    replies: tuple[ChatReply, ...]

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        if replies := _replies(run, "burst"):
            yield cls(replies)


def _replies(run: Run, probe: str) -> tuple[ChatReply, ...]:
    return tuple(reply for reply in run.views(ChatReply) if reply.reading.exchange.probe == probe)


def _pair(said: str, *, request_id: str = "req_2") -> Exchanges:
    """Two requests at once, each with a code of its own; the second is answered with ``said``."""
    first, second = "canary-00000001", "canary-00000002"
    return conversation(
        answer(asked=_code(first), message={"content": first}, probe="concurrent"),
        answer(
            asked=_code(second),
            message={"content": said},
            probe="concurrent",
            headers={"x-request-id": request_id},
            id="chatcmpl-2",
        ),
    )


def _code(code: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": f"Repeat {code}"}]}


@rule(
    "chat.response.own-answer",
    level="MUST",
    basis="derived",
    source=f"{OPENAPI} #/paths/~1chat~1completions/post",
    probe="concurrent",
    violating=_pair("canary-00000001"),
    conforming=_pair("canary-00000002"),
    consequence="one user reads what another asked",
)
def own_answer(crowd: Crowd) -> Iterator[Violation]:
    """Of several requests at once, each is answered, and none with what another one says.

    The rule is this suite's own: a response is that of its request. Each request of the probe holds a code
    that nobody can guess; a model that fails to repeat its own is no violation, one that knows another's is.
    """
    for reply in crowd.replies:
        yield from reply.accepted()
    yield from foreign_codes(crowd.messages, (reply.reading for reply in crowd.replies))


@rule(
    "err.request-id-unique",
    level="SHOULD",
    basis="prose",
    needs=("headers",),
    source=docs("api-reference debugging requests"),
    probe="concurrent",
    violating=_pair("canary-00000002", request_id="req_1"),
    conforming=_pair("canary-00000002"),
    consequence="the id that a report names leads to another request, perhaps another user's",
)
def request_id_unique(crowd: Crowd) -> Iterator[Violation]:
    """x-request-id differs between requests.

    Judged among requests under way at the same time, where the header is sent at all.
    """
    seen: dict[str, int] = {}
    for reply in crowd.replies:
        given = reply.header("x-request-id")
        if given and seen.setdefault(given, reply.reading.index) != reply.reading.index:
            wanted = f"another id than exchange {seen[given]} had"
            yield reply.found("headers", "x-request-id", wanted=wanted)


@rule(
    "err.rate-limit-429",
    level="MUST",
    basis="prose",
    source=(f"{CODES} 429", f"{OPENAPI} #/components/responses/TooManyRequests"),
    probe="burst",
    opt_in=True,
    violating=conversation(
        answer(probe="burst", expect="either"), error(403, probe="burst", expect="either")
    ),
    conforming=conversation(
        answer(probe="burst", expect="either"), error(429, probe="burst", expect="either")
    ),
    consequence="clients do not retry a 4xx that is not 429: a moment's crowd becomes a failure",
)
def rate_limit(burst: Burst) -> Iterator[Violation]:
    """Throttled requests get 429.

    Judged among equal requests at once: where one is answered, nothing but their number explains that
    another is refused as if it were wrong. 5xx is overload, and err.overload-503's.
    """
    if any(reply.reading.succeeded for reply in burst.replies):
        for reply in burst.replies:
            if 400 <= reply.status < 500 and reply.status not in (429, UNPAID, LATE):
                yield reply.found("status", wanted="429")


@rule(
    "err.overload-503",
    level="SHOULD",
    basis="prose",
    source=f"{CODES} 503",
    probe="burst",
    opt_in=True,
    violating=conversation(
        answer(probe="burst", expect="either"), error(500, probe="burst", expect="either")
    ),
    conforming=conversation(
        answer(probe="burst", expect="either"), error(503, probe="burst", expect="either")
    ),
    consequence="a server that is only busy looks broken, to clients and to whoever is on call",
)
def overload(burst: Burst) -> Iterator[Violation]:
    """Overload is reported as 503 (or 429), not as 500.

    Judged like err.rate-limit-429. Corrected: no source demands Retry-After on a 503.
    """
    if any(reply.reading.succeeded for reply in burst.replies):
        for reply in burst.replies:
            if reply.status >= 500 and reply.status not in TRANSIENT:
                yield reply.found("status", wanted="503 or 429")
