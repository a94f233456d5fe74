"""The reference endpoints themselves, as others recorded them, break no MUST beyond what is signed off.

The gate reads ``../shared/corpus`` (real exchanges published under permissive licences); it is skipped where
that is missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from conformance.cli.calibration import Calibration, Row, calibrate, page
from conformance.cli.corpus import is_reference, reference_recordings
from conformance.cli.signed_off import SIGNED_OFF
from conformance.types import WIRES, WireName

from .support import conformance

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"

needs_corpus = pytest.mark.skipif(not MANIFEST.is_file(), reason="the corpus (../shared/corpus) is not here")

URL = "https://api.openai.com/v1/chat/completions"
ASKED = '{"model":"m","messages":[]}'
SAID = '{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","choices":[]}'
KEYS = "chat.response.required-keys"


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
    assert {Path(file).suffix for file in files} == {".yaml", ".yml", ".har", ".httprr", ".json", ".sse"}


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


# ------------------------------------------------------------------------------ what is judged, and how


def go(said: str, **headers: str) -> bytes:
    """A cassette of Go's VCR with one exchange."""
    request = {"method": "POST", "url": URL, "headers": {}, "body": ASKED}
    answered = {name: [value] for name, value in {"Content-Type": "application/json", **headers}.items()}
    response = {"code": 200, "status": "200 OK", "headers": answered, "body": said}
    return b"---\n" + yaml.safe_dump({"interactions": [{"request": request, "response": response}]}).encode()


def corpus(folder: Path, **files: bytes) -> Path:
    """A corpus of these files, each an exchange with OpenAI, or another where its name ends in ``_other``."""
    rows = []
    for name, content in files.items():
        (folder / f"{name}.yaml").write_bytes(content)
        host = "api.example.com" if name.endswith("_other") else "api.openai.com"
        row = {"host": host, "wire": "openai-chat", "provider": "openai", "anomalies": []}
        rows.append(row | {"file": f"{name}.yaml", "position": 0})
    (folder / "manifest.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def judged(folder: Path) -> tuple[Calibration, Row]:
    one = calibrate("openai-chat", reference_recordings(folder)["openai-chat"])
    return one, next(row for row in one.rows if row.rule.id == KEYS)


def test_only_the_reference_and_only_bodies_as_they_were_sent_are_judged(tmp_path: Path) -> None:
    parsed = go(SAID).replace(b"url:", b"uri:").replace(b'body: \'{"id"', b'parsed_body: \'{"id"')
    one, row = judged(corpus(tmp_path, ours=go(SAID), strange_other=go(SAID), parsed=parsed))
    assert (len(one.exchanges), row.exchanges, row.hits, row.broken) == (1, 1, 1, ("ours.yaml",))


def test_what_is_no_evidence_breaks_nothing_and_is_told(tmp_path: Path) -> None:
    spliced = go(SAID, **{"Content-Length": "9999"})
    one, row = judged(corpus(tmp_path, spliced=spliced))
    assert (row.exchanges, row.hits) == (0, 0)
    assert one.refused == (("put together by hand", 1),)


# ---------------------------------------------------------------------------------------- the command


def test_the_command_writes_the_table_and_fails_when_the_gate_does(tmp_path: Path) -> None:
    corpus(tmp_path, one=go(SAID, Date="Thu, 01 Jan 2026 00:00:00 GMT"))
    done = conformance("calibrate", str(tmp_path), "--out", "table.md", cwd=tmp_path)
    assert done.returncode == 1
    assert f"one.yaml breaks {KEYS}, a MUST" in done.stderr
    told = (tmp_path / "table.md").read_text().replace("\n", " ")
    assert "recorded from 2026-01-01 to 2026-01-01 (1 tell their day)" in told
