"""What breaks in a program that uses Anthropic's SDK at an answer that breaks a rule of that wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.rules.anthropic.examples import answer, error, models, stream, text, thinking, told, tool_use
from conformance.rules.eventlists import but, with_event
from conformance.rules.reading import ABSENT

from .claims import Claim, Client, Look, Raised, Way, itself

ASKED: dict[str, Any] = {
    "model": "example-model",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "Say hello."}],
}
DELTA = "content_block_delta"


def whole(look: Look) -> Way:
    """Asks for a whole message and looks at it."""
    return lambda client: look(client.bound.messages.create(**ASKED))


def beta(look: Look) -> Way:
    """Asks for a whole message of the betas and looks at it."""
    return lambda client: look(client.bound.beta.messages.create(**ASKED))


def events(look: Look) -> Way:
    """Asks for a stream and looks at the list of its events."""
    return lambda client: look(list(client.bound.messages.create(stream=True, **ASKED)))


def helper(look: Look) -> Way:
    """Asks for a stream through the SDK's helper and looks at the message that it puts together."""

    def way(client: Client) -> Any:
        with client.bound.messages.stream(**ASKED) as stream:
            return look(stream.get_final_message())

    return way


def refused(look: Look) -> Way:
    """Asks for a whole message and looks at the exception."""

    def way(client: Client) -> Any:
        with pytest.raises(client.sdk.APIStatusError) as raised:
            client.bound.messages.create(**ASKED)
        return look(raised.value)

    return way


def listed(look: Look) -> Way:
    """Lists the models and looks at them."""
    return lambda client: look(client.bound.models.list())


def pauses(client: Client) -> list[float]:
    """Asks with the SDK's own number of retries; how long it pauses each time, in half seconds rounded up."""
    slept: list[float] = []
    eager = client.bound.with_options(max_retries=client.sdk.DEFAULT_MAX_RETRIES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", slept.append)
        with pytest.raises(client.sdk.APIStatusError):
            eager.messages.create(**ASKED)
    return [-(-pause // 0.5) * 0.5 for pause in slept]


def joined(blocks: list[Any]) -> str:
    """The text that a program puts together."""
    return "".join(block.text for block in blocks)


def first(look: Callable[[Any], Any]) -> Look:
    """Looks at the first block."""
    return lambda message: look(message.content[0])


ANSWERS = (
    Claim("anth.response.content-type-json", "reads the JSON all the same", whole(lambda m: m.id), "msg_1"),
    Claim(
        "anth.response.content-type-json",
        "hands out a page as a str in place of a Message",
        whole(itself),
        "<h1>Hello.</h1>",
        answer(raw=b"<h1>Hello.</h1>", headers={"content-type": "text/html"}),
    ),
    Claim("anth.response.required-keys", "what is missing None", whole(lambda m: m.model), None),
    Claim("anth.response.text-block", "gives None for the text", whole(first(lambda b: b.text)), None),
    Claim(
        "anth.response.text-block",
        "what joins the texts raises TypeError",
        whole(lambda m: joined(m.content)),
        Raised("TypeError"),
    ),
    Claim(
        "anth.response.tool-use-block",
        "hands out the string as it is",
        whole(first(lambda block: block.input)),
        '{"city":"Oslo"}',
    ),
    Claim(
        "anth.response.thinking-block",
        "gives None for the signature",
        whole(first(lambda block: block.signature)),
        None,
    ),
    Claim(
        "anth.response.usage-keys",
        "gives None for a missing count",
        whole(lambda m: m.usage.output_tokens),
        None,
    ),
    Claim("anth.response.request-id-header", "_request_id is None", whole(lambda m: m._request_id), None),
    Claim(
        "anth.response.applied-edits",
        "gives None for the counts",
        beta(lambda m: m.context_management.applied_edits[0].cleared_input_tokens),
        None,
    ),
    Claim(
        "anth.error.shape",
        "without an error object anthropic 2.14.0's exception has type None",
        refused(lambda raised: raised.type),
        None,
        error(body={"error": "Bad."}),
    ),
    Claim("anth.error.status", "hands out a Message full of None", whole(lambda m: m.content), None),
    Claim("anth.error.retry-after", "retries twice within seconds", pauses, [0.5, 1.0]),
    Claim(
        "anth.models.list-shape",
        "lists models without a name",
        listed(lambda page: page.data[0].display_name),
        None,
    ),
    Claim(
        "anth.models.list-shape",
        "with has_more absent asks for a next page",
        listed(lambda page: page.has_next_page()),
        True,
        models(has_more=ABSENT),
    ),
)
STREAMS = (
    Claim("anth.stream.is-sse-when-asked", "ends before it began", events(len), 0),
    Claim("anth.stream.event-field-required", "create(stream=True) yields nothing", events(len), 0),
    Claim("anth.stream.event-field-required", "AssertionError", helper(itself), Raised("AssertionError")),
    Claim(
        "anth.stream.message-start-first",
        "a delta of a block that it does not know raises IndexError",
        helper(itself),
        Raised("IndexError"),
    ),
    Claim("anth.stream.message-start-shape", "AttributeError", helper(itself), Raised("AttributeError")),
    Claim(
        "anth.stream.ping-anywhere", "never reads a ping's data", helper(first(lambda b: b.text)), "Hello."
    ),
    Claim(
        "anth.stream.no-done-sentinel", "skips what has no name", helper(first(lambda b: b.text)), "Hello."
    ),
    Claim(
        "anth.stream.error-event",
        "half a message is taken for the whole",
        helper(lambda m: m.stop_reason),
        None,
    ),
    Claim(
        "anth.stream.message-delta-present",
        "final message has stop_reason None",
        helper(lambda m: m.stop_reason),
        None,
    ),
    Claim(
        "anth.stream.message-delta-usage",
        "without usage anthropic 2.14.0 raises AttributeError",
        helper(itself),
        Raised("AttributeError"),
        stream(but(told(), "message_delta", usage=ABSENT)),
    ),
    Claim(
        "anth.stream.message-delta-usage",
        "without the count it is None",
        helper(lambda m: m.usage.output_tokens),
        None,
    ),
    Claim(
        "anth.stream.usage-cumulative",
        "keeps the last count alone",
        helper(lambda m: m.usage.output_tokens),
        0,
    ),
    Claim(
        "anth.stream.message-stop-last",
        "tolerates that it is missing",
        helper(lambda m: m.stop_reason),
        "end_turn",
    ),
    Claim("anth.stream.block-order", "raises IndexError", helper(itself), Raised("IndexError")),
    Claim("anth.stream.index-contiguous", "raises IndexError", helper(itself), Raised("IndexError")),
    Claim("anth.stream.block-start-zero-values", "raises TypeError", helper(itself), Raised("TypeError")),
    Claim(
        "anth.stream.block-start-empty", "goes on from it", helper(first(lambda b: b.text)), "Well. Hello."
    ),
    Claim(
        "anth.stream.delta-type-matches-block",
        "drops a delta of another kind",
        helper(lambda m: [block.text for block in m.content]),
        ["Hello."],
    ),
    Claim(
        "anth.stream.text-delta-string",
        "raises TypeError",
        helper(itself),
        Raised("TypeError", "concatenate"),
    ),
    Claim(
        "anth.stream.partial-json-string",
        "raises TypeError: encoding without a string argument",
        helper(itself),
        Raised("TypeError", "encoding without a string argument"),
    ),
    Claim(
        "anth.stream.partial-json-concat",
        "raises ValueError: Unable to parse tool parameter JSON",
        helper(itself),
        Raised("ValueError", "Unable to parse tool parameter JSON"),
    ),
    Claim(
        "anth.stream.partial-json-concat",
        "passes as an input that lacks it",
        helper(first(lambda block: block.input)),
        {},
        stream(but(told(tool_use()), DELTA, 1, delta={"type": "input_json_delta", "partial_json": '"Os'})),
    ),
    Claim(
        "anth.stream.thinking-signature",
        "keeps the last",
        helper(first(lambda block: block.signature)),
        "EqQBCkYIARgC",
        stream(
            with_event(
                told(thinking(), text()),
                4,
                type=DELTA,
                index=0,
                delta={"type": "signature_delta", "signature": "AAAA"},
            )
        ),
    ),
)
