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

from conformance.engine.drive import Brought, Question, Target
from conformance.engine.forms import Form, form_of
from conformance.profiles import Again, Asked, Outcome, Profile, outcome, repaired, told_as_stream
from conformance.transport.client import Transport
from conformance.types import Exchange, HttpRequest, Request

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
class _Talk:
    """One question to one model: what was asked, in which form it is sent now, and what it cost so far."""

    form: Form | None
    asked: Asked
    plain: HttpRequest
    request: Request
    waits: int = 0
    ways: int = 0


class ReferenceClient:
    """A client with a profile: a ``Client`` of `conformance.engine.drive`.

    ``fallback_model`` answers when the retries of the first are spent. ``now`` is the time in seconds since
    1970.
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
        form = form_of(question, target)
        model = target.model if form is None else form.model
        tries: list[Exchange] = []
        judged, result = await self._ask(question, form, model, target, transport, tries)
        spent = form is not None and result.kind in ("failed", "elsewhere")
        if spent and self._fallback is not None and self._fallback != model:
            judged, _ = await self._ask(question, form, self._fallback, target, transport, tries)
        return Brought(judged, tuple(tries))

    async def _ask(
        self,
        question: Question,
        form: Form | None,
        model: str,
        target: Target,
        transport: Transport,
        tries: list[Exchange],
    ) -> tuple[Exchange, Outcome]:
        talk = self._talk(question, form, model, target)
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
            asked = talk.asked if form is not None else None
            result = outcome(raw, judged, asked, self._profile, target.wire, self._now())
            if result.kind == "answered" or question.close_after_events is not None:
                return judged, result
            other = self._other_way(talk, result)
            if other is not None:
                self._take(other, talk)
            elif result.kind != "failed" or not await self._waited(talk, result, chance):
                return judged, result

    def _talk(self, question: Question, form: Form | None, model: str, target: Target) -> _Talk:
        request = Request(()) if form is None else form.request
        # Calls in the text are what a row in a dialect asks for, and the row's own to read.
        offered = request if target.dialect is None else replace(request, tools=())
        probing, at = question.expect != "answer", int(self._now())
        asked = Asked(offered, target.wire.name, model, probing, at)
        return _Talk(form, asked, question.http, request)

    def _written(self, question: Question, talk: _Talk, target: Target) -> HttpRequest:
        """The request as it is sent now."""
        http = question.http
        if talk.form is not None:
            http = talk.form.prepared(talk.request, talk.asked, self._profile)
        return replace(http, headers=self._profile.headers(http.headers, target.wire.name))

    def _seen(self, raw: Exchange, talk: _Talk) -> Exchange:
        """The exchange as the client behind the profile sees it: what it asked, and the repaired answer."""
        if raw.response is None:
            return replace(raw, request=talk.plain)
        if talk.asked.request.stream and not talk.request.stream:
            response = told_as_stream(self._profile, raw.response, talk.asked)
        else:
            whole = raw.ending == "complete"
            response = repaired(self._profile, raw.response, talk.asked, whole=whole)
        return replace(raw, request=talk.plain, response=response)

    def _other_way(self, talk: _Talk, result: Outcome) -> Again | None:
        if talk.form is None or talk.ways >= MOST_WAYS or not (result.refusal or result.unusable):
            return None
        failure = result.refusal or result.why
        other = self._profile.again(failure, replace(talk.asked, request=talk.request))
        changes = other is not None and (other.request != talk.request or other.concedes)
        return other if changes else None

    def _take(self, other: Again, talk: _Talk) -> None:
        talk.ways += 1
        talk.request = other.request
        if other.concedes and talk.form is not None:
            talk.asked = replace(talk.asked, request=other.request)
            talk.plain = talk.form.plain(other.request)

    async def _waited(self, talk: _Talk, result: Outcome, chance: random.Random) -> bool:
        """Wait before the next try; False where there is none."""
        if talk.waits >= RETRIES or (result.after_s or 0.0) > LONGEST_ASKED_S:
            return False
        backoff = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**talk.waits) * (0.5 + chance.random() / 2)
        talk.waits += 1
        if not result.unusable:
            await self._sleep(backoff if result.after_s is None else result.after_s)
        return True
