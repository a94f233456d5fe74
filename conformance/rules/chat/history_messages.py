"""Histories that the schema allows or that clients send all the same: roles, empty messages, foreign ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.conversation import ASSISTANT, QUESTION, RESULT
from conformance.rules.errortext import error_text
from conformance.rules.examples import Exchanges, answer, call, error
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Probe, Violation
from conformance.types import Expect

ASSISTANT_MESSAGE = schema("ChatCompletionRequestAssistantMessage")
CALLED = {"role": "assistant", "tool_calls": [call()]}
BROKEN = {"role": "assistant", "content": None, "tool_calls": [call(arguments="{")]}
OBJECT = {"role": "assistant", "content": None, "tool_calls": [call(arguments={"city": "Oslo"})]}
FOREIGN = {"role": "assistant", "content": None, "tool_calls": [call("toolu_01A09q90qw90lq917835lq9")]}
FOREIGN_RESULT = {**RESULT, "tool_call_id": "toolu_01A09q90qw90lq917835lq9"}
DEVELOPER = {"role": "developer", "content": "Be brief."}
LEGACY = {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": "{}"}}
LEGACY_RESULT = {"role": "function", "name": "get_weather", "content": "18 degrees"}


def _refused(
    *messages: Any, probe: str, status: int = 400, expect: Expect = "answer", **more: Any
) -> Exchanges:
    return error(status, asked={"messages": list(messages)}, probe=probe, expect=expect, **more)


def _answered(*messages: Any, probe: str, expect: Expect = "answer") -> Exchanges:
    return answer(asked={"messages": list(messages)}, probe=probe, expect=expect)


@rule(
    "mt.assistant-null-content",
    level="MUST",
    basis="schema",
    source=f"{ASSISTANT_MESSAGE} required [role]",
    probe="assistant-null-content",
    violating=_refused(QUESTION, CALLED, RESULT, probe="assistant-null-content"),
    conforming=_answered(QUESTION, CALLED, RESULT, probe="assistant-null-content"),
    consequence="a client that sends back what it got, content null, cannot answer any call",
)
def null_content(probe: Probe) -> Iterator[Violation]:
    """An assistant message with tool_calls may have content null, empty or absent."""
    yield from probe.accepted()


@rule(
    "mt.assistant-content-and-calls",
    level="MUST",
    basis="schema",
    source=ASSISTANT_MESSAGE,
    probe="assistant-content-and-calls",
    violating=_refused(
        QUESTION, {**ASSISTANT, "content": "I look."}, RESULT, probe="assistant-content-and-calls"
    ),
    conforming=_answered(
        QUESTION, {**ASSISTANT, "content": "I look."}, RESULT, probe="assistant-content-and-calls"
    ),
    consequence="a model that speaks before it calls cannot go on",
)
def content_and_calls(probe: Probe) -> Iterator[Violation]:
    """An assistant message may have both content and tool_calls."""
    yield from probe.accepted()


@rule(
    "mt.assistant-empty",
    level="SHOULD",
    basis="convention",
    source=ASSISTANT_MESSAGE,
    probe="assistant-empty",
    violating=_refused(
        QUESTION, {"role": "assistant"}, QUESTION, probe="assistant-empty", status=500, expect="either"
    ),
    conforming=_refused(QUESTION, {"role": "assistant"}, QUESTION, probe="assistant-empty", expect="either"),
    consequence="an empty answer, once stored, breaks the conversation with an error that is retried in vain",
)
def empty(probe: Probe) -> Iterator[Violation]:
    """An assistant message with neither content nor tool_calls is refused with 400 or ignored, never 5xx."""
    yield from probe.survived()


@rule(
    "mt.assistant-empty-tool-calls",
    level="SHOULD",
    basis="convention",
    source=ASSISTANT_MESSAGE,
    probe="assistant-empty-tool-calls",
    violating=_refused(
        QUESTION,
        {"role": "assistant", "content": "18.", "tool_calls": []},
        QUESTION,
        probe="assistant-empty-tool-calls",
        status=500,
        expect="either",
    ),
    conforming=_answered(
        QUESTION,
        {"role": "assistant", "content": "18.", "tool_calls": []},
        QUESTION,
        probe="assistant-empty-tool-calls",
        expect="either",
    ),
    consequence="clients that always send the list fail after the first text answer, and retry in vain",
)
def empty_tool_calls(probe: Probe) -> Iterator[Violation]:
    """tool_calls [] in history does not break the request.

    400 is acceptable: the published schema asks for one call at least.
    """
    yield from probe.survived()


@rule(
    "mt.arguments-string-required",
    level="SHOULD",
    basis="schema",
    source=schema("ChatCompletionMessageToolCall"),
    probe="arguments-object",
    violating=_refused(QUESTION, OBJECT, RESULT, probe="arguments-object", status=500, expect="either"),
    conforming=_refused(QUESTION, OBJECT, RESULT, probe="arguments-object", expect="either"),
    consequence="a client's mistake is answered with an error that is retried in vain",
)
def arguments_object(probe: Probe) -> Iterator[Violation]:
    """An object for function.arguments in history is refused with 400 or coerced, never 5xx."""
    yield from probe.survived()


@rule(
    "mt.arguments-invalid-json-in-history",
    level="SHOULD",
    basis="convention",
    source="vLLM and SGLang: chat templates parse the arguments of the history",
    probe="arguments-invalid-json",
    violating=_refused(QUESTION, BROKEN, RESULT, probe="arguments-invalid-json", status=500, expect="either"),
    conforming=_answered(QUESTION, BROKEN, RESULT, probe="arguments-invalid-json", expect="either"),
    consequence="one call that the model broke off, once stored, ends the conversation with a 5xx",
)
def arguments_invalid(probe: Probe) -> Iterator[Violation]:
    """Invalid JSON in historic arguments does not crash the server."""
    yield from probe.survived()


@rule(
    "mt.foreign-ids-accepted",
    level="SHOULD",
    basis="convention",
    source=(
        "mistral-common 1.13.1 mistral_common/protocol/instruct/validator.py (v3 wants 9 alphanumerics)",
        "vLLM docs/features/tool_calling.md",
    ),
    probe="foreign-ids",
    violating=_refused(QUESTION, FOREIGN, FOREIGN_RESULT, probe="foreign-ids"),
    conforming=_answered(QUESTION, FOREIGN, FOREIGN_RESULT, probe="foreign-ids"),
    consequence="a conversation that began with another provider cannot be continued here",
)
def foreign_ids(probe: Probe) -> Iterator[Violation]:
    """Ids minted by other vendors are accepted in history.

    Corrected: the catalogue asks for an id of 64 characters too, but OpenAI refuses more than 40 in Chat
    Completions (vercel/ai issue 8132, Portkey-AI/gateway issue 1062); the longest sent is a UUID.
    """
    yield from probe.accepted()


@rule(
    "mt.reasoning-echo-required",
    level="MAY",
    basis="prose",
    source="DeepSeek docs guides/thinking_mode",
    probe="reasoning-omitted",
    violating=_refused(QUESTION, ASSISTANT, RESULT, probe="reasoning-omitted", status=500, expect="either"),
    conforming=_refused(
        QUESTION,
        ASSISTANT,
        RESULT,
        probe="reasoning-omitted",
        expect="either",
        error={"message": "reasoning_content must be passed back."},
    ),
    consequence="a client cannot know that it is the missing reasoning to which the endpoint objects",
)
def echo_required(probe: Probe) -> Iterator[Violation]:
    """A server that wants reasoning back on tool-call turns answers 400, naming it, when it is missing.

    DeepSeek documents the demand; other vendors ignore reasoning in a history. That a plain history is
    refused at all is the matter of mt.tool-result-accepted.
    """
    response = probe.reading.exchange.response
    named = response is not None and "reasoning" in error_text(response.body).lower()
    if probe.turned_down and not (probe.status in (400, 422) and named):
        yield probe.found("status", wanted="2xx, or 400 with a message that names the reasoning")


@rule(
    "mt.reasoning-empty-accepted",
    level="SHOULD",
    basis="convention",
    source="vercel/ai issue 13203",
    probe="reasoning-empty",
    violating=_refused(QUESTION, {**ASSISTANT, "reasoning_content": ""}, RESULT, probe="reasoning-empty"),
    conforming=_answered(QUESTION, {**ASSISTANT, "reasoning_content": ""}, RESULT, probe="reasoning-empty"),
    consequence="a client whose store kept no reasoning has no way to continue",
)
def reasoning_empty(probe: Probe) -> Iterator[Violation]:
    """reasoning_content "" is accepted on tool-call turns."""
    yield from probe.accepted()


@rule(
    "mt.system-and-developer-roles",
    level="MUST",
    basis="schema",
    source=(
        schema("ChatCompletionRequestDeveloperMessage"),
        schema("ChatCompletionRequestSystemMessage"),
    ),
    probe="instruction-role",
    violating=_refused(DEVELOPER, QUESTION, probe="instruction-role"),
    conforming=_answered(DEVELOPER, QUESTION, probe="instruction-role"),
    consequence="clients that send instructions as developer, as openai-python's README does, fail at once",
)
def roles(probe: Probe) -> Iterator[Violation]:
    """System and developer messages are accepted.

    The developer role may be mapped to system.
    """
    yield from probe.accepted()


@rule(
    "mt.consecutive-same-role",
    level="SHOULD",
    basis="convention",
    source=schema("CreateChatCompletionRequest messages"),
    probe="consecutive-same-role",
    violating=_refused(QUESTION, QUESTION, probe="consecutive-same-role"),
    conforming=_answered(QUESTION, QUESTION, probe="consecutive-same-role"),
    consequence="a user who adds a sentence before the answer came breaks the conversation",
)
def same_role(probe: Probe) -> Iterator[Violation]:
    """Consecutive messages of one role are accepted.

    The published schema knows no rule of alternation, for users, systems or assistants.
    """
    yield from probe.accepted()


PREFILLED = {"role": "assistant", "content": "It has"}


@rule(
    "mt.assistant-last",
    level="SHOULD",
    basis="convention",
    source=schema("CreateChatCompletionRequest messages"),
    probe="assistant-last",
    violating=_refused(QUESTION, PREFILLED, probe="assistant-last", status=500, expect="either"),
    conforming=_answered(QUESTION, PREFILLED, probe="assistant-last", expect="either"),
    consequence="a conversation that was stored after an answer cannot be opened again, nor is it said why",
)
def assistant_last(probe: Probe) -> Iterator[Violation]:
    """A history that ends with an assistant message is answered or refused with 400, never 5xx.

    The rule is this suite's own. Servers differ: some go on where the message ends, some answer it, some
    want a user message last.
    """
    yield from probe.survived()


@rule(
    "mt.name-field-accepted",
    level="SHOULD",
    basis="schema",
    source=(
        schema("ChatCompletionRequestUserMessage name"),
        schema("ChatCompletionRequestSystemMessage name"),
        f"{ASSISTANT_MESSAGE} name",
    ),
    probe="name-field",
    violating=_refused({**QUESTION, "name": "ada"}, probe="name-field"),
    conforming=_answered({**QUESTION, "name": "ada"}, probe="name-field"),
    consequence="frameworks that name the speakers of a conversation fail",
)
def names(probe: Probe) -> Iterator[Violation]:
    """The optional name member is accepted on user, system and assistant messages."""
    yield from probe.accepted()


@rule(
    "mt.content-parts-text",
    level="MUST",
    basis="schema",
    source=schema("ChatCompletionRequestUserMessage content"),
    probe="content-parts-text",
    violating=_refused(
        {"role": "user", "content": [{"type": "text", "text": "Hello."}]}, probe="content-parts-text"
    ),
    conforming=_answered(
        {"role": "user", "content": [{"type": "text", "text": "Hello."}]}, probe="content-parts-text"
    ),
    consequence="clients that always send parts, as those with images do, fail on plain text",
)
def content_parts(probe: Probe) -> Iterator[Violation]:
    """User content may be an array of text parts."""
    yield from probe.accepted()


@rule(
    "mt.legacy-function-role",
    level="MAY",
    basis="schema",
    source=schema("ChatCompletionRequestFunctionMessage"),
    probe="function-role",
    violating=_refused(QUESTION, LEGACY, LEGACY_RESULT, probe="function-role", status=500, expect="either"),
    conforming=_refused(QUESTION, LEGACY, LEGACY_RESULT, probe="function-role", expect="either"),
    consequence="conversations stored before tool_calls came end with an error that is retried in vain",
)
def function_role(probe: Probe) -> Iterator[Violation]:
    """The deprecated function role may be accepted.

    It may be refused as well, but not with a 5xx.
    """
    yield from probe.survived()


@rule(
    "mt.tools-omitted-with-history",
    level="SHOULD",
    basis="convention",
    source=schema("CreateChatCompletionRequest tools"),
    probe="tools-omitted",
    violating=_refused(QUESTION, ASSISTANT, RESULT, probe="tools-omitted"),
    conforming=_answered(QUESTION, ASSISTANT, RESULT, probe="tools-omitted"),
    consequence="a client that takes the tools away, so that the model closes with a text, is refused",
)
def tools_omitted(probe: Probe) -> Iterator[Violation]:
    """History with tool calls is accepted when tools is omitted.

    Corrected: the catalogue's check lets a 400 pass, against its own statement. The schema requires no
    tools, so a refusal is found, as SHOULD.
    """
    yield from probe.accepted()
