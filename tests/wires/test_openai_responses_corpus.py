"""Recorded Responses traffic of real providers, when the corpus lies beside the checkout."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from conformance.transport.sse import parse
from conformance.types import HttpResponse, Loss, ToolCall

from .responses_answers import WIRE, names, without_facts
from .test_corpus import CORPUS, _Loader

pytestmark = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(), reason="the corpus ../shared/corpus is not there"
)

Recorded = tuple[dict[str, Any], Any, HttpResponse]

SERVER_SIDE = "openai-apply-patch openai-local-shell openai-shell"
"""Fixtures whose calls are OpenAI's own tools: the manifest counts them, here they are no calls."""

JOINED = ("reasoning-encrypted-content", "openai-shell-tool", "openai-phase")
"""Fixtures that are no one stream: two responses in a row, and one with deltas cut out by hand."""

REFUSED = ("openai-client-tool-search",)
"""Streams of OpenAI's own that its SDK 3.x refuses: the call_id of a tool_search_call changes."""


def recordings() -> Iterator[Recorded]:
    """Every Responses exchange in four of the formats: its manifest line, its request body, its response."""
    by_file = defaultdict(list)
    for line in (CORPUS / "manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["wire"] == "openai-responses":
            by_file[row["file"]].append(row)
    for file, rows in by_file.items():
        data = (CORPUS / file).read_bytes()
        kind = rows[0]["format"]
        if kind == "sse-chunks":
            lines = [line for line in data.decode().splitlines() if line.strip()]
            yield rows[0], None, _response(rows[0], "".join(f"data: {line}\n\n" for line in lines).encode())
        elif kind == "sse-file":
            yield rows[0], None, _response(rows[0], data)
        elif kind == "httpmock-yaml":
            pairs = list(yaml.load_all(data, Loader=_Loader))
            for row in rows:
                then = pairs[row["position"]]["then"]
                if not then.get("body_encoding"):
                    yield (
                        row,
                        _json(pairs[row["position"]]["when"].get("body")),
                        _response(row, then.get("body")),
                    )
        elif kind == "vcr-yaml":
            interactions = yaml.load(data, Loader=_Loader)["interactions"]
            for row in rows:
                asked, told = (interactions[row["position"]][key] for key in ("request", "response"))
                body = told.get("body", {}).get("string", told.get("content"))
                sent = asked.get("body") or asked.get("parsed_body")
                yield (
                    row,
                    _json(sent),
                    _response(row, json.dumps(told["parsed_body"]) if body is None else body),
                )


def _response(row: dict[str, Any], body: Any) -> HttpResponse:
    data = body if isinstance(body, bytes) else (body or "").encode()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    return HttpResponse(row["status"], (("content-type", row["content_type"] or ""),), data)


def _json(body: Any) -> Any:
    try:
        return json.loads(body) if isinstance(body, str | bytes) else body
    except ValueError:
        return None


@pytest.fixture(scope="module")
def recorded() -> list[Recorded]:
    return list(recordings())


def test_the_reference_providers_own_traffic_decodes_without_a_fact(recorded: list[Recorded]) -> None:
    answers = [r for r in recorded if r[0]["host"] == "api.openai.com" and r[0]["fidelity"] == "wire"]
    assert len(answers) > 20
    for row, _, response in answers:
        turns = WIRE.decode(response)
        assert [names(turn) for turn in turns if turn.facts] == [], row["file"]
        assert bool(turns) == (row["status"] == 200 and bool(response.body)), row["file"]
        assert (WIRE.error_of(response) is None) == (row["status"] == 200), row["file"]


def test_every_answer_decodes_with_the_calls_that_the_manifest_counts(recorded: list[Recorded]) -> None:
    counted = 0
    for row, _, response in recorded:
        turns = WIRE.decode(response)
        assert (WIRE.error_of(response) is not None) or row["status"] == 200, row["file"]
        if row["n_tool_calls"] and not any(name in row["file"] for name in SERVER_SIDE.split()):
            counted += 1
            assert [len(turn.calls) for turn in turns] == [row["n_tool_calls"]], row["file"]
    assert counted > 30


def test_every_answer_can_be_said_again(recorded: list[Recorded]) -> None:
    for row, _, response in recorded:
        for turn in WIRE.decode(response):
            if turn.finish_reason is None or turn.usage is None:
                continue
            losses: list[Loss] = []
            body = WIRE.encode_turns([turn], model="m", losses=losses)
            (again,) = WIRE.decode(HttpResponse(200, (), json.dumps(body).encode()))
            assert [loss for loss in losses if not loss.path.startswith("/turns/0/usage")] == []
            assert replace(without_facts(again), usage=None) == replace(without_facts(turn), usage=None), row[
                "file"
            ]


def test_every_request_decodes_and_encodes_to_the_same(recorded: list[Recorded]) -> None:
    requests = [(row, body) for row, body, _ in recorded if isinstance(body, dict) and row["status"] == 200]
    assert len(requests) > 50
    for row, body in requests:
        request = WIRE.decode_request(body)
        losses: list[Loss] = []
        again = WIRE.decode_request(WIRE.encode(request, model="m", losses=losses))
        assert [loss for loss in losses if loss.path != "/max_tokens"] == [], row["file"]
        assert replace(again, max_tokens=None) == replace(request, max_tokens=None), row["file"]


def is_custom(call: ToolCall) -> bool:
    return bool((call.opaque or {}).get(WIRE.name, {}).get("item", {}).get("type"))


def assembled(response: HttpResponse) -> Any:
    """The SDK's final response of a stream; ``None`` when it has none."""
    from openai import omit
    from openai._models import construct_type
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in parse(response.body).events:
        if event.data != "[DONE]":
            state.handle_event(construct_type(type_=ResponseStreamEvent, value=json.loads(event.data)))
    return state._completed_response


def test_the_sdk_refuses_a_stream_of_its_own_provider_that_decodes_here(recorded: list[Recorded]) -> None:
    refused = [r for r in recorded if r[0]["streamed_body"] and any(name in r[0]["file"] for name in REFUSED)]
    assert refused
    for _, _, response in refused:
        (turn,) = WIRE.decode(response)
        assert (turn.facts, turn.finish_reason) == ((), "stop")
        with pytest.raises(RuntimeError, match="identity changed"):
            assembled(response)


def test_the_sdk_assembles_the_same_texts_and_calls(recorded: list[Recorded]) -> None:
    compared = 0
    for row, _, response in recorded:
        if (
            not row["streamed_body"]
            or not response.body
            or any(name in row["file"] for name in (*JOINED, *REFUSED))
        ):
            continue
        final = assembled(response)
        if final is None or not final.output:  # ChatGPT's Codex backend ends with an empty output
            continue
        compared += 1
        (turn,) = WIRE.decode(response)
        assert turn.text == final.output_text, row["file"]
        theirs = [(i.call_id, i.name, i.arguments) for i in final.output if i.type == "function_call"]
        ours = [(c.id, c.name, c.arguments) for c in turn.calls if not is_custom(c)]
        assert ours == theirs, row["file"]
    assert compared > 50
