"""The facts a decoder of Responses answers can state, beside ``not-utf-8``."""

from __future__ import annotations

from typing import Literal, Protocol

ResponsesFact = Literal[
    # the answer
    "error-body",  # an error in a whole answer; the detail is its message
    "error-event",  # an error in a stream, as its own event or in response.failed
    "id-not-string",
    "id-changed",  # a later lifecycle event has another response id; the first is kept
    "model-not-string",
    "status-missing",  # the answer has output and no error: read as completed
    "status-unknown",
    "incomplete-unexplained",  # incomplete without a reason: read as cut for length
    "output-missing",
    "output-not-list",
    "usage-not-object",
    "usage-not-integer",
    # items
    "item-not-object",  # dropped
    "item-without-type",  # dropped
    "item-of-other-role",  # a message that is not the assistant's; it is kept
    "reasoning-empty",  # no text, and nothing else; dropped
    "repeated-call-id",
    "missing-call-id",
    "call-id-not-string",  # kept as JSON
    "missing-name",
    "name-not-string",
    "missing-arguments",
    "arguments-null",
    "arguments-object",  # kept as compact JSON
    "arguments-not-string",  # an array, number or boolean, kept as compact JSON
    # content
    "content-not-list",  # a string is read as text, anything else is dropped
    "content-part-unknown",  # kept in the opaque slot of an empty text
    "content-part-not-object",  # a string is read as text, anything else is dropped
    "text-null",  # dropped
    "text-not-string",  # dropped
    # the stream
    "not-json",
    "not-object",
    "event-without-type",
    "after-done",  # an event after [DONE]
    "after-terminal",  # an item or a delta after the terminal event; it is kept
    "terminal-twice",  # the last one counts
    "terminal-name",  # the event says another status than its response, which counts if it says an end
    "terminal-only",  # the stream had no items before the terminal event: its output is read
    "terminal-missing-item",  # an item of the stream that the terminal output lacks; it is kept
    "terminal-more-items",  # an item that only the terminal output has; it is read
    "terminal-disagrees",  # another text or another call in the terminal output; the deltas count
    "item-added-twice",  # a second item on one output_index; both are kept
    "item-not-added",  # something of an item that was never added
    "item-of-other-type",  # a delta or an end that its item can't have; it is read as an item of its own
    "index-not-integer",  # of an item: by item_id, else the last one; of a part: the last one
    "part-index-gap",  # indexes of parts beyond the item's list (Amazon Bedrock); taken in their order
    "delta-not-string",  # dropped
    "without-deltas",  # a text or arguments that came at the end only
    "done-disagrees",  # a done event, or the done item, with another text; the deltas count
]


class Note(Protocol):
    """A way to state a fact."""

    def __call__(self, name: ResponsesFact, path: str, detail: str = "") -> None: ...


def silent(name: ResponsesFact, path: str, detail: str = "") -> None:
    """States nothing: requests are read without facts."""
