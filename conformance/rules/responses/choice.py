"""What a request said about calling: ``tool_choice`` in all its forms."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.leaks import LEAKED, QUOTED, register
from conformance.rules.registry import rule
from conformance.rules.responses.examples import WIRES, answer, call, message, output_text, stream, told, tool
from conformance.rules.responses.shapes import is_text
from conformance.rules.responses.views import Result
from conformance.rules.sources import open_responses, schema
from conformance.rules.views import Violation

CHOICE = open_responses("tool_choice")
OFFER = {"tools": [tool(), tool("get_time")]}
NONE = {"tool_choice": "none", **OFFER}
REQUIRED = {"tool_choice": "required", **OFFER}
FORCED = {"tool_choice": {"type": "function", "name": "get_weather"}, **OFFER}
ALLOWED = {
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "get_weather"}],
    },
    **OFFER,
}


@rule(
    "resp.response.tool-choice-none",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(CHOICE, schema("ToolChoiceOptions")),
    violating=stream(told(call(), asked=NONE), asked=NONE),
    conforming=answer(message(), asked=NONE),
    consequence="a loop that asked for a closing text gets one more call, for ever",
)
def choice_none(result: Result) -> Iterator[Violation]:
    """tool_choice none yields no function_call."""
    if result.asked and result.asked.tool_choice == "none" and result.calls:
        yield result.calls[0].found(wanted='no calls (tool_choice was "none")')


@rule(
    "resp.response.tool-choice-required",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(CHOICE, schema("ToolChoiceOptions")),
    violating=answer(asked=REQUIRED),
    conforming=answer(call(), asked=REQUIRED),
    consequence="a client that extracts data through a forced call gets prose",
)
def choice_required(result: Result) -> Iterator[Violation]:
    """tool_choice required yields at least one call.

    A refusal, and an answer that the cap or a filter cut, are left alone.
    """
    asked = result.asked
    required = asked is not None and asked.tool_choice == "required" and asked.offers_tools
    if required and result.settled and not _calls_something(result) and not result.refused:
        yield result.found("output", wanted='at least one call (tool_choice was "required")')


@rule(
    "resp.response.tool-choice-function",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(schema("ToolChoiceFunction"), CHOICE),
    violating=answer(call(name="get_time"), asked=FORCED),
    conforming=answer(call(), asked=FORCED),
    consequence="a client that extracts data through a forced call gets another's arguments, or prose",
)
def choice_function(result: Result) -> Iterator[Violation]:
    """A tool_choice of type function yields a call of that function and of no other."""
    forced = result.asked.forced if result.asked else None
    if forced is None or result.refused:
        return
    for item in result.calls:
        if is_text(item.get("name")) and item.get("name") != forced:
            yield item.found("name", wanted=f'"{forced}" (the function that tool_choice names)')
    if result.settled and not result.calls:
        yield result.found("output", wanted=f"a call of {forced}, which tool_choice names")


@rule(
    "resp.response.allowed-tools-enforced",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(open_responses("allowed_tools"), schema("ToolChoiceAllowed")),
    violating=answer(call(name="get_time"), asked=ALLOWED),
    conforming=answer(call(), asked=ALLOWED),
    consequence="a tool that the client had switched off for this turn is run",
)
def choice_allowed(result: Result) -> Iterator[Violation]:
    """allowed_tools is a hard limit on which tools are called.

    A server that does not know the choice may refuse it; to ignore it is a violation.
    """
    allowed = result.asked.allowed if result.asked else None
    for item in result.calls if allowed is not None else ():
        name = item.get("name")
        if is_text(name) and allowed is not None and name not in allowed:
            yield item.found("name", wanted="one of " + ", ".join(sorted(allowed)))


no_call_markup = register(
    "resp.response.no-call-markup-leak",
    "openai-responses",
    "function_call items",
    answer(message(output_text(LEAKED)), asked=OFFER),
    answer(message(output_text(QUOTED)), asked=OFFER),
    schema("FunctionToolCall"),
)


def _calls_something(result: Result) -> bool:
    """Whether a tool was called, the client's or the provider's own."""
    return any(item.type.endswith("_call") for item in result.items)
