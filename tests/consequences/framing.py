"""What breaks at a stream whose framing breaks a rule."""

from __future__ import annotations

import json
from typing import Any

from conformance.rules.examples import Exchanges, piece, start, stream

from .claims import HELLO, Claim, Raised, chunks, helper, itself, joined, message, texts


def framed(*events: bytes) -> Exchanges:
    """A stream of these bytes."""
    return stream(raw=b"".join(events))


def event(value: Any, end: bytes = b"\n\n") -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + end


FRAMING = (
    Claim(
        "sse.utf8",
        "openai-python raises UnicodeDecodeError",
        chunks(itself),
        Raised("UnicodeDecodeError"),
    ),
    Claim(
        "sse.no-bom",
        "openai-python silently drops the first chunk (1.109.1, 2.54.0 and 3.57.0)",
        chunks(joined),
        "lo.",
        framed(
            b"\xef\xbb\xbf",
            *map(event, (piece(role="assistant", content="Hel"), piece(content="lo."), piece("stop"))),
        ),
    ),
    Claim(
        "sse.event-separated-by-blank-line",
        "openai-python joins the lines and raises JSONDecodeError: Extra data",
        chunks(itself),
        Raised("JSONDecodeError", "Extra data"),
    ),
    Claim(
        "sse.final-event-terminated",
        "openai-python drops the unterminated event without an error",
        chunks(texts),
        [""],
        framed(event(start()), event(piece(content="Hello."), end=b"\n")),
    ),
    Claim(
        "sse.known-fields-only",
        "openai-python ignores the line",
        helper(lambda done: message(done).content),
        "Hello.",
    ),
    Claim(
        "sse.no-empty-data-event",
        'openai-python dispatches it and json.loads("") raises JSONDecodeError',
        chunks(itself),
        Raised("JSONDecodeError", "Expecting value: line 1 column 1"),
    ),
    Claim(
        "sse.no-id-field",
        "with comment heartbeats openai-python then raises JSONDecodeError at every blank line",
        chunks(itself),
        Raised("JSONDecodeError", "Expecting value: line 1 column 1"),
        framed(b"id: 1\n", event(HELLO[0]), b": ping\n\n", *map(event, HELLO[1:])),
    ),
    Claim(
        "sse.no-retry-field",
        "a block of retry alone makes openai-python raise JSONDecodeError",
        chunks(itself),
        Raised("JSONDecodeError", "Expecting value: line 1 column 1"),
        framed(b"retry: 100\n\n", *map(event, HELLO)),
    ),
    Claim(
        "sse.single-line-json",
        "openai-python joins them",
        chunks(joined),
        "Hello.",
    ),
    Claim(
        "sse.one-json-object-per-event",
        "openai-python raises JSONDecodeError in the middle of the stream",
        chunks(itself),
        Raised("JSONDecodeError"),
    ),
    Claim(
        "sse.done-sentinel",
        "openai-python tolerates a missing marker",
        helper(lambda done: message(done).content),
        "Hello.",
    ),
    Claim(
        "sse.done-once-and-last",
        "clients stop reading at the marker: what follows is lost",
        chunks(joined),
        "Hello.",
        framed(*map(event, HELLO), b"data: [DONE]\n\n", event(piece(content="More."))),
    ),
)
