"""Cassettes of vcrpy and its kin, and our own."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest
import yaml

from conformance.grade.files import exchanges_of
from conformance.grade.recorded import KEPT, Recorded, Unusable
from conformance.transport import tape
from conformance.transport.redact import Redactor
from conformance.types import Exchange, HttpRequest, HttpResponse

from .yaml_kit import (
    ANSWERED,
    ASKED,
    PACKED,
    STREAM,
    all_of,
    bodies,
    only,
    refusal,
    sides,
    vcr_text,
)

# ----------------------------------------------------------------------------------------------- vcrpy


def test_a_vcrpy_interaction_is_read_as_it_went(tmp_path: Path) -> None:
    found = only(tmp_path, vcr_text())
    request, response = sides(found)
    assert (found.format, found.fidelity, found.kept) == ("vcr-yaml", "wire", KEPT["wire"])
    assert (request.method, request.url) == ("POST", "https://api.example.com/v1/chat/completions")
    assert request.headers == (("Content-Type", "application/json"),)
    assert response.status == 200
    assert response.headers == (("Content-Type", "application/json"), ("X-Two", "a"), ("X-Two", "b"))
    assert bodies(found) == (ASKED, ANSWERED)


def test_nothing_is_said_of_what_a_recorded_request_expects(tmp_path: Path) -> None:
    assert only(tmp_path, vcr_text()).exchange.expect == "either"


@pytest.mark.parametrize(
    "request_line",
    [
        pytest.param(f"parsed_body: {json.dumps(ASKED)}", id="decoded by pydantic-ai's serializer"),
        pytest.param(f"body: {json.dumps(list(json.dumps(ASKED).encode()))}", id="a list of bytes"),
        pytest.param(
            f"body: !!binary {base64.b64encode(json.dumps(ASKED).encode()).decode()}", id="!!binary"
        ),
        pytest.param(f"body: !!python/unicode '{json.dumps(ASKED)}'", id="a Python tag"),
        pytest.param(f"body: !!python/tuple {json.dumps(list(json.dumps(ASKED).encode()))}", id="a tuple"),
    ],
)
def test_a_request_body_is_read_however_it_is_written(tmp_path: Path, request_line: str) -> None:
    assert bodies(only(tmp_path, vcr_text(request=request_line)))[0] == ASKED


@pytest.mark.parametrize(
    ("response_line", "fidelity"),
    [
        pytest.param(f"parsed_body: {json.dumps(ANSWERED)}", "parsed", id="decoded"),
        pytest.param(f"body: {{string: !!binary {PACKED}}}", "wire", id="gzip in !!binary"),
        pytest.param(f"content: '{json.dumps(ANSWERED)}'", "wire", id="httpx's stub before version 6"),
    ],
)
def test_a_response_body_is_read_however_it_is_written(
    tmp_path: Path, response_line: str, fidelity: str
) -> None:
    found = only(tmp_path, vcr_text(response=response_line))
    assert (bodies(found)[1], found.fidelity) == (ANSWERED, fidelity)


def test_a_decoded_body_keeps_nulls_numbers_and_words_apart(tmp_path: Path) -> None:
    parsed = "parsed_body: {a: null, b: 'null', c: 1.5e-07, d: '1.5', e: yes, f: true, g: 12e4567, h: -3}"
    assert bodies(only(tmp_path, vcr_text(response=parsed)))[1] == {
        "a": None,
        "b": "null",
        "c": 1.5e-07,
        "d": "1.5",
        "e": "yes",
        "f": True,
        "g": "12e4567",
        "h": -3,
    }


def test_a_stream_beside_a_decoded_request_is_as_it_came(tmp_path: Path) -> None:
    text = vcr_text(f"parsed_body: {json.dumps(ASKED)}", f"body: {{string: {json.dumps(STREAM)}}}")
    found = only(tmp_path, text)
    assert (sides(found)[1].body.decode(), found.fidelity) == (STREAM, "wire")


def test_the_status_of_httpxs_old_stub_is_read(tmp_path: Path) -> None:
    text = vcr_text(response="content: ''\n    status_code: 429\n    http_version: HTTP/1.1")
    assert sides(only(tmp_path, text))[1].status == 429


def test_header_names_of_a_python_type_are_plain(tmp_path: Path) -> None:
    text = vcr_text().replace(
        "headers: {Content-Type: [application/json]}",
        "headers:\n"
        "      ? !!python/object/apply:multidict._multidict.istr\n"
        "      - Accept\n"
        "      : - application/json\n"
        "      ? !!python/object/new:multidict._multidict.istr {args: [Host]}\n"
        "      : - !!binary ZXhhbXBsZQ==",
    )
    assert sides(only(tmp_path, text))[0].headers == (("Accept", "application/json"), ("Host", "example"))


def test_a_posts_absent_body_is_no_evidence_of_the_request(tmp_path: Path) -> None:
    found = only(tmp_path, vcr_text(request="body: null"))
    assert found.kept == KEPT["wire"] - {"request"}
    assert sides(found)[0].url == "https://api.example.com/v1/chat/completions"


def test_absent_headers_are_no_evidence_of_headers(tmp_path: Path) -> None:
    text = vcr_text().replace("headers: {Content-Type: [application/json], X-Two: [a, b]}", "headers: {}")
    assert only(tmp_path, text).kept == KEPT["wire"] - {"headers"}


def test_an_empty_stream_is_read_as_empty(tmp_path: Path) -> None:
    assert sides(only(tmp_path, vcr_text(response="body: {string: ''}")))[1].body == b""


def test_vcrpys_json_is_read_alike(tmp_path: Path) -> None:
    found = only(tmp_path, json.dumps(yaml.safe_load(vcr_text())))
    assert (found.format, bodies(found)) == ("vcr-json", (ASKED, ANSWERED))


def test_an_anchored_value_may_be_used_again(tmp_path: Path) -> None:
    text = vcr_text().replace("X-Two: [a, b]", "X-Two: &two [a, b], X-Three: *two")
    assert sides(only(tmp_path, text))[1].headers[-1] == ("X-Three", "b")


def test_line_ends_that_yaml_folding_ate_are_refused_with_the_reason(tmp_path: Path) -> None:
    text = vcr_text(response="body: {string: 'data: {}#magic___^_^___line#magic___^_^___line'}")
    assert "line ends" in refusal(tmp_path, text)


def test_an_unreadable_interaction_does_not_hide_the_next(tmp_path: Path) -> None:
    text = vcr_text(response="body: {string: !!binary '***'}").replace("version: 1", "")
    text += vcr_text().split("interactions:\n")[1]
    broken, whole = all_of(tmp_path, text)
    assert isinstance(broken, Unusable)
    assert (broken.position, broken.reason) == (0, "!!binary: not Base64")
    assert isinstance(whole, Recorded)
    assert whole.position == 1


def test_what_comes_before_broken_yaml_is_read(tmp_path: Path) -> None:
    first, broken = all_of(tmp_path, vcr_text().replace("version: 1", "- ]"))
    assert isinstance(first, Recorded)
    assert isinstance(broken, Unusable)
    assert "not YAML" in broken.reason


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    assert bodies(only(tmp_path, gzip.compress(vcr_text().encode())))[1] == ANSWERED


# ------------------------------------------------------------------------------------------------ ours

OURS = Exchange(
    HttpRequest("POST", "http://localhost/v1/messages", (("x-a", "1"), ("x-a", "2")), b"{}"),
    HttpResponse(200, (("x-b", "3"),), b"data: {}\n\n", ((1.5, 6), (2.0, 4)), "HTTP/2"),
    "cut",
    "anthropic-messages",
    started=0.5,
    elapsed_ms=2.5,
    probe="unknown-model",
    expect="refusal",
)


def test_our_own_cassettes_are_read_with_all_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    metadata = {"endpoint": "lab", "scenario": "chat.plain", "wire": "anthropic-messages"}
    tape.save(path, [OURS], metadata=metadata, redactor=Redactor(()))
    (found,) = exchanges_of(path)
    assert found == Recorded(
        OURS,
        str(path),
        0,
        "vcr-yaml",
        "wire-chunks",
        KEPT["wire-chunks"],
        wire="anthropic-messages",
        endpoint="lab",
        scenario="chat.plain",
    )


def test_one_of_ours_that_somebody_broke_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    tape.save(path, [OURS], metadata={}, redactor=Redactor(()))
    path.write_text(path.read_text().replace("ending: cut", "ending: 3"))
    (found,) = exchanges_of(path)
    assert isinstance(found, Unusable)
    assert "conformance.ending" in found.reason
