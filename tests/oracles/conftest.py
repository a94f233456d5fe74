"""One simulator, one replay server and one client of each SDK for all the oracles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol

import pytest

from conformance.simulator import PERSONAS
from conformance.types import WireName

from . import spoken
from .anthropic_sdk import AnthropicSdk
from .chat_sdk import ChatSdk
from .gemini_sdk import GeminiSdk
from .ollama_sdk import OllamaSdk
from .oracle import Oracle, Told
from .replay import Replay, replaying
from .responses_sdk import ResponsesSdk
from .spoken import CLEAN, Simulated

KEY = PERSONAS[CLEAN].key


class Telling(Protocol):
    """What a scenario says over a wire, in the words of both; asked once."""

    def __call__(self, over: WireName, scenario: str, persona: str = CLEAN) -> tuple[Told, ...]: ...


@pytest.fixture(scope="session")
def simulated() -> Iterator[Simulated]:
    with spoken.simulated() as started:
        yield started


@pytest.fixture(scope="session")
def replay() -> Iterator[Replay]:
    with replaying() as started:
        yield started


@pytest.fixture(scope="session")
def oracle(replay: Replay) -> Iterator[Callable[[WireName], Oracle]]:
    """The oracle of a wire, its SDK imported when first asked for; none of them tries twice."""
    clients: list[Any] = []

    def client(module: str, make: str, **options: Any) -> Any:
        sdk = pytest.importorskip(module, reason=f"the official SDK is not installed: {module}")
        clients.append(getattr(sdk, make)(**options))
        return clients[-1]

    strictly: dict[str, Any] = {"api_key": KEY, "max_retries": 0, "_strict_response_validation": True}

    @cache
    def openai() -> Any:
        return client("openai", "OpenAI", base_url=f"{replay.origin}/v1", **strictly)

    @cache
    def of(over: WireName) -> Oracle:
        match over:
            case "openai-chat":
                return ChatSdk(openai())
            case "openai-responses":
                return ResponsesSdk(openai())
            case "anthropic-messages":
                return AnthropicSdk(client("anthropic", "Anthropic", base_url=replay.origin, **strictly))
            case "gemini":
                options = {
                    "base_url": replay.origin,
                    "api_version": "v1beta",
                    "retry_options": {"attempts": 1},
                }
                return GeminiSdk(
                    client("google.genai", "Client", api_key=KEY, vertexai=False, http_options=options)
                )
            case "ollama":
                headers = {"authorization": f"Bearer {KEY}"}
                return OllamaSdk(client("ollama", "Client", host=replay.origin, headers=headers))

    yield of
    for each in clients:
        if hasattr(each, "close"):
            each.close()


@pytest.fixture(scope="session")
def tell(simulated: Simulated, replay: Replay, oracle: Callable[[WireName], Oracle]) -> Telling:
    @cache
    def told(over: WireName, scenario: str, persona: str = CLEAN) -> tuple[Told, ...]:
        found: list[Told] = []
        for exchange, question in simulated.questions(scenario, over, persona):
            assert exchange.response is not None
            replay.load(exchange.response)
            theirs = oracle(over).ask(question)
            (sent,) = replay.heard
            found.append(Told(exchange, question, sent, theirs, oracle(over).unsaid(question)))
        return tuple(found)

    return told
