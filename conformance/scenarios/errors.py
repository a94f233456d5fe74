"""Requests that an endpoint refuses, and how it says so.

Most steps stand alone: what one of them brings does not keep the next from being asked.
"""

from __future__ import annotations

from conformance.scenarios.base import request, scenario
from conformance.scenarios.kit import CHAT, WEATHER, raw, said, stored_zstd
from conformance.types import JSON, Ask, Message, NamedChoice, Raw, Script, Text, Tool

HELLO = request(Message.user("Say hello."))
NOT_JSON = b'{"model": "{{model}}", "messages": [{"role": "user", "content": "hi"'
NO_MODEL = b'{"messages": [{"role": "user", "content": "Say hello."}]}'
EMPTY_LIST = b'{"model": "{{model}}", "messages": []}'
EMPTY_STREAM = b'{"model": "{{model}}", "messages": [], "stream": true}'
PLAIN_BODY = b'{"model": "{{model}}", "messages": [{"role": "user", "content": "Say hello."}]}'
ROBOT = ({"role": "robot", "content": "Beep."}, {"role": "user", "content": "Say hello."})
LOOKUP = {"name": WEATHER.name, "description": WEATHER.description, "parameters": dict(WEATHER.parameters)}


@scenario(
    "errors.bad-key",
    ideal=(said("This key should not have been accepted."), said("No key at all should not do.")),
    needs=("auth",),
)
def bad_key() -> Script:
    """A wrong key is refused with 401, and so is none.

    With a wrong key, a body that is not JSON is refused with 401 too: who has no key learns nothing else.
    """
    yield Ask(HELLO, probe="wrong-key", expect="refusal", auth="wrong")
    yield Ask(HELLO, probe="no-key", expect="refusal", auth="none")
    yield Raw("POST", "@chat", NOT_JSON, probe="wrong-key-bad-body", expect="refusal", auth="wrong")


@scenario("errors.unknown-model", ideal=(said("This model should not have been known."),))
def unknown_model() -> Script:
    """A model nobody serves is refused with 404."""
    yield Ask(HELLO, probe="unknown-model", expect="refusal", model="no-such-model-conformance")


@scenario("errors.malformed-json")
def malformed_json() -> Script:
    """A body that is not JSON is refused with 400, and one in a coding that the server cannot read with 415.

    The coding is zstd; a server that reads it finds a body without a model.
    """
    yield Raw("POST", "@chat", NOT_JSON, probe="malformed-json", expect="refusal")
    coded = (("content-encoding", "zstd"),)
    yield Raw("POST", "@chat", stored_zstd(NO_MODEL), coded, probe="content-coding", expect="refusal")


@scenario(
    "errors.missing-messages",
    wires=CHAT,
)
def missing_messages() -> Script:
    """A request without messages, or with none in the list, is refused with 400."""
    yield Raw("POST", "@chat", b'{"model": "{{model}}"}', probe="missing-messages", expect="refusal")
    yield Raw("POST", "@chat", EMPTY_LIST, probe="missing-messages", expect="refusal")


MALFORMED: tuple[JSON, ...] = (
    "Say hello.",
    ["Say hello."],
    [{"content": "Say hello."}],
    [{"role": "user"}],
    [{"role": "user", "content": None}],
    [{"role": "user", "content": 7}],
    [{"role": "user", "content": [{"type": "text"}]}],
    [{"role": "user", "content": [{"type": "smell", "smell": "smoke"}]}],
)


@scenario(
    "errors.malformed-messages",
    wires=CHAT,
)
def malformed_messages() -> Script:
    """Messages that are none are refused with 400.

    A text in place of the list or in it, and a role, a content or a part that is missing or wrong.
    """
    for messages in MALFORMED:
        yield raw({"messages": messages}, "malformed-messages")


@scenario(
    "errors.bad-parameters",
    wires=CHAT,
    ideal=(
        said("A robot has no say here."),
        said("Nine is too hot."),
        said("Ten is no number when it is a word."),
        said("What is unknown may pass."),
        said("Options of a stream are nothing without one."),
        said("Enormous is no effort that I know of."),
    ),
)
def bad_parameters() -> Script:
    """What the schema forbids is refused with 400, and the error names the parameter.

    No model, an unknown role, a number out of its range, a text for a number, a word that is none of those
    allowed. A member that the schema does not know, and stream options without a stream, may be ignored or
    refused, and never fail with a 5xx.
    """
    yield Raw("POST", "@chat", NO_MODEL, probe="missing-model", expect="refusal")
    yield Ask(
        request(Message.user("Say hello."), extra={"messages": list(ROBOT)}),
        probe="bad-role",
        expect="refusal",
    )
    yield Ask(
        request(Message.user("Is nine too hot?"), extra={"temperature": 9}),
        probe="out-of-range",
        expect="refusal",
    )
    yield Ask(
        request(Message.user("Is ten a number?"), extra={"max_tokens": "ten"}),
        probe="wrong-type",
        expect="refusal",
    )
    yield Ask(
        request(Message.user("Say hello to a stranger."), extra={"x_conformance_unknown": 1}),
        probe="unknown-field",
        expect="either",
    )
    yield Ask(
        request(Message.user("Say hello, but do not stream."), include_usage=True),
        probe="stream-options-without-stream",
        expect="either",
    )
    yield Ask(
        request(Message.user("Think as hard as you can."), extra={"reasoning_effort": "enormous"}),
        probe="unknown-value",
        expect="refusal",
    )


@scenario(
    "errors.unsupported-parameters",
    ideal=(
        said("I can write this and not speak it."),
        said("Nobody lent me a thermometer in Reykjavik."),
    ),
)
def unsupported_parameters() -> Script:
    """A known parameter is honoured or refused, never dropped in silence.

    Speech as output and the older way to force a function: few endpoints have them, and whether one of
    them took effect can be seen in the answer.
    """
    audio = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}
    yield Ask(
        request(Message.user("Say good evening."), extra=audio), probe="unsupported-param", expect="either"
    )
    legacy = {"functions": [LOOKUP], "function_call": {"name": WEATHER.name}}
    yield Ask(
        request(Message.user("What is the weather in Reykjavik?"), extra=legacy),
        probe="unsupported-param",
        expect="either",
    )


@scenario(
    "errors.bad-tools",
    wires=CHAT,
    ideal=(
        said("A name with a space is no name."),
        said("There is no such function to choose."),
        said("Without tools there is nothing to call."),
        said("That is not the schema of anything."),
        said("An empty box of tools is no box."),
        said("No choice is a choice of mine."),
    ),
    needs=("tools",),
)
def bad_tools() -> Script:
    """Tools that cannot work are refused with 400.

    A name that the schema forbids, a choice of a function that is not there, a forced call without tools,
    parameters that are no JSON Schema, and tools and choices that are malformed. An empty list of tools, and
    a choice of null, may be ignored.
    """
    spaced = Tool("get weather", WEATHER.description, WEATHER.parameters)
    broken = Tool("get_weather", WEATHER.description, {"type": "objekt", "properties": 7})
    question = Message.user("What is the weather in Paris?")
    yield Ask(request(question, tools=(spaced,)), probe="tool-name-invalid", expect="refusal")
    yield Ask(
        request(question, tools=(WEATHER,), tool_choice=NamedChoice("no_such_function")),
        probe="tool-choice-unknown",
        expect="refusal",
    )
    yield Ask(request(question, tool_choice="required"), probe="tool-choice-without-tools", expect="refusal")
    yield Ask(request(question, tools=(broken,)), probe="invalid-tool-schema", expect="refusal")
    nothing: tuple[dict[str, JSON], ...] = ({"tools": []}, {"tool_choice": None})
    for extra in nothing:
        yield Ask(request(question, extra=extra), probe="empty-tools", expect="either")
    asked = {"messages": [{"role": "user", "content": "What is the weather in Paris?"}]}
    for tool in (
        {"type": "function", "function": {k: v for k, v in LOOKUP.items() if k != "name"}},
        {"type": "function"},
        {"type": "spell", "spell": LOOKUP},
        {"type": "function", "function": {**LOOKUP, "parameters": "city"}},
    ):
        yield raw({**asked, "tools": [tool]}, "malformed-tools")
    good = {"type": "function", "function": LOOKUP}
    yield raw({**asked, "tools": [good], "tool_choice": "sometimes"}, "malformed-tools")


@scenario("errors.streamed-request", wires=CHAT, needs=("streaming",))
def streamed_request() -> Script:
    """A bad request is refused with a status before the stream begins, not with an event in it."""
    yield Raw("POST", "@chat", EMPTY_STREAM, probe="missing-messages", expect="refusal")


@scenario("errors.unknown-route")
def unknown_route() -> Script:
    """A path that is not there gets 404, a method that is not there 405."""
    yield Raw("GET", "/no-such-route-conformance", probe="unknown-route", expect="refusal")
    yield Raw("PUT", "@chat", PLAIN_BODY, probe="wrong-method", expect="refusal")


@scenario("errors.orphan-tool-result", ideal=(said("I never asked for that result."),), needs=("tools",))
def orphan_tool_result() -> Script:
    """A tool result that answers no call is refused with 400."""
    orphan = Message("tool", (Text("18 degrees"),), tool_call_id="call_nobody_made")
    yield Ask(
        request(Message.user("What is the weather in Paris?"), orphan, tools=(WEATHER,)),
        probe="orphan-tool-result",
        expect="either",
    )
