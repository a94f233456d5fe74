"""Recorded traffic of real providers, when the corpus lies beside the checkout."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.types import HttpResponse

from .answers import WIRE

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(), reason="the corpus ../shared/corpus is not there"
)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads Python tags (header keys of some recorders) as the string inside; executes nothing."""


def _as_text(loader: Any, _suffix: str, node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return str([*loader.construct_sequence(node), ""][0])
    return str([*loader.construct_mapping(node, deep=True).get("args", ()), ""][0])


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _as_text)


def recordings() -> Iterator[tuple[dict[str, Any], HttpResponse]]:
    """Every chat exchange of a vcrpy cassette: its manifest line, and its response."""
    by_file = defaultdict(list)
    for line in (CORPUS / "manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["wire"] == "openai-chat" and row["format"] == "vcr-yaml":
            by_file[row["file"]].append(row)
    for file, rows in by_file.items():
        interactions = yaml.load((CORPUS / file).read_bytes(), Loader=_Loader)["interactions"]
        for row in rows:
            recorded = interactions[row["position"]]["response"]
            body = recorded.get("body", {}).get("string", recorded.get("content"))
            if body is None:
                body = json.dumps(recorded["parsed_body"])
            data = body.encode() if isinstance(body, str) else body
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
            headers = (("content-type", row["content_type"] or ""),)
            yield row, HttpResponse(row["status"], headers, data)


def is_reference(row: dict[str, Any]) -> bool:
    return bool(row["host"] == "api.openai.com" and row["fidelity"] == "wire")


@pytest.fixture(scope="module")
def recorded() -> list[tuple[dict[str, Any], HttpResponse]]:
    return list(recordings())


def test_the_reference_providers_own_traffic_decodes_without_a_fact(recorded: Any) -> None:
    answers = [(row, response) for row, response in recorded if is_reference(row)]
    assert answers
    for row, response in answers:
        turns = WIRE.decode(response)
        assert [fact for turn in turns for fact in turn.facts] == [], row["file"]
        if row["status"] == 200 and response.body:
            assert turns, row["file"]
            assert WIRE.error_of(response) is None, row["file"]
        elif row["status"] != 200:
            assert turns == (), row["file"]
            assert WIRE.error_of(response), row["file"]


def test_every_answer_decodes_with_the_calls_that_the_manifest_counts(recorded: Any) -> None:
    for row, response in recorded:
        turns = WIRE.decode(response)
        WIRE.error_of(response)
        if row["status"] == 200 and row["n_tool_calls"] and len(turns) == 1:  # it counts no second choice
            calls = [
                call
                for call in turns[0].calls
                if not (call.opaque or {}).get("openai-chat", {}).get("function_call")
            ]
            assert len(calls) == row["n_tool_calls"], (row["file"], row["position"])
