"""Structured output: content under ``response_format``, and arguments of strict tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.views import Call, Message
from conformance.rules.examples import WEATHER_SCHEMA, answer, call, piece, start, stream, tool
from conformance.rules.reading import ABSENT, JsonText, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.sources import docs, schema, sdk
from conformance.rules.views import Violation, lookup

SCHEMA_FORMAT = schema("ResponseFormatJsonSchema")
STRICT = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "place", "strict": True, "schema": WEATHER_SCHEMA},
    }
}
JSON_MODE = {"response_format": {"type": "json_object"}}
LOOSE = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": WEATHER_SCHEMA}}
}
PAIR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
    "additionalProperties": False,
}
PAIR = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "place", "strict": True, "schema": PAIR_SCHEMA},
    }
}
FENCED = re.compile(r"```\w*\s(.*?)```", re.DOTALL)
DECLINES = re.compile(
    r"\s*(?:i['’]?m sorry|sorry\b|i (?:can ?not|can['’]?t|won['’]?t|am unable))", re.IGNORECASE
)


@rule(
    "so.json-object-parses",
    level="MUST",
    basis="prose",
    source=schema("ResponseFormatJsonObject"),
    violating=answer(asked=JSON_MODE, message={"content": '["Oslo"]'}),
    conforming=answer(asked=JSON_MODE, message={"content": '{"city":"Oslo"}'}),
    consequence="json.loads fails, or gives no dict",
)
def json_object(message: Message) -> Iterator[Violation]:
    """response_format json_object yields content that parses as a JSON object.

    A turn with calls or without content, a refusal, and an answer that was cut are left alone. Of JSON with
    something around it so.no-code-fence tells.
    """
    if _judged(message, "json_object") and message.settled and not _is_wrapped(message.content):
        yield from _not_json(message, "a JSON object", dict)


@rule(
    "so.json-schema-parses",
    level="MUST",
    basis="prose",
    source=SCHEMA_FORMAT,
    violating=stream(start(), piece(content="Sure: "), piece(content="Oslo"), piece("stop"), asked=STRICT),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Oslo"}'}),
    consequence="openai-python's helpers raise: parse a ValidationError, stream a ValueError",
)
def json_schema(message: Message) -> Iterator[Violation]:
    """response_format json_schema yields content that parses as JSON.

    A turn with calls or without content, a refusal, and an answer that was cut are left alone. Of JSON with
    something around it so.no-code-fence tells, of a refusal in the content so.refusal-escape.
    """
    told = DECLINES.match(message.content) or _is_wrapped(message.content)
    if _judged(message, "json_schema") and message.settled and not told:
        yield from _not_json(message, "JSON", object)


@rule(
    "so.json-schema-strict-valid",
    level="MUST",
    basis="prose",
    source=f"{SCHEMA_FORMAT} strict",
    violating=answer(asked=STRICT, message={"content": '{"town":"Oslo"}'}),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Oslo"}'}),
    consequence="the strictness that was asked for was ignored: openai-python's parse helper raises "
    "ValidationError",
)
def strict_valid(message: Message) -> Iterator[Violation]:
    """With strict true the content validates against the schema."""
    if not (_judged(message, "json_schema") and message.settled and message.asked):
        return
    value = read_json(message.content).value
    if value is not ABSENT and (wrong := first_error(message.asked.strict_schema, value)):
        yield message.found("content", wanted="content that fits the schema", saw=wrong)


@rule(
    "so.json-schema-nonstrict-valid",
    level="SHOULD",
    basis="convention",
    source=SCHEMA_FORMAT,
    subject="model",
    violating=answer(asked=LOOSE, message={"content": '{"town":"Oslo"}'}),
    conforming=answer(asked=LOOSE, message={"content": '{"city":"Oslo"}'}),
    consequence="openai-python's parse helper raises ValidationError",
)
def loose_valid(message: Message) -> Iterator[Violation]:
    """Without strict the content should still validate.

    Without strict nothing holds the model to the schema, so that this says nothing of the server.
    """
    if not (_judged(message, "json_schema") and message.settled and message.asked):
        return
    value = read_json(message.content).value
    if value is not ABSENT and (wrong := first_error(message.asked.loose_schema, value)):
        yield message.found("content", wanted="content that fits the schema", saw=wrong)


@rule(
    "so.key-order",
    level="SHOULD",
    basis="prose",
    needs=("spelling",),
    source=docs("guides/structured-outputs key ordering"),
    violating=answer(asked=PAIR, message={"content": '{"country":"Norway","city":"Oslo"}'}),
    conforming=answer(asked=PAIR, message={"content": '{"city":"Oslo","country":"Norway"}'}),
    consequence="schemas that put the reasoning before the result get it after, when it is of no use",
)
def key_order(message: Message) -> Iterator[Violation]:
    """Keys appear in schema order under strict."""
    if not (_judged(message, "json_schema") and message.asked):
        return
    order = lookup(message.asked.strict_schema, ("properties",))
    value = read_json(message.content).value
    if isinstance(order, dict) and isinstance(value, dict):
        got = [name for name in value if name in order]
        wanted = [name for name in order if name in value]
        if got != wanted:
            yield message.found("content", wanted=", ".join(wanted), saw=", ".join(got))


@rule(
    "so.refusal-escape",
    level="MUST",
    basis="prose",
    source=(
        schema("ChatCompletionResponseMessage refusal"),
        sdk("lib/_parsing/_completions.py maybe_parse_content"),
    ),
    violating=answer(asked=STRICT, message={"content": "I'm sorry, I can't help with that."}),
    conforming=answer(
        asked=STRICT, message={"content": None, "refusal": "I'm sorry, I can't help with that."}
    ),
    consequence="openai-python's parse helper raises ValidationError in place of handing out the refusal",
)
def refusal_escape(message: Message) -> Iterator[Violation]:
    """A refusal under json_schema uses message.refusal, not invalid JSON in content.

    A refusal is known by how it begins, in English. Corrected: MUST, as so.json-schema-parses, which any
    other text that is not JSON breaks.
    """
    declines = _judged(message, "json_schema") and message.settled and DECLINES.match(message.content)
    if declines and not _is_wrapped(message.content):
        yield message.found("content", wanted="the refusal in message.refusal")


@rule(
    "so.tools-and-format-together",
    level="SHOULD",
    basis="convention",
    source=schema("CreateChatCompletionRequest"),
    violating=answer(asked=STRICT | {"tools": [tool()]}, message={"content": "It is 18 degrees."}),
    conforming=answer(asked=STRICT | {"tools": [tool()]}, calls=[call()]),
    consequence="agents that end on structured output get prose as soon as they have tools",
    also=("so.json-schema-parses",),
)
def tools_and_format(message: Message) -> Iterator[Violation]:
    """With tools and response_format both set, a turn is either calls or conforming content."""
    asked = message.asked
    judged = _judged(message, "json_schema") or _judged(message, "json_object")
    if not (judged and message.settled and asked and asked.offers_tools):
        return
    value = read_json(message.content).value
    if value is ABSENT:
        yield message.found("content", wanted="calls, or content in the format")
    elif wrong := first_error(asked.strict_schema, value):
        yield message.found("content", wanted="calls, or content that fits the schema", saw=wrong)


@rule(
    "so.no-code-fence",
    level="MUST",
    basis="prose",
    source=SCHEMA_FORMAT,
    violating=answer(asked=STRICT, message={"content": '```json\n{"city":"Oslo"}\n```'}),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Oslo"}'}),
    consequence="json.loads fails on the fence",
)
def no_fence(message: Message) -> Iterator[Violation]:
    """Structured content has no Markdown fence or prose around it.

    Where there is JSON inside, or where the answer was cut, so that none can be looked for. A text without
    any is so.json-schema-parses' or so.json-object-parses'.
    """
    if not (_judged(message, "json_schema") or _judged(message, "json_object")):
        return
    text = message.content
    begun = not message.settled and read_json(text).value is ABSENT and text.strip()[:1] not in ("{", "[")
    if begun or _is_wrapped(text):
        yield message.found("content", wanted="JSON from the first character to the last")


@rule(
    "so.truncation-marked",
    level="MUST",
    basis="sdk",
    source=sdk("_exceptions.py LengthFinishReasonError"),
    violating=answer(asked=STRICT, message={"content": '{"city":"Os'}),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Os'}, choice={"finish_reason": "length"}),
    consequence="openai-python's parse helper raises ValidationError in place of "
    "LengthFinishReasonError: clients retry in vain",
    also=("so.json-schema-parses",),
)
def truncation(message: Message) -> Iterator[Violation]:
    """Truncated structured output has finish_reason length."""
    structured = _judged(message, "json_schema") or _judged(message, "json_object")
    if structured and message.settled and message.finish_reason is not None:
        text = message.content.strip()
        if text[:1] in ("{", "[") and _is_cut(text):
            yield message.found(
                "finish_reason", wanted='"length"', saw=f"{message.finish_reason} after {text[-40:]}"
            )


@rule(
    "so.strict-tool-arguments",
    level="MUST",
    basis="prose",
    source=(schema("FunctionObject strict"), "vLLM docs/features/tool_calling.md"),
    violating=answer(asked={"tools": [tool(strict=True)]}, calls=[call(arguments="{}")]),
    conforming=answer(asked={"tools": [tool(strict=True)]}, calls=[call()]),
    consequence="the strictness that was asked for was ignored, and the tool fails on its arguments",
)
def strict_arguments(one: Call) -> Iterator[Violation]:
    """Calls to a strict tool have arguments valid against its schema."""
    function = one.asked.functions.get(one.name) if one.asked else None
    if function is None or function.get("strict") is not True or not one.settled or one.arguments is None:
        return
    value = one.parsed.value
    if one.parsed.beyond:
        return
    if value is ABSENT:
        yield one.found("function", "arguments", wanted="JSON", saw=f"{one.parsed.problem}: {one.arguments}")
    elif wrong := first_error(function.get("parameters"), value):
        yield one.found("function", "arguments", wanted="arguments that fit the strict schema", saw=wrong)


def _judged(message: Message, format: str) -> bool:
    """Whether the content of a message is what ``response_format`` promised."""
    asked = message.asked is not None and message.asked.format == format
    return asked and bool(message.content) and not message.calls and not message.refused


def _not_json(message: Message, wanted: str, kind: type[Any]) -> Iterator[Violation]:
    read: JsonText = read_json(message.content)
    if read.beyond:
        return
    if read.value is ABSENT:
        yield message.found("content", wanted=wanted, saw=f"{read.problem}: {message.content}")
    elif not isinstance(read.value, kind):
        yield message.found("content", wanted=wanted)


def _is_wrapped(text: str) -> bool:
    """Whether a text is no JSON, but a fence or words around some."""
    if read_json(text).value is not ABSENT:
        return False
    text = text.strip()
    fenced = FENCED.search(text) if text[:1] not in ("{", "[") else None
    if fenced:
        return isinstance(read_json(fenced.group(1)).value, dict | list)
    start, end = text.find("{"), text.rfind("}") + 1
    words = text[:start] + text[end:]
    # Brackets and commas that are too many are no words: then the JSON itself is wrong.
    if start < 0 or text.startswith("[") or not re.search(r"\w", words):
        return False
    inside = read_json(text[start:end]).value
    return isinstance(inside, dict) and bool(inside)


def _is_cut(text: str) -> bool:
    """Whether a JSON text stops before its outermost bracket is closed."""
    depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
    return inside or depth > 0
