"""Members of a request that the published schema doesn't list."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import ChatReply
from conformance.rules.examples import answer, error
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Violation


@rule(
    "chat.request.extension",
    level="MAY",
    basis="convention",
    source=schema("CreateChatCompletionRequest"),
    violating=error(400, probe="extension", expect="answer"),
    conforming=answer(probe="extension", expect="answer"),
    consequence="a client that sends one provider's extra members to another gets no answer",
)
def extension(reply: ChatReply) -> Iterator[Violation]:
    """A request with a member that the schema doesn't list is answered.

    The schema neither allows nor forbids such members, so that refusing them is no fault; it is noted because
    clients send the members of one provider to another.
    """
    if reply.reading.exchange.probe == "extension":
        yield from reply.accepted()
