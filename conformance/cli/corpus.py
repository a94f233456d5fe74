"""Recordings of the reference endpoints that others published: the material of the calibration.

Only those whose bodies are as the client saw them. The corpus's manifest says with whom an exchange was, over
which wire; what is in the files is read by the importers of ``conformance grade``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from conformance.grade.files import exchanges_of
from conformance.grade.recorded import Recorded
from conformance.types import WIRES, WireName

ManifestRow = Mapping[str, Any]
"""A line of ``manifest.jsonl``: what is known of one exchange."""

REFERENCES: Mapping[WireName, re.Pattern[str]] = {
    "openai-chat": re.compile(r"api\.openai\.com"),
    "openai-responses": re.compile(r"api\.openai\.com"),
    "anthropic-messages": re.compile(r"api\.anthropic\.com"),
    "gemini": re.compile(r"(generativelanguage|([a-z0-9-]+-)?aiplatform)\.googleapis\.com"),
}
"""The hosts at which whoever published a wire answers. Ollama runs anywhere: there the manifest names it."""


def readable(corpus: Path, fits: Callable[[ManifestRow], bool]) -> Iterator[tuple[ManifestRow, Recorded]]:
    """The exchanges whose rows of the manifest fit, in its order, with those rows.

    Left out are those whose bodies are not byte for byte as the client saw them (no evidence of `spelling`),
    and bodies that the recorder left empty. Raises ``OSError`` where the corpus is not there, and
    ``ValueError`` or ``KeyError`` where its manifest is none.
    """
    found = lru_cache(maxsize=1)(_by_position)
    for line in (corpus / "manifest.jsonl").read_text("utf-8").splitlines():
        row: ManifestRow = json.loads(line)
        # A consumer that broke off before the first byte leaves an empty body: nothing to grade.
        if fits(row) and "body.empty" not in row["anomalies"]:
            recorded = found(corpus / row["file"]).get(row["position"])
            if recorded is not None and "spelling" in recorded.kept:
                exchange = replace(recorded.exchange, wire=row["wire"])
                yield row, replace(recorded, exchange=exchange, file=row["file"])


def is_reference(row: ManifestRow) -> bool:
    """Whether an exchange is with the reference endpoint of its wire, by its row of the manifest."""
    if row["wire"] == "ollama":
        return bool(row["provider"] == "ollama")
    host = REFERENCES.get(row["wire"])
    return host is not None and host.fullmatch(row["host"]) is not None


def reference_recordings(corpus: Path) -> dict[WireName, dict[str, tuple[Recorded, ...]]]:
    """The reference endpoints' exchanges by wire and file, in the manifest's order.

    Raises as ``readable``.
    """
    found: dict[WireName, dict[str, tuple[Recorded, ...]]] = {wire: {} for wire in WIRES}
    for row, recorded in readable(corpus, is_reference):
        of_wire = found[recorded.exchange.wire]
        of_wire[row["file"]] = (*of_wire.get(row["file"], ()), recorded)
    return found


def _by_position(path: Path) -> dict[int, Recorded]:
    return {one.position: one for one in exchanges_of(path) if isinstance(one, Recorded)}
