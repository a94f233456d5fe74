"""What the simulator says it did is what a client received, whatever lie was told."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.simulator import BEHAVIOURS, Persona, Simulator, persona, running
from conformance.simulator.performed import MOST, Performance, received
from conformance.transport.client import Limits, LiveTransport
from conformance.types import Exchange, HttpRequest

from .support import SCRIPTS, WEATHER

HEAD = b"HTTP/1.1 200 OK\r\nx: y\r\n"
ENDLESS = "endless-stream"


def told_and_received(name: str, stream: bool) -> tuple[Exchange, Exchange]:
    """The exchange as the simulator tells it, and as our own client received it."""
    told: list[Exchange] = []
    body = {"model": "reference", "stream": stream, "tools": [WEATHER]}
    body |= {"messages": [{"role": "user", "content": "[[mixed]]"}]}

    async def main() -> Exchange:
        hosted = Simulator(
            [Persona("clean"), *(persona(name, name) for name in BEHAVIOURS)],
            SCRIPTS,
            on_exchange=lambda _, exchange: told.append(exchange),
        )
        async with hosted:
            url = hosted.base_url(name) + "/chat/completions"
            headers = (("authorization", "Bearer sk-reference"), ("content-type", "application/json"))
            request = HttpRequest("POST", url, headers, json.dumps(body).encode())
            client = LiveTransport(Limits(idle_s=0.7, max_bytes=64 * 1024))
            got = await client.send(request, wire="openai-chat")
            await client.aclose()
        return got

    got = asyncio.run(main())
    return told[0], got


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["clean", *BEHAVIOURS])
def test_an_answer_is_told_as_a_client_receives_it(name: str, stream: bool) -> None:
    told, got = told_and_received(name, stream)
    assert told.request.url == got.request.url
    assert told.request.body == got.request.body
    assert told.wire == got.wire
    if got.ending in ("stalled", "too-large") or (got.failure and got.failure.kind == "timeout"):
        # The client gave up before the server did; it has a part of what was sent.
        assert got.response is None or told.response is not None
        if got.response is not None and told.response is not None:
            assert told.response.body.startswith(got.response.body[: len(told.response.body)])
        return
    assert (told.response is None) == (got.response is None)
    if got.response is None or told.response is None:
        assert told.failure is not None
        assert got.failure is not None
        assert told.failure.kind == got.failure.kind
        return
    assert told.ending == got.ending
    assert told.response.status == got.response.status
    assert told.response.headers == got.response.headers
    assert sum(size for _, size in told.response.parts) == len(told.response.body)
    if got.ending == "complete":
        assert told.response.body == got.response.body
    else:  # a reset may take with it what the client had not read
        assert told.response.body.startswith(got.response.body)


def test_a_client_that_leaves_in_the_middle_closed_it() -> None:
    told: list[Exchange] = []
    hosted = Simulator(
        [persona(ENDLESS, ENDLESS)], SCRIPTS, on_exchange=lambda _, exchange: told.append(exchange)
    )
    body = b'{"model":"reference","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
    with running(hosted):
        where = urlsplit(hosted.base_url(ENDLESS))
        lines = (
            f"POST {where.path}/chat/completions HTTP/1.1",
            "Host: x",
            "Authorization: Bearer sk-reference",
            f"Content-Length: {len(body)}",
        )
        raw = socket.create_connection((where.hostname or "", where.port or 0), timeout=10)
        with raw:
            raw.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            assert raw.recv(1000)
        while not told:
            time.sleep(0.001)
    assert told[0].ending == "closed-by-us"
    assert told[0].response is not None
    assert told[0].response.status == 200


@pytest.mark.parametrize(
    ("sent", "stop", "status", "body", "ending"),
    [
        (HEAD + b"content-length: 3\r\n\r\nabc", "done", 200, b"abc", "complete"),
        (HEAD + b"content-length: 3\r\n\r\nabcdef", "done", 200, b"abc", "complete"),
        (HEAD + b"content-length: 3\r\n\r\nab", "done", 200, b"ab", "cut"),
        (HEAD + b"content-length: 0\r\n\r\n", "done", 200, b"", "complete"),
        (HEAD + b"content-length: x\r\n\r\nab", "done", 200, b"ab", "complete"),
        (HEAD + b"\r\nabc", "done", 200, b"abc", "complete"),
        (HEAD + b"\r\nabc", "reset", 200, b"abc", "cut"),
        (HEAD + b"\r\nabc", "hang", 200, b"abc", "stalled"),
        (HEAD + b"\r\nabc", "left", 200, b"abc", "closed-by-us"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "done", 200, b"abc", "complete"),
        (
            HEAD + b"transfer-encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n0\r\nt: 1\r\n\r\n",
            "done",
            200,
            b"abc",
            "complete",
        ),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", "done", 200, b"abc", "cut"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n", "done", 200, b"", "cut"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", "hang", 200, b"abc", "cut"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "done", 204, b"", "complete"),
        (b"HTTP/1.0 599\r\n\r\nx", "done", 599, b"x", "complete"),
    ],
)
def test_a_body_ends_where_its_framing_says(
    sent: bytes, stop: str, status: int, body: bytes, ending: str
) -> None:
    response, ended, failure = received([(1.0, sent)], stop)  # type: ignore[arg-type]
    assert response is not None
    assert (response.status, response.body, ended, failure) == (status, body, ending, None)


@pytest.mark.parametrize(
    ("sent", "stop", "kind"),
    [
        (b"", "hang", "timeout"),
        (b"", "left", "timeout"),
        (b"", "done", "protocol"),
        (b"", "reset", "protocol"),
        (b"garbage", "done", "protocol"),
        (b"garbage\r\n\r\nmore", "done", "protocol"),
        (b"HTTP/1.1 200 OK\r\nx: y\r\n", "done", "protocol"),
        (b"x" * 300_000, "done", "protocol"),
    ],
)
def test_what_is_no_answer_is_a_failure(sent: bytes, stop: str, kind: str) -> None:
    response, _, failure = received([(1.0, sent)] if sent else [], stop)  # type: ignore[arg-type]
    assert response is None
    assert failure is not None
    assert failure.kind == kind


@given(st.data())
def test_any_cut_of_the_bytes_gives_the_same_answer(data: st.DataObject) -> None:
    whole = HEAD + b"transfer-encoding: chunked\r\n\r\n4\r\nabcd\r\na\r\n0123456789\r\n0\r\n\r\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    edges = [0, *cuts, len(whole)]
    sent = [(float(i), whole[a:b]) for i, (a, b) in enumerate(pairwise(edges))]
    response, ending, _ = received(sent, "done")
    assert response is not None
    assert (response.body, ending) == (b"abcd0123456789", "complete")
    assert sum(size for _, size in response.parts) == 14
    assert [ms for ms, _ in response.parts] == sorted(ms for ms, _ in response.parts)


@given(st.lists(st.binary(max_size=60), max_size=6), st.booleans())
def test_any_bytes_are_read_without_raising(pieces: list[bytes], headed: bool) -> None:
    start = [HEAD + b"transfer-encoding: chunked\r\n\r\n"] if headed else []
    sent = [(0.0, piece) for piece in (*start, *pieces)]
    response, _, failure = received(sent, "done")
    assert (response is None) == (failure is not None)


def test_an_answer_without_end_is_kept_up_to_a_bound() -> None:
    performance = Performance(HttpRequest("GET", "http://x/", (), b""), "openai-chat")
    performance.sent(HEAD + b"\r\n")
    for _ in range(MOST // 1024 + 100):
        performance.sent(b"x" * 1024)
    exchange = performance.exchange(left=True)
    assert exchange.ending == "too-large"
    assert exchange.response is not None
    assert MOST - 2048 < len(exchange.response.body) < MOST + 2048


def test_the_answer_to_head_has_no_body() -> None:
    request = HttpRequest("HEAD", "http://x/", (), b"")
    performance = Performance(request, "openai-chat")
    performance.sent(HEAD + b"content-length: 5\r\n\r\n")
    exchange = performance.exchange(left=False)
    assert exchange.ending == "complete"
    assert exchange.response is not None
    assert exchange.response.body == b""
