"""A file that is Amazon's binary event stream: recognised, so that its reason can be named."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.grade.bodies import is_event_stream
from conformance.grade.exchanges import BINARY_STREAM
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "aws-event-stream"


def looks_like(head: Head) -> bool:
    """The checksum of its first frame's prelude tells."""
    return is_event_stream(head.data)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """One reason: no wire of ours has such frames."""
    yield Unusable(source.file, BINARY_STREAM, 0)
