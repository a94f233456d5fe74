"""Responses items as canonical parts: what answers, streams and requests read alike.

The own opaque slot (``openai-responses``) of a part holds what canonical parts have no word for:

- ``item``: further members of the item that the part is of (``phase``, ``namespace``), for ``type`` a
  ``custom_tool_call`` where that is what a call is;
- of reasoning, ``item`` is the whole item, to go back unmodified; it is absent where the item says
  nothing but one text;
- further members of the content part beside it (``annotations``, ``logprobs``, ``file_id``, ``detail``);
- an item or a content part without canonical form is an empty text with the whole of it in ``item`` or
  ``part`` (item references, server-side tools, compactions); an ``image_generation_call`` is an image.

``id`` and ``status`` of a message or call are kept behind opaque reasoning only, where the provider
wants its items back as they were (OpenAI refuses a call whose reasoning item is missing, and a
reasoning item without what followed it). Elsewhere they say nothing: results are paired by ``call_id``.
"""

from __future__ import annotations

from typing import Any

from conformance.types import Audio, File, Image, Opaque, Part, Reasoning, Refusal, Text, ToolCall, WireName
from conformance.wires.body import compact
from conformance.wires.openai_responses_facts import Note, ResponsesFact

WIRE: WireName = "openai-responses"

MADE = "_made_"
"""In the ids that our answers give items whose parts bring none: no provider knows them."""

IDENTITY = ("id", "status")
"""Members that mean something only behind opaque reasoning."""

CALL_TEXTS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The calls a client answers, and the member that holds what is passed."""

_TEXTS = ("output_text", "input_text", "text")
_PARAGRAPH = "\n\n"
_FILE_TYPES = {"pdf": "application/pdf", "txt": "text/plain", "csv": "text/csv", "json": "application/json"}


class Reader:
    """Reads the items of one assistant turn, in order."""

    def __init__(self, note: Note) -> None:
        self.parts: list[Part] = []
        self._note = note
        self._opaque_reasoning = False
        self._call_ids: set[str] = set()

    def read(self, item: Any, at: str) -> None:
        """Take the next item; ``at`` is where facts point."""
        if not isinstance(item, dict):
            self._note("item-not-object", at, type(item).__name__)
            return
        kind = item.get("type")
        if kind == "message" or (kind is None and "role" in item):
            self._read_message(item, at)
        elif kind == "reasoning":
            self._read_reasoning(item, at)
        elif kind in ("function_call", "custom_tool_call"):
            self._read_call(item, at)
        elif not isinstance(kind, str) or not kind:
            self._note("item-without-type", at)
        else:
            self.parts.append(_image(item) or Text("", {WIRE: {"item": item}}))

    def _read_message(self, item: dict[str, Any], at: str) -> None:
        if item.get("role") != "assistant":
            self._note("item-of-other-role", f"{at}/role", compact(item.get("role")))
        rest = self._rest(item, "type", "role", "content")
        self.parts += read_content(item.get("content"), f"{at}/content", self._note, rest)

    def _read_reasoning(self, item: dict[str, Any], at: str) -> None:
        summary, content = _texts(item.get("summary")), _texts(item.get("content"))
        rest = _members(item, "type", "summary", "content")
        if _is_made(item):
            _forget(rest)
        texts = content or summary
        plain = not rest and _plain(item.get("summary"), "summary_text")
        plain = plain and _plain(item.get("content"), "reasoning_text")
        if plain and not any(texts):
            self._note("reasoning-empty", at)
            return
        opaque: Opaque | None = None
        if not plain or len(texts) > 1 or (content and summary):
            opaque = {WIRE: {"item": item}}
            self._opaque_reasoning = True
        spelling = "reasoning_text" if content else "summary_text"
        self.parts.append(Reasoning(_PARAGRAPH.join(texts), spelling, opaque))

    def _read_call(self, item: dict[str, Any], at: str) -> None:
        kind = item["type"]
        key = CALL_TEXTS[kind]
        call_id = self._name(item, "call_id", at, "missing-call-id", "call-id-not-string")
        if call_id and call_id in self._call_ids:
            self._note("repeated-call-id", f"{at}/call_id", call_id)
        self._call_ids.add(call_id)
        name = self._name(item, "name", at, "missing-name", "name-not-string")
        rest = self._rest(item, "type", "call_id", "name", key)
        if kind != "function_call":
            rest["type"] = kind
        self.parts.append(
            ToolCall(call_id, name, self._arguments(item, key, f"{at}/{key}"), _opaque({"item": rest}))
        )

    def _name(
        self, item: dict[str, Any], key: str, at: str, missing: ResponsesFact, odd: ResponsesFact
    ) -> str:
        value = item.get(key)
        if value is None or value == "":
            self._note(missing, f"{at}/{key}")
            return ""
        if not isinstance(value, str):
            self._note(odd, f"{at}/{key}", compact(value))
            return compact(value)
        return value

    def _arguments(self, item: dict[str, Any], key: str, at: str) -> str:
        value = item.get(key)
        if isinstance(value, str):
            return value
        if value is None:
            self._note("arguments-null" if key in item else "missing-arguments", at)
            return ""
        name: ResponsesFact = "arguments-object" if isinstance(value, dict) else "arguments-not-string"
        self._note(name, at, type(value).__name__)
        return compact(value)

    def _rest(self, item: dict[str, Any], *said: str) -> dict[str, Any]:
        rest = _members(item, *said)
        if not self._opaque_reasoning or _is_made(item):
            _forget(rest)
        return rest


def read_content(content: Any, at: str, note: Note, item: dict[str, Any] | None = None) -> list[Part]:
    """The parts of a message's content, or of a result's output; ``item``: members of the item around them.

    An empty text with nothing beside it is no part.
    """
    rest = item or {}
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    elif not isinstance(content, list):
        note("content-not-list", at, type(content).__name__)
        content = []
    parts = []
    for i, entry in enumerate(content):
        part = _read_part(entry, f"{at}/{i}", note, rest)
        if part is not None:
            parts.append(part)
    return parts


def _read_part(entry: Any, at: str, note: Note, item: dict[str, Any]) -> Part | None:
    if not isinstance(entry, dict):
        note("content-part-not-object", at, type(entry).__name__)
        return Text(entry, _opaque({"item": item})) if isinstance(entry, str) and entry else None
    kind = entry.get("type")
    if kind in _TEXTS or kind == "refusal":
        key = "refusal" if kind == "refusal" else "text"
        text = entry.get(key)
        if not isinstance(text, str):
            note("text-null" if text is None else "text-not-string", f"{at}/{key}", type(text).__name__)
            text = ""
        rest = _members(entry, "type", key)
        if not text and not rest:
            return None
        opaque = _opaque({"item": item, **rest})
        return Refusal(text, opaque) if kind == "refusal" else Text(text, opaque)
    media = _read_media(entry, item) if isinstance(kind, str) else None
    if media is None:
        note("content-part-unknown", at, kind if isinstance(kind, str) else "")
        return Text("", _opaque({"item": item, "part": entry}))
    return media


def _read_media(entry: dict[str, Any], item: dict[str, Any]) -> Part | None:
    kind = entry["type"]
    if kind == "input_image":
        rest = _members(entry, "type", "image_url")
        if rest.get("detail") == "auto":
            del rest["detail"]
        return Image(_string(entry, "image_url"), _opaque({"item": item, **rest}))
    if kind == "input_file":
        url, name = _string(entry, "file_url"), _string(entry, "filename")
        if not url and (data := _string(entry, "file_data")):
            guessed = _FILE_TYPES.get(name.rpartition(".")[2].lower(), "application/octet-stream")
            url = data if data.startswith("data:") else f"data:{guessed};base64,{data}"
        rest = _members(entry, "type", "file_url", "file_data", "filename")
        return File(url, name, _opaque({"item": item, **rest}))
    if kind == "input_audio" and isinstance(sound := entry.get("input_audio"), dict):
        rest = _members(entry, "type", "input_audio")
        return Audio(_string(sound, "data"), _string(sound, "format"), _opaque({"item": item, **rest}))
    return None


def _image(item: dict[str, Any]) -> Image | None:
    """The picture that OpenAI's image tool made: base64 in ``result``."""
    result = item.get("result")
    if item.get("type") != "image_generation_call" or not isinstance(result, str) or not result:
        return None
    kind = _string(item, "output_format") or "png"
    rest = {key: value for key, value in item.items() if key != "result"}
    return Image(f"data:image/{kind};base64,{result}", {WIRE: {"item": rest}})


def _texts(entries: Any) -> list[str]:
    return [
        entry["text"]
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("text"), str)
    ]


def _is_made(item: dict[str, Any]) -> bool:
    return MADE in _string(item, "id")


def _forget(members: dict[str, Any]) -> None:
    for key in IDENTITY:
        members.pop(key, None)


def _plain(entries: Any, kind: str) -> bool:
    """True of parts that are texts of that kind and say nothing else."""
    return entries is None or (
        isinstance(entries, list)
        and all(isinstance(e, dict) and e.keys() == {"type", "text"} and e["type"] == kind for e in entries)
    )


def _members(value: dict[str, Any], *said: str) -> dict[str, Any]:
    """The members that say something, beside those said already."""
    return {k: v for k, v in value.items() if k not in said and v is not None and v != [] and v != ""}


def _string(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _opaque(members: dict[str, Any]) -> Opaque | None:
    said = {key: value for key, value in members.items() if value != {}}
    return {WIRE: said} if said else None
