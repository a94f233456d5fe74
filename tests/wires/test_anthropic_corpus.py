"""Recorded Messages traffic of real providers, when the corpus lies beside the checkout."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from conformance.transport.sse import parse as parse_events
from conformance.types import HttpResponse

from .anthropic_answers import WIRE, encode
from .test_corpus import CORPUS, _Loader

pytestmark = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(), reason="the corpus ../shared/corpus is not there"
)


def recordings() -> Iterator[tuple[dict[str, Any], dict[str, Any], HttpResponse]]:
    """Every exchange of a vcrpy cassette: its manifest line, its request's body, its response."""
    by_file = defaultdict(list)
    for line in (CORPUS / "manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["wire"] == "anthropic-messages" and row["format"] == "vcr-yaml":
            by_file[row["file"]].append(row)
    for file, rows in by_file.items():
        interactions = yaml.load((CORPUS / file).read_bytes(), Loader=_Loader)["interactions"]
        for row in rows:
            request, recorded = (interactions[row["position"]][key] for key in ("request", "response"))
            sent = request.get("parsed_body") or json.loads(request.get("body") or "{}")
            body = recorded.get("body", {}).get("string", recorded.get("content"))
            if body is None:
                body = json.dumps(recorded["parsed_body"])
            data = body.encode() if isinstance(body, str) else body
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
            headers = (("content-type", row["content_type"] or ""),)
            yield row, sent, HttpResponse(row["status"], headers, data)


@pytest.fixture(scope="module")
def recorded() -> list[tuple[dict[str, Any], dict[str, Any], HttpResponse]]:
    return list(recordings())


def test_every_answer_decodes_without_a_fact_and_with_the_calls_that_the_manifest_counts(
    recorded: Any,
) -> None:
    assert recorded
    for row, _, response in recorded:
        turns = WIRE.decode(response)
        assert [fact for turn in turns for fact in turn.facts] == [], row["file"]
        if row["status"] == 200 and response.body:
            (turn,) = turns
            assert len(turn.calls) == row["n_tool_calls"], (row["file"], row["position"])
            assert WIRE.error_of(response) is None, row["file"]
        else:
            assert turns == (), row["file"]
            assert WIRE.error_of(response) or not response.body, row["file"]


def test_every_turn_can_be_said_again(recorded: Any) -> None:
    for row, _, response in recorded:
        for turn in WIRE.decode(response):
            body = WIRE.encode_turns([turn], model="m", losses=[])
            (again,) = WIRE.decode(HttpResponse(200, (), json.dumps(body).encode()))
            assert [p for p in again.parts if p not in again.calls] == [
                p for p in turn.parts if p not in turn.calls
            ], row["file"]
            assert (again.finish_reason, again.native_finish_reason, again.usage) == (
                turn.finish_reason,
                turn.native_finish_reason,
                turn.usage,
            ), row["file"]


def test_every_request_is_read_and_written_as_it_was(recorded: Any) -> None:
    for row, sent, response in recorded:
        if response.status == 200 and "messages" in sent:
            request = WIRE.decode_request(sent)
            written, losses = encode(request)
            assert losses == [], row["file"]
            assert WIRE.decode_request(written) == request, row["file"]
            assert plain(written | {"model": sent["model"]}) == plain(sent), row["file"]


def plain(value: Any) -> Any:
    """Without what says nothing: null, false flags, and the list around a single text block."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None and v is not False}
    if isinstance(value, list):
        single = value[0] if len(value) == 1 else None
        if isinstance(single, dict) and single.keys() == {"type", "text"}:
            return single["text"]
        return [plain(item) for item in value]
    return value


def test_the_official_sdk_assembles_every_stream_to_the_same_content(recorded: Any) -> None:
    pytest.importorskip("anthropic", reason="the anthropic SDK is not installed")
    from anthropic.lib.streaming._messages import accumulate_event

    compared = 0
    for row, _, response in recorded:
        if not row["stream"] or row["status"] != 200 or not response.body:
            continue
        snapshot: Any = None
        buffers: dict[int, bytes] = {}
        for event in parse_events(response.body).events:
            if event.name != "ping":
                data: Any = json.loads(event.data)
                snapshot = accumulate_event(event=data, current_snapshot=snapshot, json_bufs=buffers)
        (turn,) = WIRE.decode(response)
        text = "".join(block.text for block in snapshot.content if block.type == "text")
        calls = [(b.id, b.name, b.input) for b in snapshot.content if b.type == "tool_use"]
        assert (turn.text, snapshot.id) == (text, turn.id), row["file"]
        assert [(c.id, c.name, json.loads(c.arguments)) for c in turn.calls] == calls, row["file"]
        assert turn.usage is not None
        assert turn.usage.completion_tokens == snapshot.usage.output_tokens, row["file"]
        compared += 1
    assert compared > 20
