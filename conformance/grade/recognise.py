"""Over which wire an exchange went, with whom, about which model: told by URL, headers and bodies.

Gateways, proxies and test agents hide the host, so a wire is told by the end of the path, or else by the
shape of the answer or the request. What is no traffic of a wire here is called by its name and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from conformance.grade.providers import ToldBy, provider_of
from conformance.rules.reading import Reading, read_json
from conformance.types import WireName

NO_WIRE = "no such wire"
_FIRST_LINE = 1024 * 1024  # bytes
_EVENTS_LOOKED_AT = 8
_LAST_EVENTS = 2


@dataclass(frozen=True, slots=True)
class Recognised:
    """What an exchange is. ``wire`` is ``None`` where it goes over none of ours: ``why`` says what it is.

    ``provider`` is the name of the provider or server program, ``unknown`` where nothing tells; ``model`` is
    the one asked for, else the one that answered, ``""`` where neither was said. ``told_by`` is what tells
    the provider.
    """

    wire: WireName | None
    why: str
    provider: str
    model: str
    told_by: ToldBy


_ENDS: tuple[tuple[str, WireName | None, str], ...] = (
    (r"/chat/completions$", "openai-chat", ""),
    (r"/responses$", "openai-responses", ""),
    (r"/threads/[^/]+/messages$", None, "stored things"),
    (r"/messages$", "anthropic-messages", ""),
    (r"/publishers/anthropic/models/[^/]+:(?:streamRawPredict|rawPredict)$", "anthropic-messages", ""),
    (r"/publishers/[^/]+/models/[^/]+:(?:streamRawPredict|rawPredict)$", "openai-chat", ""),
    (r":(?:streamGenerateContent|generateContent)$", "gemini", ""),
    (r"/api/chat$", "ollama", ""),
    (r"/(?:count_tokens|input_tokens)$|:countTokens$|/tokenize$", None, "counting of tokens"),
    (r"/embed(?:dings?)?$|:(?:batchE|e)mbedContents?$|/feature-extraction$", None, "embeddings"),
    (r"/images?/(?:generations|edits|variations)$", None, "pictures"),
    (r"/audio/(?:speech|transcriptions|translations)$", None, "sound"),
    (r"/moderations$", None, "moderation"),
    (r"/rerank$", None, "ranking"),
    (r"/agents/completions$", None, f"an agent kept by the provider: {NO_WIRE}"),
    (r"/completions$|/api/generate$|:predict$|/generate$", None, "completion of plain text"),
    (r"/model/[^/]+/(?:converse|invoke)[a-z-]*$", None, f"Bedrock: {NO_WIRE}"),
    (r"/v2/chat$", None, f"Cohere: {NO_WIRE}"),
    (r"/realtime\b", None, f"realtime sessions: {NO_WIRE}"),
    (r"/responses/[^/]+(?:/[a-z_]+)?$", None, "a stored response asked for again"),
    (r"/(?:files|batches|uploads|fine_tuning|vector_stores|threads|assistants)\b", None, "stored things"),
    (r"/(?:oauth2?|token|login)\b", None, "credentials"),
)
"""Ends of paths, in the order they are asked, with the wire or what else goes there."""
_BY_PATH = tuple((re.compile(pattern), wire, why) for pattern, wire, why in _ENDS)

_LISTINGS = re.compile(r"/(?:models|api/tags|api/show)(?:/[^?]*)?$")

_OBJECTS: Mapping[str, WireName] = {
    "chat.completion": "openai-chat",
    "chat.completion.chunk": "openai-chat",
    "response": "openai-responses",
}
_MODEL_IN_PATH = re.compile(r"/models/([^/:]+)")
_DEPLOYMENT = re.compile(r"/deployments/([^/:]+)")
_ANTHROPIC_EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
)
_BEDROCK_EVENTS = frozenset({"messageStart", "contentBlockDelta", "contentBlockStart", "messageStop"})


def recognise(reading: Reading, file: str = "", wire: WireName | None = None) -> Recognised:
    """What the exchange is; a ``wire`` that is known already is taken as it is.

    The folders of its ``file`` may name the provider where nothing in the exchange does.
    """
    answers = tuple(answers_of(reading))
    found, why = (wire, "") if wire is not None else _wire(reading, answers)
    provider, told_by = provider_of(reading, answers, found, file)
    return Recognised(found, why, provider, _model(reading, answers), told_by)


def _wire(reading: Reading, answers: tuple[Mapping[str, Any], ...]) -> tuple[WireName | None, str]:
    request = reading.exchange.request
    path = reading.path
    if _LISTINGS.search(path) and request.method.upper() in ("GET", "HEAD", "POST"):
        listed = _listing(reading, answers)
        if listed is not None:
            return listed, ""
    shape = _shape_of(answers)
    if path and request.method.upper() not in ("POST", ""):
        return None, f"no chat: {request.method.upper()[:10]} request"
    for pattern, wire, why in _BY_PATH:
        if pattern.search(path):
            return wire, why
    if shape is not None:
        return shape
    asked = _asked_shape(reading.asked)
    if asked is not None and path:
        return asked, ""
    return None, _nothing(reading)


def _nothing(reading: Reading) -> str:
    response = reading.exchange.response
    if response is None or not response.body.strip():
        return "nothing tells the wire: no answer, and no path of one"
    return "nothing tells the wire: neither the path nor the answer"


def _listing(reading: Reading, answers: tuple[Mapping[str, Any], ...]) -> WireName | None:
    """The wire of a list of models, or of one model, by its shape; ``None`` where it is none."""
    if reading.path.endswith(("/api/tags", "/api/show")):
        return "ollama"
    if reading.exchange.request.method.upper() == "POST":
        return None
    headers = {name.lower() for name, _ in reading.exchange.request.headers}
    value = answers[0] if answers else {}
    if "anthropic-version" in headers or "has_more" in value or value.get("type") == "model":
        return "anthropic-messages"
    if "models" in value or "supportedGenerationMethods" in value or "x-goog-api-key" in headers:
        return "gemini"
    if value.get("object") in ("list", "model") or "data" in value or "error" in value:
        return "openai-chat"
    return None


def _shape_of(answers: tuple[Mapping[str, Any], ...]) -> tuple[WireName | None, str] | None:
    """The wire that answers of this shape come over, or what else they are; ``None`` where that is open."""
    for one in answers:
        found = _shape(one)
        if found is not None:
            return found
    return None


def _shape(one: Mapping[str, Any]) -> tuple[WireName | None, str] | None:
    kind, of = one.get("type"), one.get("object")
    wire: WireName | None = _OBJECTS.get(of) if isinstance(of, str) else None
    choices = one.get("choices")
    if isinstance(choices, list) and any(isinstance(c, dict) and "text" in c for c in choices):
        return None, "completion of plain text"
    if wire is None and isinstance(choices, list) and not isinstance(kind, str):
        wire = "openai-chat"
    if isinstance(kind, str):
        if kind.startswith("response."):
            wire = "openai-responses"
        elif kind in _ANTHROPIC_EVENTS or (kind == "message" and "stop_reason" in one):
            wire = "anthropic-messages"
    if wire is None and ("candidates" in one or "promptFeedback" in one or "usageMetadata" in one):
        wire = "gemini"
    if wire is None and "done" in one and "message" in one:
        wire = "ollama"
    if wire is not None:
        return wire, ""
    return _foreign(one)


def _foreign(one: Mapping[str, Any]) -> tuple[None, str] | None:
    """What an answer is that goes over none of our wires, where that is known."""
    if not _BEDROCK_EVENTS.isdisjoint(one) or ("stopReason" in one and "output" in one):
        return None, f"Bedrock: {NO_WIRE}"
    if "generation_id" in one or ("finish_reason" in one and isinstance(one.get("message"), dict)):
        return None, f"Cohere: {NO_WIRE}"
    if isinstance(one.get("type"), str) and str(one["type"]).startswith(("message-", "content-", "tool-")):
        return None, f"Cohere: {NO_WIRE}"
    if "embedding" in one or "embeddings" in one:
        return None, "embeddings"
    if "done" in one and "response" in one:
        return None, "completion of plain text"
    data = one.get("data")
    if isinstance(data, list) and data and isinstance(data[0], dict):
        if "embedding" in data[0]:
            return None, "embeddings"
        if "b64_json" in data[0] or "url" in data[0]:
            return None, "pictures"
    return None


def _asked_shape(asked: Any) -> WireName | None:
    """The wire of a request to a path that nobody knows, where its shape leaves no choice."""
    if not isinstance(asked, dict):
        return None
    if isinstance(asked.get("contents"), list):
        return "gemini"
    if isinstance(asked.get("messages"), list) and "anthropic_version" in asked:
        return "anthropic-messages"
    if isinstance(asked.get("input"), list | str) and (
        "instructions" in asked or "max_output_tokens" in asked
    ):
        return "openai-responses"
    return None


def answers_of(reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The objects that an answer begins with: the body, the first of its items, lines or events.

    The last events of a stream come too: some say only there whose they are.
    """
    value = reading.body.value
    if reading.stream is not None:
        payloads = list(reading.payloads.values())
        seen = payloads[:_EVENTS_LOOKED_AT] + payloads[_EVENTS_LOOKED_AT:][-_LAST_EVENTS:]
        yield from (one.value for one in seen if isinstance(one.value, dict))
    elif isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        yield from (one for one in value[:_EVENTS_LOOKED_AT] if isinstance(one, dict))
    elif reading.exchange.response is not None:
        head = reading.exchange.response.body[:_FIRST_LINE]
        for line in head.split(b"\n", _EVENTS_LOOKED_AT)[:_EVENTS_LOOKED_AT]:
            if line.lstrip().startswith(b"{"):
                first = read_json(line).value
                if isinstance(first, dict):
                    yield first


def _model(reading: Reading, answers: tuple[Mapping[str, Any], ...]) -> str:
    asked, path = reading.asked, _path(reading.exchange.request.url)
    if isinstance(asked, dict) and isinstance(asked.get("model"), str) and asked["model"]:
        return _clipped(asked["model"])
    # Azure's deployments have names of their users' making: what answered says more.
    named = (_MODEL_IN_PATH.search(path), next(_models_of(answers), None), _DEPLOYMENT.search(path))
    first = next((one for one in named if one), "")
    return _clipped(first if isinstance(first, str) else unquote(first[1]))


def _models_of(answers: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for one in answers:
        places: tuple[Any, ...] = (one, one.get("message"), one.get("response"))
        for place in places:
            if isinstance(place, dict):
                names = (place.get(name) for name in ("model", "modelVersion"))
                yield from (name for name in names if isinstance(name, str) and name)


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _clipped(name: str) -> str:
    return name if len(name) <= 200 else name[:199] + "…"
