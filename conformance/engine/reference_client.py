"""The client behind ``--adapted``: it prepares, sends, repairs, tries again and falls back, all of it
visibly.

What is retried and what is not is told by `conformance.profiles.outcome`. Waits grow exponentially,
with jitter from a seed, unless the endpoint says how long to wait. Clock and sleep are given, so that
tests never wait.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from conformance.engine.drive import Brought, Question, Target, encoded
from conformance.profiles import Again, Asked, Outcome, Profile, outcome, repaired, told_as_stream
from conformance.transport.client import Transport
from conformance.types import Exchange, HttpRequest, Request, Turn

RETRIES = 3
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
LONGEST_ASKED_S = 60.0
"""An endpoint that asks for a longer wait than this is not waited for: its retries count as spent."""
MOST_WAYS = 3
"""So many other ways to ask the same are tried."""

Sleep = Callable[[float], Awaitable[None]]
Now = Callable[[], float]


@dataclass(slots=True)
class _Conversation:
    """One question to one model: what was asked, in which form it is sent now, and what came."""

    asked: Asked
    plain: HttpRequest
    request: Request
    tries: list[Exchange]
    waits: int = 0
    ways: int = 0


class ReferenceClient:
    """A client with a profile: a ``Client`` of `conformance.engine.drive`.

    ``fallback_model`` answers when the retries of the first are spent. ``now`` is the time in seconds
    since 1970.
    """

    def __init__(
        self, profile: Profile, *, fallback_model: str | None, seed: str, sleep: Sleep, now: Now
    ) -> None:
        self._profile = profile
        self._fallback = fallback_model
        self._seed = seed
        self._sleep = sleep
        self._now = now

    async def send(self, question: Question, target: Target, transport: Transport) -> Brought:
        """Ask until there is an answer, a refusal that will stay one, or no try left; then the second
        model.
        """
        model = (question.ask.model if question.ask else None) or target.model
        tries: list[Exchange] = []
        judged, result = await self._ask(question, model, target, transport, tries)
        spent = result.kind in ("failed", "elsewhere")
        if spent and question.ask is not None and self._fallback not in (None, model):
            judged, _ = await self._ask(question, self._fallback or model, target, transport, tries)
        return Brought(judged, tuple(tries))

    async def _ask(
        self, question: Question, model: str, target: Target, transport: Transport, tries: list[Exchange]
    ) -> tuple[Exchange, Outcome]:
        canonical = question.canonical or Request(())
        asked = Asked(canonical, target.wire.name, model)
        talk = _Conversation(asked, question.http, canonical, tries)
        chance = random.Random(  # noqa: S311 - jitter, which anyone may guess
            f"{self._seed}\0{question.http.url}\0{question.http.body!r}"
        )
        while True:
            raw = await transport.send(
                self._written(question, talk, target),
                wire=target.wire.name,
                close_after_events=question.close_after_events,
            )
            tries.append(raw)
            judged = self._seen(raw, talk)
            result = outcome(
                raw,
                _turn(judged, target),
                talk.asked if question.ask is not None else None,
                self._profile,
                target.wire,
                self._now(),
            )
            if result.kind == "answered" or question.close_after_events is not None:
                return judged, result
            other = self._other_way(question, talk, result)
            if other is not None:
                self._take(other, question, talk, target)
            elif result.kind != "failed" or not await self._waited(talk, result, chance):
                return judged, result

    def _written(self, question: Question, talk: _Conversation, target: Target) -> HttpRequest:
        """The request as it is sent now: prepared, unless it is sent in order to be refused."""
        http = question.http
        if question.ask is not None and question.ask.expect != "refusal":
            asked, profile = talk.asked, self._profile
            http = encoded(
                profile.prepare(talk.request, asked),
                question.ask,
                target,
                model=asked.model,
                change=lambda body: profile.prepare_body(body, asked),
            )
        return replace(http, headers=self._profile.headers(http.headers, target.wire.name))

    def _seen(self, raw: Exchange, talk: _Conversation) -> Exchange:
        """The exchange as the client behind the profile sees it: what it asked, and the repaired answer."""
        if raw.response is None:
            return replace(raw, request=talk.plain)
        as_stream = talk.asked.request.stream and not talk.request.stream
        if as_stream:
            response = told_as_stream(self._profile, raw.response, talk.asked)
        else:
            whole = raw.ending == "complete"
            response = repaired(self._profile, raw.response, talk.asked, whole=whole)
        return replace(raw, request=talk.plain, response=response)

    def _other_way(self, question: Question, talk: _Conversation, result: Outcome) -> Again | None:
        if question.ask is None or talk.ways >= MOST_WAYS or not (result.refusal or result.unusable):
            return None
        asked = replace(talk.asked, request=talk.request)
        other = self._profile.again(result.refusal, asked)
        return other if other is not None and other.request != talk.request else None

    def _take(self, other: Again, question: Question, talk: _Conversation, target: Target) -> None:
        talk.ways += 1
        talk.request = other.request
        if other.concedes and question.ask is not None:
            talk.asked = replace(talk.asked, request=other.request)
            talk.plain = encoded(other.request, question.ask, target)

    async def _waited(self, talk: _Conversation, result: Outcome, chance: random.Random) -> bool:
        """Wait before the next try; False where there is none."""
        if talk.waits >= RETRIES or (result.after_s or 0.0) > LONGEST_ASKED_S:
            return False
        backoff = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**talk.waits) * (0.5 + chance.random() / 2)
        talk.waits += 1
        if not result.unusable:
            await self._sleep(backoff if result.after_s is None else result.after_s)
        return True


def _turn(exchange: Exchange, target: Target) -> Turn | None:
    if exchange.response is None or exchange.response.status >= 300:
        return None
    turns = target.wire.decode(exchange.response)
    return turns[0] if turns else None
