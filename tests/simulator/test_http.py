"""HTTP/1.1 as a stranger speaks it: framing, bounds, and bytes that are not HTTP at all."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.simulator import PERSONAS, Simulator, running
from conformance.simulator.http import Limits

from .support import SCRIPTS, Talk, exchange

BODY = json.dumps({"model": "reference", "messages": [{"role": "user", "content": "[[plain]]"}]}).encode()


def post(talk: Talk, *headers: str, version: str = "HTTP/1.1", close: bool = True) -> bytes:
    lines = [
        f"POST {urlsplit(talk.base).path}/chat/completions {version}",
        "Host: x",
        "Authorization: Bearer sk-reference",
        *headers,
        *(["Connection: close"] if close else []),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def sized(talk: Talk, **options: object) -> bytes:
    return post(talk, f"Content-Length: {len(BODY)}", **options) + BODY  # type: ignore[arg-type]


def test_a_body_may_come_in_chunks_with_extensions_and_trailers(reference: Talk) -> None:
    head = post(reference, "Transfer-Encoding: chunked")
    chunks = b"%x;ext=1\r\n%b\r\n%x\r\n%b\r\n0\r\nTrailer: x\r\n\r\n" % (9, BODY[:9], len(BODY) - 9, BODY[9:])
    assert status(exchange(reference.base, head, chunks)) == 200


def test_a_request_may_come_byte_by_byte(reference: Talk) -> None:
    pieces = [bytes([byte]) for byte in sized(reference)]
    assert status(exchange(reference.base, *pieces)) == 200


def test_requests_on_one_connection_are_answered_in_order_even_when_pipelined(reference: Talk) -> None:
    answer = exchange(reference.base, sized(reference, close=False) * 2 + sized(reference))
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert answer.count(b"connection: close") == 1


def test_http_1_0_gets_a_stream_without_chunks_and_a_closed_connection(reference: Talk) -> None:
    body = BODY[:-1] + b',"stream":true}'
    head = post(reference, f"Content-Length: {len(body)}", version="HTTP/1.0", close=False)
    answer = exchange(reference.base, head + body)
    assert b"transfer-encoding" not in answer
    assert answer.endswith(b"data: [DONE]\n\n")


def test_a_client_that_expects_continue_is_told_to_go_on(reference: Talk) -> None:
    head = post(reference, f"Content-Length: {len(BODY)}", "Expect: 100-continue")
    where = urlsplit(reference.base)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=10) as raw:
        raw.sendall(head)
        assert raw.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(BODY)
        assert status(raw.recv(100)) == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(reference: Talk) -> None:
    head = post(reference, "Content-Length: 999999999", "Expect: 100-continue")
    assert status(exchange(reference.base, head, half_close=True)) == 413


def test_head_has_no_body(reference: Talk) -> None:
    path = urlsplit(reference.base).path
    answer = exchange(
        reference.base, f"HEAD {path}/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    )
    assert status(answer) == 405
    assert answer.endswith(b"\r\n\r\n")


def test_an_absolute_target_and_a_query_are_understood(reference: Talk) -> None:
    request = (
        sized(reference).replace(b"POST /", b"POST http://x:1/").replace(b"completions ", b"completions?a=1 ")
    )
    assert status(exchange(reference.base, request)) == 200


@pytest.mark.parametrize(
    ("request_bytes", "wanted"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\n\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: x\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nbad name: 1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413),
        (b"GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n", 417),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", 431),
        (b"a" * 100_000, 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    ],
)
def test_a_bad_request_gets_an_error_object(reference: Talk, request_bytes: bytes, wanted: int) -> None:
    answer = exchange(reference.base, request_bytes, half_close=True)
    assert status(answer) == wanted
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]


@settings(max_examples=60, deadline=None)
@given(
    junk=st.one_of(
        st.binary(max_size=400),
        st.tuples(st.integers(0, 300), st.binary(min_size=1, max_size=20)),
    )
)
def test_no_bytes_take_the_server_down(reference: Talk, junk: bytes | tuple[int, bytes]) -> None:
    if isinstance(junk, tuple):  # a good request with something else in the middle
        at, replacement = junk
        good = sized(reference)
        junk = good[:at] + replacement + good[at + len(replacement) :]
    exchange(reference.base, junk, half_close=True)
    assert reference.ask("[[plain]]").status_code == 200


@settings(max_examples=60, deadline=None)
@given(
    members=st.dictionaries(
        st.sampled_from(
            ["messages", "tools", "tool_choice", "response_format", "stop", "n", "stream", "max_tokens"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["role", "content", "type", "function", "name", "parameters", "json_schema", "schema"]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        ),
    )
)
def test_no_json_makes_it_fail(simulator: Simulator, reference: Talk, members: dict[str, object]) -> None:
    body = {"model": "reference", "messages": [{"role": "user", "content": "Hi"}], **members}
    assert reference.send(json.dumps(body).encode()).status_code in (200, 400)
    assert not simulator.journal[-1].action.startswith("failed")


def test_a_silent_client_and_a_slow_one_are_given_up() -> None:
    limits = Limits(idle_s=0.05, read_s=0.05, linger_s=0.05)
    with running(Simulator([PERSONAS["reference"]], SCRIPTS, limits=limits)) as simulator:
        url = simulator.base_url("reference")
        assert exchange(url) == b""
        assert status(exchange(url, b"GET / HTTP/1.1\r\nHost:")) == 408
