"""The shapes of items and their parts: messages, refusals, calls, reasoning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.examples import (
    WIRES,
    answer,
    call,
    custom_call,
    message,
    output_text,
    reasoning,
)
from conformance.rules.responses.views import Item
from conformance.rules.sources import schema
from conformance.rules.views import Violation

ENCRYPTED = "reasoning.encrypted_content"
CALL_TEXT = {"function_call": "arguments", "custom_tool_call": "input"}


@rule(
    "resp.response.message-item",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("OutputMessage"),
    violating=answer(message(content="Hello.")),
    conforming=answer(message()),
    consequence="openai-python 3.57.0 raises AttributeError where output_text is read (a text as content)",
)
def message_item(item: Item) -> Iterator[Violation]:
    """A message has an id, the role assistant, a status and an array as content."""
    if item.type != "message":
        return
    for name, holds, wanted in (
        ("id", is_text(item.get("id")), "a non-empty string"),
        ("role", item.get("role") == "assistant", '"assistant"'),
        ("status", is_text(item.get("status")), "a status"),
        ("content", isinstance(item.get("content"), list), "an array"),
    ):
        if not holds:
            yield item.found(name, wanted=wanted)


@rule(
    "resp.response.output-text-part",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(schema("OutputTextContent"), schema("OutputMessageContent")),
    violating=answer(message({"type": "text", "text": "Hello."})),
    conforming=answer(message(output_text(logprobs=ABSENT))),
    consequence="openai-python's output_text is empty: it joins the parts whose type is output_text",
)
def output_text_part(item: Item) -> Iterator[Violation]:
    """The content of a message is output_text parts, with a text and an array of annotations, and refusals.

    logprobs, which the schema requires too, may be left out, as OpenAI itself did and the SDK's type allows.
    Parts of a provider's own have its slug in their type.
    """
    for place, part in enumerate(item.parts if item.type == "message" else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str) or not (kind in ("output_text", "refusal") or ":" in kind):
            yield item.found("content", place, "type", wanted="output_text or refusal")
        elif kind == "output_text":
            for name, holds, wanted in (
                ("text", isinstance(part.get("text"), str), "a string"),
                ("annotations", isinstance(part.get("annotations"), list), "an array"),
                ("logprobs", isinstance(part.get("logprobs"), list | None), "an array"),
            ):
                if not holds:
                    yield item.found("content", place, name, wanted=wanted)


@rule(
    "resp.response.refusal-part",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("RefusalContent"),
    violating=answer(message({"type": "refusal", "text": "I won't."})),
    conforming=answer(message({"type": "refusal", "refusal": "I won't."})),
    consequence="openai-python hands out a refusal of None: the user sees an empty answer",
)
def refusal_part(item: Item) -> Iterator[Violation]:
    """A refusal part has the refusal as a string."""
    for place, part in enumerate(item.parts if item.type == "message" else ()):
        refusal = isinstance(part, dict) and part.get("type") == "refusal"
        if refusal and not isinstance(part.get("refusal"), str):
            yield item.found("content", place, "refusal", wanted="a string")


@rule(
    "resp.response.function-call-item",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(schema("FunctionToolCall"), schema("CustomToolCall")),
    violating=answer(call(arguments={"city": "Oslo"})),
    conforming=answer(call(), custom_call(call_id="call_2")),
    consequence="json.loads of the arguments raises TypeError; without a call_id no result can be returned",
)
def call_item(item: Item) -> Iterator[Violation]:
    """A function_call has call_id, name and arguments, a custom_tool_call input, all of them strings."""
    text = CALL_TEXT.get(item.type)
    if text is None:
        return
    for name, holds, wanted in (
        ("call_id", is_text(item.get("call_id")), "a non-empty string"),
        ("name", is_text(item.get("name")), "a non-empty string"),
        (text, isinstance(item.get(text), str), "a string"),
    ):
        if not holds:
            yield item.found(name, wanted=wanted)


@rule(
    "resp.response.reasoning-item",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("ReasoningItem"),
    violating=answer({"type": "reasoning", "id": "rs_1", "text": "Greet."}, message()),
    conforming=answer(reasoning("Greet.", summary=("A greeting.",)), message()),
    consequence="clients that show the summary raise: openai-python's is None, or has no text",
)
def reasoning_item(item: Item) -> Iterator[Violation]:
    """A reasoning item has an id and an array of summary texts, and may have an array of content with texts.

    The type of a part of the content is left alone: OpenAI has reasoning_text, Open Responses shows
    output_text and allows any.
    """
    if item.type != "reasoning":
        return
    summary, content = item.get("summary"), item.get("content")
    for name, holds, wanted in (
        ("id", is_text(item.get("id")), "a non-empty string"),
        ("summary", isinstance(summary, list) and all(map(_is_summary, summary)), "an array of summary_text"),
        ("content", content in (ABSENT, None) or _are_texts(content), "an array of texts, null, or nothing"),
    ):
        if not holds:
            yield item.found(name, wanted=wanted)


@rule(
    "resp.response.reasoning-encrypted-on-request",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(schema("ReasoningItem encrypted_content"), schema("CreateResponse include")),
    violating=answer(reasoning(encrypted_content=None), message(), asked={"include": [ENCRYPTED]}),
    conforming=answer(reasoning(encrypted_content="gAAA"), message(), asked={"include": [ENCRYPTED]}),
    consequence="a stateless client cannot carry the reasoning into the next turn",
)
def encrypted(item: Item) -> Iterator[Violation]:
    """With include reasoning.encrypted_content a reasoning item has its encrypted_content."""
    wanted = item.type == "reasoning" and item.settled and item.asked is not None
    if (
        wanted
        and item.asked
        and item.asked.includes(ENCRYPTED)
        and not is_text(item.get("encrypted_content"))
    ):
        yield item.found("encrypted_content", wanted="a non-empty string, as include asks for")


def is_text(value: Any) -> bool:
    """Whether a value is a non-empty string."""
    return isinstance(value, str) and bool(value)


def _is_summary(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "summary_text" and isinstance(part.get("text"), str)


def _are_texts(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    )
