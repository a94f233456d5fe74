"""Streams that go wrong as a sequence of events, in the words of their wire.

Whole answers stay as they are, and so does Gemini's stream that is one JSON array.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from conformance.simulator.answer import Action, Actions, Bytes, Event, Line, Pause, refusal
from conformance.simulator.broken_transport import Change, in_bytes
from conformance.simulator.front import Front

_MOST_ACTIONS = 100_000
_REPEAT_S = 0.001
_ENDS = frozenset({"message_delta", "response.completed", "response.incomplete", "response.failed"})
"""Types of the events that say how a stream of Anthropic's, or of responses, ended."""
_COUNTS = ("prompt_eval_count", "eval_count")


def document_of(action: Action) -> dict[str, Any] | None:
    """The JSON object that an action sends, if it is one of a stream's."""
    data = action.data if isinstance(action, (Event, Line)) else None
    return data if isinstance(data, dict) else None


def _is_end(document: Mapping[str, Any]) -> bool:
    """Whether the document says why an answer, or a choice of it, is over."""
    choices = document.get("choices") or document.get("candidates") or ()
    return (
        document.get("type") in _ENDS
        or document.get("done") is True
        or any(choice.get("finish_reason") or choice.get("finishReason") for choice in choices)
    )


# --------------------------------------------------------------------------------------------- events


def without_finish(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The stream ends, in good order, before the event that says why."""
    for action in actions:
        document = document_of(action)
        if document is not None and _is_end(document):
            return
        yield action


def without_done(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The stream has no ``[DONE]``."""
    return (action for action in actions if action != Event("[DONE]"))


def with_error(actions: Actions, front: Front) -> Iterator[Action]:
    """In the middle of the stream comes an error, and it is over."""
    given = list(islice(actions, _MOST_ACTIONS))
    told = sum(document_of(action) is not None for action in given)
    sent = 0
    for action in given:
        yield action
        sent += document_of(action) is not None
        if told and sent == max(1, told // 2):
            yield _error(action, front, sent)
            return


def _error(after: Action, front: Front, number: int) -> Action:
    """The error event of the wire (of a stream's line, where it has lines)."""
    worded = front.refused(refusal("The server failed.", status=500, kind="server_error"))
    if isinstance(after, Line):
        return Line(worded.document)
    if front.wire == "openai-responses":
        error = {"code": "server_error", "message": worded.document["error"]["message"], "param": None}
        return Event({"type": "error", "sequence_number": number, **error}, "error")
    return Event(worded.document, "error" if front.wire == "anthropic-messages" else None)


def endless(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """The first event that says something is said again and again."""
    for action in actions:
        yield action
        while _says_something(document_of(action) or {}):
            yield Pause(_REPEAT_S)
            yield action


def _says_something(document: Mapping[str, Any]) -> bool:
    choices = document.get("choices") or ()
    candidates = document.get("candidates") or ()
    return (
        any(choice["delta"].get("content") for choice in choices)
        or any(part.get("text") for one in candidates for part in one.get("content", {}).get("parts", ()))
        or (document.get("done") is False and bool(document["message"].get("content")))
        or document.get("type") in ("response.output_text.delta", "content_block_delta")
    )


# ---------------------------------------------------------------------------------------------- usage


def usage_late(actions: Actions, front: Front) -> Actions:  # noqa: ARG001
    """The usage comes last, behind what says that the stream is over."""
    given = list(islice(actions, _MOST_ACTIONS))
    at = _last_usage(given)
    if at is None:
        return given
    told, uncounted = _told(given[at]), _uncounted(given[at])
    return [*given[:at], *([] if uncounted is None else [uncounted]), *given[at + 1 :], told]


def usage_twice(actions: Actions, front: Front) -> Actions:  # noqa: ARG001
    """The usage is said once more, right behind itself."""
    given = list(islice(actions, _MOST_ACTIONS))
    at = _last_usage(given)
    return given if at is None else [*given[: at + 1], _told(given[at]), *given[at + 1 :]]


def _last_usage(given: list[Action]) -> int | None:
    counted = [number for number, action in enumerate(given) if _has_usage(document_of(action) or {})]
    return counted[-1] if counted else None


def _has_usage(document: Mapping[str, Any]) -> bool:
    response = document.get("response")
    return bool(
        document.get("usage")
        or document.get("usageMetadata")
        or document.get(_COUNTS[0]) is not None
        or (isinstance(response, dict) and response.get("usage"))
    )


def _told(action: Action) -> Action:
    """The event with its usage and nothing else that it says."""
    return _with_document(action, _only_usage(document_of(action) or {}))


def _only_usage(document: dict[str, Any]) -> dict[str, Any]:
    if document.get("type") == "message_delta":
        return {**document, "delta": {"stop_reason": None, "stop_sequence": None}}
    if "choices" in document:
        return {**document, "choices": []}
    if "message" in document:
        return {**document, "message": {"role": "assistant", "content": ""}}
    return {name: value for name, value in document.items() if name != "candidates"}


def _uncounted(action: Action) -> Action | None:
    """The event without its usage; ``None`` where nothing is left of it."""
    document = copy.deepcopy(document_of(action) or {})
    if document.get("choices") == []:
        return None
    if document.get("type") == "message_delta":
        document["usage"] = {"output_tokens": 0}
    elif isinstance(document.get("response"), dict):
        document["response"]["usage"] = None
    else:
        for name in ("usage", "usageMetadata", *_COUNTS):
            document.pop(name, None)
    return _with_document(action, document)


def _with_document(action: Action, document: dict[str, Any]) -> Action:
    assert isinstance(action, (Event, Line))
    return replace(action, data=document)


# -------------------------------------------------------------------------------- server-sent events


def without_names(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """No event has an ``event`` field."""
    return (Event(action.data) if isinstance(action, Event) else action for action in actions)


def without_space(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """Events are written as ``data:{...}``."""
    for action in actions:
        if isinstance(action, Event):
            lines = (in_bytes(action) or b"").split(b"\n")
            yield Bytes(b"\n".join(_unspaced(line) for line in lines))
        else:
            yield action


def _unspaced(line: bytes) -> bytes:
    return b"data:" + line[6:] if line.startswith(b"data: ") else line


def with_crlf(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
    """Lines end with CR and LF."""
    for action in actions:
        data = in_bytes(action) if isinstance(action, (Event, Line)) else None
        yield action if data is None else Bytes(data.replace(b"\n", b"\r\n"))


def with_comments(comment: str) -> Change:
    """Before each event stands a comment, as gateways send it while they wait."""

    def change(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
        for action in actions:
            if isinstance(action, Event):
                yield Bytes(f": {comment}\n\n".encode())
            yield action

    return change


def before_payload(text: str) -> Change:
    """This stands between ``data:`` and what an event says."""

    def change(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
        for action in actions:
            if isinstance(action, Event):
                yield Bytes((in_bytes(action) or b"").replace(b"data: ", f"data:{text}".encode(), 1))
            else:
                yield action

    return change


def with_empty_data() -> Change:
    """After each event comes one whose data is empty."""

    def change(actions: Actions, front: Front) -> Iterator[Action]:  # noqa: ARG001
        for action in actions:
            yield from (action, Bytes(b"data:\n\n")) if isinstance(action, Event) else (action,)

    return change
