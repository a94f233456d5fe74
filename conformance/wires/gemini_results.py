"""Results of calls as Gemini's ``functionResponse`` parts.

Source: google-genai 3.6.1, ``types.FunctionResponse``: ``output`` is the result, ``error`` the failure; an
object with neither is the result as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import Audio, File, Image, Loss, Message, Part, Text, ToolCall
from conformance.wires.arguments import strict, text_of
from conformance.wires.gemini_names import from_gemini, members, to_gemini
from conformance.wires.gemini_parts import WIRE, Note, decode_part, encode_part, slot
from conformance.wires.losses import merge_native, own, said_elsewhere


def wrap(text: str) -> dict[str, Any]:
    """The ``response`` that says a result's text: the object that the text is, if ``unwrap`` restores it."""
    value = strict(text)
    if isinstance(value, dict) and unwrap(value) == (text, False):
        return value
    return {"output": text}


def unwrap(response: Mapping[str, Any]) -> tuple[str, bool]:
    """The text that a ``response`` says, and whether it tells of a failure; the inverse of ``wrap``."""
    if len(response) == 1:
        ((key, value),) = response.items()
        if key in ("output", "error") and isinstance(value, str):
            return value, key == "error"
    return text_of(dict(response)), False


def encode_result(message: Message, call: ToolCall | None, at: str, losses: list[Loss]) -> dict[str, Any]:
    """The part that says a tool message; texts come first and as one, media after them."""
    texts: list[str] = []
    media: list[dict[str, Any]] = []
    extra: dict[str, Any] = {}
    for j, part in enumerate(message.parts):
        where = f"{at}/parts/{j}"
        if said_elsewhere(part, WIRE, where, losses):
            continue
        if isinstance(part, Image | Audio | File):
            encoded = encode_part(part, where, losses)
            media += [encoded] if encoded else []
        elif isinstance(part, Text):
            extra |= own(part.opaque, WIRE, where, losses)
            if part.text and (texts or media):
                losses.append(Loss(where, "a text of its own: one text, then media", "form"))
            texts += [part.text] if part.text else []
        else:
            losses.append(Loss(where, "a part that no result holds"))
    text, given = "".join(texts), message.tool_call_id or ""
    name = call.name if call else given
    if call is None:
        losses.append(Loss(at, "no call has its id: the id stands for the name", "form"))
    renamed = to_gemini(name)
    body: dict[str, Any] = {
        **({"id": given} if given else {}),
        "name": renamed,
        "response": {"error": text} if message.is_error else wrap(text),
        **({"parts": media} if media else {}),
    }
    return dict(merge_native({"functionResponse": body}, {WIRE: extra}, WIRE, losses))


def decode_result(raw: Mapping[str, Any], note: Note) -> tuple[str, str, tuple[Part, ...], bool]:
    """The id, the name, the parts and the error flag that a ``functionResponse`` part says."""
    value = raw["functionResponse"]
    body = members(value) if isinstance(value, dict) else {}
    response = body.get("response")
    text, failed = unwrap(response) if isinstance(response, dict) else ("", False)
    if response is not None and not isinstance(response, dict):
        text = response if isinstance(response, str) else text_of(response)
    rest = {k: v for k, v in raw.items() if k != "functionResponse" and v is not None}
    known = ("id", "name", "response", "parts")
    more = {k: v for k, v in body.items() if k not in known and v is not None}
    rest |= {"functionResponse": more} if more else {}
    parts: list[Part] = [Text(text, slot(rest))] if text or rest else []
    media = body.get("parts")
    for item in media if isinstance(media, list) else ():
        if isinstance(item, dict):
            parts += decode_part(members(item), "", note, lambda given, *_: given)
    given, name = body.get("id"), body.get("name")
    return (
        given if isinstance(given, str) else "",
        from_gemini(name) if isinstance(name, str) else "",
        tuple(parts),
        failed,
    )
