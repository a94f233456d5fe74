"""What is known of some providers: which reading they publish, and what answers of theirs always have.

A fixture that somebody wrote, or cut down, is a body in a folder that names a provider: nothing but the body
can say whether that provider sent it. What is said here of OpenAI and Azure holds of all 154 responses of
theirs in the development corpus whose recorder kept their heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.grade.recognise import Recognised
from conformance.grade.recorded import Recorded
from conformance.rules.reading import Reading
from conformance.types import Flavour

_READINGS: Mapping[str, Flavour] = {
    "openai": "openai",
    "azure": "openai",
    "azure-ai": "openai",
    "chatgpt-codex": "openai",
    "llama.cpp": "openai",
    "vllm": "openai",
}
"""The reading of Responses that a provider says it follows.

It is OpenAI's own service, and Azure's; llama.cpp (tools/server/README.md) and vLLM
(docs/serving/online_serving/responses_api.md) name it. Who names both readings, as mistral.rs does, or none
is held to the nearest.
"""

_ALWAYS = frozenset(
    {
        *("error", "incomplete_details", "instructions", "metadata", "parallel_tool_calls"),
        *("temperature", "tool_choice", "tools", "top_p"),
    }
)
"""Members of every response of OpenAI's and Azure's."""
_MANY = 3
"""So many of them are missing where somebody cut a response down; one or two may be a provider's fault."""

_OF_OPENAI = frozenset({"openai", "azure"})
_LIKE_OPENAI = _OF_OPENAI | {"openai-compatible"}
_EVENTS_LOOKED_AT = 4


def published_reading(providers: Iterable[str]) -> Flavour | None:
    """The reading that these all say they follow; ``None`` where one of them says none, or another."""
    readings = {_READINGS.get(provider) for provider in providers}
    return next(iter(readings)) if len(readings) == 1 else None


def not_as_sent(recorded: Recorded, reading: Reading, seen: Recognised) -> str | None:
    """Why a response is not as the provider sent it that its folder names; ``None`` where nothing says so.

    Where an address, a head or the answer itself says who answered, what is odd is the provider's doing.
    """
    if seen.wire != "openai-responses" or seen.told_by != "folder" or seen.provider not in _LIKE_OPENAI:
        return None
    if counted := _too_few_tokens(reading):
        return counted
    if seen.provider in _OF_OPENAI and "headers" not in recorded.kept:
        cut = any(len(_ALWAYS - told.keys()) >= _MANY for told in _responses(reading))
        return f"cut down by hand: members are missing that {seen.provider} always sends" if cut else None
    return None


def _responses(reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The response, as a whole or as the first events of a stream tell it."""
    values = [reading.body.value]
    if reading.stream is not None:
        payloads = list(reading.payloads.values())[:_EVENTS_LOOKED_AT]
        values = [one.value.get("response") for one in payloads if isinstance(one.value, dict)]
    yield from (value for value in values if isinstance(value, dict) and "output" in value)


def _too_few_tokens(reading: Reading) -> str | None:
    """That a response counts fewer tokens of its request than that has words: no token has two words."""
    asked = reading.asked
    usage: dict[str, Any] = next(
        (told["usage"] for told in _responses(reading) if isinstance(told.get("usage"), dict)), {}
    )
    tokens = usage.get("input_tokens")
    if not isinstance(asked, dict) or type(tokens) is not int or tokens <= 0 or asked.get("truncation"):
        return None
    words = sum(len(text.split()) for text in _texts(asked))
    if words <= tokens:
        return None
    return f"put together by hand: it counts {tokens} tokens of a request of {words} words"


def _texts(asked: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a request that no server leaves out: the instructions, and messages not of the model."""
    given = asked.get("input")
    yield from (text for text in (asked.get("instructions"), given) if isinstance(text, str))
    for item in given if isinstance(given, list) else ():
        if not isinstance(item, dict) or item.get("role") not in ("user", "system", "developer"):
            continue
        content = item.get("content")
        parts = content if isinstance(content, list) else ({"text": content},)
        texts = (part.get("text") for part in parts if isinstance(part, dict))
        yield from (text for text in texts if isinstance(text, str))
