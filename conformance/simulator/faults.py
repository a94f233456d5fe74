"""Faults by name: what goes wrong on the way, on any wire, whoever answers.

Those of a stream do nothing to a whole answer, and those of server-sent events nothing to JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conformance.simulator import broken_calls, broken_streams, broken_transport
from conformance.simulator.answer import (
    JSON_TYPE,
    Action,
    Actions,
    Bytes,
    Close,
    Hang,
    Head,
    Headers,
    Refused,
    Reset,
    Respond,
    refusal,
)
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.front import Front
from conformance.simulator.fronts import front_of
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest

_HTML: Headers = (("content-type", "text/html; charset=utf-8"),)
_PAGE = b"<!doctype html><html><head><title>%b</title></head><body><h1>%b</h1></body></html>"
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


@dataclass(frozen=True, slots=True)
class Instead(Behaviour):
    """The same answer to whatever is asked."""

    answer: tuple[Action, ...] = ()

    def first(self, request: HttpRequest) -> Actions:  # noqa: ARG002
        return self.answer


@dataclass(frozen=True, slots=True)
class Failing(Behaviour):
    """Whatever is asked is refused, in the words of the wire, perhaps with another status than it says."""

    refused: Callable[[], Refused] = field(default=lambda: refusal("The server failed.", status=500))
    status: int | None = None
    in_array: bool = False

    def first(self, request: HttpRequest) -> Actions:
        worded = _with_delay(front_of(request).refused(self.refused()))
        document = [worded.document] if self.in_array else worded.document
        return [Respond(self.status or worded.status, JSON_TYPE + worded.headers, document)]


@dataclass(frozen=True, slots=True)
class Rewire(Behaviour):
    """A change to the actions of every answer, which may be worded as its wire words things."""

    change: Callable[[Actions, Front], Actions] = field(default=lambda actions, _: actions)

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        return self.change(actions, front_of(request))


@dataclass(frozen=True, slots=True)
class Lying(Behaviour):
    """A change to good answers, before anything else that happens to them."""

    change: Callable[[Actions], Actions] = field(default=lambda actions: actions)

    def actions(self, request: ChatRequest, actions: Actions) -> Actions:  # noqa: ARG002
        return self.change(actions)


def _failed(status: int = 500) -> Refused:
    return refusal("The server failed.", status=status, kind="server_error")


def _limited(headers: Headers = ()) -> Refused:
    message = "Too many requests."
    return refusal(message, status=429, kind="requests", code="rate_limit_exceeded", headers=headers)


def _with_delay(refused: Refused) -> Refused:
    """Google says in the body, too, when to come back (google/rpc/error_details.proto, RetryInfo)."""
    if refused.error is not None and refused.error.get("status") == "RESOURCE_EXHAUSTED" and refused.headers:
        delay = {"@type": _RETRY_INFO, "retryDelay": f"{refused.headers[0][1]}s"}
        refused.document["error"]["details"] = [delay]
    return refused


FAULTS: tuple[Behaviour, ...] = (
    # Nothing, or nothing of the wire
    Instead("hang", (Hang(),)),
    Instead("garbage", (Bytes(b"\x00\xff\x16\x03 not HTTP at all \r\n\r\n" * 3),)),
    Instead("empty-body", (Respond(200, JSON_TYPE, b""),)),
    Instead("short-body", (Head(200, (*JSON_TYPE, ("content-length", "1000")), "none"), Bytes(b'{"id":'))),
    Instead("html-200", (Respond(200, _HTML, _PAGE % (b"Welcome", b"Welcome")),)),
    Instead("html-502", (Respond(502, _HTML, _PAGE % (b"502 Bad Gateway", b"502 Bad Gateway")),)),
    # Refusals, as the wire words them
    Failing("rate-limited", lambda: _limited((("retry-after", "1"),))),
    Failing("rate-limited-bare", _limited),
    Failing("server-error", _failed),
    Failing("overloaded", lambda: _failed(503)),
    Failing("error-body-200", _failed, status=200),
    Failing("error-array", lambda: refusal("The request is not valid."), in_array=True),
    # Streams that go wrong
    Rewire("error-mid-stream", broken_streams.with_error),
    Rewire("no-finish", broken_streams.without_finish),
    Rewire("no-done", broken_streams.without_done),
    Rewire("endless-stream", broken_streams.endless),
    Rewire("usage-late", broken_streams.usage_late),
    Rewire("usage-twice", broken_streams.usage_twice),
    # Server-sent events, written in ways of their own
    Rewire("data-without-space", broken_streams.without_space),
    Rewire("crlf", broken_streams.with_crlf),
    Rewire("keep-alive-comments", broken_streams.with_comments("keep-alive")),
    # Bytes that go wrong on the way
    Rewire("wrong-content-type", broken_transport.as_plain_text),
    Rewire("broken-chunks", broken_transport.broken_chunks),
    Rewire("split-utf8", broken_transport.split_characters),
    Rewire("slow", broken_transport.late),
    Rewire("slow-drip", broken_transport.dripping),
    Rewire("stream-cut", broken_transport.cut(Reset())),
    Rewire("stream-close", broken_transport.cut(Close())),
    # Calls of Chat that are not what they should be
    Lying("arguments-object", broken_calls.arguments_as_objects),
    Lying("missing-ids", broken_calls.without("id")),
    Lying("missing-index", broken_calls.without("index")),
)
"""Every fault: a persona has some (``--fault``), a script gives them to turns, a test to what comes next."""

FAULTS_BY_NAME: Mapping[str, Behaviour] = {fault.name: fault for fault in FAULTS}
