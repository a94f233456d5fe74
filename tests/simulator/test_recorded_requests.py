"""Recorded requests that the real provider answered are taken, where the corpus lies beside the checkout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from conformance.simulator import Simulator

from .gemini_support import Gemini
from .ollama_support import Ollama

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(), reason="the corpus ../shared/corpus is not there"
)
# What was signed by the real provider can't be known here; its documented way to pass stands in.
SIGNATURE = re.compile(r'"thoughtSignature": ?"[^"]*"')
PASS = '"thoughtSignature":"skip_thought_signature_validator"'


def recorded(wire: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The path and body of each recorded request of ``wire`` that was answered with 200."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files: dict[str, list[Any]] = {}
    for line in (CORPUS / "manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        if (row["wire"], row["format"], row["status"]) != (wire, "httpmock-yaml", 200):
            continue
        if row["file"] not in files:
            files[row["file"]] = list(yaml.load_all((CORPUS / row["file"]).read_bytes(), Loader=loader))
        request = files[row["file"]][row["position"]]["when"]
        yield request["path"], json.loads(SIGNATURE.sub(PASS, request["body"]))


def test_gemini_takes_what_google_took(simulator: Simulator, client: httpx.Client) -> None:
    gemini = Gemini(simulator, client)
    asked = [(path.partition(":")[2], body) for path, body in recorded("gemini")]
    assert len(asked) > 10
    for method, body in asked:
        response = gemini.post(f"/v1beta/models/reference:{method}", body)
        assert response.status_code == 200, response.text


def test_ollama_takes_what_ollama_took(simulator: Simulator, client: httpx.Client) -> None:
    ollama = Ollama(simulator, client)
    asked = [body for path, body in recorded("ollama") if path == "/api/chat"]
    assert len(asked) > 10
    for body in asked:
        response = ollama.post("/api/chat", {**body, "model": "reference"})
        assert response.status_code == 200, response.text
