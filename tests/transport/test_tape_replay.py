"""Cassettes replayed, by stock vcrpy and by us."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import vcr

from conformance.transport.client import LiveTransport
from conformance.transport.redact import Redactor
from conformance.transport.tape import ReplayTransport, Tape, load
from conformance.types import Exchange, HttpRequest, HttpResponse
from tests.transport.cassettes import (
    EVENT,
    LIMITS,
    OPEN,
    STOCK,
    URL,
    closed,
    failure_of,
    recorded,
    replayed,
    saved,
)

# -------------------------------------------------------------------------------------- stock vcrpy


def test_a_stock_cassette_loads_as_complete(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(STOCK)
    (exchange,) = load(tmp_path / "c.yaml").exchanges
    assert exchange.request == HttpRequest("GET", "http://h/v1/models", (("accept", "*/*"),), b"")
    assert exchange.response == HttpResponse(
        200, (("content-type", "application/json"), ("x-b", "1"), ("x-b", "2")), b'{"object": "list"}'
    )
    assert (exchange.ending, exchange.wire) == ("complete", "openai-chat")


def test_a_stock_cassettes_compressed_body_is_decoded(tmp_path: Path) -> None:
    packed = base64.b64encode(gzip.compress(b"hello")).decode()
    text = STOCK.replace('\'{"object": "list"}\'', f"!!binary {packed}").replace("x-b", "content-encoding")
    (tmp_path / "c.yaml").write_text(text.replace("['1', '2']", "[gzip]"))
    (exchange,) = load(tmp_path / "c.yaml").exchanges
    assert exchange.response is not None
    assert exchange.response.body == b"hello"


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n", headers: bytes = b"") -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 201 Made\r\nX-One: 1\r\nx-one: 2\r\n%bTransfer-Encoding: chunked\r\n\r\n%b" % (
        headers,
        body + end,
    )


ANSWERS = [
    pytest.param(chunked(b'{"ok":', b" true}\n"), b'{"ok": true}\n', id="JSON"),
    pytest.param(chunked(EVENT, EVENT), EVENT * 2, id="events"),
    pytest.param(chunked(EVENT, EVENT, end=b""), EVENT * 2, id="a stream that was cut"),
    pytest.param(chunked(b"\xff\x00\r\n\x85"), b"\xff\x00\r\n\x85", id="binary"),
    pytest.param(
        chunked(gzip.compress(EVENT), headers=b"Content-Encoding: gzip\r\n"), EVENT, id="gzip, undone"
    ),
    pytest.param(
        b"HTTP/1.1 201 Made\r\nX-One: 1\r\nx-one: 2\r\nContent-Length: 99\r\n\r\nhi", b"hi", id="short"
    ),
]


@pytest.mark.parametrize(("answer", "body"), ANSWERS)
def test_stock_vcrpy_replays_our_files(serve: Any, tmp_path: Path, answer: bytes, body: bytes) -> None:
    path = tmp_path / "c.yaml"

    async def run() -> Exchange:
        async def handler(_request: bytes, _reader: object, writer: asyncio.StreamWriter) -> None:
            writer.write(answer)

        async with serve(handler) as address:
            transport = LiveTransport(LIMITS)
            request = HttpRequest("POST", f"http://{address}/v1/x?a=b", (("X-Ask", "1"),), b'{"n": 1}')
            exchange = await transport.send(request, wire="openai-chat")
            await transport.aclose()
            return exchange

    exchange = asyncio.run(run())
    assert saved(path, exchange).exchanges == (exchange,)
    match_on = ("method", "uri", "body")
    with (
        vcr.use_cassette(str(path), record_mode="none", match_on=match_on) as cassette,
        httpx.Client() as client,
    ):
        response = client.post(exchange.request.url, content=b'{"n": 1}')
        assert (response.status_code, response.content) == (201, body)
        assert response.headers.get_list("x-one") == ["1", "2"]
        assert cassette.all_played


def test_stock_vcrpy_replays_what_was_not_answered_as_status_0(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    saved(path, recorded(), closed(b'{"n": 2}'))
    with (
        vcr.use_cassette(str(path), record_mode="none", match_on=("method", "uri", "body")) as cassette,
        httpx.Client() as client,
    ):
        assert client.post(URL, content=b'{"n": 1}').status_code == 200
        response = client.post(URL, content=b'{"n": 2}')
        assert (response.status_code, response.content, response.is_success) == (0, b"", False)
        assert cassette.all_played


def test_what_is_ours_survives_a_save_by_stock_vcrpy(serve: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    before = replace(recorded(EVENT), ending="cut", probe="unknown-model")
    saved(path, before, closed())

    async def run() -> None:
        async def handler(_request: bytes, _reader: object, writer: asyncio.StreamWriter) -> None:
            writer.write(chunked(b"new"))

        async with serve(handler) as address, httpx.AsyncClient() as client:
            with vcr.use_cassette(str(path), record_mode="new_episodes"):
                await client.get(f"http://{address}/new")

    asyncio.run(run())
    old, failed, new = load(path).exchanges
    assert (old, failed) == (before, closed())
    assert new.response is not None
    assert new.response.body == b"new"


# ---------------------------------------------------------------------------------------------- replay


def test_replay_opens_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = recorded()
    transport = ReplayTransport(saved(tmp_path / "c.yaml", exchange), tmp_path / "c.yaml", OPEN)

    def forbidden(*_args: object, **_options: object) -> None:
        raise AssertionError("a socket")

    async def run() -> list[Exchange]:
        monkeypatch.setattr(socket, "socket", forbidden)
        monkeypatch.setattr(socket, "getaddrinfo", forbidden)
        try:
            return [await transport.send(exchange.request, wire="openai-chat") for _ in range(2)]
        finally:
            await transport.aclose()
            monkeypatch.undo()

    found, missing = asyncio.run(run())
    assert found == exchange
    assert failure_of(missing).kind == "older-scenario"


@pytest.mark.parametrize(
    ("changes", "matches"),
    [
        pytest.param({}, True, id="the same"),
        pytest.param({"url": "https://elsewhere/v1/chat/completions"}, True, id="another host"),
        pytest.param({"headers": ()}, True, id="other headers"),
        pytest.param({"body": b'{"b": [1, 2],\n "a": 1}'}, True, id="equal JSON, spelled otherwise"),
        pytest.param({"body": b'{"b": [2, 1], "a": 1}'}, False, id="other JSON"),
        pytest.param({"body": b'{"b": [1, 2], "a": 1.0}'}, False, id="another number"),
        pytest.param({"body": b'{"a": 1, "b": [1, 2]} x'}, False, id="no JSON"),
        pytest.param({"body": b""}, False, id="no body"),
        pytest.param({"method": "GET"}, False, id="another method"),
        pytest.param({"url": URL + "/x"}, False, id="another path"),
        pytest.param({"url": URL + "?a=b"}, False, id="another query"),
    ],
)
def test_a_request_matches_by_method_target_and_body(
    tmp_path: Path, changes: dict[str, Any], matches: bool
) -> None:
    exchange = recorded(ask=b'{"a": 1, "b": [1, 2]}')
    transport = ReplayTransport(Tape((exchange,), {}), tmp_path / "c.yaml", OPEN)
    answer = replayed(transport, replace(exchange.request, **changes))
    assert (answer.response is not None) is matches
    assert transport.unplayed() == (0 if matches else 1)


@pytest.mark.parametrize("body", [b"\xff\x00", b"[" * 100_000, b'{"a": ' + b"9" * 5_000 + b"}", b"{", b""])
def test_a_body_that_is_no_json_matches_by_its_bytes(tmp_path: Path, body: bytes) -> None:
    exchange = recorded(ask=body)
    transport = ReplayTransport(saved(tmp_path / "c.yaml", exchange), tmp_path / "c.yaml", OPEN)
    assert failure_of(replayed(transport, replace(exchange.request, body=body + b"x")))
    assert replayed(transport, exchange.request) == exchange


def test_equal_requests_are_answered_in_recorded_order_each_once(tmp_path: Path) -> None:
    first, second = recorded(b"1"), recorded(b"2")
    transport = ReplayTransport(Tape((first, second), {}), tmp_path / "c.yaml", OPEN)
    assert transport.unplayed() == 2
    assert [replayed(transport, first.request) for _ in range(2)] == [first, second]
    assert transport.unplayed() == 0
    assert (
        "no further answer to POST /v1/chat/completions"
        in failure_of(replayed(transport, first.request)).message
    )


def test_a_request_that_nothing_matches_names_the_cassette_and_no_secret(tmp_path: Path) -> None:
    transport = ReplayTransport(Tape((), {}), tmp_path / "c.yaml", OPEN)
    failure = failure_of(replayed(transport, HttpRequest("GET", "http://h/v1/models?key=hunter2", (), b"")))
    assert failure.kind == "older-scenario"
    assert str(tmp_path / "c.yaml") in failure.message
    assert "cassette is of an older scenario" in failure.message
    assert "GET /v1/models?key=[redacted]" in failure.message


@pytest.mark.parametrize("url", ["", "http://[x", "http://h", "nonsense", "http://h?a=b#c"])
def test_no_url_is_too_odd_to_be_looked_up(tmp_path: Path, url: str) -> None:
    transport = ReplayTransport(Tape((), {}), tmp_path / "c.yaml", OPEN)
    assert failure_of(replayed(transport, HttpRequest("GET", url, (), b""))).kind == "older-scenario"


def test_what_was_not_answered_is_not_answered_again(tmp_path: Path) -> None:
    kept = saved(tmp_path / "c.yaml", closed(), recorded())
    transport = ReplayTransport(kept, tmp_path / "c.yaml", OPEN)
    first, second = (replayed(transport, closed().request) for _ in range(2))
    assert (first, second) == (closed(), recorded())
    assert transport.unplayed() == 0


def test_what_was_redacted_is_found_with_another_key(tmp_path: Path) -> None:
    def ask(key: str) -> HttpRequest:
        body = json.dumps({"echo": key, "api_key": "x"}).encode()
        return HttpRequest("POST", f"http://h/v1?key={key}", (("x-api-key", key),), body)

    then, now = "q7ZkP2mXv9Lr4TnB8sWd", "another-key-altogether"
    path = tmp_path / "c.yaml"
    kept = saved(path, replace(recorded(), request=ask(then)), redactor=Redactor([then]))
    transport = ReplayTransport(kept, path, Redactor([now]))
    assert replayed(transport, ask(now)).response == recorded().response


# --------------------------------------------------------------------------------- recorded for real


CUT = [
    pytest.param(chunked(EVENT, EVENT, end=b""), False, None, "cut", id="cut"),
    pytest.param(chunked(EVENT, end=b""), True, None, "stalled", id="stalled"),
    pytest.param(chunked(EVENT, EVENT), True, 1, "closed-by-us", id="closed by us"),
    pytest.param(chunked(EVENT * 100), False, None, "too-large", id="too large"),
    pytest.param(chunked(EVENT), False, None, "complete", id="complete"),
]


@pytest.mark.parametrize(("answer", "waits", "close_after", "ending"), CUT)
def test_a_stream_replays_as_it_was_recorded(
    serve: Any, tmp_path: Path, answer: bytes, waits: bool, close_after: int | None, ending: str
) -> None:
    path = tmp_path / "c.yaml"

    async def run() -> tuple[Exchange, Exchange]:
        async def handler(
            _request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            writer.write(answer)
            if waits:
                await reader.read()

        async with serve(handler) as address:
            live = LiveTransport(LIMITS)
            request = HttpRequest("POST", f"http://{address}/v1", (), b'{"stream": true}')
            then = await live.send(request, wire="openai-chat", close_after_events=close_after)
            await live.aclose()
        replay = ReplayTransport(saved(path, then), path, OPEN)
        return then, await replay.send(request, wire="openai-chat", close_after_events=close_after)

    then, now = asyncio.run(run())
    assert now == then
    assert (now.ending, now.failure) == (ending, None)
    assert now.response is not None
    assert now.response.body.startswith(EVENT)
