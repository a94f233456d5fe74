"""Whole answers recorded in JSON, and as HTTP text: one small sample of each format and its pitfalls."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.grade.exchanges import NO_REQUEST
from conformance.grade.recorded import KEPT, Recorded, Unusable

from .samples import OLLAMA, b64, braintrust, har, httprr, litellm, nock, req_llm
from .support import (
    ANSWER,
    QUESTION,
    STREAM,
    URL,
    chunk,
    exchange,
    found,
    packed,
    response,
)

FILES = [
    pytest.param("har", "wire", har({"text": packed(ANSWER)}), id="HAR"),
    pytest.param("har", "wire", har({"text": b64(packed(ANSWER)), "encoding": "base64"}), id="HAR, base64"),
    pytest.param("nock", "parsed", nock(ANSWER), id="nock, decoded"),
    pytest.param("nock", "wire", nock(packed(ANSWER)), id="nock, text"),
    pytest.param(
        "nock",
        "wire",
        nock([gzip.compress(packed(ANSWER).encode()).hex()]),
        id="nock, packed pieces",
    ),
    pytest.param(
        "nock",
        "wire",
        nock(packed(ANSWER).encode().hex(), responseIsBinary=True),
        id="nock, hexadecimal",
    ),
    pytest.param(
        "braintrust-cassette",
        "parsed",
        braintrust({"kind": "json", "value": ANSWER}),
        id="Braintrust, decoded",
    ),
    pytest.param(
        "braintrust-cassette",
        "wire",
        braintrust({"kind": "text", "value": packed(ANSWER)}),
        id="Braintrust, text",
    ),
    pytest.param(
        "braintrust-cassette",
        "wire",
        braintrust({"kind": "base64", "value": b64(packed(ANSWER))}),
        id="Braintrust, base64",
    ),
    pytest.param("req_llm", "parsed", req_llm(ANSWER), id="req_llm, decoded"),
    pytest.param("req_llm", "wire", req_llm({"b64": b64(packed(ANSWER))}), id="req_llm, base64"),
    pytest.param("httprr", "wire", httprr(packed(ANSWER).encode()), id="httprr"),
    pytest.param(
        "exchange-jsonl",
        "wire",
        {"request": {"url": URL, "body": packed(QUESTION)}, "response": {"body": packed(ANSWER)}},
        id="our JSONL, a single pretty-printed one",
    ),
    pytest.param("litellm-log", "sdk-dump", litellm(), id="LiteLLM"),
    pytest.param("pair-log", "parsed", {"request": QUESTION, "response": ANSWER}, id="a pair"),
    pytest.param(
        "pair-log",
        "parsed",
        {"request_body": packed(QUESTION), "response_body": packed(ANSWER), "response_status": 200},
        id="a pair of texts",
    ),
    pytest.param("pair-log", "parsed", {"input": QUESTION, "output": ANSWER}, id="input and output"),
    pytest.param("response-json", "reformatted", ANSWER, id="an answer alone"),
    pytest.param(
        "batch-output",
        "parsed",
        {"id": "b", "custom_id": "c", "response": {"status_code": 200, "body": ANSWER}, "error": None},
        id="OpenAI's batches",
    ),
    pytest.param(
        "sdk-dump",
        "sdk-dump",
        {
            "test_id": None,
            "request": {"method": "POST", "url": URL, "headers": {}, "body": QUESTION},
            "response": {"body": {"__type__": "C", "__data__": ANSWER}, "is_streaming": False},
        },
        id="Llama Stack",
    ),
    pytest.param(
        "http-dump",
        "wire",
        f"HTTP/1.1 200 Connection established\n\nHTTP/2 200\ncontent-type: a\n\n{packed(ANSWER)}",
        id="curl -i",
    ),
]


@pytest.mark.parametrize(("format", "fidelity", "content"), FILES)
def test_a_whole_answer_is_read_with_its_status_and_body(
    tmp_path: Path, format: str, fidelity: str, content: Any
) -> None:
    one = exchange(tmp_path, content)
    assert (one.format, one.fidelity, one.position) == (format, fidelity, 0)
    assert json.loads(response(one).body) == ANSWER
    assert response(one).status == 200
    assert one.kept <= KEPT[one.fidelity]


@pytest.mark.parametrize(
    "content",
    [one.values[2] for one in FILES if one.id not in ("an answer alone", "OpenAI's batches", "curl -i")],
)
def test_the_request_is_read_too_where_the_recorder_kept_it(tmp_path: Path, content: Any) -> None:
    request = exchange(tmp_path, content).exchange.request
    assert json.loads(request.body)["messages"] == QUESTION["messages"]
    assert request.method == "POST"
    assert request.url in (URL, "")


@pytest.mark.parametrize(
    ("content", "lost"),
    [
        pytest.param(ANSWER, {"request", "status", "headers"}, id="an answer alone"),
        pytest.param(STREAM, {"request", "status", "headers"}, id="a stream alone"),
        pytest.param({"request": QUESTION, "response": ANSWER}, {"status", "headers"}, id="a pair"),
        pytest.param({"request": QUESTION, "response": ANSWER, "status": 200}, {"headers"}, id="with status"),
        pytest.param(
            {"custom_id": "c", "response": {"status_code": 200, "body": ANSWER}},
            {"request", "headers"},
            id="a batch's line",
        ),
        pytest.param(f"HTTP/1.1 200 OK\n\n{packed(ANSWER)}", {"request"}, id="curl -i"),
        pytest.param(
            {"request": {"url": URL, "body": ""}, "response": {"body": ANSWER}},
            {"status", "headers"},
            id="our JSONL without status and headers",
        ),
    ],
)
def test_what_a_file_does_not_hold_it_is_no_evidence_of(tmp_path: Path, content: Any, lost: set[str]) -> None:
    one = exchange(tmp_path, content)
    assert {"request", "status", "headers"} - one.kept == lost
    assert ("request" in lost) == (one.exchange.request == NO_REQUEST)


def test_the_port_that_goes_without_saying_is_left_out_of_nocks_urls(tmp_path: Path) -> None:
    assert exchange(tmp_path, nock(ANSWER)).exchange.request.url == URL


def test_a_header_of_a_coding_that_is_undone_is_left_out(tmp_path: Path) -> None:
    document = nock(
        [gzip.compress(packed(ANSWER).encode()).hex()], rawHeaders=["Content-Encoding", "gzip", "A", "b"]
    )
    assert response(exchange(tmp_path, document)).headers == (("A", "b"),)


def test_litellms_parameters_stand_in_the_request(tmp_path: Path) -> None:
    request = exchange(tmp_path, {"standard_logging_object": litellm()}).exchange.request
    assert json.loads(request.body) == {**QUESTION, "temperature": 0}


def test_a_line_of_anthropics_batches_is_an_answer(tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": []}
    line = {"custom_id": "c", "result": {"type": "succeeded", "message": message}}
    assert json.loads(response(exchange(tmp_path, line)).body) == message


def test_a_dump_of_a_stream_is_a_stream(tmp_path: Path) -> None:
    typed = [{"__type__": "Chunk", "__data__": one} for one in (chunk(content="Ho"), chunk(finish="stop"))]
    document = {"test_id": "t", "request": {}, "response": {"body": typed, "is_streaming": True}}
    one = exchange(tmp_path, document)
    assert response(one).body.count(b"data: ") == 2
    assert one.kept == frozenset()


def test_a_dump_of_ollamas_objects_is_lines(tmp_path: Path) -> None:
    typed = [{"__type__": "ollama._types.ChatResponse", "__data__": one} for one in OLLAMA]
    document = {"test_id": "t", "request": {}, "response": {"body": typed, "is_streaming": True}}
    assert response(exchange(tmp_path, document)).body.decode().splitlines() == [packed(o) for o in OLLAMA]


class TestSideFiles:
    """Bodies that a cassette of Braintrust's keeps in files of their own."""

    def cassette(self, folder: Path, path: str, sha256: str | None = None) -> Recorded | Unusable:
        body = {"kind": "binary", "path": path, "contentType": "text/event-stream"}
        (one,) = found(folder, braintrust({**body, "sha256": sha256} if sha256 else body), "a.cassette.json")
        return one

    def test_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.cassette.blobs").mkdir()
        (tmp_path / "a.cassette.blobs" / "x.bin").write_text(STREAM, newline="")
        one = self.cassette(tmp_path, "a.cassette.blobs/x.bin", hashlib.sha256(STREAM.encode()).hexdigest())
        assert isinstance(one, Recorded)
        assert response(one).body.decode() == STREAM

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("../secret", "outside"),
            ("/etc/passwd", "outside"),
            ("link", "outside"),
            ("absent.bin", "absent"),
            (".", "absent"),
            ("x" * 5000, "can't be read"),
            ("nul\0", "no path"),
        ],
    )
    def test_is_refused(self, tmp_path: Path, path: str, why: str) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        (tmp_path / "secret").write_text("s")
        (folder / "link").symlink_to(tmp_path / "secret")
        one = self.cassette(folder, path)
        assert isinstance(one, Unusable)
        assert why in one.reason

    def test_is_refused_when_it_is_another(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_text(STREAM)
        one = self.cassette(tmp_path, "x.bin", "0" * 64)
        assert isinstance(one, Unusable)
        assert "sha256" in one.reason

    def test_of_a_request_may_be_absent(self, tmp_path: Path) -> None:
        one = exchange(
            tmp_path,
            braintrust({"kind": "json", "value": ANSWER}, asked={"kind": "binary", "path": "gone.bin"}),
        )
        assert "request" not in one.kept
