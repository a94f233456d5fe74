"""Requests that Ollama refuses, and the shape of the refusal."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator

from .ollama_support import Ollama, called
from .support import user


@pytest.fixture(scope="module")
def ollama(simulator: Simulator, client: httpx.Client) -> Ollama:
    return Ollama(simulator, client)


def options(**members: Any) -> dict[str, Any]:
    return {"options": members}


def function(**members: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {"name": "f", **members}}]}


INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("no-model", {"model": None}, "model is required"),
    ("empty-model", {"model": ""}, "model is required"),
    ("model-type", {"model": 3}, "model"),
    ("messages-type", {"messages": "Hi"}, "messages"),
    ("message-type", {"messages": ["Hi"]}, "messages[0]"),
    ("role", {"messages": [{"role": "robot", "content": "Hi"}]}, "messages[0].role"),
    ("no-role", {"messages": [{"content": "Hi"}]}, "messages[0].role"),
    ("content-type", {"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
    ("content-parts", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content"),
    ("thinking-type", {"messages": [{"role": "assistant", "thinking": 7}]}, "messages[0].thinking"),
    ("image-type", {"messages": [{**user("Hi"), "images": [7]}]}, "messages[0].images"),
    ("image-url", {"messages": [{**user("Hi"), "images": ["https://example.com/a.png"]}]}, "illegal base64"),
    ("arguments-text", {"messages": [called("f", arguments="{}")]}, "tool_calls[0].function.arguments"),
    ("call-without-function", {"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "function"),
    ("stream-type", {"stream": "yes"}, "stream"),
    ("think-level", {"think": "enormous"}, 'invalid think value: "enormous"'),
    ("think-text", {"think": "true"}, 'invalid think value: "true"'),
    ("think-number", {"think": 1}, "invalid think value: 1"),
    ("keep-alive", {"keep_alive": "soon"}, 'invalid duration "soon"'),
    ("keep-alive-type", {"keep_alive": []}, "keep_alive"),
    ("format-word", {"format": "yaml"}, "invalid format"),
    ("format-type", {"format": 7}, "invalid format"),
    ("format-schema", {"format": {"type": "objekt"}}, "invalid JSON schema in format"),
    ("options-type", {"options": []}, "options"),
    ("temperature", options(temperature="hot"), 'option "temperature" must be of type float32'),
    ("num-predict", options(num_predict="ten"), 'option "num_predict" must be of type integer'),
    ("boolean-number", options(seed=True), 'option "seed" must be of type integer'),
    ("use-mmap", options(use_mmap=1), 'option "use_mmap" must be of type boolean'),
    ("stop-text", options(stop="x"), 'option "stop" must be of type array'),
    ("stop-numbers", options(stop=[1]), 'option "stop" must be of an array of strings'),
    ("tools-type", {"tools": {}}, "tools"),
    ("tool-without-function", {"tools": [{"type": "function"}]}, "tools[0].function"),
    ("tool-name", function(name=7), "tools[0].function.name"),
    ("tool-parameters", function(parameters="none"), "tools[0].function.parameters"),
    ("tool-required", function(parameters={"required": "a"}), "tools[0].function.parameters.required"),
    ("logprobs-type", {"logprobs": 2}, "logprobs"),
    ("top-logprobs", {"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ("too-long", {"messages": [user("x" * 600_000)]}, "context length"),
    ("longer-than-asked", {"messages": [user("x" * 100)], **options(num_ctx=8)}, "context length"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("members", "words"), [case[1:] for case in INVALID], ids=[case[0] for case in INVALID]
)
def test_what_is_wrong_is_told_in_a_text(ollama: Ollama, members: dict[str, Any], words: str) -> None:
    response = ollama.ask("Hi", **members)
    assert response.status_code == 400, response.text
    document = response.json()
    assert set(document) == {"error"}
    assert words in document["error"]


def test_a_prompt_is_cut_when_that_is_asked_for(ollama: Ollama) -> None:
    document = ollama.answer("x" * 100, options={"num_ctx": 8}, truncate=True)
    assert document["prompt_eval_count"] == 8


def test_another_model_is_not_found(ollama: Ollama) -> None:
    for response in (ollama.ask("Hi", model="nope"), ollama.post("/api/show", {"model": "nope"})):
        assert (response.status_code, response.json()) == (404, {"error": "model 'nope' not found"})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nope", 404),
        ("POST", "/api", 404),
        ("GET", "/api/chat", 405),
        ("POST", "/api/tags", 405),
        ("POST", "/api/show", 400),
    ],
)
def test_a_wrong_route_is_told_in_a_text(ollama: Ollama, method: str, path: str, status: int) -> None:
    response = ollama.get(path) if method == "GET" else ollama.post(path, {})
    assert response.status_code == status
    assert isinstance(response.json()["error"], str)


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b'{"messages":' + b"[" * 100_000, b'{"n":1e400}'])
def test_a_body_that_is_no_json_object_is_refused(ollama: Ollama, body: bytes) -> None:
    response = ollama.post("/api/chat", body)
    assert response.status_code == 400
    assert isinstance(response.json()["error"], str)


def test_a_schema_that_nothing_satisfies_is_refused(ollama: Ollama) -> None:
    response = ollama.ask("Hi", format={"type": "string", "pattern": "^(?!x)x$"})
    assert response.status_code == 400
    assert isinstance(response.json()["error"], str)
