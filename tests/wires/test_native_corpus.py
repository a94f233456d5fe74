"""Recorded traffic of the Gemini and Ollama wires, when the corpus lies beside the checkout."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from conformance.types import Loss, ToolCall
from conformance.wires import wire

from .recordings import Recording, needs_corpus, recordings

pytestmark = needs_corpus

ODD = {
    # The recorder dropped the blank lines between the events.
    "dev/prism-php+prism/tests/Fixtures/gemini/stream-basic-text-1.sse",
    # The manifest counts pieces of calls.
    "dev/vercel+ai/packages/google/src/__fixtures__/google-stream-no-args-tool-call.chunks.txt",
    "dev/vercel+ai/packages/google/src/__fixtures__/google-stream-tool-call-arguments.chunks.txt",
}
EXPECTED_FACTS = {
    # A stream without alt=sse; a finishReason by number; a gateway's own member; arguments in pieces.
    "gemini": {"array-body", "finish-not-string", "snake-case", "partial-args"},
    "ollama": set(),
}
both = pytest.mark.parametrize("name", ["gemini", "ollama"])


@functools.cache
def recorded(name: str) -> list[Recording]:
    return [item for item in recordings(name) if item[3].body]


@both
def test_every_answer_decodes_with_the_calls_that_the_manifest_counts(name: Any) -> None:
    spoken = wire(name)
    assert len(recorded(name)) > 80
    for row, _, _, response in recorded(name):
        turns = spoken.decode(response)
        where = (row["file"], row["position"])
        assert {fact.name for turn in turns for fact in turn.facts} <= EXPECTED_FACTS[name], where
        if row["status"] != 200:
            assert turns == (), where
            assert spoken.error_of(response), where
        elif row["file"] not in ODD:
            assert turns, where
            assert spoken.error_of(response) is None, where
            assert sum(len(turn.calls) for turn in turns) == row["n_tool_calls"], where


@both
def test_every_request_is_read_and_said_again_without_losing_what_it_means(name: Any) -> None:
    spoken = wire(name)
    read = 0
    for row, url, body, _ in recorded(name):
        if body is None or not body.keys() & {"contents", "messages"}:
            continue
        read += 1
        request = spoken.decode_request(body, path=url)
        losses: list[Loss] = []
        again = spoken.encode(request, model="m", losses=losses)
        assert [loss for loss in losses if loss.weight == "meaning"] == [], row["file"]
        if not losses:
            assert spoken.decode_request(again, path=url) == request, row["file"]
    assert read > 60


def test_the_ollama_sdk_reads_the_same_text_thinking_and_calls() -> None:
    from ollama import ChatResponse

    spoken = wire("ollama")
    for row, _, _, response in recorded("ollama"):
        if row["status"] != 200:
            continue
        try:
            datas = [json.loads(response.body)]
        except ValueError:
            datas = [json.loads(line) for line in response.body.splitlines() if line.strip()]
        messages = [ChatResponse.model_validate(data).message for data in datas]
        (turn,) = spoken.decode(response)
        assert turn.text == "".join(message.content or "" for message in messages), row["file"]
        assert turn.reasoning == "".join(message.thinking or "" for message in messages), row["file"]
        theirs = [each.function for message in messages for each in message.tool_calls or ()]
        assert [(c.name, json.loads(c.arguments)) for c in turn.calls] == [
            (function.name, function.arguments) for function in theirs
        ], row["file"]


def test_the_gemini_sdk_reads_the_same_text_thoughts_and_calls() -> None:
    from google.genai import types

    spoken = wire("gemini")
    for row, _, _, response in recorded("gemini"):
        if row["status"] != 200 or not response.body.lstrip().startswith((b"{", b"[")):
            continue
        turns = spoken.decode(response)
        if "finish-not-string" in {fact.name for turn in turns for fact in turn.facts}:
            continue  # the SDK raises AttributeError for a finishReason by number
        value = json.loads(response.body)
        parts: dict[int, list[Any]] = {}
        for chunk in value if isinstance(value, list) else [value]:
            theirs = types.GenerateContentResponse._from_response(response=chunk, kwargs={})
            for position, candidate in enumerate(theirs.candidates or ()):
                said = (candidate.content.parts if candidate.content else None) or []
                parts.setdefault(candidate.index or position, []).extend(said)
        if not parts:
            continue  # a blocked prompt
        for turn, (_, said) in zip(turns, sorted(parts.items()), strict=True):
            texts = [(part.text or "", bool(part.thought)) for part in said]
            assert turn.text == "".join(text for text, thought in texts if not thought), row["file"]
            assert turn.reasoning == "".join(text for text, thought in texts if thought), row["file"]
            calls = [part for part in turn.parts if isinstance(part, ToolCall)]
            assert [(c.name, json.loads(c.arguments)) for c in calls] == [
                (part.function_call.name, part.function_call.args or {})
                for part in said
                if part.function_call
            ], row["file"]
