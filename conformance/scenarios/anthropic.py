"""What only the Messages API has: its forms of content, system and tool results, its versions, its models."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from conformance.scenarios.base import IMAGES, STOP, TOOLS, ask, feature, need, request, scenario
from conformance.scenarios.kit import WEATHER, red_square, said
from conformance.types import JSON, Ask, Message, Raw, Script, Text, Turn, WireName

MESSAGES: tuple[WireName, ...] = ("anthropic-messages",)
CACHE = feature("cache_control", r"cache_control|caching")
TOOL: dict[str, Any] = {
    "name": WEATHER.name,
    "description": WEATHER.description,
    "input_schema": dict(WEATHER.parameters),
}
LOOK_UP = "Look up the wind code of Visby with the tool."
WELL = "Which wind code has Visby? Answer in one short sentence."


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def user(content: Any) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": content}


def use(number: int = 1, city: str = "Visby") -> dict[str, Any]:
    """A block that calls the weather tool."""
    return {"type": "tool_use", "id": f"toolu_{number:02}", "name": WEATHER.name, "input": {"city": city}}


def result(number: int = 1, **members: Any) -> dict[str, Any]:
    """The block that answers a call."""
    return {"type": "tool_result", "tool_use_id": f"toolu_{number:02}", **members}


def create(probe: str | None, *messages: Any, refused: bool = False, **members: Any) -> Raw:
    """A request of the endpoint's model with these messages, which the API allows unless ``refused``."""
    body = {"model": "{{model}}", "max_tokens": 1024, "messages": list(messages), **members}
    document = json.dumps({name: value for name, value in body.items() if value is not None})
    return Raw("POST", "@chat", document.encode(), probe=probe, expect="refusal" if refused else "answer")


@scenario("anthropic.content-forms", wires=MESSAGES)
def content_forms() -> Script:
    """Content and system prompt as a string and as blocks, and two messages of one role in a row.

    A string is shorthand for a single text block. Messages of one role that follow one another are one turn.
    """
    yield create("content-forms", user("Say hello."))
    yield create("content-forms", user([text("Say hello, "), text("twice.")]))
    yield create(
        "content-forms", user("Hello."), assistant([text("Good day.")]), user([text("Who are you?")])
    )
    yield create("system-forms", user("Say hello."), system="You are brief.")
    yield create("system-forms", user("Say hello."), system=[text("You are brief."), text("You are kind.")])
    yield create("roles-in-a-row", user("My name is Ada."), user("Greet me."))
    yield create(
        "roles-in-a-row", user("Hello."), assistant("Good day."), assistant("How are you?"), user("Fine.")
    )


@scenario("anthropic.required-members", wires=MESSAGES)
def required_members() -> Script:
    """A request without ``max_tokens`` is refused with 400."""
    yield create("max-tokens-missing", user("Say hello."), refused=True, max_tokens=None)


@scenario(
    "anthropic.versions",
    wires=MESSAGES,
    ideal=(said("Hello from the year 2023."), said("Hello from the year 2026.")),
)
def versions() -> Script:
    """Both versions of the API that the official SDK has asked for are served."""
    for version in ("2023-06-01", "2026-10-21"):
        headers = (("anthropic-version", version),)
        question = Message.user(f"Say hello from the year {version[:4]}.")
        yield Ask(request(question), probe="version-header", headers=headers)


@scenario("anthropic.result-forms", wires=MESSAGES, needs=("tools",), optional=(TOOLS, IMAGES))
def result_forms() -> Script:
    """Results as a string, as blocks, as a picture, as nothing, as a failure, and with a text after them."""
    media, _, data = red_square().removeprefix("data:").partition(";base64,")
    picture = {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    called = (user(LOOK_UP), assistant([use()]))
    for members in (
        {"content": "KESTREL"},
        {"content": [text("wind code "), text("KESTREL")]},
        {"content": [text("The sky over Visby:"), picture]},
        {},
    ):
        yield create("result-forms", *called, user([result(**members)]), tools=[TOOL])
    failed = result(content="The station is offline.", is_error=True)
    yield create("result-is-error", *called, user([failed]), tools=[TOOL])
    both = (user(LOOK_UP), assistant([text("One moment."), use(1), use(2, "Lund")]))
    results = [result(2, content="HERON"), result(1, content="KESTREL"), text(WELL)]
    yield create("result-forms", *both, user(results), tools=[TOOL])


@scenario("anthropic.broken-results", wires=MESSAGES, needs=("tools",), optional=(TOOLS,))
def broken_results() -> Script:
    """Results that come late, not all, behind a text, or for no call are refused with 400."""
    called, back = assistant([use()]), user([result(content="KESTREL")])
    gap = (user(LOOK_UP), called, user("Well?"), assistant("One moment."), back)
    yield create("result-gap", *gap, refused=True, tools=[TOOL])
    both = assistant([use(1), use(2, "Lund")])
    yield create("result-partial", user(LOOK_UP), both, back, refused=True, tools=[TOOL])
    late = user([text("Here it is:"), result(content="KESTREL")])
    yield create("result-after-text", user(LOOK_UP), called, late, refused=True, tools=[TOOL])
    nothing = assistant("I know no wind code.")
    yield create("orphan-tool-result", user(LOOK_UP), nothing, back, refused=True, tools=[TOOL])


@scenario(
    "anthropic.stops",
    wires=MESSAGES,
    ideal=(
        said("January, February, March, April, May, June."),
        said(
            "The tide came in and took the castle, the flag and the bucket, one after the other, out to sea."
        ),
    ),
    needs=("streaming",),
    optional=(STOP,),
)
def stops() -> Script:
    """Streams that end at a stop sequence and at the cap, and say so."""
    months = request(Message.user("Write the first six months, separated by commas."), stream=True)
    turn = yield from ask(replace(months, stop=("April", "Apr")))
    need("February" in turn.text, "come near the stop sequence")
    story = request(Message.user("Tell me a story of two hundred words about a sand castle."), stream=True)
    yield Ask(replace(story, max_tokens=12), probe="token-cap")


@scenario(
    "anthropic.prefill",
    wires=MESSAGES,
    ideal=(said('{"city": "Visby"}'), said("The best answer is (B) Helios.")),
    needs=("streaming",),
)
def prefill() -> Script:
    """The answer begins with words of the client's; models without prefill refuse that with 400."""
    for question, begun, stream in (
        ("Write the city Visby as a JSON object.", '{"city":', False),
        ("What is the sun in Greek? (A) Sol (B) Helios", "The best answer is (", True),
    ):
        history = (Message.user(question), Message.assistant(Turn((Text(begun),))))
        yield Ask(request(*history, stream=stream), probe="assistant-last", expect="either")


LOG = "\n".join(
    f"{hour:02}:{minute:02} Visby: wind {number % 9 + 3} m/s, {number % 7 + 12} degrees, code KESTREL"
    for number, (hour, minute) in enumerate((h, m) for h in range(12) for m in range(0, 60, 8))
)
"""The log of a weather station: over 1,024 tokens, the least that is cached, and under 6,000 bytes."""


@scenario(
    "anthropic.cached-prefix",
    wires=MESSAGES,
    ideal=(said("The code is KESTREL."), said("It is KESTREL."), said("KESTREL it is.")),
    needs=("streaming",),
    optional=(CACHE,),
)
def cached_prefix() -> Script:
    """One long prompt three times, marked for the cache: what is read from it is not counted as fresh."""
    marked: list[JSON] = [{"type": "text", "text": LOG, "cache_control": {"type": "ephemeral"}}]
    for stream in (False, False, True):
        question = Message.user("Which code does the log give for Visby?")
        asked = request(question, stream=stream, native={"anthropic-messages": {"system": marked}})
        yield Ask(asked, probe="cached-prefix")


@scenario("anthropic.models", wires=MESSAGES, needs=("models",))
def list_models() -> Script:
    """The endpoint lists its models."""
    yield Raw("GET", "@models", probe="models-list", expect="answer")
