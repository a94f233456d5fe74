"""Recordings as files, and what importers make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.grade.files import exchanges_of
from conformance.grade.recorded import Recorded, Unusable
from conformance.types import HttpResponse

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not (CORPUS / "manifest.jsonl").is_file(), reason="the corpus ../shared/corpus is not there"
)

QUESTION: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Ho"}, "finish_reason": "stop"}],
}
URL = "https://api.example.com/v1/chat/completions"


def packed(value: Any) -> str:
    """JSON as importers write it anew: compact."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def found(folder: Path, content: bytes | str | Any, name: str = "file") -> list[Recorded | Unusable]:
    """What is found in a file of this content (a value becomes JSON)."""
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content, indent=1)).encode()
    path = folder / name
    path.write_bytes(content)
    return list(exchanges_of(path))


def exchange(folder: Path, content: bytes | str | Any) -> Recorded:
    """The one exchange of a file of this content."""
    (one,) = found(folder, content)
    assert isinstance(one, Recorded), one
    return one


def response(recorded: Recorded) -> HttpResponse:
    """Its response, which must be there."""
    assert recorded.exchange.response is not None
    return recorded.exchange.response


def reason(folder: Path, content: bytes | str | Any) -> str:
    """Why the one exchange of a file of this content can't be used."""
    (one,) = found(folder, content)
    assert isinstance(one, Unusable), one
    return one.reason


def chunk(**delta: Any) -> dict[str, Any]:
    """A chunk of a chat stream."""
    finish = delta.pop("finish", None)
    return {
        "id": delta.pop("id", "chatcmpl-1"),
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


STREAM = (
    "".join(
        f"data: {packed(one)}\n\n" for one in (chunk(role="assistant", content="Ho"), chunk(finish="stop"))
    )
    + "data: [DONE]\n\n"
)


def binary_stream() -> bytes:
    """One frame of Amazon's event stream, with an empty header block and payload."""
    import zlib

    prelude = (16).to_bytes(4, "big") + (0).to_bytes(4, "big")
    frame = prelude + zlib.crc32(prelude).to_bytes(4, "big")
    return frame + zlib.crc32(frame).to_bytes(4, "big")
