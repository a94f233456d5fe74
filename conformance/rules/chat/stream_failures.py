"""Streams that were begun and not answered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.rules.chat.streams import ChatStream
from conformance.rules.examples import piece, start, stream
from conformance.rules.registry import rule
from conformance.rules.views import Violation

_LOAD = re.compile(
    r"overload|rate.?limit|too many requests|capacity|quota|\b(?:429|50[234]|529)\b", re.IGNORECASE
)
"""What is told of load and quota, or of a server behind that can't be reached, is no evidence of the wire."""


def _failed(message: str) -> bytes:
    error = f'{{"message":"{message}","type":"server_error","param":null,"code":null}}'
    return f'data: {{"error":{error}}}\n\n'.encode()


@rule(
    "chat.stream.answered-to-the-end",
    level="SHOULD",
    basis="convention",
    needs=("purpose",),
    source=("ggml-org/llama.cpp issue 24644", "pydantic/pydantic-ai models/groq.py (tool_use_failed)"),
    violating=stream(start(), piece(content="Let"), _failed("Failed to parse input at pos 12"), done=b""),
    conforming=stream(start(), piece(content="Let"), _failed("Overloaded, try again later"), done=b""),
    consequence="the text that came is no answer, and whoever asks again the same way gets the same",
)
def answered_to_the_end(one: ChatStream) -> Iterator[Violation]:
    """A stream that began well ends with the answer, not with an error.

    Load, quota and a server behind that can't be reached are excused.
    """
    if one.error is None or one.reading.exchange.expect != "answer" or not one.choices:
        return
    error = one.error.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(message, str) or all(choice.finish_reason for choice in one.choices):
        return
    code = error.get("code") if isinstance(error, dict) else None
    if not _LOAD.search(f"{message} {code}"):
        yield one.error.found("error", wanted="the rest of the answer", saw=f"{message} {code or ''}".strip())
