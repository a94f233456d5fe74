"""Images and documents as blocks, and back.

A picture is a ``data:`` or ``https:`` URL, so is a document; ``text`` sources are ``data:text/plain``.
A ``source`` that no URL says exactly (a file id, a list of blocks, a media type with a comma) stays in the
part's opaque slot, and the URL is empty. Source: anthropic SDK 2.14.0, ``types/image_block_param.py``,
``types/document_block_param.py`` and their sources.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, TypeAlias

from conformance.types import File, Image, Loss, Opaque, WireName
from conformance.wires.media import data_url, inline

WIRE: WireName = "anthropic-messages"

Media: TypeAlias = Image | File

_TEXT = "text/plain"


def encode_media(part: Media, mine: dict[str, Any], at: str, losses: list[Loss]) -> dict[str, Any] | None:
    """The block of a picture or document with what is its ``own``; ``None`` when it can't be reached."""
    kind = "image" if isinstance(part, Image) else "document"
    source = mine.pop("source", None)
    if source is None:
        if not part.url:
            losses.append(Loss(at, f"{kind} without a URL"))
            return None
        source = _source(part.url, kind, at, losses)
    title = {"title": part.name} if isinstance(part, File) and part.name else {}
    return {"type": kind, "source": source, **title, **mine}


def read_media(block: dict[str, Any]) -> Media:
    """The part that an ``image`` or ``document`` block is."""
    kind, source = block["type"], block.get("source")
    rest = {k: v for k, v in block.items() if k not in ("type", "source") and v is not None}
    url = _url(source) if isinstance(source, dict) else ""
    if not url or _source(url, kind, "", []) != source:
        url, rest = "", {"source": source, **rest}
    if kind == "image":
        return Image(url, _opaque(rest))
    title = rest.get("title")
    name = rest.pop("title") if isinstance(title, str) and title else ""
    return File(url, name, _opaque(rest))


def _opaque(rest: dict[str, Any]) -> Opaque | None:
    return {WIRE: rest} if rest else None


def _source(url: str, kind: str, at: str, losses: list[Loss]) -> dict[str, Any]:
    found = inline(url)
    if found is None:
        return {"type": "url", "url": url}
    media, data = found[0] or _TEXT, found[1]
    if not url.lower().endswith(f";base64,{data}".lower()):
        losses.append(Loss(at, "a data URL in percent encoding, told in base64", "form"))
    text = _text(data) if kind == "document" and media == _TEXT else None
    if text is not None:
        return {"type": "text", "media_type": _TEXT, "data": text}
    return {"type": "base64", "media_type": media, "data": data}


def _url(source: dict[str, Any]) -> str:
    kind, data, media = source.get("type"), source.get("data"), source.get("media_type")
    if kind == "url" and isinstance(source.get("url"), str):
        return str(source["url"])
    if kind == "base64" and isinstance(data, str) and isinstance(media, str):
        return data_url(media, data)
    if kind == "text" and isinstance(data, str):
        return data_url(_TEXT, _base64(data))
    return ""


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def _text(data: str) -> str | None:
    """The text in base64 data, if the data is exactly that text's."""
    try:
        text = base64.b64decode(data, validate=True).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        return None
    return text if _base64(text) == data else None
