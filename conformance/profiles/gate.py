"""Holds back streamed text that may be markup, and tells calls and reasoning in its place.

From the first sign of markup on everything is held, to the end of the stream; a text that turns out to hold
none is then told as it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.profiles import calls, documents, texts
from conformance.profiles.documents import Document, ReadText
from conformance.profiles.ids import Taken
from conformance.profiles.profile import Asked
from conformance.profiles.repairs import Frame, Repairer
from conformance.types import Part, Reasoning, Text, ToolCall
from conformance.wires.body import compact, parse


class Gate:
    """A ``Repairer`` behind another one: it reads the text of the first choice."""

    def __init__(self, inner: Repairer, asked: Asked, read_text: ReadText, *, think: bool) -> None:
        self._inner = inner
        self._asked = asked
        self._read_text = read_text
        self._tools = bool(asked.offered)
        self._think = think
        self._texts: list[str] = []
        self._tail = ""
        self._length = 0
        self._passed = 0
        self._held: list[Frame] = []
        self._sure = False
        self._calls = 0

    def feed(self, frame: Frame) -> Sequence[Frame]:
        """Take the next event."""
        return [out for made in self._inner.feed(frame) for out in self._pass(made)]

    def finish(self, *, whole: bool) -> Sequence[Frame]:
        """What is held; read as what it is."""
        rest = [out for made in self._inner.finish(whole=whole) for out in self._pass(made)]
        return [*rest, *self._settle()]

    def _pass(self, frame: Frame) -> Sequence[Frame]:
        choice = _choice_in(frame)
        delta = choice.get("delta") if choice else None
        content = delta.get("content") if isinstance(delta, dict) else None
        if isinstance(delta, dict):
            self._count(delta.get("tool_calls"))
        if isinstance(content, str) and content and not self._sure:
            seen, begins = self._tail + content, self._length == len(self._tail)
            self._texts.append(content)
            self._length += len(content)
            self._tail = seen[-(texts.longest(tools=self._tools, think=self._think) + 1) :]
            found = texts.suspicion(seen, begins=begins, tools=self._tools, think=self._think)
            if found == "none":
                self._passed = len(self._texts)
                out, self._held = [*self._held, frame], []
                return out
            self._sure = found == "surely"
            self._held.append(frame)
            return ()
        if isinstance(content, str):
            self._texts.append(content)
        if self._held:
            if frame.data.strip() == "[DONE]":
                return [*self._settle(), frame]
            self._held.append(frame)
            return ()
        return (frame,)

    def _count(self, entries: Any) -> None:
        for entry in entries if isinstance(entries, list) else ():
            index = entry.get("index") if isinstance(entry, dict) else None
            self._calls = max(self._calls, index + 1 if isinstance(index, int) else 0)

    def _settle(self) -> list[Frame]:
        held, self._held = self._held, []
        if not held:
            return []
        parts = self._read_text("".join(self._texts))
        rest = None if parts is None else self._beyond(parts)
        return held if rest is None else self._rewritten(held, rest)

    def _beyond(self, parts: tuple[Part, ...]) -> tuple[Part, ...] | None:
        """The parts without the text that was told already; ``None`` where they don't go on from it."""
        told = "".join(self._texts[: self._passed])
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if not text.startswith(told.rstrip()):
            return None
        left = text[len(told) :] if text.startswith(told) else text[len(told.rstrip()) :]
        others = [part for part in parts if not isinstance(part, Text)]
        return (*others, *([Text(left)] if left else []))

    def _rewritten(self, held: list[Frame], parts: tuple[Part, ...]) -> list[Frame]:
        reasoning = "".join(part.text for part in parts if isinstance(part, Reasoning))
        text = "".join(part.text for part in parts if isinstance(part, Text))
        found = [part for part in parts if isinstance(part, ToolCall)]
        said: list[Document] = [{documents.REASONING[0]: reasoning}] if reasoning else []
        said += [{"content": text}] if text else []
        taken = Taken()
        for number, call in enumerate(found, self._calls):
            entry = documents.entry(call)
            entry["id"] = calls.distinct(call.id, self._asked, f"{number}\0{call.name}", taken)
            said.append({"tool_calls": [{"index": number, **entry}]})
        out: list[Frame] = []
        for frame in held:
            choice = _choice_in(frame)
            delta = choice.get("delta") if choice else None
            if choice is None or not isinstance(delta, dict):
                out.append(frame)
                continue
            reason = choice.get("finish_reason")
            left = {k: v for k, v in delta.items() if k != "content"}
            if not delta.get("content") and reason is None:
                out.append(frame)
                continue
            out += [_with(frame, delta=left, finish_reason=None)] if left else []
            out += [_with(frame, delta=more, finish_reason=None) for more in said]
            said = []
            if reason is not None:
                word = "tool_calls" if found and reason == "stop" else reason
                out.append(_with(frame, delta={}, finish_reason=word))
        return out


def _choice_in(frame: Frame) -> Document | None:
    """The first choice in an event that has one alone."""
    try:
        document = parse(frame.data)
    except ValueError:
        return None
    choices = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return None
    return choices[0] if choices[0].get("index") == 0 else None


def _with(frame: Frame, **changes: Any) -> Frame:
    document = parse(frame.data)
    (choice,) = document["choices"]
    return Frame(compact({**document, "choices": [{**choice, **changes}]}), frame.name)
