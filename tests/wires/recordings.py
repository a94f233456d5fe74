"""Exchanges of one wire from the corpus, in the formats that the package reads and in some others."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.grade.files import exchanges_of
from conformance.grade.recorded import Recorded
from conformance.types import HttpResponse

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(), reason="the corpus ../shared/corpus is not there"
)

READ = ("vcr-yaml", "vcr-ruby-yaml", "go-vcr-yaml", "har", "httprr")
"""The formats, in the manifest's words, that are read as the package does."""

Recording = tuple[dict[str, Any], str, dict[str, Any] | None, HttpResponse]
"""The manifest's row, the URL, the request's body if it is there, and the response."""


def recordings(wire: str) -> Iterator[Recording]:
    """Every exchange of a wire that is in a format known here."""
    by_file: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in (CORPUS / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["wire"] == wire:
            by_file[row["file"], row["format"]].append(row)
    for (file, kind), rows in by_file.items():
        data = (CORPUS / file).read_bytes()
        for row, (sent, status, body) in zip(rows, _read(kind, data, rows), strict=True):
            headers = (("content-type", row["content_type"] or ""),)
            yield row, row["url"] or "", _object(sent), HttpResponse(status, headers, body)


def _read(kind: str, data: bytes, rows: list[dict[str, Any]]) -> Iterator[tuple[bytes, int, bytes]]:
    parsed = b"parsed_body:" in data
    if kind == "go-vcr-yaml":
        interactions = yaml.load(data, Loader=yaml.CSafeLoader)["interactions"]
        for row in rows:
            asked, got = (interactions[row["position"]][side] for side in ("request", "response"))
            yield asked.get("body", "").encode(), got["code"], got["body"].encode()
    elif kind in READ and not parsed:
        file = CORPUS / rows[0]["file"]
        found = {one.position: one.exchange for one in exchanges_of(file) if isinstance(one, Recorded)}
        for row in rows:
            exchange = found[row["position"]]
            assert exchange.response is not None
            yield exchange.request.body, exchange.response.status, exchange.response.body
    elif parsed:
        interactions = yaml.load(data, Loader=yaml.CSafeLoader)["interactions"]
        for row in rows:
            asked, got = (interactions[row["position"]][side] for side in ("request", "response"))
            body = got.get("body", {}).get("string") or json.dumps(got.get("parsed_body"))
            body = body if isinstance(body, bytes) else body.encode()
            yield json.dumps(asked.get("parsed_body")).encode(), got["status"]["code"], body
    elif kind == "httpmock-yaml":
        documents = list(yaml.load_all(data, Loader=yaml.CSafeLoader))
        for row in rows:
            asked, got = documents[row["position"]]["when"], documents[row["position"]]["then"]
            yield (asked.get("body") or "").encode(), got["status"], (got.get("body") or "").encode()
    elif kind in ("json-fixture", "sse-file"):
        yield b"", rows[0]["status"], data
    elif kind == "sse-chunks":
        yield b"", rows[0]["status"], b"".join(b"data: " + line + b"\n\n" for line in data.splitlines())
    else:
        for row in rows:
            yield b"", row["status"], b""


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
