"""The words that changes are written in.

An edit works on one JSON document, in place; a change says which documents of an answer it is for.
Nothing here knows what rules look for: a change of the wrong kind of answer does nothing.
"""

from __future__ import annotations

import copy
import json
import secrets
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from conformance.simulator.mutants.mutant import Answer, Change

Edit: TypeAlias = Callable[[Any], None]
Step: TypeAlias = str | int

MESSAGE: tuple[Step, ...] = ("choices", 0, "message")
CALLS: tuple[Step, ...] = (*MESSAGE, "tool_calls")
CALL: tuple[Step, ...] = (*CALLS, 0)
DELTA: tuple[Step, ...] = ("choices", 0, "delta")
TOOL: tuple[Step, ...] = (*DELTA, "tool_calls", 0)
ARGUMENTS: tuple[Step, ...] = (*CALL, "function", "arguments")


# ------------------------------------------------------------------------------------------- edits


def put(*path: Step, value: Any) -> Edit:
    """The member (or element) at ``path`` becomes ``value``."""

    def edit(document: Any) -> None:
        at(document, path[:-1])[path[-1]] = copy.deepcopy(value)

    return edit


def drop(*path: Step) -> Edit:
    """The member (or element) at ``path`` goes."""

    def edit(document: Any) -> None:
        del at(document, path[:-1])[path[-1]]

    return edit


def rewrite(*path: Step, by: Callable[[Any], Any]) -> Edit:
    """The value at ``path`` becomes what ``by`` makes of it."""

    def edit(document: Any) -> None:
        holder = at(document, path[:-1])
        holder[path[-1]] = by(holder[path[-1]])

    return edit


def both(*edits: Edit) -> Edit:
    """One edit after the other."""

    def edit(document: Any) -> None:
        for one in edits:
            one(document)

    return edit


def at(document: Any, path: tuple[Step, ...]) -> Any:
    """The value at ``path``. Raises ``LookupError`` where there is none."""
    for step in path:
        document = document[step]
    return document


# ------------------------------------------------------------------------------------------ changes


def body(edit: Edit) -> Change:
    """Edits the document of a successful whole answer."""

    def change(answer: Answer) -> None:
        if answer.status < 300 and answer.events is None:
            edit(answer.body)

    return change


def refusal(edit: Edit) -> Change:
    """Edits the document of a refusal."""

    def change(answer: Answer) -> None:
        if answer.status >= 400:
            edit(answer.body)

    return change


def event(number: int, edit: Edit) -> Change:
    """Edits one event's document of a stream."""
    return events(lambda given: edit(given[number]))


def each(edit: Edit) -> Change:
    """Edits the document of every event of a stream that has choices."""

    def every(given: list[Any]) -> None:
        for document in given:
            if isinstance(document, dict) and document.get("choices"):
                edit(document)

    return events(every)


def all_of(edit: Edit) -> Change:
    """Edits the document of every event of a stream."""

    def every(given: list[Any]) -> None:
        for document in given:
            if isinstance(document, dict):
                edit(document)

    return events(every)


def events(edit: Callable[[list[Any]], None]) -> Change:
    """Edits the list of a stream's events."""

    def change(answer: Answer) -> None:
        if answer.events is not None:
            edit(answer.events)

    return change


def raw(rewritten: Callable[[bytes], bytes]) -> Change:
    """Rewrites a successful whole answer's bytes."""

    def change(answer: Answer) -> None:
        if answer.status < 300 and answer.events is None:
            answer.body = rewritten(_dump(answer.body))

    return change


def cut(answer: Answer) -> None:
    """The connection breaks in the middle of a successful answer."""
    if answer.status < 300:
        sent = [_dump(answer.body)[:40]] if answer.events is None else answer.events[:3]
        answer.events, answer.cut = sent, True


def raw_stream(rewritten: Callable[[bytes], bytes]) -> Change:
    """Rewrites a stream's bytes."""

    def change(answer: Answer) -> None:
        if answer.events is not None:
            answer.events[:] = [rewritten(b"".join(framed(event) for event in answer.events))]

    return change


def header(name: str, value: str | None, *, where: Callable[[Answer], bool] = lambda _: True) -> Change:
    """Sets a header, or takes it away."""

    def change(answer: Answer) -> None:
        if where(answer):
            answer.headers.pop(name, None)
            if value is not None:
                answer.headers[name] = value

    return change


def status(code: int, *, where: Callable[[Answer], bool] = lambda _: True) -> Change:
    """Answers with another status."""

    def change(answer: Answer) -> None:
        if where(answer):
            answer.status = code

    return change


def together(*changes: Change) -> Change:
    """One change after the other."""

    def change(answer: Answer) -> None:
        for one in changes:
            one(answer)

    return change


def only(where: Callable[[Answer], bool], change: Change) -> Change:
    """``change`` for the answers that ``where`` picks."""

    def picked(answer: Answer) -> None:
        if where(answer):
            change(answer)

    return picked


# --------------------------------------------------------------------------------- which answers


def to(*markers: str) -> Callable[[Answer], bool]:
    """Answers to the requests that carry one of these markers last, e.g. ``chat.multi-turn/1``."""

    def picks(answer: Answer) -> bool:
        text = answer.request.body.decode(errors="replace")
        return text[text.rfind("[[") + 2 :].partition("]]")[0] in markers

    return picks


def via(method: str, ending: str = "") -> Callable[[Answer], bool]:
    """Answers to the requests of this method to a path that ends so."""
    return lambda answer: answer.request.method == method and answer.request.url.endswith(ending)


def failed(answer: Answer) -> bool:
    """A refusal."""
    return answer.status >= 400


# ------------------------------------------------------------------------------ the opposite answer


def refused(answer: Answer) -> None:
    """A chat request is refused, in OpenAI's form, although it is valid."""
    if answer.status < 300:
        document = {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}
        answer.become(400, {"error": document})


def crashed(answer: Answer) -> None:
    """The server fails."""
    document = {"message": "The server failed.", "type": "server_error", "param": None, "code": None}
    answer.become(500, {"error": document})


def accepted(answer: Answer) -> None:
    """A chat request is answered, in OpenAI's form, although it is not valid."""
    accepted_with("Fine.")(answer)


def accepted_with(content: str) -> Change:
    """A chat request is answered with this text, in OpenAI's form, although it is not valid."""

    def change(answer: Answer) -> None:
        if answer.status >= 400:
            answer.become(200, completion(content))

    return change


def completion(content: str) -> dict[str, Any]:
    """A plain completion."""
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "reference",
        "service_tier": "default",
        "system_fingerprint": None,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }


def framed(event: Any) -> bytes:
    """An event's bytes."""
    if isinstance(event, bytes):
        return event
    return b"data: " + (event.encode() if isinstance(event, str) else _dump(event)) + b"\n\n"


def _dump(document: Any) -> bytes:
    if isinstance(document, bytes):
        return document
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
