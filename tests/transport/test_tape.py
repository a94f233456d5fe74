"""Cassettes: what is saved is what is loaded, what is secret is not, and stock vcrpy reads it all."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import vcr
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.transport import tape
from conformance.transport.client import Limits, LiveTransport
from conformance.transport.redact import Redactor, SecretLeak
from conformance.transport.tape import CassetteError, ReplayTransport, Tape, load, save
from conformance.types import WIRES, Exchange, Failure, HttpRequest, HttpResponse

OPEN = Redactor([])
URL = "http://127.0.0.1:8080/v1/chat/completions"
EVENT = b'data: {"a": 1}\n\n'
LIMITS = Limits(connect_s=5, idle_s=0.2, total_s=10, max_bytes=1_000)


def recorded(body: bytes = b'{"ok": true}', *, ask: bytes = b'{"n": 1}', url: str = URL) -> Exchange:
    request = HttpRequest("POST", url, (("Content-Type", "application/json"),), ask)
    response = HttpResponse(200, (("Content-Type", "application/json"),), body, ((1.5, len(body)),))
    return Exchange(request, response, "complete", "openai-chat", started=1.0e9, elapsed_ms=2.0)


def saved(path: Path, *exchanges: Exchange, redactor: Redactor = OPEN) -> Tape:
    save(path, exchanges, metadata={}, redactor=redactor)
    return load(path)


def replayed(transport: ReplayTransport, request: HttpRequest) -> Exchange:
    return asyncio.run(transport.send(request, wire="openai-chat"))


def failure_of(exchange: Exchange) -> Failure:
    assert exchange.response is None
    assert exchange.failure is not None
    return exchange.failure


# ------------------------------------------------------------------------------------- save and load

NAMES = st.text("abcdefgXYZ-0123456789", min_size=1, max_size=10).map(lambda name: f"h-{name}")
VALUES = st.text(st.characters(max_codepoint=0xFF), max_size=20)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=5).map(tuple)
BODIES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.lists(
        st.sampled_from([b"data: x\n\n", b"\r\n", b"\r", b" ", b"\t", b"\n", b"a: b", b"- c", b"#"])
    ).map(b"".join),
    st.sampled_from([b"", b"~", b"null", b"1", b"2020-01-01", b"---\n", b"...\n", b"a \n", b"%YAML", b"'\n"]),
)
MS = st.floats(0, 1e9)


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    body = draw(BODIES)
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=4)))
    edges = [0, *cuts, len(body)]
    parts = tuple((draw(MS), b - a) for a, b in pairwise(edges))
    return Exchange(
        request=HttpRequest(
            draw(st.sampled_from(["GET", "POST", "brew"])), URL + "?a=b", draw(HEADERS), draw(BODIES)
        ),
        response=HttpResponse(draw(st.integers(100, 999)), draw(HEADERS), body, parts, "HTTP/1.0"),
        ending=draw(st.sampled_from(["complete", "cut", "stalled", "closed-by-us", "too-large"])),
        wire=draw(st.sampled_from(WIRES)),
        started=draw(MS),
        elapsed_ms=draw(MS),
        probe=draw(st.none() | st.just("unknown-model")),
        expect=draw(st.sampled_from(["answer", "refusal", "either"])),
    )


@given(
    kept=st.lists(exchanges(), max_size=3), metadata=st.dictionaries(st.text("abc: #"), VALUES, max_size=3)
)
def test_what_is_saved_is_what_is_loaded(kept: Sequence[Exchange], metadata: Mapping[str, str]) -> None:
    assume(all(OPEN.exchange(exchange) == exchange for exchange in kept))
    assume(all(OPEN.text(text) == text for text in metadata.values()))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "deep" / "er.yaml"
        save(path, kept, metadata=metadata, redactor=OPEN)
        assert load(path) == Tape(tuple(kept), metadata)
        assert [file.name for file in path.parent.iterdir()] == ["er.yaml"]


def test_a_cassette_reads_like_a_text(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    stream = recorded(EVENT * 2)
    save(path, [stream], metadata={"server": "llama.cpp b1"}, redactor=OPEN)
    assert path.read_text().splitlines() == [
        "version: 1",
        "interactions:",
        "- request:",
        "    method: POST",
        f"    uri: {URL}",
        "    body: '{\"n\": 1}'",
        "    headers:",
        "      Content-Type:",
        "      - application/json",
        "  response:",
        "    status:",
        "      code: 200",
        "      message: OK",
        "    headers:",
        "      Content-Type:",
        "      - application/json",
        "    body:",
        "      string: |+",
        '        data: {"a": 1}',
        "",
        '        data: {"a": 1}',
        "",
        "    conformance:",
        "      wire: openai-chat",
        "      probe: null",
        "      expect: answer",
        "      ending: complete",
        "      http_version: HTTP/1.1",
        "      started: 1000000000.0",
        "      elapsed_ms: 2.0",
        "      request_headers:",
        "      - [Content-Type, application/json]",
        "      raw_headers:",
        "      - [Content-Type, application/json]",
        "      parts:",
        "      - [1.5, 32]",
        "metadata:",
        "  server: llama.cpp b1",
        "...",
    ]


def test_saving_replaces_the_old_cassette(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    saved(path, recorded(b"old"))
    assert saved(path, recorded(b"new")).exchanges == (recorded(b"new"),)


def test_an_exchange_without_a_response_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    failed = replace(recorded(), response=None, failure=Failure("connect", "cannot connect to h:80"))
    with pytest.raises(CassetteError, match=r"c\.yaml: exchange 1 has no response: cannot connect to h:80"):
        saved(path, recorded(), failed)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------ bad files

STOCK = """
interactions:
- request:
    body: null
    headers: {accept: ['*/*']}
    method: GET
    uri: http://h/v1/models
  response:
    body: {string: '{"object": "list"}'}
    headers: {content-type: [application/json], x-b: ['1', '2']}
    status: {code: 200, message: OK}
version: 1
"""

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b} {{<<: [{','.join(['*' + a] * 9)}]}}\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


def ours(**changes: Any) -> str:
    """A cassette of ours with changes under ``response.conformance``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.yaml"
        saved(path, recorded())
        cassette = yaml.safe_load(path.read_text())
    cassette["interactions"][0]["response"]["conformance"].update(changes)
    return yaml.safe_dump(cassette)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("hello", id="a word"),
        pytest.param("a: [", id="broken YAML"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("\x00", id="control characters"),
        pytest.param("[]", id="a list"),
        pytest.param("interactions: 5", id="no interactions"),
        pytest.param("interactions: [5]", id="an interaction that is a number"),
        pytest.param("interactions: [{request: {}, response: {}}]", id="an empty interaction"),
        pytest.param(STOCK.replace("200", "[1]"), id="a status that is a list"),
        pytest.param(STOCK.replace("GET", "[1]"), id="a method that is a list"),
        pytest.param(STOCK.replace("'1', '2'", "{a: b}"), id="a header that is a map"),
        pytest.param(STOCK.replace("http://h", "http://[h"), id="a broken URL"),
        pytest.param("!!python/object/apply:os.system ['exit 1']", id="a tag that executes"),
        pytest.param(STOCK.replace("null", "!!python/name:os.system"), id="a tag in a body"),
        pytest.param(STOCK + MERGE_BOMB, id="merge keys that multiply"),
        pytest.param(ours(ending="never"), id="an unknown ending"),
        pytest.param(ours(wire=["x"]), id="a wire that is a list"),
        pytest.param(ours(parts=[[1.0, 5]]), id="parts that don't sum to the body"),
        pytest.param(ours(parts=[[1.0, 13], [2.0, -1]]), id="a part of negative size"),
        pytest.param(ours(parts=5), id="parts that are a number"),
        pytest.param(ours(raw_headers=[["a"]]), id="a header without a value"),
    ],
)
def test_what_is_not_a_cassette_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(CassetteError, match=r"odd\.yaml: not (YAML|a cassette)") as error:
        load(path)
    assert len(str(error.value)) < 400 + len(str(path))
    assert "\n" not in str(error.value)


def test_aliases_that_multiply_are_survived(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(STOCK.lstrip() + BOMB + "metadata: {server: *j, date: 2026-01-02, n: 1}\n")
    assert load(path).metadata == {"date": "2026-01-02", "n": "1"}


@given(data=st.binary(max_size=50) | st.text(max_size=50).map(lambda text: (STOCK + text).encode()))
def test_any_file_is_loaded_or_refused(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.yaml"
        path.write_bytes(data)
        with suppress(CassetteError):
            assert isinstance(load(path), Tape)


def test_a_missing_cassette_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match=r"none\.yaml: no such cassette"):
        load(tmp_path / "none.yaml")


def test_a_folder_is_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c.yaml")
    with pytest.raises(CassetteError, match=r"c\.yaml: cannot be read: not a regular file"):
        load(tmp_path / "c.yaml")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_is_refused() -> None:
    with pytest.raises(CassetteError, match="cannot be read: not a regular file"):
        load(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[]", "the top: a mapping is wanted, not a list", id="a list"),
        pytest.param("- x\n" * 300_000, "a mapping is wanted at the top", id="a long list"),
        pytest.param("interactions: [" + "1," * 1_000_001 + "]", "more than 1000000 YAML nodes", id="many"),
        pytest.param("version: 1", "the top has no interactions", id="none"),
        pytest.param("interactions: 5", "interactions: a list is wanted, not a number", id="a number"),
        pytest.param("interactions: [5]", "interaction 0: a mapping is wanted, not a number", id="numbers"),
        pytest.param(STOCK.replace("GET", "[1]"), "interaction 0: request.method: a text", id="method"),
        pytest.param(STOCK.replace("null", "{}"), "request.body: a text or bytes or nothing", id="body"),
        pytest.param(STOCK.replace("['*/*']", "[1]"), "request.headers.accept: a text", id="header"),
        pytest.param(STOCK.replace("['*/*']", "{}"), "request.headers.accept: a text", id="header map"),
        *(
            pytest.param(
                STOCK.replace("code: 200", f"code: {status}"),
                f"interaction 0: response.status.code: three digits are wanted, from 100 on, not {shown}",
                id=f"status {status}",
            )
            for status, shown in [
                ("99", "99"), ("1000", "1000"), ("-1", "-1"), ("1e9", "1e9"), ("true", "True"),
                ("'200'", "200"), ("200.0", "200.0"), ("[200]", "a list"), ("null", "nothing"),
            ]
        ),
        pytest.param(ours(parts=5), "response.conformance.parts: a list is wanted, not a number", id="parts"),
        pytest.param(ours(parts=[[1.0]]), "parts: lists of two are wanted, not of 1", id="a part"),
        pytest.param(ours(parts=[["a", 1]]), "conformance.parts: a number is wanted", id="a time"),
        pytest.param(ours(parts=[[1.0, 13.0]]), "conformance.parts: a number", id="a size"),
        pytest.param(ours(raw_headers=[["a", 1]]), "raw_headers: a text is wanted", id="a raw header"),
        pytest.param(ours(ending="never"), "interaction 0: 'never' is none of", id="ending"),
    ],
)  # fmt: skip
def test_a_refusal_says_where_and_what(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(CassetteError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: not a cassette: ")
    assert words in str(error.value)


def test_what_would_be_over_the_bound_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape, "MAX_BYTES", 2 << 20)
    with pytest.raises(CassetteError, match=r"c\.yaml: not saved: larger than 2 MiB"):
        saved(tmp_path / "c.yaml", recorded(b"x" * (2 << 20)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ms", [0.0, 1.5, 1e-07, 1.5e-07, 1e16, 1.5e300])
def test_times_are_kept_to_the_last_digit(tmp_path: Path, ms: float) -> None:
    exchange = recorded()
    assert exchange.response is not None
    odd = replace(exchange, response=replace(exchange.response, parts=((ms, 5), (ms, 7))))
    assert saved(tmp_path / "c.yaml", odd, recorded()).exchanges == (odd, recorded())


def test_a_cassette_over_the_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape, "MAX_BYTES", 2 << 20)
    (tmp_path / "c.yaml").write_bytes(STOCK.encode().ljust(1 + (2 << 20), b"\n"))
    with pytest.raises(CassetteError, match=r"c\.yaml: larger than 2 MiB"):
        load(tmp_path / "c.yaml")


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


def test_what_is_ours_survives_a_save_by_stock_vcrpy(serve: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    before = replace(recorded(EVENT), ending="cut", probe="unknown-model")
    saved(path, before)

    async def run() -> None:
        async def handler(_request: bytes, _reader: object, writer: asyncio.StreamWriter) -> None:
            writer.write(chunked(b"new"))

        async with serve(handler) as address, httpx.AsyncClient() as client:
            with vcr.use_cassette(str(path), record_mode="new_episodes"):
                await client.get(f"http://{address}/new")

    asyncio.run(run())
    old, new = load(path).exchanges
    assert old == before
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


# --------------------------------------------------------------------------------------------- secrets

CANARY = "cAnary/q7ZkP2mXv9+Lr4TnB8sWd"
ORGANISATION = "acme-research-4711"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def leaky(coding: bytes, kind: bytes) -> Any:
    """A server that puts the key everywhere it can."""

    async def handler(request: bytes, _reader: object, writer: asyncio.StreamWriter) -> None:
        seen = request.split(b"\r\n\r\n")[0].decode()
        message = f"Incorrect API key provided: {CANARY}. You sent:\n{seen}"
        error = {"message": message, "hint": quote(CANARY, safe=""), "auth": b64(f"user:{CANARY}")}
        body = json.dumps({"error": error, "org": ORGANISATION}).encode()
        if kind == b"stream":
            body = b"data: " + body + b"\n\ndata: [DONE]\n\n"
        elif kind == b"blob":
            body = json.dumps({"blob": base64.b64encode(gzip.compress(body)).decode()}).encode()
        elif kind == b"unlabelled gzip":
            body = gzip.compress(body)
        if coding == b"gzip":
            body = gzip.compress(body)
        head = (
            f"HTTP/1.1 401 No\r\nSet-Cookie: session={CANARY}; path=/\r\nX-Echo: {CANARY}\r\n"
            f"OpenAI-Organization: {ORGANISATION}\r\nLocation: /v1?key={quote(CANARY, safe='')}\r\n"
            f"X-Debug: {b64('x' + CANARY)}\r\nContent-Length: {len(body)}\r\n"
        ).encode()
        writer.write(head + b"Content-Encoding: %b\r\n\r\n%b" % (coding, body))

    return handler


@pytest.mark.parametrize("kind", [b"json", b"stream", b"blob", b"unlabelled gzip"])
@pytest.mark.parametrize("coding", [b"identity", b"gzip", b"br"])
@pytest.mark.parametrize("known", [(CANARY, ORGANISATION), ()], ids=["known", "not known"])
def test_a_canary_is_nowhere_on_disk(
    serve: Any, tmp_path: Path, kind: bytes, coding: bytes, known: tuple[str, ...]
) -> None:
    path = tmp_path / "c.yaml"

    async def run() -> Exchange:
        async with serve(leaky(coding, kind)) as address:
            live = LiveTransport(replace(LIMITS, max_bytes=100_000))
            request = HttpRequest(
                "POST",
                f"http://{address}/v1?key={quote(CANARY, safe='')}&model=m",
                (
                    ("Authorization", f"Bearer {CANARY}"),
                    ("X-Api-Key", CANARY),
                    ("Proxy-Authorization", f"Basic {b64('user:' + CANARY)}"),
                    ("Cookie", f"session={CANARY}"),
                    ("OpenAI-Organization", ORGANISATION),
                ),
                json.dumps({"user": CANARY, "note": f"Basic {b64('user:' + CANARY)}"}).encode(),
            )
            exchange = await live.send(request, wire="openai-chat")
            await live.aclose()
            return exchange

    exchange = asyncio.run(run())
    assert exchange.response is not None
    assert exchange.response.status == 401
    save(path, [exchange], metadata={"note": "recorded"}, redactor=Redactor(known))

    text = path.read_text()
    folded = "".join(text.split())
    for trace in (
        CANARY,
        CANARY[:12],
        CANARY[-12:],
        quote(CANARY, safe=""),
        b64(CANARY)[:16],
        b64(f"user:{CANARY}")[8:24],
        b64("x" + CANARY)[4:20],
        ORGANISATION,
    ):
        assert trace not in text
        assert trace not in folded
    (kept,) = load(path).exchanges
    assert kept.response is not None
    assert kept.response.status == 401
    assert sum(size for _, size in kept.response.parts) == len(kept.response.body)
    if (kind, coding) == (b"json", b"identity"):
        assert b"Incorrect API key provided: [redacted]." in kept.response.body


class Blind(Redactor):
    """Redaction that overlooks everything: the last check must not."""

    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange

    def text(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    ("exchange", "where"),
    [
        (recorded(url=f"{URL}?x={CANARY}"), "exchange 1, request line"),
        (recorded(ask=CANARY.encode()), "exchange 1, request body"),
        (recorded(gzip.compress(CANARY.encode())), "exchange 1, response body"),
        (replace(recorded(), probe=CANARY), "of the file"),
    ],
)
def test_a_secret_that_redaction_overlooked_is_refused(
    tmp_path: Path, exchange: Exchange, where: str
) -> None:
    path = tmp_path / "c.yaml"
    saved(path, recorded(b"old"))
    with pytest.raises(SecretLeak, match=where) as error:
        saved(path, recorded(), exchange, redactor=Blind([CANARY]))
    assert CANARY not in str(error.value)
    assert load(path).exchanges == (recorded(b"old"),)
    assert len(list(tmp_path.iterdir())) == 1
