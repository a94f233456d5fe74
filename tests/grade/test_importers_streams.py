"""Recorded streams: what is kept of their framing, in each format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.grade.recorded import KEPT, Recorded

from .samples import OLLAMA, b64, braintrust, har, httprr, req_llm
from .support import (
    STREAM,
    chunk,
    exchange,
    found,
    packed,
    response,
)


@pytest.mark.parametrize(
    ("fidelity", "content"),
    [
        pytest.param("wire", STREAM, id="plain"),
        pytest.param("wire", har({"text": STREAM}), id="HAR"),
        pytest.param("wire", httprr(STREAM.encode()), id="httprr"),
        pytest.param(
            "wire",
            httprr(
                f"{len(STREAM):x}\r\n{STREAM}\r\n0\r\n\r\n".encode(),
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n",
            ),
            id="httprr, chunked",
        ),
        pytest.param(
            "wire-blocks",
            braintrust({"kind": "sse", "chunks": STREAM.strip().split("\n\n")}),
            id="Braintrust's blocks",
        ),
        pytest.param(
            "wire-chunks",
            req_llm(None, chunks=[{"b64": b64(STREAM[:70])}, {"b64": b64(STREAM[70:])}]),
            id="req_llm's pieces",
        ),
        pytest.param(
            "wire",
            har(
                {
                    "encoding": "base64",
                    "text": json.dumps(
                        [b64(gzip.compress(STREAM.encode())[:9]), b64(gzip.compress(STREAM.encode())[9:])]
                    ),
                }
            ),
            id="Polly's Base64 pieces",
        ),
        pytest.param(
            "wire",
            har({"encoding": "base64", "text": json.dumps([gzip.compress(STREAM.encode()).hex()])}),
            id="Polly's hexadecimal pieces",
        ),
    ],
)
def test_a_stream_keeps_its_bytes(tmp_path: Path, fidelity: str, content: Any) -> None:
    one = exchange(tmp_path, content)
    assert response(one).body.decode() == STREAM
    assert one.fidelity == fidelity
    assert "framing" in one.kept


def test_pieces_without_times_are_no_evidence_of_arrival(tmp_path: Path) -> None:
    one = exchange(tmp_path, req_llm(None, chunks=[{"b64": b64(STREAM)}]))
    assert "arrival" not in one.kept
    assert response(one).parts == ()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("\n".join(STREAM.split("\n\n")), id="data lines without the blank ones between"),
        pytest.param(f"{packed(chunk(content='Ho'))}\n{packed(chunk(finish='stop'))}\n", id="a chunk a line"),
        pytest.param([chunk(content="Ho"), chunk(finish="stop")], id="a list of chunks"),
        pytest.param(
            "\n".join(
                packed(one)
                for one in (
                    {"id": "", "object": "", "choices": [], "prompt_filter_results": []},
                    chunk(content="Ho"),
                    chunk(finish="stop"),
                )
            ),
            id="Azure's first chunk tells nothing",
        ),
    ],
)
def test_events_without_framing_become_a_stream_that_is_no_evidence_of_any(
    tmp_path: Path, content: Any
) -> None:
    one = exchange(tmp_path, content)
    assert (one.fidelity, one.kept) == ("event-data", KEPT["event-data"])
    body = response(one).body.decode()
    assert body.endswith("\n\n")
    assert f"data: {packed(chunk(finish='stop'))}\n\n" in body


def test_events_are_named_where_their_type_is_their_name(tmp_path: Path) -> None:
    lines = f"{packed({'type': 'message_start', 'message': {}})}\n{packed({'type': 'ping'})}\n"
    body = response(exchange(tmp_path, lines)).body.decode()
    assert [line for line in body.splitlines() if line.startswith("event")] == [
        "event: message_start",
        "event: ping",
    ]


def test_a_second_answer_behind_the_end_of_the_first_is_an_exchange_of_its_own(tmp_path: Path) -> None:
    first = [
        chunk(role="assistant", content="Ho"),
        chunk(finish="stop"),
        {**chunk(), "usage": {}, "choices": []},
    ]
    second = [chunk(id="chatcmpl-2", role="assistant", content="Hey"), chunk(id="chatcmpl-2", finish="stop")]
    both = found(tmp_path, "\n".join(packed(one) for one in first + second))
    assert [one.position for one in both] == [0, 1]
    assert [response(one).body.count(b"data:") for one in both if isinstance(one, Recorded)] == [3, 2]


@pytest.mark.parametrize(
    ("data", "mended"),
    [
        pytest.param(STREAM.rstrip("\n"), STREAM, id="no line end"),
        pytest.param(STREAM[:-1], STREAM, id="no blank line"),
        pytest.param(STREAM.rstrip("\n") + " \n", STREAM, id="white space"),
        pytest.param(STREAM[:40], STREAM[:40], id="an event that is cut stays so"),
    ],
)
def test_the_last_blank_line_which_editors_take_away_is_put_back(
    tmp_path: Path, data: str, mended: str
) -> None:
    assert response(exchange(tmp_path, data)).body.decode() == mended


def test_ollamas_lines_are_a_stream_as_it_was_on_the_wire(tmp_path: Path) -> None:
    lines = "".join(json.dumps(one) + "\n" for one in OLLAMA)
    one = exchange(tmp_path, lines)
    assert response(one).body.decode() == lines
    assert {"framing", "spelling"} <= one.kept


GEMINI = [
    {"candidates": [{"content": {"parts": [{"text": "H"}]}}], "responseId": "r"},
    {"candidates": [{"content": {"parts": [{"text": "o"}]}, "finishReason": "STOP"}], "responseId": "r"},
]


def test_geminis_array_is_one_answer_as_it_stands(tmp_path: Path) -> None:
    one = exchange(tmp_path, GEMINI)
    assert json.loads(response(one).body) == GEMINI
    assert response(one).body.startswith(b"[\n {")


@pytest.mark.parametrize(
    ("ids", "ends", "answers"),
    [
        pytest.param(("r", "r"), (None, "STOP"), 1, id="one id: pieces"),
        pytest.param(("r", "r"), ("STOP", "STOP"), 1, id="one id, an end in each piece: pieces"),
        pytest.param(("r", "s"), ("STOP", "STOP"), 2, id="two ids: answers"),
        pytest.param((None, None), (None, "STOP"), 1, id="no ids, the first without an end: pieces"),
        pytest.param((None, None), ("STOP", "STOP"), 2, id="no ids, each with an end: answers"),
    ],
)
def test_geminis_lines_are_pieces_or_answers(
    tmp_path: Path, ids: tuple[Any, Any], ends: tuple[Any, Any], answers: int
) -> None:
    lines = "\n".join(
        packed(
            {
                "candidates": [{"content": {}, **({"finishReason": end} if end else {})}],
                **({"responseId": name} if name else {}),
            }
        )
        for name, end in zip(ids, ends, strict=True)
    )
    assert len(found(tmp_path, lines)) == answers
