"""What a request said about calling: ``tool_choice``, ``parallel_tool_calls``, no tools at all."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import Message
from conformance.rules.examples import answer, call, opened, tool, tool_piece, tool_stream
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Violation

OPTION = schema("ChatCompletionToolChoiceOption")
FORCED = {"type": "function", "function": {"name": "get_weather"}}
OFFER = {"tools": [tool(), tool("get_time")]}
ALLOWED = {
    "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [FORCED]}},
    **OFFER,
}


@rule(
    "chat.response.tool-choice-none",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OPTION,
    violating=tool_stream(opened(), tool_piece(0, '{"city":"Oslo"}'), asked={"tool_choice": "none"}),
    conforming=answer(asked={"tool_choice": "none", "tools": [tool()]}),
    consequence="a loop that asked for a closing text gets one more call, for ever",
)
def choice_none(message: Message) -> Iterator[Violation]:
    """tool_choice none yields no tool calls."""
    if message.asked and message.asked.tool_choice == "none" and message.calls:
        yield message.calls[0].found(wanted='no calls (tool_choice was "none")')


@rule(
    "chat.response.tool-choice-required",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OPTION,
    violating=answer(asked={"tool_choice": "required", "tools": [tool()]}),
    conforming=answer(asked={"tool_choice": "required"}, calls=[call()]),
    consequence="a client that extracts data through a forced call gets prose",
)
def choice_required(message: Message) -> Iterator[Violation]:
    """tool_choice required yields at least one tool call.

    A refusal, and an answer that the cap or a filter cut, are left alone.
    """
    asked = message.asked
    required = asked is not None and asked.tool_choice == "required" and asked.offers_tools
    if required and message.settled and not message.calls and not message.refused:
        yield message.found("tool_calls", wanted='at least one call (tool_choice was "required")')


@rule(
    "chat.response.tool-choice-named",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=schema("ChatCompletionNamedToolChoice"),
    violating=answer(asked={"tool_choice": FORCED, **OFFER}, calls=[call(name="get_time")]),
    # OpenAI itself finishes a forced call with "stop".
    conforming=answer(asked={"tool_choice": FORCED}, calls=[call()], choice={"finish_reason": "stop"}),
    consequence="a client that extracts data through a forced call gets another's arguments, or prose",
)
def choice_named(message: Message) -> Iterator[Violation]:
    """A named tool_choice yields a call to that function and to no other."""
    forced = message.asked.forced if message.asked else None
    if message.asked is None or forced not in message.asked.functions or message.refused:
        return
    for one in message.calls:
        if one.name and one.name != forced:
            yield one.found("function", "name", wanted=f'"{forced}" (the function that tool_choice names)')
    if message.settled and not message.calls:
        yield message.found("tool_calls", wanted=f"a call of {forced}, which tool_choice names")


@rule(
    "chat.response.tool-choice-allowed-tools",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=schema("ChatCompletionAllowedTools"),
    violating=answer(asked=ALLOWED, calls=[call(name="get_time")]),
    conforming=answer(asked=ALLOWED, calls=[call()]),
    consequence="a tool that the client had switched off for this turn is run",
)
def choice_allowed(message: Message) -> Iterator[Violation]:
    """With allowed_tools only listed tools are called.

    A server that does not know the choice may refuse it; to ignore it is a violation.
    """
    allowed = message.asked.allowed if message.asked else None
    for one in message.calls if allowed is not None else ():
        body = "custom" if one.is_custom else "function"
        name = one.get(body, "name")
        if isinstance(name, str) and name and allowed is not None and name not in allowed:
            yield one.found(body, "name", wanted="one of " + ", ".join(sorted(allowed)))


@rule(
    "chat.response.parallel-false-single",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=schema("ParallelToolCalls"),
    violating=answer(asked={"parallel_tool_calls": False}, calls=[call(), call(id="call_2")]),
    conforming=answer(asked={"parallel_tool_calls": False}, calls=[call()]),
    consequence="clients that can run one call at a time drop the others",
)
def parallel_false(message: Message) -> Iterator[Violation]:
    """parallel_tool_calls false yields at most one tool call."""
    if message.asked and message.asked.body.get("parallel_tool_calls") is False and len(message.calls) > 1:
        yield message.calls[1].found(
            wanted="one call (parallel_tool_calls was false)", saw=f"{len(message.calls)} calls"
        )


@rule(
    "chat.response.no-tools-no-calls",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OPTION,
    violating=answer(asked={"tools": ABSENT}, calls=[call()]),
    conforming=answer(),
    consequence="a client without tools has nothing that could answer the call",
)
def no_tools(message: Message) -> Iterator[Violation]:
    """Without tools (or functions) in the request there are no tool calls."""
    if message.asked and not message.asked.offers_tools and message.calls:
        yield message.calls[0].found(wanted="no calls (the request offered no tools)")
