"""Wire, provider and model are told by URL, headers, bodies; what is no traffic of a wire is left alone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.files import exchanges_of
from conformance.grade.providers import by_folder, by_url
from conformance.grade.recognise import Recognised, recognise
from conformance.grade.recorded import Recorded
from conformance.rules.reading import read
from conformance.types import WIRES, Exchange

from .recordings import EVENT_HEADERS, exchange, streamed
from .support import CORPUS, needs_corpus

CHAT = {"object": "chat.completion", "choices": [{"message": {"content": "Hi"}}], "model": "m-1"}
MESSAGE = {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn", "model": "m-2"}
GEMINI = {"candidates": [{"content": {"parts": []}}], "modelVersion": "m-3"}
OLLAMA = {"model": "m-4", "message": {"role": "assistant", "content": ""}, "done": True}
RESPONSE = {"object": "response", "model": "m-5", "output": []}


def seen(one: Exchange, file: str = "") -> Recognised:
    return recognise(read(0, one), file)


@pytest.mark.parametrize(
    ("url", "wire"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai-chat"),
        (
            "http://localhost:9126/vcr/azure_openai/openai/deployments/d/chat/completions?api-version=1",
            "openai-chat",
        ),
        ("<OLLAMA_API_BASE>/chat/completions", "openai-chat"),
        ("http://localhost:8787/openai/responses", "openai-responses"),
        ("http://localhost:3000/router/v2/anthropic/v1/messages", "anthropic-messages"),
        ("https://h/v1/projects/p/publishers/anthropic/models/claude:streamRawPredict", "anthropic-messages"),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "gemini"),
        ("http://127.0.0.1:11434/api/chat", "ollama"),
    ],
)
def test_the_end_of_the_path_tells_the_wire_whatever_stands_before_it(url: str, wire: str) -> None:
    assert seen(exchange(url, {"model": "m"}, {})).wire == wire


@pytest.mark.parametrize(
    ("answer", "wire"),
    [
        (CHAT, "openai-chat"),
        (RESPONSE, "openai-responses"),
        (MESSAGE, "anthropic-messages"),
        (GEMINI, "gemini"),
        ([GEMINI, GEMINI], "gemini"),
        (OLLAMA, "ollama"),
        (b'{"message": {}, "done": false}\n{"message": {}, "done": true}\n', "ollama"),
    ],
)
@pytest.mark.parametrize("url", ["", "https://gateway.example/v1/chat"])
def test_the_shape_of_the_answer_tells_it_where_the_path_does_not(url: str, answer: Any, wire: str) -> None:
    assert seen(exchange(url, {"messages": []}, answer)).wire == wire


@pytest.mark.parametrize(
    ("event", "wire"),
    [
        ({"object": "chat.completion.chunk", "choices": []}, "openai-chat"),
        ({"type": "response.created", "response": {}}, "openai-responses"),
        ({"type": "message_start", "message": {}}, "anthropic-messages"),
        ({"candidates": []}, "gemini"),
    ],
)
def test_the_first_events_of_a_stream_tell_it_too(event: Any, wire: str) -> None:
    assert seen(exchange("", None, streamed(event), headers=EVENT_HEADERS)).wire == wire


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (exchange("https://h/model/anthropic.claude/converse", {}, {}), "Bedrock: no such wire"),
        (exchange("", None, {"output": {"message": {}}, "stopReason": "end_turn"}), "Bedrock: no such wire"),
        (exchange("https://h/v2/chat", {}, {}), "Cohere: no such wire"),
        (exchange("https://h/v1/chat", {}, {"text": "Hi", "generation_id": "1"}), "Cohere: no such wire"),
        (exchange("https://h/v1/embeddings", {}, {}), "embeddings"),
        (exchange("https://h/v1beta/models/m:embedContent", {}, {}), "embeddings"),
        (exchange("", None, {"object": "list", "data": [{"embedding": [0.1]}]}), "embeddings"),
        (exchange("https://h/v1/images/generations", {}, {}), "pictures"),
        (exchange("https://h/v1/audio/speech", {}, b"RIFF"), "sound"),
        (exchange("https://h/v1/moderations", {}, {}), "moderation"),
        (exchange("https://h/v1/rerank", {}, {}), "ranking"),
        (exchange("https://h/v1/messages/count_tokens", {}, {}), "counting of tokens"),
        (exchange("https://h/v1beta/models/m:countTokens", {}, {}), "counting of tokens"),
        (exchange("https://h/v1/completions", {}, {}), "completion of plain text"),
        (exchange("https://h/api/generate", {}, {}), "completion of plain text"),
        (exchange("https://oauth2.googleapis.com/token", {}, {}), "credentials"),
        (exchange("https://h/v1/threads/t/messages", {}, {}), "stored things"),
        (exchange("https://h/v1/responses/resp_1", None, {}, method="GET"), "no chat: GET request"),
        (exchange("https://h/", None, b"<html>"), "nothing tells the wire: neither the path nor the answer"),
        (exchange("https://h/", None, None), "nothing tells the wire: no answer, and no path of one"),
    ],
)
def test_what_is_no_traffic_of_a_wire_is_called_by_its_name_and_left_alone(one: Exchange, why: str) -> None:
    assert (seen(one).wire, seen(one).why) == (None, why)


@pytest.mark.parametrize(
    ("one", "wire"),
    [
        (exchange("https://h/v1/models", None, {"object": "list", "data": []}, method="GET"), "openai-chat"),
        (
            exchange("https://h/v1/models/m", None, {"object": "model", "id": "m"}, method="GET"),
            "openai-chat",
        ),
        (
            exchange("https://h/v1/models", None, {"data": [], "has_more": False}, method="GET"),
            "anthropic-messages",
        ),
        (exchange("https://h/v1beta/models", None, {"models": []}, method="GET"), "gemini"),
        (exchange("http://h/api/tags", None, {"models": []}, method="GET"), "ollama"),
        (exchange("http://h/api/show", {"model": "m"}, {}), "ollama"),
    ],
)
def test_lists_of_models_are_judged_over_the_wire_of_their_shape(one: Exchange, wire: str) -> None:
    assert seen(one).wire == wire


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1/responses", "openai"),
        ("https://my-resource.openai.azure.com/openai/deployments/d/chat/completions", "azure"),
        ("https://us-east5-aiplatform.googleapis.com/v1/projects/p", "google-vertex"),
        ("https://bedrock-mantle.us-east-1.api.aws/v1/responses", "bedrock-mantle"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", "bedrock"),
        ("http://127.0.0.1:11434/v1/chat/completions", "ollama"),
        ("http://localhost:9126/vcr/openai/v1/chat/completions", "openai"),
        ("http://localhost:3000/router/v2/openai/v1/responses", "mirascope-router"),
        ("https://notopenrouter.ai.example/v1", None),
        ("http://[broken", None),
        ("", None),
    ],
)
def test_an_address_tells_the_provider(url: str, provider: str | None) -> None:
    assert by_url(url) == provider


@pytest.mark.parametrize(
    ("headers", "answer", "provider"),
    [
        ((("x-litellm-version", "1"), ("openai-processing-ms", "9")), CHAT, "litellm-proxy"),
        ((("openai-processing-ms", "9"),), CHAT, "openai"),
        ((("apim-request-id", "1"), ("openai-processing-ms", "9")), CHAT, "azure"),
        ((("Server", "llama.cpp"),), CHAT, "llama.cpp"),
        ((), CHAT | {"x_groq": {}}, "groq"),
        ((), CHAT | {"system_fingerprint": "fp_ollama"}, "ollama"),
        ((), CHAT | {"system_fingerprint": "b1234-abcdef0"}, "llama.cpp"),
        ((), CHAT | {"id": "gen-1764000000-abc"}, "openrouter"),
        ((), CHAT | {"usage": {"prompt_cache_hit_tokens": 0}}, "deepseek"),
        ((), CHAT, "unknown"),
        ((), MESSAGE, "anthropic"),
    ],
)
def test_where_the_address_hides_it_headers_and_answers_tell_the_provider(
    headers: tuple[tuple[str, str], ...], answer: Any, provider: str
) -> None:
    assert seen(exchange("http://proxy:4000/x", {}, answer, headers=headers)).provider == provider


def test_the_folders_of_a_file_name_the_provider_where_nothing_else_does() -> None:
    assert (
        seen(exchange("/v1/chat/completions", {}, CHAT), "cassettes/mistral/a/b.yaml").provider == "mistral"
    )
    told = exchange("/v1/chat/completions", {}, CHAT | {"x_groq": {}})
    assert seen(told, "cassettes/mistral/b.yaml").provider == "groq"
    assert by_folder("mistral.yaml") is None
    assert by_folder("cassettes/openai/openai_compatible/a.yaml") == "openai-compatible"


@pytest.mark.parametrize(
    ("url", "headers", "answer", "file", "told_by"),
    [
        ("https://api.openai.com/v1/chat/completions", (), CHAT, "groq/a.yaml", "address"),
        ("/chat/completions", (("openai-processing-ms", "1"),), CHAT, "groq/a.yaml", "headers"),
        ("/chat/completions", (), CHAT | {"x_groq": {}}, "mistral/a.yaml", "answer"),
        ("/chat/completions", (), CHAT, "mistral/a.yaml", "folder"),
        ("/chat/completions", (), CHAT, "a.yaml", "nothing"),
        ("/v1/messages", (), MESSAGE, "a.yaml", "wire"),
    ],
)
def test_what_tells_the_provider_is_told_beside_it(
    url: str, headers: tuple[tuple[str, str], ...], answer: Any, file: str, told_by: str
) -> None:
    assert seen(exchange(url, {}, answer, headers=headers), file).told_by == told_by


OPENAIS = CHAT | {"id": "chatcmpl-BbtVwN51duOFNOyEf2i3hgSDTxwYy", "model": "gpt-4.1-nano"}


@pytest.mark.parametrize(
    ("headers", "answer", "provider"),
    [
        ((), OPENAIS, "openai"),
        ((("server", "cloudflare"),), OPENAIS, "openai"),
        ((("server", "uvicorn"),), OPENAIS, "unknown"),
        ((), OPENAIS | {"model": "Qwen/Qwen3-8B"}, "unknown"),
        ((), OPENAIS | {"model": "llama-cpp-reasoning-model"}, "unknown"),
        ((), OPENAIS | {"model": "/models/qwen.gguf"}, "unknown"),
        ((), OPENAIS | {"id": "chatcmpl-3e6faa47f0544175bf304610bb1d4525"}, "unknown"),
        ((), OPENAIS | {"choices": [{"message": {"reasoning_content": "Hm"}}]}, "unknown"),
        ((), OPENAIS | {"choices": [{"message": {"content": "Hi"}, "stop_reason": None}]}, "unknown"),
        ((), RESPONSE | {"model": "gemma-3"}, "unknown"),
    ],
)
def test_a_folder_called_openai_is_not_believed_of_an_answer_that_openai_never_sends(
    headers: tuple[tuple[str, str], ...], answer: Any, provider: str
) -> None:
    assert seen(exchange("", {}, answer, headers=headers), "cassettes/openai/a.yaml").provider == provider


@needs_corpus
def test_no_answer_that_openai_itself_sent_looks_like_another_servers() -> None:
    files = (CORPUS / "dev" / "DataDog+dd-trace-py").rglob("*.yaml")
    ours = [
        found
        for file in files
        for one in exchanges_of(file)
        if isinstance(one, Recorded) and by_url(one.exchange.request.url) == "openai"
        if (found := replace(one.exchange, request=replace(one.exchange.request, url="")))
    ]
    named = {seen(one, "openai/a.yaml").provider for one in ours if seen(one).wire is not None}
    assert named == {"openai"}


def test_the_last_event_of_a_stream_may_tell_the_provider_too() -> None:
    chunks = [{"object": "chat.completion.chunk", "choices": [{"delta": {"content": "a"}}]}] * 40
    last = {"object": "chat.completion.chunk", "choices": [], "usage": {"num_sources_used": 0}}
    one = exchange("", {}, streamed(*chunks, last), headers=EVENT_HEADERS)
    assert seen(one, "openai-compatible/a.txt").provider == "xai"


@pytest.mark.parametrize(
    ("one", "model"),
    [
        (exchange("/v1/chat/completions", {"model": "asked"}, CHAT), "asked"),
        (exchange("/v1beta/models/in%2Dpath:generateContent", {}, GEMINI), "in-path"),
        (exchange("/openai/deployments/mine/chat/completions", {}, CHAT), "m-1"),
        (exchange("/openai/deployments/mine/chat/completions", {}, {}), "mine"),
        (exchange("", None, GEMINI), "m-3"),
        (exchange("", None, streamed({"type": "message_start", "message": {"model": "s"}})), "s"),
        (exchange("/v1/chat/completions", {"model": 7}, {}), ""),
    ],
)
def test_the_model_is_the_one_asked_for_else_the_one_that_answered(one: Exchange, model: str) -> None:
    assert seen(one).model == model


@pytest.mark.parametrize("wire", WIRES)
def test_a_wire_that_is_known_is_taken_as_it_is(wire: Any) -> None:
    assert recognise(read(0, exchange("/v1/embeddings", {}, {})), "", wire).wire == wire


@given(
    url=st.text(max_size=60),
    asked=st.binary(max_size=60),
    answer=st.binary(max_size=60),
    status=st.integers(100, 599),
)
def test_nothing_that_is_recorded_makes_it_raise(url: str, asked: bytes, answer: bytes, status: int) -> None:
    found = seen(exchange(url, asked, answer, status=status), url)
    assert found.provider
    assert (found.wire is None) == bool(found.why)


OTHERS = {"bedrock": "Bedrock", "other": "Cohere"}
"""The manifest's words for wires that we have none for."""
THEIRS = {
    "google": "google-gemini",
    "vertex": "google-vertex",
    "azure-openai": "azure",
    "llamacpp": "llama.cpp",
}
"""The manifest's words for providers that the quirk catalogue calls otherwise."""


@needs_corpus
def test_every_exchange_of_the_corpus_goes_over_the_wire_that_its_manifest_says() -> None:
    rows = {}
    for line in (CORPUS / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        rows[row["file"], row["position"]] = row
    wrong: list[Any] = []
    providers: Counter[bool] = Counter()
    for file in dict.fromkeys(file for file, _ in rows):
        for one in exchanges_of(CORPUS / file):
            row = rows.get((file, one.position)) if one.position is not None else None
            if row is None or not isinstance(one, Recorded):
                continue
            found = recognise(read(0, one.exchange), file)
            other = OTHERS.get(row["wire"])
            agrees = found.wire == row["wire"] if other is None else found.wire is None
            wrong += [] if agrees else [(file, one.position, row["wire"], found)]
            providers[found.provider == THEIRS.get(row["provider"], row["provider"])] += 1
    assert wrong == []
    # Of the rest, one half has no host, header or folder that tells; the other half went through a gateway on
    # the recorder's own machine, of which only the port tells.
    assert providers[False] / providers.total() < 0.015
