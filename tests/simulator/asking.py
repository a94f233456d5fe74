"""One question over each wire, through its official SDK and as plain HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator
from conformance.types import WireName

PROMPT = "[[plain]]"
KEY = "sk-reference"
HANG_S = 0.5
"""How long an SDK waits for what never comes."""
WAIT_S = 20.0

_MESSAGES = [{"role": "user", "content": PROMPT}]
_CONTENTS = [{"role": "user", "parts": [{"text": PROMPT}]}]
_BODIES: Mapping[WireName, Any] = {
    "openai-chat": {"model": "reference", "messages": _MESSAGES},
    "openai-responses": {"model": "reference", "input": PROMPT},
    "anthropic-messages": {"model": "reference", "max_tokens": 999, "messages": _MESSAGES},
    "gemini": {"contents": _CONTENTS},
    "ollama": {"model": "reference", "messages": _MESSAGES},
}
_PATHS: Mapping[WireName, str] = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic-messages": "/v1/messages",
    "gemini": "/v1beta/models/reference:generateContent",
    "ollama": "/api/chat",
}
_BEARER = {"authorization": f"Bearer {KEY}"}
_HEADERS: Mapping[WireName, Mapping[str, str]] = {
    "openai-chat": _BEARER,
    "openai-responses": _BEARER,
    "anthropic-messages": {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
    "gemini": {"x-goog-api-key": KEY},
    "ollama": {},
}


def post(client: httpx.Client, simulator: Simulator, persona: str, wire: WireName, stream: bool) -> Any:
    """The request, to be used as a context; its answer is not read yet."""
    body, path = dict(_BODIES[wire]), _PATHS[wire]
    if wire == "gemini":
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse") if stream else path
    else:
        body["stream"] = stream
    if wire == "openai-chat" and stream:
        body["stream_options"] = {"include_usage": True}
    return client.stream("POST", simulator.base_url(persona, wire) + path, json=body, headers=_HEADERS[wire])


def received(client: httpx.Client, simulator: Simulator, persona: str, wire: WireName, stream: bool) -> Any:
    """The answer, read."""
    with post(client, simulator, persona, wire, stream) as response:
        response.read()
    return response


# ---------------------------------------------------------------------------------------------- SDKs


@cache
def _openai_client() -> Any:
    return pytest.importorskip("openai").OpenAI(base_url="http://127.0.0.1", api_key=KEY, max_retries=0)


@cache
def _anthropic_client() -> Any:
    return pytest.importorskip("anthropic").Anthropic(base_url="http://127.0.0.1", api_key=KEY, max_retries=0)


def _chat(simulator: Simulator, persona: str, stream: bool, wait_s: float) -> str:
    client = _openai_client().with_options(base_url=simulator.base_url(persona), timeout=wait_s)
    answered = client.chat.completions.create(model="reference", messages=_MESSAGES, stream=stream)
    if not stream:
        return str(answered.choices[0].message.content)
    return "".join(chunk.choices[0].delta.content or "" for chunk in answered if chunk.choices)


def _responses(simulator: Simulator, persona: str, stream: bool, wait_s: float) -> str:
    url = simulator.base_url(persona, "openai-responses")
    client = _openai_client().with_options(base_url=url, timeout=wait_s)
    if not stream:
        return str(client.responses.create(model="reference", input=PROMPT).output_text)
    with client.responses.stream(model="reference", input=PROMPT) as events:
        return str(events.get_final_response().output_text)


def _anthropic(simulator: Simulator, persona: str, stream: bool, wait_s: float) -> str:
    url = simulator.base_url(persona, "anthropic-messages")
    client = _anthropic_client().with_options(base_url=url, timeout=wait_s)
    asked = {"model": "reference", "max_tokens": 999, "messages": _MESSAGES}
    if not stream:
        return str(client.messages.create(**asked).content[0].text)
    with client.messages.stream(**asked) as events:
        return str(events.get_final_message().content[0].text)


def _gemini(simulator: Simulator, persona: str, stream: bool, wait_s: float) -> str:
    genai = pytest.importorskip("google.genai")
    options = {"base_url": simulator.base_url(persona, "gemini"), "timeout": int(wait_s * 1000)}
    client = genai.Client(api_key=KEY, vertexai=False, http_options=options)
    asked = {"model": "reference", "contents": PROMPT}
    try:
        if not stream:
            return str(client.models.generate_content(**asked).text)
        return "".join(chunk.text or "" for chunk in client.models.generate_content_stream(**asked))
    finally:
        client.close()


def _ollama(simulator: Simulator, persona: str, stream: bool, wait_s: float) -> str:
    ollama = pytest.importorskip("ollama")
    client = ollama.Client(host=simulator.base_url(persona, "ollama"), timeout=wait_s)
    answered = client.chat("reference", _MESSAGES, stream=stream)
    return "".join(one.message.content for one in answered) if stream else str(answered.message.content)


SDKS: Mapping[WireName, Callable[[Simulator, str, bool, float], str]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
}


def outcome(simulator: Simulator, persona: str, wire: WireName, stream: bool, wait_s: float = WAIT_S) -> str:
    """The text that the SDK of the wire makes of the answer, or the name of what it raises."""
    try:
        return SDKS[wire](simulator, persona, stream, wait_s)
    except Exception as raised:
        return type(raised).__name__
