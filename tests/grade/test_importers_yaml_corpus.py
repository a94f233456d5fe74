"""What the manifest of the corpus says of its YAML recordings is what is read."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from conformance.grade.files import exchanges_of
from conformance.grade.recorded import Unusable

from .yaml_kit import (
    CORPUS,
    sides,
)

# ---------------------------------------------------------------------------------------------- corpus

FORMATS = frozenset(
    {
        "vcr-yaml",
        "vcr-ruby-yaml",
        "vcr-r-yaml",
        "go-vcr-yaml",
        "httpmock-yaml",
        "wiremock",
        "langchain-vcr-gz",
    }
)
FIDELITIES = {"wire-scrubbed": "scrubbed"}


@pytest.fixture(scope="module")
def rows() -> dict[str, list[dict[str, Any]]]:
    """The manifest's lines of these formats, by file."""
    if not (CORPUS / "manifest.jsonl").is_file():
        pytest.skip("the corpus ../shared/corpus is not there")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (CORPUS / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["format"] in FORMATS:
            found[row["file"]].append(row)
    return found


def is_stream(body: bytes) -> bool:
    """Events, or several lines of JSON, or a chunk of Ollama's that may be the only one."""
    text = body.lstrip()
    if text.startswith((b"data:", b"event:", b":", b"id:")):
        return True
    lines = text.splitlines()
    return len(lines) > 1 and lines[0].startswith(b"{") and lines[0].endswith(b"}")


def test_every_exchange_of_the_corpus_is_read_as_the_manifest_has_it(
    rows: dict[str, list[dict[str, Any]]],
) -> None:
    wrong = []
    for file, of_file in rows.items():
        found = list(exchanges_of(CORPUS / file))
        assert [one.position for one in found] == list(range(len(found))), file
        for row in of_file:
            one = found[row["position"]]
            if isinstance(one, Unusable):
                if row["wire"] != "bedrock" or "event stream" not in one.reason:
                    wrong.append((file, row["position"], one.reason))
                continue
            request, response = sides(one)
            wanted = (
                row["format"],
                FIDELITIES.get(row["fidelity"], row["fidelity"]),
                row["status"],
                row["has_request"],
                row["response_bytes"] > 0,
            )
            got = (one.format, one.fidelity, response.status, request.body != b"", response.body != b"")
            if got != wanted:
                wrong.append((file, row["position"], str(got)))
            if one.fidelity != "parsed" and len(response.body) != row["response_bytes"]:
                wrong.append((file, row["position"], "another size"))
            ndjson = row["content_type"] and "ndjson" in row["content_type"]
            if row["wire"] != "other" and not ndjson and is_stream(response.body) != row["streamed_body"]:
                wrong.append((file, row["position"], "a stream, or none"))
    assert wrong == []
