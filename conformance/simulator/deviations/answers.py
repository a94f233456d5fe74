"""Deviations that put one answer in place of another."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.simulator.addresses import address
from conformance.simulator.answer import JSON_TYPE, Actions, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import Maker, deviation, labelled, wire_of
from conformance.simulator.mutants import anthropic_edits, edits
from conformance.simulator.mutants.mutant import Answer, Change
from conformance.simulator.mutants.responses_edits import responded
from conformance.simulator.openai_front import CREATED
from conformance.types import HttpRequest

_FINE = "Fine."


def _anyway(said: str) -> Change:
    """A request whose refusal would say something that the pattern finds is answered, in a word.

    On the wires of OpenAI and Anthropic; where a stream is asked for, only on Chat Completions.
    """
    pattern = re.compile(said)

    def change(answer: Answer) -> None:
        if not 400 <= answer.status < 500 or not pattern.search(json.dumps(answer.body, default=str)):
            return
        match wire_of(answer.request):
            case "openai-responses":
                responded(_FINE)(answer)
            case "anthropic-messages":
                anthropic_edits.accepted(answer)
            case _:
                edits.accepted_with(_FINE)(answer)
                if answer.asked.get("stream") is True:
                    _stream(answer)

    return change


def _stream(answer: Answer) -> None:
    whole = answer.body
    chunk = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    said = {"index": 0, "delta": {"role": "assistant", "content": _FINE}, "finish_reason": None}
    choices = [said, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    answer.body, answer.events = None, [*({**chunk, "choices": [choice]} for choice in choices), "[DONE]"]
    answer.headers["content-type"] = "text/event-stream"


def _models_as_openai() -> Change:
    """The list of models is OpenAI's, whatever the wire."""

    def change(answer: Answer) -> None:
        listed = answer.body.get("data") if isinstance(answer.body, dict) and answer.status < 300 else None
        if isinstance(listed, list):
            made = {"object": "model", "created": CREATED, "owned_by": "conformance"}
            answer.body = {"object": "list", "data": [{"id": one["id"], **made} for one in listed]}

    return change


@dataclass(frozen=True, slots=True)
class AnsweredInstead(Behaviour):
    """The same answer to whatever is asked at one address."""

    method: str = "GET"
    path: re.Pattern[str] = re.compile("")
    answer: Respond = field(default=Respond(404, (), b""), hash=False)

    def first(self, request: HttpRequest) -> Actions | None:
        there = request.method == self.method and self.path.fullmatch(address(request).rest)
        return [self.answer] if there else None


def _instead(
    method: str, path: str, status: int, body: Any, headers: Mapping[str, str] | None = None
) -> Behaviour:
    """``path`` is a pattern for all of what follows the persona's name."""
    sent = {"content-type": "application/json", **(headers or {})}
    told = labelled("answered-instead", method=method, path=path, status=status, body=body, headers=headers)
    return AnsweredInstead(told, method, re.compile(path), Respond(status, tuple(sent.items()), body))


@dataclass(frozen=True, slots=True)
class UnreadableAnswered(Behaviour):
    """One answer to every body that is no JSON, whoever sends it and whatever the path is."""

    answer: Respond = field(default=Respond(500, (), b""), hash=False)

    def first(self, request: HttpRequest) -> Actions | None:
        if request.method != "POST":
            return None
        try:
            json.loads(request.body)
        except (ValueError, RecursionError):
            return [self.answer]
        return None


def _unreadable(status: int, body: Any) -> Behaviour:
    told = labelled("unreadable-answered", status=status, body=body)
    return UnreadableAnswered(told, Respond(status, JSON_TYPE, body))


ANSWERS: Mapping[str, Maker] = {
    **dict(
        (deviation("answered-anyway", _anyway), deviation("models-as-openai", _models_as_openai)),
    ),
    "answered-instead": _instead,
    "unreadable-answered": _unreadable,
}
"""Makers by name."""
