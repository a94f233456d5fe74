"""The reference endpoint itself, as others recorded it, breaks no MUST beyond what is signed off here.

Reads ``../shared/corpus`` (real exchanges published under permissive licences); skipped where it is missing.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.rules import check
from conformance.types import Exchange, HttpRequest, HttpResponse

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"
RELABELLED = "the recorder wrote application/json over the stream's own media type"

SIGNED_OFF = {
    ("chat_completion_streamed.yaml", "sse.content-type"): RELABELLED,
    ("chat_completion_streamed_tokens.yaml", "sse.content-type"): RELABELLED,
    ("chat_completion_tool_call_streamed.yaml", "sse.content-type"): RELABELLED,
    (
        "chat_completion_tool_call_streamed.yaml",
        "chat.response.no-tools-no-calls",
    ): "spliced by hand: the answer to another request (that one had tools) under this one",
    (
        "chat_completion_image_input.yaml",
        "chat.response.choice-required-keys",
    ): "gpt-4-vision-preview (2023) sent finish_details in place of finish_reason",
}

pytestmark = pytest.mark.skipif(not MANIFEST.is_file(), reason="the corpus (../shared/corpus) is not here")


class _Loader(yaml.CSafeLoader):
    """libyaml's safe loader, to which any tag of Python's is the plain node beneath it."""


def _plain(loader: yaml.CSafeLoader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _plain)


def _rows() -> Iterator[dict[str, Any]]:
    wanted = {
        "host": "api.openai.com",
        "wire": "openai-chat",
        "fidelity": "wire",
        "format": "vcr-yaml",
    }
    for line in MANIFEST.read_text().splitlines():
        row: dict[str, Any] = json.loads(line)
        # A consumer that broke off before the first byte leaves an empty body: nothing to grade.
        if all(row[name] == value for name, value in wanted.items()) and "body.empty" not in row["anomalies"]:
            yield row


def _bytes(body: Any) -> bytes:
    if isinstance(body, dict):
        body = body.get("string")
    data = body.encode() if isinstance(body, str) else bytes(body or b"")
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _headers(table: dict[Any, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(name[0] if isinstance(name, list | tuple) else name), str(value))
        for name, values in table.items()
        for value in (values if isinstance(values, list) else [values])
    )


def _exchange(interaction: dict[str, Any]) -> Exchange:
    asked, got = interaction["request"], interaction["response"]
    status = got["status"]["code"] if "status" in got else got["status_code"]
    return Exchange(
        request=HttpRequest(asked["method"], asked["uri"], _headers(asked["headers"]), _bytes(asked["body"])),
        response=HttpResponse(status, _headers(got["headers"]), _bytes(got.get("body", got.get("content")))),
        ending="complete",
        wire="openai-chat",
        expect="either",
    )


def test_recordings_of_the_reference_endpoint_break_no_must_beyond_the_signed_off() -> None:
    files: dict[str, list[int]] = {}
    for row in _rows():
        files.setdefault(row["file"], []).append(row["position"])
    broken: set[tuple[str, str]] = set()
    judged = 0
    for file, positions in files.items():
        interactions = yaml.load((CORPUS / file).read_bytes(), Loader=_Loader)["interactions"]
        run = [_exchange(interactions[position]) for position in positions]
        judged += len(run)
        broken |= {(Path(file).name, f.rule) for f in check(run) if f.level == "MUST"}
    assert judged >= 90
    assert broken == set(SIGNED_OFF)
