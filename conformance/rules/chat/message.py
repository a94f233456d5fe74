"""The assistant message: its role and content, and markup that has no business in the content."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.markup import call_markup, think_markup
from conformance.rules.chat.views import Choice, Message
from conformance.rules.examples import answer, piece, start, stream, tool
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Violation

MESSAGE = schema("ChatCompletionResponseMessage")


@rule(
    "chat.response.message-role",
    level="MUST",
    basis="schema",
    source=MESSAGE,
    violating=answer(message={"role": "model"}),
    conforming=answer(),
    consequence="the message cannot be sent back: no request schema knows the role",
)
def role(choice: Choice) -> Iterator[Violation]:
    """message.role is assistant."""
    if isinstance(choice.get("message"), dict) and choice.get("message", "role") != "assistant":
        yield choice.found("message", "role", wanted='"assistant"')


@rule(
    "chat.response.message-content-key",
    level="MUST",
    basis="schema",
    source=MESSAGE,
    violating=answer(message={"content": [{"type": "text", "text": "Hello."}]}),
    conforming=answer(message={"content": "Hello."}),
    consequence="clients that expect text crash on a list, and those that index the key on its absence",
)
def content_key(choice: Choice) -> Iterator[Violation]:
    """message has a content key holding a string or null."""
    message = choice.get("message")
    if message is ABSENT:
        return
    if not isinstance(message, dict):
        yield choice.found("message", wanted="an object")
    elif not ("content" in message and isinstance(message["content"], str | None)):
        yield choice.found("message", "content", wanted="a string or null")


@rule(
    "chat.response.no-call-markup-leak",
    level="SHOULD",
    strict_level="MUST",
    basis="convention",
    source="the chat templates and tool-call formats of the model families",
    violating=answer(
        asked={"tools": [tool()]},
        message={"content": '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>'},
    ),
    conforming=answer(asked={"tools": [tool()]}, message={"content": "Calls look like `<tool_call>{...}`."}),
    consequence="the call never runs and the user sees its markup",
)
def no_call_markup(message: Message) -> Iterator[Violation]:
    """content holds no raw tool-call markup when tools were offered.

    The commonest fault of self-hosted servers: the tool parser is off, or the wrong one. Markup inside code
    spans and fences is quotation.
    """
    if message.asked and message.asked.offers_tools:
        for leak in call_markup(message.content):
            yield message.found("content", wanted="calls in tool_calls, not in the text", saw=leak)


@rule(
    "chat.response.no-think-leak",
    level="SHOULD",
    basis="convention",
    source="ollama/ollama@fb307609 openai/openai.go Message.Reasoning",
    violating=stream(start(), piece(content="<thi"), piece(content="nk>Hm.</think>Hello."), piece("stop")),
    conforming=answer(message={"content": "Hello.", "reasoning_content": "Hm."}),
    consequence="the user sees the reasoning, and it is sent back as part of the history",
)
def no_think(message: Message) -> Iterator[Violation]:
    """content holds no think block."""
    if leak := think_markup(message.content):
        yield message.found("content", wanted="reasoning in a field of its own", saw=leak)
