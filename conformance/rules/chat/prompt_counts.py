"""What ``prompt_tokens`` proves when two prompts of a run differ in one thing, or in nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.rules.chat.views import Answer
from conformance.rules.examples import USAGE, answer, conversation, error
from conformance.rules.registry import rule
from conformance.rules.sources import docs, schema
from conformance.rules.views import Probe, Run, Violation, lookup
from conformance.types import Usage

QUESTION = {"type": "text", "text": "What is in the picture?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
SEEN = {"messages": [{"role": "user", "content": [QUESTION, PICTURE]}]}
SECOND: dict[str, Any] = {"id": "chatcmpl-2", "headers": {"x-request-id": "req_2"}}
UNSEEN = {"messages": [{"role": "user", "content": QUESTION["text"]}]}


@rule(
    "chat.request.image-not-ignored",
    level="SHOULD",
    basis="convention",
    source=(
        schema("ChatCompletionRequestMessageContentPartImage"),
        docs("guides/images-vision calculating costs"),
    ),
    violating=conversation(
        answer(asked=SEEN), answer(asked=UNSEEN, probe="without-image", expect="either", **SECOND)
    ),
    conforming=conversation(
        answer(asked=SEEN, usage={**USAGE, "prompt_tokens": 94, "total_tokens": 97}),
        answer(asked=UNSEEN, probe="without-image", expect="either", **SECOND),
    ),
    consequence="the model describes a picture that it never saw",
)
def image_ignored(run: Run) -> Iterator[Violation]:
    """An image in a request is read or refused, never dropped.

    The rule is this suite's own. A picture costs prompt tokens: an answer whose prompt_tokens are no more
    than those of the same question without the picture was made without it. A 4xx that names images is an
    honest refusal.
    """
    yield from _dropped(run, "without-image", ("image_url",), "its image")


SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
HEARD = {"messages": [{"role": "user", "content": [QUESTION, SOUND]}]}


@rule(
    "chat.request.attachment-not-ignored",
    level="SHOULD",
    basis="convention",
    source=(
        schema("ChatCompletionRequestMessageContentPartAudio"),
        schema("ChatCompletionRequestMessageContentPartFile"),
    ),
    violating=conversation(
        answer(asked=HEARD, probe="attachment", expect="either"),
        answer(asked=UNSEEN, probe="without-attachment", expect="either", **SECOND),
    ),
    conforming=conversation(
        error(asked=HEARD, probe="attachment", expect="either"),
        answer(asked=UNSEEN, probe="without-attachment", expect="either", **SECOND),
    ),
    consequence="the model tells of a recording, or a document, that it never got",
)
def attachment_ignored(run: Run) -> Iterator[Violation]:
    """A sound or a file in a request is read or refused with a 4xx, never dropped.

    The rule is this suite's own. Judged as chat.request.image-not-ignored is, by prompt_tokens.
    """
    for probe in run.views(Probe):
        if probe.reading.exchange.probe == "attachment":
            yield from probe.survived()
    yield from _dropped(run, "without-attachment", ("input_audio", "file"), "what was attached")


@rule(
    "chat.response.usage-prompt-includes-cached",
    level="SHOULD",
    basis="derived",
    needs=("purpose",),
    source=(
        schema("CompletionUsage prompt_tokens"),
        schema("CompletionUsage prompt_tokens_details cached_tokens"),
    ),
    violating=conversation(
        answer(),
        answer(probe="repeated-prompt", **SECOND, usage={**USAGE, "prompt_tokens": 1, "total_tokens": 4}),
    ),
    conforming=conversation(answer(), answer(probe="repeated-prompt", **SECOND)),
    consequence="a prompt read from the cache seems to cost nothing: budgets and context limits go wrong",
)
def cached_included(run: Run) -> Iterator[Violation]:
    """The same prompt has the same prompt_tokens, whether or not it was read from a cache.

    The rule is this suite's own. prompt_tokens counts the tokens in the prompt, and cached_tokens those of
    them that were cached; servers in front of other vendors' APIs forget to add what these count apart.
    """
    answers = run.views(Answer)
    for first, second in pairwise(answers):
        if second.reading.exchange.probe != "repeated-prompt":
            continue
        before, after = (_tokens(answer, "prompt_tokens") for answer in (first, second))
        if before and after and before != after:
            yield second.found("usage", "prompt_tokens", wanted=f"{before}, as when the prompt came first")


def _tokens(one: Answer, name: str) -> int | None:
    tokens = one.get("usage", name)
    return tokens if type(tokens) is int else None


def _cost(one: Answer) -> int | None:
    counts = (_tokens(one, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    return Usage(*counts).whole_prompt


def _dropped(run: Run, probe: str, kinds: tuple[str, ...], what: str) -> Iterator[Violation]:
    """Answers to questions with such parts that cost no more than the question of ``probe``, without them."""
    answers = run.views(Answer)
    bare = [_cost(one) for one in answers if one.reading.exchange.probe == probe]
    for one in answers:
        tokens = _cost(one)
        if tokens and bare and bare[0] and _has(one, kinds) and tokens <= bare[0]:
            wanted = f"more than the {bare[0]} of the question without {what}"
            yield one.found("usage", "prompt_tokens", wanted=wanted)


def _has(one: Answer, kinds: tuple[str, ...]) -> bool:
    messages = lookup(one.reading.asked, ("messages",))
    return any(
        _kind(part) in kinds for message in _list(messages) for part in _list(lookup(message, ("content",)))
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _kind(part: Any) -> Any:
    return lookup(part, ("type",))
