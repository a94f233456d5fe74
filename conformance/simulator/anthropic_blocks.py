"""Content blocks of a Messages request.

Source: the types of anthropic-sdk-python 2.14.0 (``ContentBlockParam`` and what it unites). Blocks of server
tools are refused: this endpoint has none.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from conformance.simulator import seal
from conformance.simulator.answer import encode, refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.messages import PastCall
from conformance.simulator.tokens import estimate

USER = ("text", "image", "document", "search_result", "tool_result")
ASSISTANT = ("text", "thinking", "redacted_thinking", "tool_use")
_RESULT = ("text", "image", "document", "search_result")
_MEMBERS = {
    "text": ("text", "citations"),
    "image": ("source", "transformations"),
    "document": ("source", "title", "context", "citations"),
    "search_result": ("source", "title", "content", "citations"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input", "caller", "toolset_name"),
    "tool_result": ("tool_use_id", "content", "is_error", "toolset_name"),
}
_UNMARKED = ("thinking", "redacted_thinking")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_IMAGE_TOKENS = 85
_BLOCKS = 100_000
ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

Ttl = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True)
class Block:
    """A content block; ``tokens`` is what it costs.

    ``text`` is what the model reads of it. ``call`` is set of a ``tool_use``, ``call_id`` of a
    ``tool_result``. ``mark`` is the life of the prompt up to here in the cache, ``raw`` what the cache
    compares.
    """

    kind: str
    path: str
    text: str
    tokens: int
    raw: bytes
    images: int = 0
    call: PastCall | None = None
    call_id: str = ""
    mark: Ttl | None = None


def text_block(text: str, path: str) -> Block:
    """A block of plain text."""
    return Block("text", path, text, estimate(text), encode({"type": "text", "text": text}))


def read_block(item: Fields, kinds: Sequence[str]) -> Block:
    """The block in ``item``, which must be one of ``kinds``.

    Raises:
        Refused: Anthropic would refuse it with 400.
    """
    kind = item.choice("type", kinds)
    if kind is None:
        raise missing(item.param("type"))
    marks = () if kind in _UNMARKED else ("cache_control",)
    item.closed(("type", *_MEMBERS[kind], *marks))
    text, images, call, call_id = "", 0, None, ""
    match kind:
        case "text":
            text = _text(item)
        case "image":
            images = _image(item)
        case "document":
            text, images = _document(item)
        case "search_result":
            text = _search_result(item)
        case "thinking":
            text = _thinking(item)
        case "redacted_thinking":
            _redacted(item)
        case "tool_use":
            call = _call(item)
        case "tool_result":
            text, images, call_id = _result(item)
    spoken = text if call is None else call.name + call.arguments
    return Block(
        kind=kind,
        path=item.param("type").removesuffix(".type"),
        text=text,
        tokens=estimate(spoken) + _IMAGE_TOKENS * images,
        raw=encode({name: item.raw(name) for name in item.names() if name != "cache_control"}),
        images=images,
        call=call,
        call_id=call_id,
        mark=cache_mark(item),
    )


def cache_mark(item: Fields) -> Ttl | None:
    """How long the prompt up to ``item`` is to be cached, if it is to be.

    Source: ``CacheControlEphemeralParam``.
    """
    control = item.object("cache_control")
    if control is None:
        return None
    control.closed(("type", "ttl"))
    if control.choice("type", ("ephemeral",)) is None:
        raise missing(control.param("type"))
    return "1h" if control.choice("ttl", ("5m", "1h")) == "1h" else "5m"


def needed(item: Fields, name: str) -> str:
    """A string that must be there, but may be empty."""
    text = item.text(name)
    if text is None:
        raise missing(item.param(name))
    return text


def _text(item: Fields) -> str:
    text = needed(item, "text")
    if not text:
        raise wrong_value(item.param("text"), "text content blocks must be non-empty")
    cited = item.raw("citations")
    if cited is not None and not isinstance(cited, list):
        raise wrong_type(item.param("citations"), "an array", cited)
    return text


# --------------------------------------------------------------------------------------------- media


def _image(item: Fields) -> int:
    source = item.needed_object("source")
    kind = source.choice("type", ("base64", "url", "file"))
    if kind is None:
        raise missing(source.param("type"))
    _source(source, kind, _IMAGES)
    if item.has("transformations"):
        raise wrong_value(item.param("transformations"), "this model does not transform images")
    return 1


def _document(item: Fields) -> tuple[str, int]:
    item.text("title")
    item.text("context")
    _uncited(item)
    source = item.needed_object("source")
    kind = source.choice("type", ("base64", "text", "content", "url", "file"))
    if kind is None:
        raise missing(source.param("type"))
    if kind == "text":
        source.closed(("type", "media_type", "data"))
        source.choice("media_type", ("text/plain",))
        return needed(source, "data"), 0
    if kind == "content":
        source.closed(("type", "content"))
        return _content(source, ("text", "image"))
    _source(source, kind, ("application/pdf",))
    return "", 1


def _source(source: Fields, kind: str, media: Sequence[str]) -> None:
    match kind:
        case "base64":
            source.closed(("type", "media_type", "data"))
            if source.choice("media_type", media) is None:
                raise missing(source.param("media_type"))
            data = source.needed_text("data")
            try:
                base64.b64decode(data, validate=True)
            except (binascii.Error, ValueError):
                raise wrong_value(source.param("data"), "it must be base64") from None
        case "url":
            source.closed(("type", "url"))
            if not source.needed_text("url").startswith(("https://", "http://")):
                raise wrong_value(source.param("url"), "only HTTP(S) URLs are supported")
        case _:
            source.closed(("type", "file_id"))
            name = source.needed_text("file_id")
            message = f"File not found: {name[:100]}"
            raise refusal(message, status=404, param=source.param("file_id"), code="file_not_found")


def _search_result(item: Fields) -> str:
    item.needed_text("source")
    item.needed_text("title")
    _uncited(item)
    if not isinstance(item.raw("content"), list):
        raise wrong_type(item.param("content"), "an array of text blocks", item.raw("content"))
    return _content(item, ("text",))[0]


def _uncited(item: Fields) -> None:
    citations = item.object("citations")
    if citations is not None and citations.boolean("enabled"):
        raise wrong_value(citations.param("enabled"), "this model does not cite")


# ------------------------------------------------------------------------------------------ thinking


def _thinking(item: Fields) -> str:
    text = needed(item, "thinking")
    if not seal.genuine(needed(item, "signature"), "thinking", text):
        raise wrong_value(item.param("signature"), "Invalid `signature` in `thinking` block")
    return text


def _redacted(item: Fields) -> None:
    if not seal.genuine(needed(item, "data"), "redacted_thinking"):
        raise wrong_value(item.param("data"), "Invalid `data` in `redacted_thinking` block")


# --------------------------------------------------------------------------------------------- tools


def _call(item: Fields) -> PastCall:
    call_id = _id(item, "id")
    name = item.needed_text("name")
    if not NAME.fullmatch(name):
        raise wrong_value(item.param("name"), f"String should match pattern '^{NAME.pattern}$'")
    item.needed_object("input")
    item.object("caller")
    return PastCall(call_id, name, encode(item.raw("input")).decode())


def _id(item: Fields, name: str) -> str:
    given = item.needed_text(name)
    if not ID.fullmatch(given):
        raise wrong_value(item.param(name), f"String should match pattern '^{ID.pattern}$'")
    return given


def _result(item: Fields) -> tuple[str, int, str]:
    call_id = _id(item, "tool_use_id")
    item.boolean("is_error")
    text, images = _content(item, _RESULT) if item.has("content") else ("", 0)
    return text, images, call_id


def _content(item: Fields, kinds: Sequence[str]) -> tuple[str, int]:
    content = item.raw("content")
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        raise wrong_type(item.param("content"), "a string or an array of content blocks", content)
    blocks = [read_block(inner, kinds) for inner in item.objects("content", 0, _BLOCKS) or ()]
    return "".join(block.text for block in blocks), sum(block.images for block in blocks)
