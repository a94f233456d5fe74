"""Cassettes: what is saved is what is loaded, and what is none is refused."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.transport import tape
from conformance.transport.tape import CassetteError, Tape, load, save
from conformance.types import WIRES, Exchange, Failure, FailureKind, HttpRequest, HttpResponse
from tests.transport.cassettes import EVENT, OPEN, STOCK, URL, closed, recorded, saved

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
    failure = draw(st.none() | VALUES.map(lambda said: Failure("protocol", said)))
    answer = HttpResponse(draw(st.integers(100, 999)), draw(HEADERS), body, parts, "HTTP/1.0")
    return Exchange(
        request=HttpRequest(
            draw(st.sampled_from(["GET", "POST", "brew"])), URL + "?a=b", draw(HEADERS), draw(BODIES)
        ),
        response=answer if failure is None else None,
        failure=failure,
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


def test_a_connection_closed_without_an_answer_reads_as_a_response_of_status_0(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    assert saved(path, closed()).exchanges == (closed(),)
    response = yaml.safe_load(path.read_text())["interactions"][0]["response"]
    ours = response.pop("conformance")
    assert response == {"status": {"code": 0, "message": ""}, "headers": {}, "body": {"string": ""}}
    assert ours["failure"] == {"kind": "protocol", "message": closed().failure.message}  # type: ignore[union-attr]
    assert (ours["ending"], ours["raw_headers"], ours["parts"]) == ("cut", [], [])


@pytest.mark.parametrize("kind", [kind for kind in get_args(FailureKind) if kind != "protocol"])
def test_an_exchange_that_failed_otherwise_is_not_saved(tmp_path: Path, kind: FailureKind) -> None:
    path = tmp_path / "c.yaml"
    failed = replace(recorded(), response=None, failure=Failure(kind, "cannot connect to h:80"))
    with pytest.raises(CassetteError, match=r"c\.yaml: exchange 1 has no response: cannot connect to h:80"):
        saved(path, recorded(), failed)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------ bad files

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b} {{<<: [{','.join(['*' + a] * 9)}]}}\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


def ours(exchange: Exchange | None = None, **changes: Any) -> str:
    """A cassette of ours with changes under ``response.conformance``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.yaml"
        saved(path, exchange or recorded())
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
        *(
            pytest.param(ours(closed(), failure=failure), words, id=f"failure {failure}")
            for failure, words in [
                ("x", "conformance.failure: a mapping is wanted, not a text"),
                (None, "conformance.failure: a mapping is wanted, not nothing"),
                ({}, "conformance.failure has no kind"),
                ({"kind": "protocol"}, "conformance.failure has no message"),
                ({"kind": "protocol", "message": 1}, "conformance.failure.message: a text is wanted"),
                ({"kind": "connect", "message": "m"}, "interaction 0: 'connect' is none of protocol"),
            ]
        ),
        pytest.param(ours(failure={"kind": "protocol", "message": "m"}),
                     "response.status.code: 0 is wanted beside a failure", id="a failure with a status"),
        pytest.param(ours().replace("code: 200", "code: 0"),
                     "response.status.code: three digits are wanted, from 100 on, not 0", id="no failure"),
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
