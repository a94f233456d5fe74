"""Streams over Chat, put right event by event; what is right already passes byte for byte.

A chunk that says why the answer ended is held until it is known to be the last one that says anything: some
say it in every chunk, some before the calls. Chunks are given out in their order, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.profiles import documents
from conformance.profiles.call_stream import CallStream
from conformance.profiles.documents import Document
from conformance.profiles.finishes import finish_word
from conformance.profiles.profile import Asked
from conformance.profiles.reading import Reading
from conformance.profiles.repairs import Frame
from conformance.wires.body import compact, parse
from conformance.wires.errors import error_in

DONE = "[DONE]"
_GENERATING = "tool_call_generating"
"""What one server says in place of a call."""
_SAYING = ("content", "refusal", "tool_calls", "function_call", "reasoning_details", *documents.REASONING)


class _Held:
    """A chunk that says that a choice ended: as it is to be told, and as it came."""

    __slots__ = ("chunk", "document", "frame")

    def __init__(self, chunk: Document, document: Any, frame: Frame) -> None:
        self.chunk = chunk
        self.document = document
        self.frame = frame

    def told(self, **changes: Any) -> Frame:
        """The chunk with its choice changed."""
        (choice,) = self.chunk["choices"]
        return _told({**self.chunk, "choices": [{**choice, **changes}]}, self.document, self.frame)


class _Choice:
    """What is known of one choice so far."""

    __slots__ = ("calls", "details", "finished", "held", "legacy", "opened")

    def __init__(self, calls: CallStream) -> None:
        self.calls = calls
        self.opened = False
        self.finished = False
        self.legacy = False
        self.held: _Held | None = None
        self.details = _Details()


class ChatStream:
    """Repairs one stream of ``chat.completion.chunk``; a ``Repairer``.

    ``names``: what aliases of tools stand for. ``repair_error`` puts an error's document right.
    """

    def __init__(
        self,
        asked: Asked,
        reading: Reading,
        names: Mapping[str, str],
        repair_error: Callable[[Any], Any],
    ) -> None:
        self._asked = asked
        self._reading = reading
        self._names = names
        self._repair_error = repair_error
        self._choices: dict[int, _Choice] = {}
        self._holding: dict[int, _Choice] = {}
        self._same: Document = {}
        self._counts: Document | None = None
        self._counted: Frame | None = None
        self._done = False
        self._failed = False

    def feed(self, frame: Frame) -> Sequence[Frame]:
        """Take the next event."""
        said = frame.data.strip()
        if self._done or not said:
            return ()
        if said == DONE:
            self._done = True
            return [*self._close(), frame]
        try:
            document = parse(frame.data)
        except ValueError:
            return (frame,)
        if error_in(document) is not None:
            self._failed = True
            return [*self._release(), _told(self._repair_error(document), document, frame)]
        chunk = documents.unwrapped(document)
        if not isinstance(chunk, dict) or not isinstance(chunk.get("choices"), list):
            return (frame,)
        return self._chunk(chunk, document, frame)

    def finish(self, *, whole: bool) -> Sequence[Frame]:
        """What is left; the end marker too, where all choices have ended and nothing else says so."""
        if self._done:
            return ()
        if not whole or self._failed:
            return [*self._release(), *([self._counted] if self._counted else [])]
        ended = bool(self._choices) and all(c.held or c.finished for c in self._choices.values())
        return [*self._close(), *([Frame(DONE)] if ended else [])]

    # ---------------------------------------------------------------------------------------- chunks

    def _chunk(self, chunk: Document, document: Any, frame: Frame) -> Sequence[Frame]:
        kept = self._constant(documents.envelope({**chunk, "object": "chat.completion.chunk"}, self._asked))
        if _GENERATING in str(document) and not _says(kept):
            return ()
        counts = kept.get("usage")
        choices = [choice for choice in kept["choices"] if isinstance(choice, dict)]
        if not choices:
            if isinstance(counts, dict):
                self._counted = _told({**kept, "usage": documents.usage(counts)}, document, frame)
            return ()
        if isinstance(counts, dict):
            self._counts = documents.usage(counts)
            kept = {k: v for k, v in kept.items() if k != "usage"}
        if "usage" not in kept and self._wants_usage():
            kept = {**kept, "usage": None}
        out: list[Frame] = []
        told: list[Document] = []
        for choice in choices:
            before, made = self._choice(kept, choice, document if len(choices) == 1 else None, frame)
            out += before
            told += made
        if len(told) == len(choices) > 1:
            told = [{**kept, "choices": [one["choices"][0] for one in told]}]
        return [*out, *(_told(one, document, frame) for one in told)]

    def _choice(
        self, chunk: Document, choice: Document, document: Any, frame: Frame
    ) -> tuple[list[Frame], list[Document]]:
        """One choice of a chunk: what was held and is due now, and what the choice is told as."""
        index = self._index(choice)
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _Choice(CallStream(self._asked, self._reading, self._names))
        out = {k: v for k, v in choice.items() if k != "message"}
        out |= {"index": index, "delta": self._delta(choice.get("delta"), state)}
        reason = choice.get("finish_reason")
        ended = reason is not None and reason != ""
        before = self._release(but=index)
        if state.held is not None and (ended or any(out["delta"].get(key) for key in _SAYING)):
            held, state.held = state.held, None
            self._holding.pop(index, None)
            before += [held.told(finish_reason=None)] if held.chunk["choices"][0]["delta"] else []
        if not ended:
            out["finish_reason"] = None
            says_nothing_now = not out["delta"] and bool(choice.get("delta"))
            return before, [] if says_nothing_now else [{**chunk, "choices": [out]}]
        told: list[Document] = []
        if out["delta"].get("tool_calls"):
            told = [{**chunk, "choices": [{**out, "finish_reason": None}]}]
            out["delta"] = {}
        state.held = _Held({**chunk, "choices": [out]}, document, frame)
        self._holding[index] = state
        return before, told

    def _index(self, choice: Document) -> int:
        index = choice.get("index")
        one = self._reading.one_choice and (self._asked.request.n or 1) == 1
        return index if isinstance(index, int) and not one else 0

    def _delta(self, given: Any, state: _Choice) -> Document:
        delta = dict(given) if isinstance(given, dict) else {}
        if "role" in delta and (state.opened or not delta["role"]):
            del delta["role"]
        if not state.opened:
            state.opened = True
            delta = delta if "role" in delta else {"role": "assistant", **delta}
        if isinstance(delta.get("content"), list):
            text, reasoning = documents.flattened(delta["content"])
            delta["content"] = text or None
            delta = documents.with_reasoning(delta, reasoning)
        if isinstance(delta.get("reasoning_details"), list):
            delta["reasoning_details"] = [state.details.told(d) for d in delta["reasoning_details"]]
        state.legacy = state.legacy or isinstance(delta.get("function_call"), dict)
        if "tool_calls" in delta:
            entries = delta["tool_calls"]
            told = state.calls.feed(entries if isinstance(entries, list) else [])
            delta["tool_calls"] = told
            if not told:
                del delta["tool_calls"]
        delta.pop(_GENERATING, None)
        return delta

    def _constant(self, chunk: Document) -> Document:
        """What is the same in all chunks of a stream is so: as it was first said."""
        for key in ("id", "model", "created"):
            value = chunk.get(key)
            if value and key not in self._same:
                self._same[key] = value
            elif key in chunk and key in self._same and value != self._same[key]:
                chunk = {**chunk, key: self._same[key]}
        return chunk

    def _wants_usage(self) -> bool:
        request = self._asked.request
        options = request.extra.get("stream_options")
        return bool(request.include_usage or (isinstance(options, dict) and options.get("include_usage")))

    # ------------------------------------------------------------------------------------------ ends

    def _release(self, but: int | None = None) -> list[Frame]:
        """What is held, as the ends of choices, and before each what its calls have left to say."""
        out: list[Frame] = []
        for index, state in list(self._holding.items()):
            if index == but or state.held is None:
                continue
            del self._holding[index]
            held, state.held = state.held, None
            reason = held.chunk["choices"][0].get("finish_reason")
            cut = finish_word(reason, self._asked.request, calls=True) == "length"
            if rest := state.calls.finish(cut=cut):
                out.append(held.told(delta={"tool_calls": rest}, finish_reason=None))
            calls = state.calls.told > 0
            word = finish_word(reason, self._asked.request, calls=calls, legacy=state.legacy)
            state.finished = True
            out.append(held.told(finish_reason=word))
        return out

    def _close(self) -> list[Frame]:
        out = self._release()
        if self._counted is not None:
            out.append(self._counted)
        elif self._counts is not None and self._wants_usage():
            totals = {"object": "chat.completion.chunk", **self._same, "choices": [], "usage": self._counts}
            out.append(Frame(compact(totals)))
        return out


def _told(repaired: Any, document: Any, frame: Frame) -> Frame:
    """The event that says a document: as it came, where nothing of it was changed."""
    return frame if repaired == document else Frame(compact(repaired), frame.name)


def _says(chunk: Document) -> bool:
    """Whether a chunk says anything at all."""
    return isinstance(chunk.get("usage"), dict) or any(
        isinstance(choice, dict)
        and (
            choice.get("finish_reason") is not None
            or any((choice.get("delta") or {}).get(key) for key in (*_SAYING, "role"))
        )
        for choice in chunk["choices"]
    )


class _Details:
    """Gives each kind of reasoning detail an index that no other kind has."""

    __slots__ = ("_given", "_next", "_used")

    def __init__(self) -> None:
        self._given: dict[tuple[int, str], int] = {}
        self._used: set[int] = set()
        self._next = 0

    def told(self, detail: Any) -> Any:
        """A detail with its own index: the one that it came with, where that is free."""
        if not isinstance(detail, dict) or not isinstance(detail.get("index"), int):
            return detail
        key = (detail["index"], str(detail.get("type")))
        if key not in self._given:
            index = key[0] if key[0] not in self._used else self._next
            self._given[key] = index
            self._used.add(index)
            self._next = max(self._next, index + 1)
        return {**detail, "index": self._given[key]}
