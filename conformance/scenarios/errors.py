"""Requests that an endpoint refuses, and how it says so."""

from __future__ import annotations

from conformance.scenarios.base import request, scenario
from conformance.scenarios.kit import WEATHER, said
from conformance.types import Ask, Message, Raw, Script, Text

HELLO = request(Message.user("Say hello."))


@scenario("errors.bad-key", ideal=(said("This key should not have been accepted."),), needs=("auth",))
def bad_key() -> Script:
    """A wrong key is refused with 401."""
    yield Ask(HELLO, probe="wrong-key", expect="refusal", auth="wrong")


@scenario("errors.unknown-model", ideal=(said("This model should not have been known."),))
def unknown_model() -> Script:
    """A model nobody serves is refused with 404."""
    yield Ask(HELLO, probe="unknown-model", expect="refusal", model="no-such-model-conformance")


@scenario("errors.malformed-json")
def malformed_json() -> Script:
    """A body that is not JSON is refused with 400."""
    yield Raw(
        "POST",
        "@chat",
        b'{"model": "{{model}}", "messages": [{"role": "user", "content": "hi"',
        probe="malformed-json",
        expect="refusal",
    )


@scenario("errors.missing-messages")
def missing_messages() -> Script:
    """A request without messages is refused with 400."""
    yield Raw("POST", "@chat", b'{"model": "{{model}}"}', probe="missing-messages", expect="refusal")


@scenario("errors.orphan-tool-result", ideal=(said("I never asked for that result."),), needs=("tools",))
def orphan_tool_result() -> Script:
    """A tool result that answers no call is refused with 400."""
    orphan = Message("tool", (Text("18 degrees"),), tool_call_id="call_nobody_made")
    yield Ask(
        request(Message.user("What is the weather in Paris?"), orphan, tools=(WEATHER,)),
        probe="orphan-tool-result",
        expect="either",
    )
