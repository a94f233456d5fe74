"""The assistant message: its role and content, and markup that has no business in the content."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import Choice, Message
from conformance.rules.examples import answer, call, piece, start, stream, tool
from conformance.rules.leaks import leaks_in
from conformance.rules.markup import think_markup
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.scripted import keeps_markup, led_astray, only_thinks
from conformance.rules.sources import schema, sdk
from conformance.rules.views import Violation

MESSAGE = schema("ChatCompletionResponseMessage")
REASONING = ("reasoning_content", "reasoning")
SAID = ("content", "tool_calls", "refusal", "audio", "function_call")


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
    needs=("request",),
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

    The commonest fault of self-hosted servers: the tool parser is off, or the wrong one. What is told names
    the dialect and the call that it holds. Markup inside code spans and fences is quotation.
    """
    if message.asked and message.asked.offers_tools and not keeps_markup(message.reading):
        for leak in leaks_in(message.content, message.asked.functions):
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
    if (leak := think_markup(message.content)) and not led_astray(message.reading):
        yield message.found("content", wanted="reasoning in a field of its own", saw=leak)


@rule(
    "chat.response.message-refusal-key",
    level="MAY",
    strict_level="MUST",
    basis="schema",
    source=MESSAGE,
    violating=answer(message={"refusal": ABSENT}),
    conforming=answer(message={"refusal": None}),
    consequence="none is known: openai-python takes its absence for null",
)
def refusal_key(choice: Choice) -> Iterator[Violation]:
    """message has a refusal key holding a string or null.

    Corrected: MAY, not SHOULD. The schema requires the member, openai-python declares it optional, and most
    servers leave it out without harm to anyone; the literal rulebook says MUST.
    """
    message = choice.get("message")
    if isinstance(message, dict) and not (
        "refusal" in message and isinstance(message["refusal"], str | None)
    ):
        yield choice.found("message", "refusal", wanted="a string or null")


@rule(
    "chat.response.refusal-xor-content",
    level="SHOULD",
    basis="convention",
    source=(MESSAGE, sdk("lib/_parsing/_completions.py maybe_parse_content")),
    violating=answer(message={"content": "I can't.", "refusal": "I can't."}),
    conforming=answer(message={"content": None, "refusal": "I can't."}),
    consequence="openai-python does not parse content beside a refusal; other clients show both",
)
def refusal_alone(choice: Choice) -> Iterator[Violation]:
    """A refusal is carried in refusal, with content null or empty."""
    refusal, content = choice.get("message", "refusal"), choice.get("message", "content")
    if isinstance(refusal, str) and refusal and isinstance(content, str) and content:
        yield choice.found("message", "content", wanted="null beside a refusal")


@rule(
    "chat.response.message-not-empty",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=(MESSAGE, "MiniMax-AI/MiniMax-Provider-Verifier README"),
    violating=answer(message={"content": ""}),
    conforming=answer(message={"content": "Hello."}),
    consequence="agent loops take the turn for the end of the task, or ask again for ever",
)
def not_empty(message: Message) -> Iterator[Violation]:
    """The message carries content, tool calls, a refusal, audio or reasoning.

    A known fault of deployments, not of models. A text that a stop sequence may have ended at once, and one
    that the cap or a filter cut, is left alone.
    """
    stops = message.asked is not None and bool(message.asked.stop)
    if message.settled and not stops and not any(_has(message, name) for name in (*SAID, *REASONING)):
        yield message.found(wanted="content, calls, a refusal, audio or reasoning")


@rule(
    "chat.response.reasoning-not-only",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source='MiniMax-AI/MiniMax-Provider-Verifier README metric "Not Only Reasoning"',
    violating=answer(message={"content": "", "reasoning_content": "They want 42."}),
    conforming=answer(message={"content": "42", "reasoning_content": "They want 42."}),
    consequence="the user sees an empty answer: the text went into the reasoning",
)
def not_only_reasoning(message: Message) -> Iterator[Violation]:
    """A stop-finished message is not reasoning alone."""
    reasoned = next((name for name in REASONING if _is_said(message.get(name))), None)
    stops = message.asked is not None and bool(message.asked.stop)
    ended = message.settled and message.finish_reason == "stop" and not stops
    ended = ended and not only_thinks(message.reading)
    if reasoned and ended and not any(_has(message, name) for name in SAID):
        yield message.found("content", wanted=f"an answer beside the {reasoned}")


@rule(
    "chat.response.reasoning-field-string",
    level="MAY",
    basis="convention",
    source=(
        "DeepSeek docs guides/thinking_mode",
        "vLLM docs reasoning_outputs (0.11.2: renamed to reasoning)",
        "ollama/ollama@fb307609 openai/openai.go",
    ),
    violating=answer(message={"reasoning_content": ["Hm."]}),
    conforming=answer(message={"reasoning_content": "Hm."}),
    consequence="clients that know the field concatenate it as text and fail",
)
def reasoning_string(choice: Choice) -> Iterator[Violation]:
    """If reasoning text is exposed it is a string in message.reasoning_content or message.reasoning.

    No schema of OpenAI's has it, and two names are in use. Where a server sends both, they should agree.
    """
    values = [choice.get("message", name) for name in REASONING]
    for name, value in zip(REASONING, values, strict=True):
        if value is not ABSENT and not isinstance(value, str | None):
            yield choice.found("message", name, wanted="a string or null")
            return
    if all(_is_said(value) for value in values) and values[0] != values[1]:
        yield choice.found("message", "reasoning", wanted="what reasoning_content says, or no such member")


@rule(
    "chat.response.annotations-shape",
    level="SHOULD",
    basis="schema",
    source=MESSAGE,
    violating=answer(message={"annotations": [{"type": "url_citation"}]}),
    conforming=answer(
        message={
            "annotations": [
                {
                    "type": "url_citation",
                    "url_citation": {
                        "start_index": 0,
                        "end_index": 5,
                        "url": "https://e.example",
                        "title": "E",
                    },
                }
            ]
        }
    ),
    consequence="clients that show sources crash on the missing member, or mark the wrong words",
)
def annotation_shape(choice: Choice) -> Iterator[Violation]:
    """Each annotation is a url_citation with start_index, end_index, url and title.

    The schema does not say in what unit the indexes count: the text's length in UTF-8 bounds any.
    """
    notes, content = choice.get("message", "annotations"), choice.get("message", "content")
    length = len(content.encode(errors="replace")) if isinstance(content, str) else 0
    for place, note in enumerate(notes if isinstance(notes, list) else ()):
        at = ("message", "annotations", place)
        cited = note.get("url_citation") if isinstance(note, dict) else None
        if not isinstance(cited, dict) or note.get("type") != "url_citation":
            yield choice.found(*at, wanted="a url_citation with its url_citation object")
            continue
        for name in ("url", "title"):
            if not isinstance(cited.get(name), str):
                yield choice.found(*at, "url_citation", name, wanted="a string")
        begin, end = cited.get("start_index"), cited.get("end_index")
        if not (type(begin) is int and type(end) is int and 0 <= begin <= end <= length):
            yield choice.found(*at, "url_citation", wanted=f"0 <= start_index <= end_index <= {length}")


@rule(
    "chat.response.legacy-function-call-only-on-request",
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=f"{MESSAGE} function_call",
    violating=answer(
        calls=[call()],
        message={"function_call": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}},
    ),
    conforming=answer(calls=[call()]),
    consequence="clients that know both members run the call twice",
)
def legacy_call(message: Message) -> Iterator[Violation]:
    """message.function_call appears only if the request used functions.

    The schema calls the member deprecated and replaced by tool_calls.
    """
    used = message.asked is None or bool(message.asked.body.get("functions"))
    if not used and isinstance(message.get("function_call"), dict):
        yield message.found("function_call", wanted="no such member (the request has no functions)")


def _has(message: Message, name: str) -> bool:
    value = message.get(name)
    return value is not ABSENT and bool(value)


def _is_said(value: object) -> bool:
    return isinstance(value, str) and bool(value)
