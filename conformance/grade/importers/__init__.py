"""One module per recording format; formats are told by their content, never by a file's name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from conformance.grade import jsonl
from conformance.grade.importers import (
    batch_output,
    braintrust,
    event_lines,
    event_stream,
    go_vcr,
    har,
    http_dump,
    httpmock,
    httprr,
    litellm_log,
    nock,
    pair_log,
    req_llm,
    response_json,
    ruby_vcr,
    sdk_dump,
    sse_dump,
    vcr_lists,
    vcrpy,
    wiremock,
)
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source


class Importer(Protocol):
    """What each module of this package is."""

    @property
    def name(self) -> str:
        """The format, in a word."""
        ...

    def looks_like(self, head: Head) -> bool:
        """Whether a file that begins so is of this format. Never raises."""
        ...

    def read(self, source: Source) -> Iterator[Recorded | Unusable]:
        """The exchanges of such a file, in order. Raises ``OSError`` and `source.Unreadable`."""
        ...


IMPORTERS: tuple[Importer, ...] = (
    httprr,
    http_dump,
    event_stream,
    har,
    go_vcr,
    vcrpy,
    ruby_vcr,
    vcr_lists,
    httpmock,
    wiremock,
    braintrust,
    nock,
    sdk_dump,
    req_llm,
    jsonl,
    litellm_log,
    batch_output,
    pair_log,
    sse_dump,
    # From here on a file is told by little: what the others know must have been asked for before.
    event_lines,
    response_json,
)
"""In the order they are asked: the first that a file looks like reads it."""
