"""From a request to the actions that answer it: front, model, and whatever a persona does differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import formatdate
from itertools import chain, islice
from typing import Any

from conformance.simulator import chance, turns
from conformance.simulator.addresses import Address, not_found, routed
from conformance.simulator.answer import (
    JSON_TYPE,
    Action,
    Actions,
    Head,
    Pause,
    Refused,
    Reset,
    Respond,
    refusal,
)
from conformance.simulator.behaviour import Behaviour, Persona
from conformance.simulator.faults import FAULTS_BY_NAME
from conformance.simulator.fields import parse
from conformance.simulator.front import Front, Route
from conformance.simulator.http import header
from conformance.simulator.journal import JournalEntry, masked_headers, masked_query
from conformance.simulator.request import ChatRequest
from conformance.simulator.runs import Run
from conformance.simulator.script import Script
from conformance.types import HttpRequest, Turn, WireName

_COMPARED = 2_000
"""So many actions at the beginning of an answer tell whether a behaviour changed it."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What to perform, the journal's entry (still without its number), and the front that answered."""

    actions: Actions
    entry: JournalEntry
    front: Front


class _TakenOver(Exception):
    """An answer that takes the place of all others and goes out as it is."""

    def __init__(self, actions: Actions, why: str) -> None:
        super().__init__(why)
        self.actions = actions
        self.why = why


class _Course:
    """A request on its way to an answer: who may act on it, who did."""

    def __init__(self, request: HttpRequest, to: Address, run: Run, persona: Persona | None) -> None:
        self.request = request
        self.to = to
        self.run = run
        self.front = next(front for front in run.fronts if front.speaks(request, to.rest))
        self.acts = persona.acts if persona else ()
        there = self.front.route(to.rest) if persona else None
        self.asks = there is not None and there.kind == "ask" and request.method == there.method
        self.body: dict[str, Any] | None = None
        self.fault: str | None = None
        self._quirks: dict[str, None] = {}

    def meet(self, fault: Behaviour) -> None:
        """Let the answer meet this fault after all else that happens to it, as it is on its way."""
        self.acts = (*self.acts, (fault, ()))
        self.fault = fault.name

    def acted(self, quirks: tuple[str, ...]) -> None:
        """Note that these quirks shaped the answer."""
        self._quirks |= dict.fromkeys(quirks)

    def take_over(self) -> None:
        """Raise the answer of the act that answers in the server's place: a fault's before all others."""
        for behaviour, quirks in reversed(self.acts):
            taken = behaviour.first(self.request)
            if taken is not None:
                self.acted(quirks)
                raise _TakenOver(taken, ", ".join(quirks) or behaviour.name)

    def keyed(self) -> HttpRequest:
        """The request with its key where the acts move it to."""
        request = self.request
        for behaviour, _ in self.acts:
            request = behaviour.keyed(request)
        return request

    def hear(self, objects: Callable[[Behaviour], Refused | None]) -> None:
        """Raise the first objection of an act, with the quirk as the reason where it has one."""
        for behaviour, quirks in self.acts:
            refused = objects(behaviour)
            if refused is not None:
                self.acted(quirks)
                refused.why = ", ".join(quirks) or refused.why
                raise refused

    def read(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:
        """What of ``body`` the acts let be read."""
        for behaviour, quirks in self.acts:
            before, body = body, behaviour.disregard(wire, body, model)
            if body is not before:
                self.acted(quirks)
        return body

    def turned(self, request: ChatRequest, turn: Turn) -> Turn:
        """``turn`` as the acts let the model say it."""
        for behaviour, quirks in self.acts:
            before, turn = turn, behaviour.turn(request, turn)
            if turn is not before and turn != before:
                self.acted(quirks)
        return turn

    def changed(self, actions: Actions, change: Callable[[Behaviour, Actions], Actions]) -> Actions:
        """``actions`` after the acts' ``change``."""
        before: str | None = None
        for behaviour, quirks in self.acts:
            if not quirks:
                actions, before = change(behaviour, actions), None
                continue
            if before is None:
                actions, before = _begun(actions)
            made = change(behaviour, actions)
            if made is not actions:
                actions, after = _begun(made)
                if after != before:
                    self.acted(quirks)
                before = after
        return actions

    def answered(self, actions: Actions, action: str) -> Answered:
        """The answer, with what the journal says of it."""
        status, actions = _status(actions)
        if self.fault is not None and not action.startswith("failed"):
            action = f"fault: {self.fault}"
        if self.asks and self.body is None:
            with suppress(Refused):
                self.body = parse(self.request.body)
        entry = JournalEntry(
            persona=self.to.persona,
            method=self.request.method,
            path=self.to.path,
            body=self.body,
            action=action,
            run=self.run.name,
            wire=self.front.wire,
            status=status,
            quirks=tuple(self._quirks),
            asks=self.asks,
            query=masked_query(self.request),
            headers=masked_headers(self.request),
        )
        return Answered(actions, entry, self.front)


class Answering:
    """Answers requests as the personas do; what is remembered is in the run that it is handed.

    ``scripts`` maps a marker's name to the turn that a prompt with ``[[name]]`` is answered with; ``script``
    comes before them. ``latency_s`` seconds pass before each answer, ``gap_s`` between a stream's events.
    """

    def __init__(
        self,
        personas: Mapping[str, Persona],
        scripts: Mapping[str, Turn],
        script: Script,
        latency_s: float,
        gap_s: float,
    ) -> None:
        self._personas = personas
        self._scripts = scripts
        self._script = script
        self._latency_s = latency_s
        self._gap_s = gap_s

    def answer(
        self, request: HttpRequest, to: Address, run: Run, objection: Refused | None, *, again: bool = False
    ) -> Answered:
        """The answer of the persona addressed, or the ``objection`` in its words.

        ``again``: the same request came before in this run.
        """
        persona = self._personas.get(to.persona)
        persona = persona.lasting if persona and again and persona.transient else persona
        course = _Course(request, to, run, persona)
        front, started = course.front, chance.now_ns()
        actions: Actions
        try:
            if objection is not None:
                raise objection
            if persona is None:
                raise not_found(request, to)
            actions, action = self._answer(course, persona)
        except _TakenOver as taken:
            return course.answered(taken.actions, f"took over: {taken.why}")
        except Refused as refused:
            worded = refused if refused.worded else front.refused(refused)
            actions, action = worded.actions(), f"refused: {refused.why}"
        except Exception as error:  # a behaviour's bug must not take the server down
            failed = refusal("The simulator failed.", status=500, kind="server_error")
            actions, action = front.refused(failed).actions(), f"failed: {error!r}"
        try:
            actions = signed(actions, front, started)
            actions = course.changed(actions, lambda behaviour, given: behaviour.rewire(request, given))
            return course.answered(chain((Pause(self._latency_s),), actions), action)
        except Exception as error:  # nothing can be told by an answer that breaks while it is written
            return course.answered([Reset()], f"failed: {error!r}")

    def _answer(self, course: _Course, persona: Persona) -> tuple[Actions, str]:
        request, front = course.request, course.front
        fault = course.run.take_fault(persona.name) if course.asks else None
        if fault is not None:
            course.meet(fault)
        course.take_over()
        route = routed(front, request, course.to)
        front.authorize(course.keyed(), persona)
        if route.kind != "ask":
            return [Respond(200, JSON_TYPE, front.models(route, persona))], "answered models"
        body = course.body = parse(request.body)
        asked = route.model or body.get("model")
        model = asked if isinstance(asked, str) else ""
        course.hear(lambda behaviour: behaviour.screen(front.wire, body, model))
        return self._ask(course, persona.serving(model), route, course.read(front.wire, body, model))

    def _ask(
        self, course: _Course, persona: Persona, route: Route, body: dict[str, Any]
    ) -> tuple[Actions, str]:
        front, run = course.front, course.run
        request = front.read(body, route, persona)
        course.hear(lambda behaviour: behaviour.refuse(request))
        request = replace(request, cached_tokens=run.cache.read(persona.name, request))
        run.asked += 1
        chosen = self._script.choose(request, run.asked, run.played) or turns.choose(request, self._scripts)
        if chosen.fault is not None:
            course.meet(FAULTS_BY_NAME[chosen.fault])
            course.take_over()
        turn = turns.obey(course.turned(request, chosen.turn), request, verbatim=chosen.verbatim)
        actions = front.write(turn, request, self._gap_s)
        actions = course.changed(actions, lambda behaviour, given: behaviour.actions(request, given))
        return actions, f"answered {chosen.origin}"


def signed(actions: Actions, front: Front, started_ns: int) -> Actions:
    """The answer with the headers that every answer of the wire's provider has, where it has them not yet."""
    for action in actions:
        if isinstance(action, (Respond, Head)):
            signature = front.signature(chance.elapsed_ms(started_ns))
            added = (("date", formatdate(chance.now_s(), usegmt=True)), *signature)
            missing = tuple(line for line in added if header(action.headers, line[0]) is None)
            action = replace(action, headers=action.headers + missing)
        yield action


def _begun(actions: Actions) -> tuple[Actions, str]:
    """The same actions, and how they begin, as text: behaviours may change documents in place."""
    rest = iter(actions)
    begun = list(islice(rest, _COMPARED))
    following = list(islice(rest, 1))
    return (chain(begun, following, rest) if following else begun), f"{begun!r}{'…' if following else ''}"


def _status(actions: Actions) -> tuple[int | None, Actions]:
    """The status that the answer has, if any, and the same actions."""
    rest = iter(actions)
    begun: list[Action] = []
    for action in rest:
        begun.append(action)
        if not isinstance(action, Pause):
            break
    last = begun[-1] if begun else None
    status = last.status if isinstance(last, (Respond, Head)) else None
    return status, chain(begun, rest)
