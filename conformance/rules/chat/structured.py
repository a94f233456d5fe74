"""Structured output: content under ``response_format``, and arguments of strict tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.views import Call, Message
from conformance.rules.examples import WEATHER_SCHEMA, answer, call, piece, start, stream, tool
from conformance.rules.reading import ABSENT, JsonText, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.sources import schema, sdk
from conformance.rules.views import Violation

SCHEMA_FORMAT = schema("ResponseFormatJsonSchema")
STRICT = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "place", "strict": True, "schema": WEATHER_SCHEMA},
    }
}
JSON_MODE = {"response_format": {"type": "json_object"}}


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

    A turn with calls or without content, a refusal, and an answer that was cut are left alone.
    """
    if _judged(message, "json_object") and message.settled:
        yield from _not_json(message, "a JSON object", dict)


@rule(
    "so.json-schema-parses",
    level="MUST",
    basis="prose",
    source=SCHEMA_FORMAT,
    violating=stream(start(), piece(content="Sure: "), piece(content="Oslo"), piece("stop"), asked=STRICT),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Oslo"}'}),
    consequence="openai-python's parse helper raises a validation error",
    also=("so.no-code-fence",),
)
def json_schema(message: Message) -> Iterator[Violation]:
    """response_format json_schema yields content that parses as JSON.

    A turn with calls or without content, a refusal, and an answer that was cut are left alone.
    """
    if _judged(message, "json_schema") and message.settled:
        yield from _not_json(message, "JSON", object)


@rule(
    "so.json-schema-strict-valid",
    level="MUST",
    basis="prose",
    source=f"{SCHEMA_FORMAT} strict",
    violating=answer(asked=STRICT, message={"content": '{"town":"Oslo"}'}),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Oslo"}'}),
    consequence="the strictness that was asked for was ignored, and typed clients fail",
)
def strict_valid(message: Message) -> Iterator[Violation]:
    """With strict true the content validates against the schema."""
    if not (_judged(message, "json_schema") and message.settled and message.asked):
        return
    value = read_json(message.content).value
    if value is not ABSENT and (wrong := first_error(message.asked.strict_schema, value)):
        yield message.found("content", wanted="content that fits the schema", saw=wrong)


@rule(
    "so.no-code-fence",
    level="MUST",
    basis="prose",
    source=SCHEMA_FORMAT,
    violating=answer(asked=STRICT, message={"content": '```json\n{"city":"Oslo"}\n```'}),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Oslo"}'}),
    consequence="json.loads fails on the fence",
    also=("so.json-schema-parses",),
)
def no_fence(message: Message) -> Iterator[Violation]:
    """Structured content has no Markdown fence or prose around it."""
    if not (_judged(message, "json_schema") or _judged(message, "json_object")):
        return
    if read_json(message.content).value is ABSENT and message.content.strip()[:1] not in ("{", "["):
        yield message.found("content", wanted="content that begins with { or [")


@rule(
    "so.truncation-marked",
    level="MUST",
    basis="sdk",
    source=sdk("_exceptions.py LengthFinishReasonError"),
    violating=answer(asked=STRICT, message={"content": '{"city":"Os'}),
    conforming=answer(asked=STRICT, message={"content": '{"city":"Os'}, choice={"finish_reason": "length"}),
    consequence="the SDK reports a parse error in place of LengthFinishReasonError: clients retry in vain",
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
    if read.value is ABSENT:
        yield message.found("content", wanted=wanted, saw=f"{read.problem}: {message.content}")
    elif not isinstance(read.value, kind):
        yield message.found("content", wanted=wanted)


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
