"""The reference endpoints themselves, as others recorded them, break no MUST beyond what is signed off.

The gate reads ``../shared/corpus`` (real exchanges published under permissive licences); it is skipped where
that is missing.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.cli.calibration import Calibration, calibrate, page
from conformance.cli.corpus import LOADERS, is_reference, reference_recordings
from conformance.cli.signed_off import SIGNED_OFF
from conformance.types import WIRES, WireName

from .support import conformance

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"

needs_corpus = pytest.mark.skipif(not MANIFEST.is_file(), reason="the corpus (../shared/corpus) is not here")

URL = "https://api.openai.com/v1/chat/completions"
ASKED = '{"model":"m","messages":[]}'
SAID = '{"id":"chatcmpl-1"}'
PACKED = gzip.compress(SAID.encode())


@pytest.fixture(scope="module")
def calibrated() -> dict[WireName, Calibration]:
    return {wire: calibrate(wire, found) for wire, found in reference_recordings(CORPUS).items()}


# ------------------------------------------------------------------------------------------- the gate


@needs_corpus
@pytest.mark.parametrize(
    ("wire", "exchanges", "streams"),
    [
        ("openai-chat", 140, 25),
        ("openai-responses", 60, 30),
        ("anthropic-messages", 90, 40),
        ("gemini", 120, 50),
        ("ollama", 35, 24),
    ],
)
def test_there_are_enough_recordings_to_rest_on(
    calibrated: dict[WireName, Calibration], wire: WireName, exchanges: int, streams: int
) -> None:
    assert len(calibrated[wire].exchanges) >= exchanges
    assert calibrated[wire].streams >= streams


@needs_corpus
def test_recordings_of_every_format_are_among_them() -> None:
    files = [file for recordings in reference_recordings(CORPUS).values() for file in recordings]
    assert {Path(file).suffix for file in files} == {".yaml", ".yml", ".har", ".httprr"}


@needs_corpus
@pytest.mark.parametrize("wire", WIRES)
def test_the_reference_endpoint_breaks_no_must_beyond_the_signed_off(
    calibrated: dict[WireName, Calibration], wire: WireName
) -> None:
    assert calibrated[wire].broken_musts == SIGNED_OFF[wire].keys()


@needs_corpus
@pytest.mark.parametrize("wire", WIRES)
def test_only_rules_of_the_wire_are_counted(calibrated: dict[WireName, Calibration], wire: WireName) -> None:
    assert all(wire in row.rule.wires for row in calibrated[wire].rows)
    assert all(one.wire == wire for one in calibrated[wire].exchanges)


@needs_corpus
def test_the_table_in_docs_is_fresh(calibrated: dict[WireName, Calibration]) -> None:
    fresh = page(list(calibrated.values()), MANIFEST.read_bytes())
    stale = "run: conformance calibrate ../shared/corpus"
    assert (ROOT / "docs" / "calibration.md").read_text("utf-8") == fresh, stale


@pytest.mark.parametrize(
    ("wire", "host", "provider", "reference"),
    [
        ("openai-chat", "api.openai.com", "openai", True),
        ("openai-chat", "api.openai.com.example.org", "openai", False),
        ("openai-responses", "api.openai.com", "openai", True),
        ("openai-responses", "openrouter.ai", "openrouter", False),
        ("anthropic-messages", "api.anthropic.com", "anthropic", True),
        ("anthropic-messages", "us-east5-aiplatform.googleapis.com", "vertex", False),
        ("gemini", "generativelanguage.googleapis.com", "google", True),
        ("gemini", "aiplatform.googleapis.com", "vertex", True),
        ("gemini", "us-east5-aiplatform.googleapis.com", "vertex", True),
        ("gemini", "aiplatform.googleapis.com.example.org", "vertex", False),
        ("ollama", "localhost:11434", "ollama", True),
        ("ollama", "ollama.com", "ollama-cloud", False),
        ("bedrock", "bedrock-runtime.us-west-2.amazonaws.com", "bedrock", False),
    ],
)
def test_who_answers_says_whether_it_is_the_reference(
    wire: str, host: str, provider: str, reference: bool
) -> None:
    assert is_reference({"wire": wire, "host": host, "provider": provider}) is reference


# ---------------------------------------------------------------------------------------- the loaders


def vcrpy(body: Any) -> bytes:
    request = {"method": "POST", "uri": URL, "headers": {"a": ["b"]}, "body": ASKED}
    response = {"status": {"code": 200}, "headers": {"c": ["d", "e"]}, "body": {"string": body}}
    return yaml.safe_dump({"interactions": [{"request": request, "response": response}]}).encode()


def vcrpy_of_old() -> bytes:
    request = {"method": "POST", "uri": URL, "headers": {"a": "b"}, "body": ASKED}
    response = {"status_code": 200, "headers": {"c": ["d", "e"]}, "content": SAID}
    return yaml.safe_dump({"interactions": [{"request": request, "response": response}]}).encode()


def ruby(body: dict[str, str]) -> bytes:
    request = {"method": "post", "uri": URL, "headers": {"a": ["b"]}, "body": {"string": ASKED}}
    response = {"status": {"code": 200}, "headers": {"c": ["d", "e"]}, "body": body}
    return yaml.safe_dump({"http_interactions": [{"request": request, "response": response}]}).encode()


def go() -> bytes:
    request = {"method": "POST", "url": URL, "headers": {"a": ["b"]}, "body": ASKED}
    response = {"code": 200, "status": "200 OK", "headers": {"c": ["d", "e"]}, "body": SAID}
    return b"---\n" + yaml.safe_dump({"interactions": [{"request": request, "response": response}]}).encode()


def har(content: dict[str, str]) -> bytes:
    names = [{"name": "c", "value": "d"}, {"name": "c", "value": "e"}]
    request = {
        "method": "POST",
        "url": URL,
        "headers": [{"name": "a", "value": "b"}],
        "postData": {"text": ASKED},
    }
    response = {"status": 200, "headers": names, "content": content}
    return json.dumps({"log": {"entries": [{"request": request, "response": response}]}}).encode()


def httprr(body: str) -> bytes:
    asked = f"POST {URL} HTTP/1.1\r\na: b\r\n\r\n{ASKED}"
    got = f"HTTP/2.0 200 OK\r\nc: d\r\nc: e\r\n{body}"
    return f"httprr trace v1\n{len(asked)} {len(got)}\n{asked}{got}".encode()


def pieces(encode: Any) -> dict[str, str]:
    return {"encoding": "base64", "text": json.dumps([encode(PACKED[:9]), encode(PACKED[9:])])}


RUBY_BINARY = ruby({"string": "BODY"}).replace(b"BODY", b"!binary " + base64.b64encode(SAID.encode()))
CHUNKED = f"transfer-encoding: chunked\r\n\r\n5\r\n{SAID[:5]}\r\n{len(SAID) - 5:x}\r\n{SAID[5:]}\r\n0\r\n\r\n"
PYTHON_TAG = vcrpy(SAID).replace(b"method: POST", b"method: !!python/object/apply:os.getenv [POST]")

FILES = {
    "text": ("vcr-yaml", vcrpy(SAID)),
    "packed": ("vcr-yaml", vcrpy(PACKED)),
    "as httpx had it": ("vcr-yaml", vcrpy_of_old()),
    "Ruby's text": ("vcr-ruby-yaml", ruby({"string": SAID})),
    "Ruby's Base64": ("vcr-ruby-yaml", ruby({"base64_string": base64.b64encode(SAID.encode()).decode()})),
    "Ruby's binary": ("vcr-ruby-yaml", RUBY_BINARY),
    "Go's": ("go-vcr-yaml", go()),
    "HAR's text": ("har", har({"text": SAID})),
    "HAR's pieces in Base64": ("har", har(pieces(lambda piece: base64.b64encode(piece).decode()))),
    "HAR's pieces in hex": ("har", har(pieces(bytes.hex))),
    "HTTP": ("httprr", httprr(f"\r\n{SAID}")),
    "HTTP in chunks": ("httprr", httprr(CHUNKED)),
}


@pytest.mark.parametrize("file", FILES)
def test_every_format_gives_the_same_exchange(file: str) -> None:
    kind, data = FILES[file]
    (exchange,) = LOADERS[kind](data)
    request, response = exchange.request, exchange.response
    assert response is not None
    assert (request.method, request.url, request.headers) == ("POST", URL, (("a", "b"),))
    assert (request.body.decode(), response.status, response.body.decode()) == (ASKED, 200, SAID)
    assert response.headers[:2] == (("c", "d"), ("c", "e"))


def test_a_recordings_python_tags_are_never_executed() -> None:
    (exchange,) = LOADERS["vcr-yaml"](PYTHON_TAG)
    assert exchange.request.method == ("POST",)  # type: ignore[comparison-overlap]


# ---------------------------------------------------------------------------------------- the command


def test_the_command_writes_the_table_and_fails_when_the_gate_does(tmp_path: Path) -> None:
    row = {"host": "api.openai.com", "wire": "openai-chat", "fidelity": "wire", "format": "go-vcr-yaml"}
    row |= {"file": "one.yaml", "position": 0, "anomalies": []}  # type: ignore[dict-item]
    other = row | {"host": "api.example.com", "file": "missing.yaml"}
    (tmp_path / "manifest.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(other)}\n")
    (tmp_path / "one.yaml").write_bytes(
        go().replace(b"c:", b"Date:").replace(b"- d", b"- 1 Jan 2026 00:00:00 GMT")
    )
    done = conformance("calibrate", str(tmp_path), "--out", "table.md", cwd=tmp_path)
    assert done.returncode == 1
    assert "one.yaml breaks chat.response.required-keys, a MUST" in done.stderr
    assert "recorded from 2026-01-01 to 2026-01-01" in (tmp_path / "table.md").read_text().replace("\n", " ")
