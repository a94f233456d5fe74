"""Edits of the messages in Chat answers, whole and streamed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from typing import Any

from conformance.simulator.deviations.deviation import documents
from conformance.simulator.mutants.mutant import Answer, Change

Message = dict[str, Any]


def messages_of(document: Any) -> Iterator[Message]:
    """The message or delta of each choice in a document of Chat's."""
    for choice in document.get("choices") or () if isinstance(document, dict) else ():
        said = choice.get("message", choice.get("delta"))
        if isinstance(said, dict):
            yield said


def each_message(edit: Callable[[Message], None]) -> Change:
    """``edit`` applied to every message and delta."""

    def change(answer: Answer) -> None:
        for document in documents(answer):
            for message in messages_of(document):
                edit(message)

    return change


def apart(whole: Callable[[Message], None], streamed: Callable[[list[Message]], list[Message]]) -> Change:
    """``whole`` applied to the message of each choice; ``streamed`` makes other chunks of a stream's."""

    def change(answer: Answer) -> None:
        if answer.events is None:
            for message in messages_of(answer.body):
                whole(message)
            return
        chunks = [event for event in answer.events if _has_choices(event)]
        others = [event for event in answer.events if not _has_choices(event)]
        by_choice = groupby(chunks, key=lambda chunk: chunk["choices"][0].get("index"))
        answer.events[:] = [*chain.from_iterable(streamed(list(group)) for _, group in by_choice), *others]

    return change


def stopping(
    member: str,
    whole: Callable[[Message], None],
    streamed: Callable[[list[Message]], list[Message]],
) -> Change:
    """As `apart`, where some message or delta has something in ``member``; every choice stops then."""
    edit = apart(whole, streamed)

    def change(answer: Answer) -> None:
        given = list(documents(answer))
        if not any(message.get(member) for document in given for message in messages_of(document)):
            return
        edit(answer)
        for document in given:
            for choice in document.get("choices") or ():
                if choice.get("finish_reason") is not None:
                    choice["finish_reason"] = "stop"

    return change


def chunk_like(chunk: Message, delta: Message) -> Message:
    """A chunk of the same stream and choice with this delta."""
    made = copy.deepcopy(chunk)
    made["choices"] = [{**made["choices"][0], "delta": delta, "finish_reason": None}]
    return made


def _has_choices(event: Any) -> bool:
    return isinstance(event, dict) and bool(event.get("choices"))
