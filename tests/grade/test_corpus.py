"""The corpus, where it lies beside the checkout: its recordings are read as its manifest says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.grade.exchanges import BINARY_STREAM
from conformance.grade.files import exchanges_of, recordings
from conformance.grade.recorded import Recorded, Unusable

from .support import (
    CORPUS,
    needs_corpus,
    response,
)

FORMATS = {
    "har": {"har"},
    "nock": {"nock"},
    "httprr": {"httprr"},
    "braintrust-cassette-json": {"braintrust-cassette"},
    "req_llm-json": {"req_llm"},
    "json-fixture": {"response-json"},
    "sse-file": {"sse", "event-lines", "response-json"},
    "sse-chunks": {"event-lines"},
    "llama-stack-json": {"sdk-dump"},
}
"""The manifest's words for the formats read here, and ours."""

SEVERAL = {
    "azure-reasoning-encrypted-content.1.chunks.txt": 4,
    "openai-reasoning-encrypted-content.1.chunks.txt": 4,
    "openai-shell-tool.1.chunks.txt": 2,
    "cererebras-structured-output-tools.1.chunks.txt": 2,
}
"""Files of chunks in which several answers stand one after the other; the manifest takes each for one."""


def corpus_rows() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in (CORPUS / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["format"] in FORMATS:
            rows.setdefault(row["file"], []).append(row)
    return rows


@needs_corpus
def test_every_file_of_the_corpus_is_read_or_named() -> None:
    silent = [
        str(file.relative_to(CORPUS))
        for file in recordings(CORPUS / "dev")
        if isinstance(file, Path) and not any(is_known(one) for one in exchanges_of(file))
    ]
    assert silent == []


def is_known(one: Recorded | Unusable) -> bool:
    """Whether a file is of a format that is known here."""
    return isinstance(one, Recorded) or not one.foreign


@needs_corpus
def test_every_exchange_of_the_corpus_is_read_as_its_manifest_says() -> None:
    wrong: list[Any] = []
    for file, rows in corpus_rows().items():
        at = {one.position: one for one in exchanges_of(CORPUS / file)}
        if (several := SEVERAL.get(Path(file).name)) is not None and len(at) != several:
            wrong.append((file, "answers", len(at)))
        for row in rows:
            wrong += [(file, row["position"], *why) for why in disagreements(row, at.get(row["position"]))]
    assert wrong == []


def disagreements(row: dict[str, Any], one: Recorded | Unusable | None) -> Iterator[tuple[str, Any]]:
    """Where what was read of an exchange is not what the manifest says of it."""
    if isinstance(one, Unusable):
        if row["wire"] != "bedrock" or one.reason != BINARY_STREAM:
            yield "unusable", one.reason
        return
    if one is None:
        yield "absent", None
        return
    answered = response(one)
    if one.format not in FORMATS[row["format"]]:
        yield "format", one.format
    # A refusal of Llama Stack's recorder with a status of its own, which the manifest takes for 200.
    if answered.status != row["status"] and "error.in_200" not in row["anomalies"]:
        yield "status", answered.status
    if is_streamed(one) != row["streamed_body"]:
        yield "stream", answered.body[:60]
    if one.fidelity != "sdk-dump" and ("request" in one.kept) != row["has_request"]:
        yield "request", one.exchange.request.body[:60]


def is_streamed(one: Recorded) -> bool:
    """Whether the body is events, or lines of JSON."""
    body = response(one).body.strip()
    if body.startswith((b"data:", b"event:", b":", b"id:")):
        return True
    return body.startswith(b"{") and body.count(b"\n{") > 0
