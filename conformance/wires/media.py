"""Pictures, sounds and documents between ``data:`` URLs and the pair of media type and base64."""

from __future__ import annotations

import base64
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

from conformance.types import Audio, File, Image

Media: TypeAlias = Image | Audio | File

_SIGNATURES = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "Qk": "image/bmp",
}
"""How the base64 of the usual picture formats begins."""

_EXTENSIONS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "wav": "audio/wav",
    "mp3": "audio/mp3",
    "mp4": "video/mp4",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "html": "text/html",
    "md": "text/markdown",
    "csv": "text/csv",
    "json": "application/json",
}


def inline(url: str) -> tuple[str, str] | None:
    """Media type and base64 of a ``data:`` URL (RFC 2397); ``None`` for any other URL."""
    if not url.startswith("data:"):
        return None
    head, comma, data = url[5:].partition(",")
    if not comma:
        return None
    if head.lower().endswith(";base64"):
        return head[: -len(";base64")], data
    plain = unquote_to_bytes(data.encode("utf-8", "surrogatepass"))
    return head or "text/plain", base64.b64encode(plain).decode()


def data_url(kind: str, data: str) -> str:
    """The ``data:`` URL of base64 ``data``; the inverse of ``inline``."""
    return f"data:{kind};base64,{data}"


def plain_base64(data: str) -> str:
    """Base64 in the standard alphabet.

    ProtoJSON reads the URL-safe one, too (protobuf.dev, "ProtoJSON Format", bytes), and google-genai 3.6.1
    writes that; other wires don't take it.
    """
    return data.replace("-", "+").replace("_", "/")


def picture_kind(data: str) -> str:
    """The media type of a picture by the first bytes of its base64, ``""`` when it is none of the usual."""
    return next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), "")


def kind_by_name(url: str) -> str:
    """The media type by the extension in a URL's path, ``""`` when that says nothing."""
    path = url.partition("?")[0].partition("#")[0]
    return _EXTENSIONS.get(path.rpartition(".")[2].lower(), "")


def medium(kind: str, data: str) -> Media:
    """The canonical part for base64 ``data`` of a media type."""
    if kind.startswith("image/"):
        return Image(data_url(kind, data))
    if kind.startswith("audio/"):
        return Audio(data, kind.removeprefix("audio/"))
    return File(data_url(kind, data))
