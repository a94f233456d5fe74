"""Answers of Ollama's ``/api/chat``, whole or line by line, as one turn.

Every line of a stream has the form of a whole answer, so one reader serves both. Of one message the parts
are thinking, content, pictures, calls; in a stream they stand in the order in which they began.

A ``done_reason`` has no word for calls: an answer that ended of itself and holds any finished with
``tool_calls``. The model was only (un)loaded: ``stop``, and the word itself is the
``native_finish_reason``.

Source: ollama/ollama fb307609, ``docs/openapi.yaml`` (ChatResponse, ChatStreamEvent) and
``docs/api/errors.mdx``. Newer servers give calls an ``id`` (recorded from 2025-11 on), which no document
tells of.
"""

from __future__ import annotations

from typing import Any, Literal

from conformance.types import Image, Part, Reasoning, Text, ToolCall, Turn, Usage
from conformance.wires.arguments import text_of
from conformance.wires.body import parse
from conformance.wires.errors import error_in
from conformance.wires.facts import Ledger
from conformance.wires.ollama_request import SPELLING, picture
from conformance.wires.openai_chat_parts import Pieces
from conformance.wires.pairing import minted

OllamaFact = Literal[
    # the body or the line
    "not-utf-8",  # the body is not UTF-8; it was read with U+FFFD
    "not-json",  # a line is not JSON
    "not-object",
    "blank-line",
    "sse-prefix",  # "data:" before the JSON, which was read
    "error-body",
    "error-line",  # an error inside a stream; the detail is its message
    "model-not-string",
    "count-not-integer",
    # finishing
    "after-done",  # something said after done; it is kept
    "done-not-boolean",
    "done-reason-missing",  # on the last line; taken as stop
    "done-reason-early",  # on a line that is not the last; it counts
    "done-reason-not-string",
    "done-reason-unknown",
    # the message
    "message-not-object",
    "role-not-assistant",
    "content-not-string",  # kept as JSON
    "thinking-not-string",  # kept as JSON
    "images-not-list",
    "image-not-string",  # dropped
    "snapshot-like",  # three or more pieces, each the whole so far and more; still concatenated
    # calls
    "tool-calls-not-list",
    "call-not-object",  # dropped
    "missing-function",
    "missing-name",
    "name-not-string",
    "call-id-not-string",  # kept as JSON
    "repeated-id",
    "arguments-not-object",  # a string is kept as it is, anything else as compact JSON
]

_FINISH = {"stop": "stop", "length": "length", "load": "stop", "unload": "stop"}
_COUNTS = ("prompt_eval_count", "eval_count")


def finish_of(word: str | None, *, calls: bool) -> tuple[str | None, str | None]:
    """``finish_reason`` and ``native_finish_reason`` of a ``done_reason``; an unknown one is both."""
    if word is None:
        return None, None
    reason = _FINISH.get(word, word)
    native = None if word in ("stop", "length") else word
    return ("tool_calls" if reason == "stop" and calls else reason), native


def usage_of(counts: dict[str, int]) -> Usage | None:
    """Ollama's counts as Chat counts; the total is their sum, where both are known."""
    if not counts:
        return None
    prompt, completion = (counts.get(key) for key in _COUNTS)
    total = None if prompt is None or completion is None else prompt + completion
    return Usage(prompt, completion, total)


class _Run:
    """Texts in a row, of content or of thinking."""

    __slots__ = ("pieces", "thinking")

    def __init__(self, thinking: bool) -> None:
        self.thinking = thinking
        self.pieces = Pieces()


class Answer:
    """A whole answer, or the lines of one so far."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._parts: list[_Run | Image | ToolCall] = []
        self._begun = False
        self._done = False
        self._reason: str | None = None
        self._model: str | None = None
        self._counts: dict[str, int] = {}
        self._ids: set[str] = set()
        self._calls = 0

    def note(self, name: OllamaFact, path: str, detail: str = "") -> None:
        self.ledger.note(0, name, path, detail)

    def absorb(self, payload: Any, at: str, *, whole: bool) -> None:
        """Take a whole answer's body, or one line. ``at`` is where it is (``/body``)."""
        if not isinstance(payload, dict):
            self.note("not-object", at, type(payload).__name__)
            return
        error = error_in(payload)
        if error is not None:
            self.note("error-body" if whole else "error-line", f"{at}/error", error.message)
        model, created = payload.get("model"), payload.get("created_at")
        if isinstance(model, str):
            self._model = self._model or model or None
        elif model is not None:
            self.note("model-not-string", f"{at}/model", text_of(model))
        message = payload.get("message")
        if isinstance(message, dict):
            self._begun = True
            said = self._take(message, f"{at}/message", created if isinstance(created, str) else "")
            if said and self._done:
                self.note("after-done", f"{at}/message")
        elif message is not None:
            self.note("message-not-object", f"{at}/message", type(message).__name__)
        self._finish(payload, at)
        for key in _COUNTS:
            count = payload.get(key)
            if isinstance(count, int) and not isinstance(count, bool):
                self._counts[key] = count
            elif count is not None:
                self.note("count-not-integer", f"{at}/{key}", text_of(count))

    def turns(self) -> tuple[Turn, ...]:
        """The turn so far; ``()`` before the first message."""
        if not self._begun:
            return ()
        moment = Ledger()
        parts: list[Part] = []
        for part in self._parts:
            if not isinstance(part, _Run):
                parts.append(part)
                continue
            text = part.pieces.join()
            parts.append(Reasoning(text, SPELLING) if part.thinking else Text(text))
            if part.pieces.snapshot_at:
                moment.note(0, "snapshot-like", part.pieces.snapshot_at)
        reason, native = finish_of(self._reason, calls=self._calls > 0)
        facts = self.ledger.of(0) + moment.of(0)
        usage = usage_of(self._counts)
        return (Turn(tuple(parts), reason, usage, None, self._model, facts, native),)

    def _finish(self, payload: dict[str, Any], at: str) -> None:
        done, reason = payload.get("done"), payload.get("done_reason")
        if done is not None and not isinstance(done, bool):
            self.note("done-not-boolean", f"{at}/done", text_of(done))
        if reason is not None and not isinstance(reason, str):
            self.note("done-reason-not-string", f"{at}/done_reason", text_of(reason))
            reason = None
        if reason:
            if reason not in _FINISH:
                self.note("done-reason-unknown", f"{at}/done_reason", reason)
            if done is not True:
                self.note("done-reason-early", f"{at}/done_reason", reason)
            self._reason = reason
        elif done is True:
            if self._reason is None:
                self.note("done-reason-missing", f"{at}/done_reason")
            self._reason = self._reason or "stop"
        self._done = self._done or done is True

    def _take(self, message: dict[str, Any], at: str, created: str) -> bool:
        """Take a message; true when it says anything."""
        role = message.get("role")
        if role != "assistant":
            self.note("role-not-assistant", f"{at}/role", str(role))
        said = self._say(message.get("thinking"), f"{at}/thinking", thinking=True)
        said = self._say(message.get("content"), f"{at}/content", thinking=False) or said
        images = message.get("images")
        if images is not None and not isinstance(images, list):
            self.note("images-not-list", f"{at}/images", type(images).__name__)
            images = None
        for i, data in enumerate(images or ()):
            if not isinstance(data, str) or not data:
                self.note("image-not-string", f"{at}/images/{i}", type(data).__name__)
                continue
            self._parts.append(picture(data))
            said = True
        calls = message.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            self.note("tool-calls-not-list", f"{at}/tool_calls", type(calls).__name__)
            calls = [calls]
        for i, call in enumerate(calls or ()):
            where = f"{at}/tool_calls/{i}"
            if not isinstance(call, dict):
                self.note("call-not-object", where, type(call).__name__)
                continue
            self._take_call(call, where, created)
            said = True
        return said

    def _say(self, text: Any, at: str, *, thinking: bool) -> bool:
        if text is not None and not isinstance(text, str):
            self.note("thinking-not-string" if thinking else "content-not-string", at, type(text).__name__)
            text = text_of(text)
        if not text:
            return False
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _Run) or last.thinking != thinking:
            last = _Run(thinking)
            self._parts.append(last)
        last.pieces.add(text, at)
        return True

    def _take_call(self, call: dict[str, Any], at: str, created: str) -> None:
        function, given = call.get("function"), call.get("id")
        if not isinstance(function, dict):
            self.note("missing-function", f"{at}/function", type(function).__name__)
            function = {}
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(name, str) or not name:
            self.note("missing-name" if name in (None, "") else "name-not-string", f"{at}/function/name")
            name = "" if name in (None, "") else text_of(name)
        if not isinstance(arguments, dict | None):
            self.note("arguments-not-object", f"{at}/function/arguments", type(arguments).__name__)
        text = arguments if isinstance(arguments, str) else text_of({} if arguments is None else arguments)
        if given is not None and not isinstance(given, str):
            self.note("call-id-not-string", f"{at}/id", text_of(given))
            given = text_of(given)
        if given in self._ids:
            self.note("repeated-id", f"{at}/id", given)
        self._ids |= {given} if given else set()
        self._parts.append(ToolCall(given or minted(created, str(self._calls), name, text), name, text))
        self._calls += 1


class Assembler:
    """One stream, line by line. Linear in its size; ``turns()`` costs what it returns.

    Line N of the fact paths (``/events/N/data/...``) is the N-th line fed, from 0.
    """

    __slots__ = ("_answer", "_lines")

    def __init__(self, answer: Answer | None = None) -> None:
        self._answer = answer or Answer()
        self._lines = 0

    def feed(self, event_data: str) -> None:
        """Take the next line. Never raises."""
        at, self._lines = f"/events/{self._lines}/data", self._lines + 1
        line = event_data.strip()
        if line.startswith("data:"):
            self._answer.note("sse-prefix", at)
            line = line[len("data:") :].strip()
        if not line:
            self._answer.note("blank-line", at)
            return
        try:
            payload = parse(line)
        except ValueError as error:
            self._answer.note("not-json", at, str(error))
            return
        self._answer.absorb(payload, at, whole=False)

    def turns(self) -> tuple[Turn, ...]:
        """The turn so far; ``()`` before the first message."""
        return self._answer.turns()
