"""Lies at the level of HTTP, the stream and the JSON documents, for tests of whoever reads them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.simulator.answer import (
    JSON_TYPE,
    Action,
    Actions,
    Bytes,
    Close,
    Event,
    Hang,
    Head,
    Headers,
    Pause,
    Reset,
    Respond,
    refusal,
)
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest

_HTML: Headers = (("content-type", "text/html; charset=utf-8"),)
_PAGE = b"<!doctype html><html><head><title>%b</title></head><body><h1>%b</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Instead(Behaviour):
    """The same answer to whatever is asked."""

    answer: tuple[Action, ...] = ()

    def first(self, request: HttpRequest) -> Actions:  # noqa: ARG002
        return self.answer


@dataclass(frozen=True, slots=True)
class Rewire(Behaviour):
    """A change to the answer's actions."""

    change: Callable[[Actions], Actions] = field(default=lambda actions: actions)

    def actions(self, request: ChatRequest, actions: Actions) -> Actions:  # noqa: ARG002
        return self.change(actions)


@dataclass(frozen=True, slots=True)
class Slow(Behaviour):
    """An answer that starts ``seconds`` late."""

    name: str = "slow"
    seconds: float = 0.5

    def actions(self, request: ChatRequest, actions: Actions) -> Actions:  # noqa: ARG002
        yield Pause(self.seconds)
        yield from actions


@dataclass(frozen=True, slots=True)
class StreamCut(Behaviour):
    """A stream whose connection ends after so many events, by a reset or an early close."""

    name: str = "stream-cut"
    after_events: int = 3
    ending: Reset | Close = field(default_factory=Reset)

    def actions(self, request: ChatRequest, actions: Actions) -> Actions:  # noqa: ARG002
        events = 0
        for action in actions:
            yield action
            events += isinstance(action, Event)
            if events == self.after_events:
                # A reset discards what the client has not read yet; give it the time to read.
                yield Pause(0.05)
                yield self.ending


def _endless(actions: Actions) -> Actions:
    for action in actions:
        yield action
        while isinstance(action, Event) and _says_something(action.data):
            yield Pause(0.001)
            yield action


def _says_something(document: Any) -> bool:
    return isinstance(document, dict) and any(c["delta"].get("content") for c in document["choices"])


def _without_done(actions: Actions) -> Actions:
    return (action for action in actions if action != Event("[DONE]"))


def _as_plain_text(actions: Actions) -> Actions:
    for action in actions:
        if isinstance(action, (Head, Respond)):
            headers = tuple((k, "text/plain" if k == "content-type" else v) for k, v in action.headers)
            action = replace(action, headers=headers)
        yield action


def _on_calls(change: Callable[[dict[str, Any]], None]) -> Callable[[Actions], Actions]:
    """``change`` applied to every tool call of an answer's documents."""

    def changed(document: Any) -> Any:
        document = copy.deepcopy(document)
        for choice in document.get("choices", ()) if isinstance(document, dict) else ():
            for call in (choice.get("message") or choice.get("delta") or {}).get("tool_calls", ()):
                change(call)
        return document

    def rewired(actions: Actions) -> Iterable[Action]:
        for action in actions:
            if isinstance(action, Event):
                action = Event(changed(action.data))
            elif isinstance(action, Respond):
                action = replace(action, body=changed(action.body))
            yield action

    return rewired


def _arguments_as_object(call: dict[str, Any]) -> None:
    arguments = call["function"]["arguments"]
    try:
        call["function"]["arguments"] = json.loads(arguments)
    except ValueError:
        call["function"]["arguments"] = {}


def _drop(member: str) -> Callable[[dict[str, Any]], None]:
    return lambda call: call.pop(member, None)


_FAILED = refusal("The server failed.", status=500, kind="server_error")
_LIMITED = refusal(
    "Too many requests.",
    status=429,
    kind="requests",
    code="rate_limit_exceeded",
    headers=(("retry-after", "1"),),
)

FAULTS: tuple[Behaviour, ...] = (
    Instead("short-body", (Head(200, (*JSON_TYPE, ("content-length", "1000")), "none"), Bytes(b'{"id":'))),
    Instead("html-200", (Respond(200, _HTML, _PAGE % (b"Welcome", b"Welcome")),)),
    Instead("html-502", (Respond(502, _HTML, _PAGE % (b"502 Bad Gateway", b"502 Bad Gateway")),)),
    Instead("empty-body", (Respond(200, JSON_TYPE, b""),)),
    Instead("error-body-200", (Respond(200, JSON_TYPE, _FAILED.document),)),
    Instead("garbage", (Bytes(b"\x00\xff\x16\x03 not HTTP at all \r\n\r\n" * 3),)),
    Instead("hang", (Hang(),)),
    Instead("rate-limited", tuple(_LIMITED.actions())),
    Instead("server-error", tuple(_FAILED.actions())),
    Rewire("endless-stream", _endless),
    Rewire("no-done", _without_done),
    Rewire("wrong-content-type", _as_plain_text),
    Rewire("arguments-object", _on_calls(_arguments_as_object)),
    Rewire("missing-ids", _on_calls(_drop("id"))),
    Rewire("missing-index", _on_calls(_drop("index"))),
    Slow(),
    StreamCut(),
    StreamCut("stream-close", ending=Close()),
)
