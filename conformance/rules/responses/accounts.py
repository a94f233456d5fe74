"""What a response says of itself: the tokens it cost, and the request it answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.examples import conversation
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.examples import USAGE, WIRES, answer, stream, told, tool
from conformance.rules.responses.views import Result
from conformance.rules.sources import schema
from conformance.rules.views import Run, Violation, lookup

COUNTS: tuple[tuple[str, ...], ...] = (
    ("input_tokens",),
    ("input_tokens_details", "cached_tokens"),
    ("output_tokens",),
    ("output_tokens_details", "reasoning_tokens"),
    ("total_tokens",),
)


@rule(
    "resp.response.usage-shape",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("ResponseUsage"),
    violating=answer(usage={"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}),
    conforming=answer(usage={**USAGE, "input_tokens_details": {"cached_tokens": 0}}),
    consequence="cost meters raise: openai-python's usage.output_tokens_details is None",
)
def usage_shape(result: Result) -> Iterator[Violation]:
    """usage has input_tokens, output_tokens, total_tokens, and the details with cached and reasoning tokens.

    cache_write_tokens is new in the schema, and few have it yet: not asked for.
    """
    if isinstance(result.get("usage"), dict):
        for path in COUNTS:
            value = result.get("usage", *path)
            if not (type(value) is int and value >= 0):
                yield result.found("usage", *path, wanted="a count of tokens")


@rule(
    "resp.response.usage-sum",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=schema("ResponseUsage"),
    violating=answer(usage={**USAGE, "total_tokens": 11}),
    conforming=answer(),
    consequence="a budget is spent sooner, or later, than the client believes",
)
def usage_sum(result: Result) -> Iterator[Violation]:
    """total_tokens is the sum of input_tokens and output_tokens."""
    counts = [result.get("usage", name) for name in ("input_tokens", "output_tokens", "total_tokens")]
    if all(type(count) is int for count in counts) and counts[0] + counts[1] != counts[2]:
        yield result.found("usage", "total_tokens", wanted=f"{counts[0]} + {counts[1]}")


@rule(
    "resp.stream.incomplete-usage",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=schema("ResponseUsage"),
    violating=stream(told(usage=None)),
    conforming=stream(),
    consequence="what streams cost is nowhere to be read: there is no stream_options.include_usage here",
)
def usage_in_stream(result: Result) -> Iterator[Violation]:
    """The response at the end of a stream has its usage, also where it is incomplete."""
    ended = result.event is not None and result.get("status") in ("completed", "incomplete")
    if ended and result.get("usage") in (None, ABSENT):
        yield result.found("usage", wanted="an object")


@rule(
    "resp.response.echo-request-params",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=schema("Response"),
    violating=answer(asked={"temperature": 0.2}, temperature=1.0),
    conforming=answer(asked={"temperature": 0.2, "metadata": {"run": "7"}, "tools": [tool()]}),
    consequence="a parameter that was dropped looks honoured, and a log of responses tells another story",
)
def echo(result: Result) -> Iterator[Violation]:
    """temperature, top_p, tool_choice, parallel_tool_calls, metadata and tools are the request's.

    Judged where the request sets them, tools by their names in any order (OpenAI sorts them by type); a
    tool_choice that is an object may come back in another form.
    """
    asked = result.asked.body if result.asked else {}
    for name in ("temperature", "top_p", "tool_choice", "parallel_tool_calls", "metadata"):
        sent, given = asked.get(name), result.get(name)
        comparable = sent is not None and not (name == "tool_choice" and isinstance(sent, dict))
        if comparable and given is not ABSENT and given != sent:
            yield result.found(name, wanted="the request's")
    sent_names, given_names = _names(asked.get("tools")), _names(result.get("tools"))
    if sent_names and given_names is not None and sorted(given_names) != sorted(sent_names):
        yield result.found("tools", wanted="the request's: " + ", ".join(sent_names))


def _names(tools: Any) -> list[str] | None:
    """The names of the tools that have one; ``None`` where there is no list."""
    if not isinstance(tools, list):
        return None
    names = (lookup(tool, ("name",)) for tool in tools)
    return [name for name in names if isinstance(name, str)]


QUESTION = {"type": "input_text", "text": "What is in the picture?"}
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}
SEEN = {"input": [{"type": "message", "role": "user", "content": [QUESTION, PICTURE]}]}
UNSEEN = {"input": [{"type": "message", "role": "user", "content": QUESTION["text"]}]}
MEDIA = ("input_image", "input_file", "input_audio")
BARE = {"without-image": "image", "without-attachment": "attachment"}
"""The probes that ask a question again without its image or attachment."""


@rule(
    "resp.request.media-not-ignored",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request", "purpose"),
    source=(schema("InputImageContent"), schema("InputFileContent")),
    violating=conversation(
        answer(asked=SEEN), answer(asked=UNSEEN, probe="without-image", expect="either", id="resp_2")
    ),
    conforming=conversation(
        answer(asked=SEEN, usage={**USAGE, "input_tokens": 94, "total_tokens": 97}),
        answer(asked=UNSEEN, probe="without-image", expect="either", id="resp_2"),
    ),
    consequence="the model describes a picture, or a document, that it never saw",
)
def media_ignored(run: Run) -> Iterator[Violation]:
    """An image or a file in a request is read or refused, never dropped.

    The rule is this suite's own. It costs input tokens: an answer that has no more of them than the same
    question without it was made without it.
    """
    results = run.views(Result)
    for bare in results:
        what, least = BARE.get(bare.reading.exchange.probe or ""), bare.get("usage", "input_tokens")
        for result in results if what and type(least) is int and least > 0 else ():
            spent = result.get("usage", "input_tokens")
            if _has_media(result) and type(spent) is int and spent <= least:
                wanted = f"more than the {least} of the question without its {what}"
                yield result.found("usage", "input_tokens", wanted=wanted)


def _has_media(result: Result) -> bool:
    given = result.asked.body.get("input") if result.asked else None
    messages = given if isinstance(given, list) else []
    parts = [
        part for one in messages if isinstance(content := lookup(one, ("content",)), list) for part in content
    ]
    return any(lookup(part, ("type",)) in MEDIA for part in parts)
