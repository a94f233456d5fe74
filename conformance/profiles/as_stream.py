"""A whole answer told as a stream: for who asked for one where it had to be asked for whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.profiles.documents import REASONING
from conformance.profiles.profile import Asked
from conformance.profiles.repairs import Frame
from conformance.wires.body import compact

_ENVELOPE = ("id", "created", "model", "service_tier", "system_fingerprint")


def as_stream(document: Any, asked: Asked) -> tuple[Frame, ...] | None:
    """The events of a stream that says what a whole answer says; ``None`` for what is no whole answer."""
    if not isinstance(document, dict):
        return None
    if asked.wire == "openai-chat" and isinstance(document.get("choices"), list):
        return tuple(_chat(document, asked))
    if asked.wire == "anthropic-messages" and isinstance(document.get("content"), list):
        return tuple(_anthropic(document))
    return None


def _chat(document: dict[str, Any], asked: Asked) -> Iterator[Frame]:
    usage = {"usage": None} if asked.request.include_usage else {}
    head = {"object": "chat.completion.chunk"} | {k: document[k] for k in _ENVELOPE if k in document}

    def chunk(choices: list[Any], more: dict[str, Any]) -> Frame:
        return Frame(compact({**head, "choices": choices, **more}))

    for choice in document["choices"]:
        message, index = choice.get("message") or {}, choice.get("index", 0)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{key: message[key]} for key in (*REASONING, "content", "refusal") if message.get(key)]
        for number, call in enumerate(message.get("tool_calls") or ()):
            deltas.append({"tool_calls": [{"index": number, **call}]})
        for delta in deltas:
            yield chunk([{"index": index, "delta": delta, "logprobs": None, "finish_reason": None}], usage)
        reason = choice.get("finish_reason")
        yield chunk([{"index": index, "delta": {}, "logprobs": None, "finish_reason": reason}], usage)
    if asked.request.include_usage and isinstance(document.get("usage"), dict):
        yield chunk([], {"usage": document["usage"]})
    yield Frame("[DONE]")


def _anthropic(document: dict[str, Any]) -> Iterator[Frame]:
    def event(name: str, **more: Any) -> Frame:
        return Frame(compact({"type": name, **more}), name)

    counts = document.get("usage") if isinstance(document.get("usage"), dict) else {}
    start = {**document, "content": [], "stop_reason": None, "stop_sequence": None}
    yield event("message_start", message={**start, "usage": {**(counts or {}), "output_tokens": 0}})
    for index, block in enumerate(document["content"]):
        opened, deltas = _block(block)
        yield event("content_block_start", index=index, content_block=opened)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    ended = {key: document.get(key) for key in ("stop_reason", "stop_sequence")}
    written = (counts or {}).get("output_tokens", 0)
    yield event("message_delta", delta=ended, usage={"output_tokens": written})
    yield event("message_stop")


def _block(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A content block as it starts, and what is added to it then."""
    kind = block.get("type")
    if kind == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block.get("text", "")}]
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": block.get("thinking", "")}]
        if block.get("signature"):
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    if kind == "tool_use":
        piece = compact(block.get("input") or {})
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece}]
    return block, []
