"""What breaks at responses, whole and streamed, that break a rule of theirs."""

from __future__ import annotations

import json
from typing import Any, get_args

from conformance.rules.eventlists import but_in
from conformance.rules.reading import ABSENT
from conformance.rules.responses.examples import answer, stream, told

from .claims import Claim, Client, Look, Raised, Way, itself

ASKED: dict[str, Any] = {"model": "example-model", "input": "Say hello."}
HELPER_RAISES = "openai-python's helper raises"


def whole(look: Look) -> Way:
    """Asks for a whole response and looks at it."""
    return lambda client: look(client.bound.responses.create(**ASKED))


def streamed(look: Look) -> Way:
    """Asks for a stream and looks at the list of its events."""
    return lambda client: look(list(client.bound.responses.create(stream=True, **ASKED)))


def helper(look: Look) -> Way:
    """Asks for a stream through the SDK's helper and looks at the final response."""

    def way(client: Client) -> Any:
        with client.bound.responses.stream(**ASKED) as events:
            return look(events.get_final_response())

    return way


def fired(look: Look) -> Way:
    """Asks for a stream through the SDK's helper and looks at the list of the events that it fires."""

    def way(client: Client) -> Any:
        with client.bound.responses.stream(**ASKED) as events:
            return look(list(events))

    return way


def resumed(client: Client) -> Any:
    """Goes on with a stream behind its first event, through the SDK's helper."""
    with client.bound.responses.stream(response_id="resp_1", starting_after=0) as events:
        return list(events)


def text(response: Any) -> Any:
    """What a program shows."""
    return response.output_text


def first(response: Any) -> Any:
    """The first item."""
    return response.output[0]


def known_types(client: Client) -> set[str]:
    """The types of events that the SDK has a class for."""
    union, *_ = get_args(client.sdk.types.responses.ResponseStreamEvent)
    return {get_args(event.model_fields["type"].annotation)[0] for event in get_args(union)}


WHOLE = (
    Claim(
        "resp.response.content-type-json",
        "openai-python 3.57.0 reads the JSON all the same",
        whole(text),
        "Hello.",
    ),
    Claim(
        "resp.error.status-not-200",
        "hands out a Response full of None",
        whole(lambda response: (response.id, response.output)),
        (None, None),
    ),
    Claim(
        "resp.error.status-not-200", "reading output_text raises TypeError", whole(text), Raised("TypeError")
    ),
    Claim(
        "resp.response.required-keys-openai",
        "openai-python hands out None for what its type says is there",
        whole(lambda response: response.parallel_tool_calls),
        None,
        answer(parallel_tool_calls=ABSENT),
    ),
    Claim(
        "resp.response.output-array",
        "raises AttributeError where output_text is read",
        whole(text),
        Raised("AttributeError"),
    ),
    Claim(
        "resp.response.message-item",
        "raises AttributeError where output_text is read (a text as content)",
        whole(text),
        Raised("AttributeError"),
    ),
    Claim("resp.response.output-text-part", "openai-python's output_text is empty", whole(text), ""),
    Claim(
        "resp.response.refusal-part",
        "openai-python hands out a refusal of None",
        whole(lambda response: first(response).content[0].refusal),
        None,
    ),
    Claim(
        "resp.response.function-call-item",
        "json.loads of the arguments raises TypeError",
        whole(lambda response: json.loads(first(response).arguments)),
        Raised("TypeError", "not dict"),
    ),
    Claim(
        "resp.response.reasoning-item",
        "openai-python's is None",
        whole(lambda response: first(response).summary),
        None,
    ),
    Claim(
        "resp.response.item-fields-openai",
        "openai-python's id is None",
        whole(lambda response: first(response).id),
        None,
    ),
    Claim(
        "resp.response.usage-shape",
        "openai-python's usage.output_tokens_details is None",
        whole(lambda response: response.usage.output_tokens_details),
        None,
    ),
)

STREAM = (
    Claim(
        "resp.stream.event-name-matches-type-openai",
        "openai-python reads the type only",
        streamed(lambda events: (events[0].type, events[-1].type)),
        ("response.created", "response.completed"),
    ),
    Claim(
        "resp.stream.done-sentinel-openai",
        "openai-python 3.57.0 stops there",
        streamed(lambda events: events[-1].type),
        "response.completed",
    ),
    Claim(
        "resp.stream.sequence-number-present",
        "openai-python's helper then raises TypeError",
        resumed,
        Raised("TypeError", "'>' not supported"),
    ),
    Claim(
        "resp.stream.created-first",
        "RuntimeError: Expected to have received `response.created`",
        helper(itself),
        Raised("RuntimeError", "Expected to have received `response.created`"),
    ),
    Claim(
        "resp.stream.in-progress-second",
        "openai-python works without it, and with it anywhere",
        helper(text),
        "Hello.",
    ),
    Claim(
        "resp.stream.one-terminal-event",
        "RuntimeError: Didn't receive a `response.completed` event",
        helper(itself),
        Raised("RuntimeError", "Didn't receive a `response.completed` event"),
    ),
    Claim(
        "resp.stream.response-id-constant",
        "RuntimeError: Lifecycle response identity changed",
        helper(itself),
        Raised("RuntimeError", "Lifecycle response identity changed"),
    ),
    Claim(
        "resp.stream.terminal-output-complete",
        "the final response of openai-python's helper is empty although the text was streamed",
        helper(lambda response: response.output),
        [],
    ),
    Claim(
        "resp.stream.reasoning-events-openai",
        "openai-python 3.57.0 knows no such event",
        lambda client: {"response.reasoning.delta", "response.reasoning_text.delta"} & known_types(client),
        {"response.reasoning_text.delta"},
    ),
)

ITEMS = (
    Claim(
        "resp.stream.item-added-first",
        "RuntimeError: Received a content event before receiving its output item",
        helper(itself),
        Raised("RuntimeError", "before receiving its output item"),
    ),
    Claim(
        "resp.stream.item-added-once",
        "RuntimeError: Duplicate response output index",
        helper(itself),
        Raised("RuntimeError", "Duplicate response output index"),
    ),
    Claim(
        "resp.stream.no-empty-added-item",
        "openai-python 3.57.0's helper drops the event",
        fired(lambda events: [one.output_index for one in events if one.type.endswith("item.added")]),
        [0],
    ),
    Claim(
        "resp.stream.item-added-zero-values",
        "raises TypeError at the first delta (arguments)",
        helper(itself),
        Raised("TypeError"),
    ),
    Claim(
        "resp.stream.item-added-zero-values",
        "or AttributeError (content)",
        helper(itself),
        Raised("AttributeError"),
        stream(but_in(told(), "response.output_item.added", "item", content=None)),
    ),
    Claim(
        "resp.stream.item-done-paired",
        "openai-python takes it from the final response",
        helper(text),
        "Hello.",
    ),
    Claim(
        "resp.stream.item-identity-stable",
        "RuntimeError: Completed output item identity changed",
        helper(itself),
        Raised("RuntimeError", "Completed output item identity changed"),
    ),
    Claim("resp.stream.output-index-contiguous", "3.57.0 does not", helper(text), "Hello."),
    Claim(
        "resp.stream.args-only-on-function-call",
        f"{HELPER_RAISES} AssertionError",
        helper(itself),
        Raised("AssertionError"),
    ),
)

TEXTS = (
    Claim(
        "resp.stream.content-part-added-first",
        f"{HELPER_RAISES} IndexError: list index out of range",
        helper(itself),
        Raised("IndexError", "list index out of range"),
    ),
    Claim(
        "resp.stream.content-index-contiguous",
        f"{HELPER_RAISES} IndexError for a first index of 1",
        helper(itself),
        Raised("IndexError"),
    ),
    Claim(
        "resp.stream.text-delta-string",
        f"{HELPER_RAISES} TypeError: can only concatenate str",
        helper(itself),
        Raised("TypeError", "can only concatenate str"),
    ),
    Claim("resp.stream.text-concat", "openai-python does not compare them", helper(text), "Hello."),
    Claim(
        "resp.stream.text-delta-logprobs",
        "openai-python's logprobs is None",
        streamed(lambda events: [one.logprobs for one in events if one.type.endswith("text.delta")]),
        [None, []],
    ),
    Claim(
        "resp.stream.args-delta-string",
        f"{HELPER_RAISES} TypeError: can only concatenate str",
        helper(itself),
        Raised("TypeError", "can only concatenate str"),
    ),
)

RESPONSES = (*WHOLE, *STREAM, *ITEMS, *TEXTS)
