"""One Chat message read delta by delta, tolerantly: what is odd becomes a fact, nothing raises.

Order: in a stream, parts stand in the order in which they began; a message has no order between its
fields, and reads as reasoning, content, refusal, calls. Empty strings begin nothing.

Inline ``<think>…</think>`` at the head of the content stays in the text: whether it is a leak is for a
rule to say, and a decoder that hid it would hide the evidence.

Facts about a call as a whole (``missing-id``) and ``snapshot-like`` hold of the moment they are asked for.
"""

from __future__ import annotations

from typing import Any

from conformance.types import Audio, Fact, File, Image, Part, Text
from conformance.wires.body import compact
from conformance.wires.facts import FactName, Ledger
from conformance.wires.openai_chat_parts import Call, Details, Run, RunKind, media_in

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""String fields that carry reasoning: DeepSeek and most; OpenRouter, Ollama, Groq; GitHub Copilot."""

OPAQUE_REASONING_FIELDS = ("reasoning_opaque",)
"""Fields of a message that only its provider understands (GitHub Copilot)."""

_SAYS_SOMETHING = (
    "content",
    "refusal",
    *REASONING_FIELDS,
    "reasoning_details",
    "tool_calls",
    "function_call",
)


class Choice:
    """One message while it grows."""

    def __init__(self, number: int, ledger: Ledger, *, keep_unknown: bool = False) -> None:
        """``keep_unknown``: content parts without canonical form stay, as empty texts that carry them."""
        self.number = number
        self._keep_unknown = keep_unknown
        self.finish_reason: str | None = None
        self.native_finish_reason: str | None = None
        self._ledger = ledger
        self._parts: list[Run | Call | Text | Image | Audio | File] = []
        self._at_index: dict[int, Call] = {}
        self._by_id: dict[tuple[int | None, str], Call] = {}
        self._last_call: Call | None = None
        self._legacy: Call | None = None
        self._spelling: str | None = None
        self._reasons = False
        self._details = Details()
        self._opaque: dict[str, Any] = {}

    def note(self, name: FactName, path: str, detail: str = "") -> None:
        self._ledger.note(self.number, name, path, detail)

    # ------------------------------------------------------------------------------------- absorbing

    def absorb(self, message: dict[str, Any], at: str, *, whole: bool) -> None:
        """Take a delta, or a whole message."""
        if self.finish_reason:
            said = next((key for key in _SAYS_SOMETHING if message.get(key)), None)
            if said is not None:
                self.note("after-finish", f"{at}/{said}")
        self._take_reasoning(message, at, whole=whole)
        self._take_content(message.get("content"), f"{at}/content")
        refusal = message.get("refusal")
        if isinstance(refusal, str):
            self._say("refusal", refusal, f"{at}/refusal")
        elif refusal is not None:
            self.note("refusal-not-string", f"{at}/refusal", compact(refusal))
        self._take_calls(message.get("tool_calls"), f"{at}/tool_calls", whole=whole)
        self._take_function_call(message.get("function_call"), f"{at}/function_call")

    def finish(self, reason: Any, native: Any, path: str) -> None:
        """Take a ``finish_reason``, and the provider's own word beside it (OpenRouter)."""
        if isinstance(native, str) and native:
            self.native_finish_reason = native
        if reason is None:
            return
        if not isinstance(reason, str):
            self.note("finish-not-string", path, compact(reason))
        elif not reason:
            self.note("finish-empty", path)
            self.finish_reason = self.finish_reason or ""
        else:
            if self.finish_reason:
                self.note("finish-twice", path, f"{self.finish_reason}, then {reason}")
            self.finish_reason = reason

    def _say(
        self, kind: RunKind, text: str, path: str, spelling: str = "", opaque: dict[str, Any] | None = None
    ) -> None:
        if not text:
            return
        last = self._parts[-1] if self._parts else None
        if not (isinstance(last, Run) and last.takes(kind, spelling, opaque)):
            last = Run(kind, spelling, opaque)
            self._parts.append(last)
        last.pieces.add(text, path)
        self._reasons = self._reasons or kind == "reasoning"

    def _take_reasoning(self, message: dict[str, Any], at: str, *, whole: bool) -> None:
        given: dict[str, str] = {}
        for field in REASONING_FIELDS:
            value = message.get(field)
            if isinstance(value, str) and value:
                given[field] = value
            elif value is not None and not isinstance(value, str):
                self.note("reasoning-malformed", f"{at}/{field}", type(value).__name__)
        if given:
            spelling = self._spelling if self._spelling in given else next(iter(given))
            other = next((f for f in given if f != spelling), None)
            if other is not None:
                same = "the same" if given[other] == given[spelling] else "another"
                self.note("reasoning-both-spellings", f"{at}/{other}", f"{same} text as in {spelling}")
            elif self._spelling not in (None, spelling):
                self.note("reasoning-both-spellings", f"{at}/{spelling}", f"{self._spelling} before")
            self._spelling = self._spelling or spelling
            self._say("reasoning", given[spelling], f"{at}/{spelling}", spelling)
        for field in OPAQUE_REASONING_FIELDS:
            if message.get(field) is not None:
                self._opaque[field] = message[field]
        details = message.get("reasoning_details")
        if details is not None:
            self._take_details(details, f"{at}/reasoning_details", read=not given, whole=whole)

    def _take_details(self, details: Any, at: str, *, read: bool, whole: bool) -> None:
        """``read``: the text is only here, not beside it in a string field."""
        if not isinstance(details, list):
            self.note("reasoning-malformed", at, type(details).__name__)
            return
        for i, item in enumerate(details):
            if not isinstance(item, dict):
                self.note("reasoning-malformed", f"{at}/{i}", type(item).__name__)
                continue
            text = self._details.add(item, whole=whole)
            if read:
                self._say("reasoning", text, f"{at}/{i}", "reasoning_details")
        if self._details and not self._reasons:
            self._reasons = True
            self._parts.append(Run("reasoning", "reasoning_details"))

    def _take_content(self, content: Any, at: str) -> None:
        if isinstance(content, str):
            self._say("text", content, at)
        elif isinstance(content, list):
            self.note("content-list", at)
            for i, item in enumerate(content):
                self._take_content_part(item, f"{at}/{i}")
        elif content is not None:
            name: FactName = "content-object" if isinstance(content, dict) else "content-not-string"
            self.note(name, at, type(content).__name__)
            self._say("text", compact(content), at)

    def _take_content_part(self, item: Any, at: str) -> None:
        if isinstance(item, str):
            self._say("text", item, at)
            return
        kind = item.get("type") if isinstance(item, dict) else type(item).__name__
        if kind == "thinking":  # Mistral: text, or a list of text parts
            thinking = item.get("thinking")
            inner = thinking if isinstance(thinking, list) else [thinking]
            texts = [t.get("text") if isinstance(t, dict) else t for t in inner]
            self._say("reasoning", "".join(t for t in texts if isinstance(t, str)), at, "thinking")
        elif kind == "refusal" and isinstance(item.get("refusal"), str):
            self._say("refusal", item["refusal"], f"{at}/refusal")
        elif isinstance(item, dict) and (media := media_in(item)) is not None:
            self._parts.append(media)
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            rest = {k: v for k, v in item.items() if k not in ("type", "text")}
            self._say("text", item["text"], f"{at}/text", opaque=rest or None)
        else:
            self.note("content-part-unknown", at, kind if isinstance(kind, str) else "")
            if self._keep_unknown and isinstance(item, dict) and isinstance(kind, str):
                self._parts.append(Text("", {"openai-chat": item}))

    def _take_calls(self, entries: Any, at: str, *, whole: bool) -> None:
        if entries is None:
            return
        if not isinstance(entries, list):
            self.note("tool-calls-not-list", at, type(entries).__name__)
            entries = [entries]
        for i, entry in enumerate(entries):
            path = f"{at}/{i}"
            if not isinstance(entry, dict):
                self.note("call-not-object", path, type(entry).__name__)
                continue
            call_id = entry.get("id")
            if call_id is not None and not isinstance(call_id, str):
                self.note("call-id-not-string", f"{path}/id", compact(call_id))
                call_id = compact(call_id)
            call_id = call_id or ""
            call = self._begin(path, None) if whole else self._locate(entry, path, call_id)
            call.absorb(entry, path, call_id, self.note)
            self._by_id.setdefault((call.index, call.id), call)
            self._last_call = call

    def _locate(self, entry: dict[str, Any], at: str, call_id: str) -> Call:
        """The call that a delta belongs to.

        By ``index``. Without one: a known id continues its call, a new id or else a name begins one, and
        bare arguments continue the last call.
        """
        index = self._index(entry, f"{at}/index")
        if index is None:
            if call_id:
                return self._by_id.get((None, call_id)) or self._begin(at, None)
            return self._begin(at, None) if self._last_call is None or _names(entry) else self._last_call
        call = self._at_index.get(index)
        if call is None and not call_id and not _names(entry) and self._last_call is not None:
            call = self._last_call if self._last_call.index is None else None
        if call is not None and call_id and call.id and call_id != call.id:
            call = self._by_id.get((index, call_id))
            if call is None:
                self.note("new-id-on-index", f"{at}/id", call_id)
        if call is None:
            call = self._begin(at, index)
        self._at_index[index] = call
        return call

    def _begin(self, at: str, index: int | None) -> Call:
        call = Call(at, index)
        self._parts.append(call)
        return call

    def _index(self, entry: dict[str, Any], path: str) -> int | None:
        index = entry.get("index")
        if index is None:
            self.note("missing-index", path)
            return None
        if not isinstance(index, int) or isinstance(index, bool):
            self.note("index-not-integer", path, compact(index))
            return _as_integer(index)
        if index < 0:
            self.note("negative-index", path, str(index))
        return index

    def _take_function_call(self, function: Any, at: str) -> None:
        """The form before tools: one call, without an id."""
        if not isinstance(function, dict):
            return
        if self._legacy is None:
            if not function.get("name") and not function.get("arguments"):
                self.note("function-call-stub", at)
                return
            self._legacy = Call(at, None, legacy=True)
            self._parts.append(self._legacy)
        self._legacy.take(function, at, self.note)

    # -------------------------------------------------------------------------------------- building

    def parts(self) -> tuple[tuple[Part, ...], tuple[Fact, ...]]:
        """The parts so far, and the facts that hold of them as they stand."""
        moment = Ledger()

        def note(name: FactName, path: str, detail: str = "") -> None:
            moment.note(self.number, name, path, detail)

        opaque = dict(self._opaque)
        if self._details:
            opaque["reasoning_details"] = self._details.json()
        built: list[Part] = []
        for part in self._parts:
            if isinstance(part, Text | Image | Audio | File):
                built.append(part)
            elif isinstance(part, Call):
                built.append(part.build(note))
            else:
                first = part.kind == "reasoning" and bool(opaque)
                built.append(part.build(opaque if first else None))
                opaque = {} if first else opaque
                if part.kind == "text" and part.pieces.snapshot_at:
                    note("snapshot-like", part.pieces.snapshot_at)
        return tuple(built), moment.of(self.number)


def _names(entry: dict[str, Any]) -> bool:
    function = entry.get("function") or entry.get("custom")
    return isinstance(function, dict) and bool(function.get("name"))


def _as_integer(value: Any) -> int | None:
    """The integer a number or a string of digits plainly means."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) < 10 and value.isdecimal():
        return int(value)
    return None
