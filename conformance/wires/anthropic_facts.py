"""The facts a decoder of Messages answers can state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

FactName = Literal[
    # the body or the event
    "not-utf-8",  # the body is not UTF-8; it was read with U+FFFD
    "not-json",  # an event's data is not JSON
    "not-object",  # an event's data is JSON, but no object
    "error-body",  # an error beside the content of a whole answer
    "error-event",  # an error inside a stream; the detail is its message
    "done-marker",  # [DONE], which this wire does not have
    "event-unknown",  # ignored
    "after-message-stop",
    "message-start-missing",  # a block or a message_delta before it
    "message-start-twice",  # the first id and model stay; its blocks are appended
    "message-not-object",
    "id-not-string",
    "model-not-string",
    "usage-not-object",
    "usage-not-integer",
    # finishing
    "stop-reason-not-string",
    "stop-reason-unknown",  # taken for stop
    "stop-reason-at-start",  # in message_start
    "after-stop-reason",  # a block, or a piece of one, after a stop_reason; it is kept
    # content
    "content-missing",
    "content-string",  # read as one text block
    "content-not-list",
    "block-not-object",  # dropped
    "block-unknown",  # kept as opaque
    "text-not-string",
    "text-empty",  # a block that says nothing; dropped
    "thinking-not-string",
    "missing-signature",
    "missing-data",  # a redacted_thinking block without data
    # calls
    "missing-id",
    "call-id-not-string",  # kept as JSON
    "repeated-id",
    "missing-name",
    "name-not-string",
    "missing-input",
    "input-string",  # kept as it is
    "input-not-object",  # kept as compact JSON
    "input-not-finite",  # NaN or a number beyond a double; kept as Python spells it
    "input-not-json",  # the pieces of a finished block are no JSON object; kept as they are
    "input-in-start",  # content_block_start had an input, and pieces followed: the pieces count
    # streamed blocks
    "index-missing",  # the block begun last, or a new one, is meant
    "index-not-integer",  # so is it here
    "index-repeated",  # a second block on one index
    "start-not-object",  # a content_block_start without a content_block
    "delta-not-object",
    "delta-not-string",
    "delta-unknown",  # ignored
    "delta-mismatch",  # of another type than its block; dropped, as the official SDK does
    "delta-without-start",  # begins a block of the delta's type
    "delta-after-block-stop",
    "stop-without-start",
]

Note: TypeAlias = Callable[[FactName, str, str], None]
"""Takes a fact's name, path and detail."""


def unheard(_name: FactName, _path: str, _detail: str) -> None:
    """A ``Note`` for readers that have nowhere to state facts."""
