"""What llama.cpp's server says over other wires than Chat, put right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.profiles.repairs import Frame, Repairer
from conformance.wires.body import compact, parse

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""Types of errors by status (Anthropic API reference, "Errors")."""
_WITH_LOGPROBS = ("response.output_text.delta", "response.output_text.done")


def error(status: int, document: Any) -> Any:
    """An error in the form of Messages; what has that form stays itself."""
    inner = document.get("error") if isinstance(document, dict) else None
    if not isinstance(inner, dict):
        return document
    formed = document.get("type") == "error" and isinstance(inner.get("type"), str) and "message" in inner
    if formed and (status not in _TYPES or inner["type"] == _TYPES[status]):
        return document
    told = {"type": _TYPES.get(status, "api_error"), "message": str(inner.get("message", ""))}
    return {"type": "error", "error": told}


def stopped(document: Any) -> Any:
    """A message that a stop sequence ended, saying so."""
    if not isinstance(document, dict) or not document.get("stop_sequence"):
        return document
    return {**document, "stop_reason": "stop_sequence"} if "stop_reason" in document else document


class MessagesStream:
    """Repairs one stream of Messages; a ``Repairer``."""

    def feed(self, frame: Frame) -> Sequence[Frame]:
        """Take the next event."""
        try:
            event = parse(frame.data)
        except ValueError:
            return (frame,)
        out = _event(event) if isinstance(event, dict) else event
        return (frame if out == event else Frame(compact(out), frame.name),)

    def finish(self, *, whole: bool) -> Sequence[Frame]:  # noqa: ARG002
        """Nothing is ever held."""
        return ()


def _event(event: dict[str, Any]) -> dict[str, Any]:
    block, delta = event.get("content_block"), event.get("delta")
    if isinstance(block, dict) and block.get("type") == "tool_use" and "input" not in block:
        return {**event, "content_block": {**block, "input": {}}}
    if event.get("type") == "message_delta" and isinstance(delta, dict):
        return {**event, "delta": stopped(delta)}
    return event


class Numbered:
    """Numbers the events of a Responses stream where they have no number; a ``Repairer`` behind another."""

    def __init__(self, inner: Repairer) -> None:
        self._inner = inner
        self._count = 0

    def feed(self, frame: Frame) -> Sequence[Frame]:
        """Take the next event."""
        return [self._numbered(one) for one in self._inner.feed(frame)]

    def finish(self, *, whole: bool) -> Sequence[Frame]:
        """The events that are left."""
        return [self._numbered(one) for one in self._inner.finish(whole=whole)]

    def _numbered(self, frame: Frame) -> Frame:
        try:
            event = parse(frame.data)
        except ValueError:
            return frame
        if not isinstance(event, dict) or not str(event.get("type")).startswith(("response.", "error")):
            return frame
        number, self._count = self._count, self._count + 1
        if event["type"] in _WITH_LOGPROBS and "logprobs" not in event:
            event = {**event, "logprobs": []}
        return (
            frame
            if "sequence_number" in event
            else Frame(compact({**event, "sequence_number": number}), frame.name)
        )
