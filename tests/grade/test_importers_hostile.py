"""What importers can't read, they name; they raise on nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.grade.exchanges import BINARY_STREAM
from conformance.grade.importers import IMPORTERS, Importer
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Unreadable, open_source

from .samples import b64, har, httprr, litellm, nock, req_llm
from .support import (
    ANSWER,
    binary_stream,
    found,
    packed,
    reason,
)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(har({}, status=0), "no response came (status 0)", id="HAR: aborted"),
        pytest.param(har({"size": 9}), "save the HAR with content", id="HAR: without content"),
        pytest.param(har({"text": "x"}, status="none"), "no HTTP status", id="HAR: no status"),
        pytest.param({"log": {"version": "1.2"}}, "a HAR without log.entries", id="HAR: no entries"),
        pytest.param(har({"encoding": "base64", "text": "[1]"}), "pieces", id="HAR: pieces of another kind"),
        pytest.param(nock("ab", responseIsBinary=True, status=True), "no HTTP status", id="nock: no status"),
        pytest.param(req_llm(None, chunks=[{"b64": 1}]), "a piece without b64", id="req_llm: no piece"),
        pytest.param(
            {"custom_id": "c", "response": None, "error": {"code": "batch_expired"}},
            "batch_expired",
            id="a batch that expired",
        ),
        pytest.param(
            {"custom_id": "c", "result": {"type": "errored", "error": {}}},
            "without its HTTP status",
            id="an error in a batch",
        ),
        pytest.param(litellm(status="failure", response=None), "the call failed", id="LiteLLM: a failure"),
        pytest.param("HTTP/1.1 200 OK\nno-end: x", "a head without an end", id="curl -i, cut"),
        pytest.param(b"httprr trace v1\nx", "no sizes", id="httprr: no sizes"),
        pytest.param(httprr(b"x")[:-1], "the file ends", id="httprr: cut"),
        pytest.param(b"httprr trace v1\n4 4\nnonenone", "without a head", id="httprr: no messages"),
        pytest.param(binary_stream(), BINARY_STREAM, id="a file of Bedrock's"),
        pytest.param(nock(binary_stream().hex(), responseIsBinary=True), BINARY_STREAM, id="Bedrock in nock"),
        pytest.param(
            har({"text": b64(binary_stream()), "encoding": "base64"}), BINARY_STREAM, id="Bedrock in a HAR"
        ),
        pytest.param(
            har({"text": b64(gzip.compress(b"x" * 50)[:-9]), "encoding": "base64"}),
            "broken gzip",
            id="packed, and cut",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_reason(tmp_path: Path, content: Any, why: str) -> None:
    assert why in reason(tmp_path, content)


def test_a_body_that_unpacks_too_far_is_refused(tmp_path: Path) -> None:
    bomb = gzip.compress(gzip.compress(b"\0" * (80 << 20)))
    assert "times its size" in reason(tmp_path, har({"text": b64(bomb), "encoding": "base64"}))


def test_a_broken_entry_leaves_the_others(tmp_path: Path) -> None:
    document = har({"text": packed(ANSWER)})
    document["log"]["entries"] *= 3
    document["log"]["entries"][1] = None
    assert [type(one) for one in found(tmp_path, document)] == [Recorded, Unusable, Recorded]


def test_a_broken_exchange_ends_a_httprr_file_whose_rest_cannot_be_found(tmp_path: Path) -> None:
    both = found(tmp_path, httprr(packed(ANSWER).encode()) + b"12 nonsense\n")
    assert [type(one) for one in both] == [Recorded, Unusable]


WORDS = st.sampled_from(
    """log entries request response body kind value chunks b64 scope path method status headers url text
    content encoding postData rawHeaders __type__ __data__ is_streaming call_type api_base hidden_params
    messages choices candidates delta type object custom_id result error input output done parts failure
    interactions""".split()  # noqa: SIM905 (a list of 45 literals would hide the words)
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        ["", "json", "sse", "binary", "base64", "POST", "[1]", "H4sI", "\ud800", "200 OK", "a" * 99]
    )
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=30,
)


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=VALUES, lines=st.booleans())
def test_no_importer_raises_on_any_json(tmp_path: Path, importer: Importer, value: Any, lines: bool) -> None:
    path = tmp_path / "file"
    path.write_text(f"{json.dumps(value)}\n{json.dumps(value)}\n" if lines else json.dumps(value))
    assert all(isinstance(one, Recorded | Unusable) for one in _all(importer, path))


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                b"data: ",
                b"{",
                b"}",
                b"[",
                b'"a"',
                b":",
                b"\n",
                b"\r\n",
                b"httprr trace v1\n",
                b"9 9\n",
                b"HTTP/1.1 200",
            ]
        )
    ).map(b"".join)
)
def test_no_importer_raises_on_any_bytes(tmp_path: Path, importer: Importer, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert all(isinstance(one, Recorded | Unusable) for one in _all(importer, path))


def _all(importer: Importer, path: Path) -> Iterator[Recorded | Unusable]:
    """What an importer reads of a file, whether it is of its format or not; its reasons are no failures."""
    try:
        source = open_source("file", path)
        assert importer.looks_like(source.head) in (True, False)
        yield from importer.read(source)
    except Unreadable:
        return
