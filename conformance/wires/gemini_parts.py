"""Gemini's parts, one by one, as canonical parts and back.

What a Gemini part says beside its datum (``thoughtSignature``, ``videoMetadata``) is the part's ``opaque``
under ``gemini``, in Gemini's own members, and goes back into the same part; what stands beside the known
members of a datum is there under the datum's name (``{"functionCall": {"willContinue": true}}``). A part
without a canonical counterpart (``executableCode``, a signature on its own) is an empty ``Text`` that
carries it so.

A sound is ``audio/`` and its format. A document's name is ``displayName``.

Source: google-genai 3.6.1, ``types.Part``, ``Blob``, ``FileData``, ``FunctionCall``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.types import (
    Audio,
    File,
    Image,
    Loss,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    WireName,
)
from conformance.wires.arguments import object_of, text_of
from conformance.wires.gemini_names import from_gemini, members, to_gemini
from conformance.wires.losses import merge_native, own
from conformance.wires.media import Media, inline, kind_by_name, medium, picture_kind, plain_base64

WIRE: WireName = "gemini"

Note = Callable[..., None]
"""``note(name, path, detail="")``: a way to state a fact."""

_BESIDE_TEXT = frozenset(
    {
        "thought",
        "thoughtSignature",
        "videoMetadata",
        "mediaResolution",
        "partMetadata",
        "audioTranscription",
        "mediaProcessing",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    }
)
_DATA = ("text", "inlineData", "fileData", "functionCall")
_ASSUMED = "image/jpeg"


# -------------------------------------------------------------------------------------------- encoding


def encode_part(part: Part, at: str, losses: list[Loss]) -> dict[str, Any] | None:
    """The Gemini part that says ``part``, ``None`` when there is none; ``at`` is where losses point."""
    extra = own(part.opaque, WIRE, at, losses)
    said = _said(part, extra, at, losses)
    return None if said is None else dict(merge_native(said, {WIRE: extra}, WIRE, losses))


def _said(part: Part, extra: Mapping[str, Any], at: str, losses: list[Loss]) -> dict[str, Any] | None:
    if isinstance(part, Text):
        carries = not part.text and not extra.keys() <= _BESIDE_TEXT
        return {} if carries else {"text": part.text}
    if isinstance(part, Reasoning):
        return {"text": part.text, "thought": True}
    if isinstance(part, Refusal):
        losses.append(Loss(at, "a refusal, told as text", "form"))
        return {"text": part.text}
    if isinstance(part, ToolCall):
        name = to_gemini(part.name)
        if name != part.name:
            losses.append(Loss(f"{at}/name", f"renamed to {name}", "form"))
        call = {"name": name, "args": object_of(part.arguments, at, losses)}
        return {"functionCall": {"id": part.id, **call} if part.id else call}
    if isinstance(part, Audio):
        return {"inlineData": {"mimeType": f"audio/{part.format}", "data": part.data}}
    return _said_medium(part, extra, at, losses)


def _said_medium(
    part: Image | File, extra: Mapping[str, Any], at: str, losses: list[Loss]
) -> dict[str, Any] | None:
    if not part.url:
        losses.append(Loss(at, "a medium without data or address"))
        return None
    found = inline(part.url)
    key = "fileData" if found is None else "inlineData"
    known = extra.get(key)
    given = known.get("mimeType") if isinstance(known, dict) else None
    kind = given or (kind_by_name(part.url) if found is None else found[0])
    if not kind and isinstance(part, Image):
        kind = picture_kind(found[1]) if found else ""
        if not kind:
            kind = _ASSUMED
            losses.append(Loss(at, f"its media type: {kind} assumed", "form"))
    if isinstance(part, Image) != kind.startswith("image/") or (found and kind.startswith("audio/")):
        losses.append(Loss(at, f"what it is: Gemini goes by the media type, {kind or 'none'}", "form"))
    if found is None:
        datum = {"fileUri": part.url}
    else:
        datum = {"data": found[1]}
        if part.url.partition(",")[0] != f"data:{found[0]};base64":
            losses.append(Loss(at, "the form of its data: URL", "form"))
    if isinstance(part, File) and part.name:
        datum["displayName"] = part.name
    return {key: {"mimeType": kind, **datum} if kind else datum}


# -------------------------------------------------------------------------------------------- decoding


def decode_part(raw: Mapping[str, Any], at: str, note: Note, identify: Callable[..., str]) -> list[Part]:
    """The canonical parts of a Gemini part with keys in lowerCamelCase; one, but of a malformed part.

    ``identify(given, name, arguments)`` gives a call its id. An empty text that carries nothing is no part.
    """
    data = [key for key in _DATA if raw.get(key) is not None]
    rest = {key: value for key, value in raw.items() if key not in _DATA and value is not None}
    if len(data) > 1:
        note("several-data", at, ", ".join(data))
    parts: list[Part] = []
    for key in data:
        where, value = f"{at}/{key}", raw[key]
        if key == "text":
            part = _text(value, rest, where, note)
        elif not isinstance(value, dict):
            note("datum-not-object", where, type(value).__name__)
            continue
        else:
            value = members(value, where, note)
            part = (
                _call(value, rest, where, note, identify)
                if key == "functionCall"
                else _medium(key, value, rest, where, note)
            )
        if part is not None:
            parts.append(part)
            rest = {}
    if not data and rest:
        if not rest.keys() <= _BESIDE_TEXT:
            note("part-carried", at, ", ".join(sorted(rest.keys() - _BESIDE_TEXT)))
        parts.append(Text("", {WIRE: rest}))
    return parts


def slot(rest: Mapping[str, Any]) -> Opaque | None:
    """The ``opaque`` of a part of this wire."""
    return {WIRE: rest} if rest else None


def arguments_of(args: Any, at: str, note: Note) -> str:
    """The arguments that a call's ``args`` say: absent ones are ``{}``, a string is kept as it is."""
    if args is None:
        return "{}"
    if not isinstance(args, dict):
        note("args-not-object", at, type(args).__name__)
        return args if isinstance(args, str) else text_of(args)
    return text_of(args)


def _text(value: Any, rest: dict[str, Any], at: str, note: Note) -> Part | None:
    if not isinstance(value, str):
        note("text-not-string", at, type(value).__name__)
        value = text_of(value)
    thought = rest.pop("thought", None)
    if thought is not None and not isinstance(thought, bool):
        note("thought-not-boolean", at, text_of(thought))
    if not value and not rest:
        return None
    return Reasoning(value, "thought", slot(rest)) if thought is True else Text(value, slot(rest))


def _call(
    value: dict[str, Any], rest: dict[str, Any], at: str, note: Note, identify: Callable[..., str]
) -> ToolCall:
    name, given = value.get("name"), value.get("id")
    if not isinstance(name, str) or not name:
        note("missing-name" if name in (None, "") else "name-not-string", f"{at}/name")
        name = name if isinstance(name, str) else "" if name is None else text_of(name)
    if given is not None and not isinstance(given, str):
        note("call-id-not-string", f"{at}/id", text_of(given))
        given = text_of(given)
    arguments = arguments_of(value.get("args"), f"{at}/args", note)
    more = {k: v for k, v in value.items() if k not in ("id", "name", "args") and v is not None}
    rest = {**rest, "functionCall": more} if more else rest
    name = from_gemini(name)
    return ToolCall(identify(given or "", name, arguments), name, arguments, slot(rest))


def _medium(key: str, value: dict[str, Any], rest: dict[str, Any], at: str, note: Note) -> Media | None:
    source = "data" if key == "inlineData" else "fileUri"
    where, kind, name = value.get(source), value.get("mimeType"), value.get("displayName")
    if not isinstance(where, str) or not where:
        note("datum-missing", f"{at}/{source}")
        return None
    if kind is not None and not isinstance(kind, str):
        note("mime-not-string", f"{at}/mimeType", text_of(kind))
        kind = None
    more = {k: v for k, v in value.items() if k not in (source, "mimeType", "displayName") and v is not None}
    part: Media
    if key == "inlineData":
        part = medium(kind or "", plain_base64(where))
    else:
        part = Image(where) if kind and kind.startswith("image/") else File(where)
        if kind and kind != kind_by_name(where):
            more["mimeType"] = kind
    if isinstance(name, str) and name:
        if isinstance(part, File):
            part = replace(part, name=name)
        else:
            more["displayName"] = name
    return replace(part, opaque=slot({**rest, key: more} if more else rest))
