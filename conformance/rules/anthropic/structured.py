"""Structured output: texts in the format that was asked for, and inputs of tools that fit their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.anthropic.examples import WIRES, answer, stream, text, told, tool, tool_use
from conformance.rules.anthropic.views import Block, Message
from conformance.rules.examples import WEATHER_SCHEMA
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.sources import anthropic_docs
from conformance.rules.views import Violation, lookup

OUTPUTS = anthropic_docs("build-with-claude/structured-outputs")
FORMAT = {"output_config": {"format": {"type": "json_schema", "schema": WEATHER_SCHEMA}}}
STRICT: dict[str, Any] = {"tools": [tool(strict=True)]}
TOWN = {"town": "Oslo"}


@rule(
    "anth.response.output-format-json",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OUTPUTS,
    violating=stream(told(text("Sure: Oslo")), asked=FORMAT),
    conforming=answer(text('{"city":"Oslo"}'), asked=FORMAT),
    consequence="whoever parses the text gets an exception: the format was accepted, and ignored",
)
def format_json(message: Message) -> Iterator[Violation]:
    """With output_config.format json_schema the text is JSON.

    The rule is this suite's own; the catalogue has it for Chat alone. A turn with calls or without text, a
    refusal, and an answer that was cut are left alone.
    """
    if (said := _formatted(message)) is not None:
        read = read_json(said)
        if read.value is ABSENT and not read.beyond:
            yield message.found("content", wanted="one JSON text", saw=f"{read.problem}: {said}")


@rule(
    "anth.response.output-format-valid",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OUTPUTS,
    violating=answer(text('{"town":"Oslo"}'), asked=FORMAT),
    conforming=stream(told(text('{"city":"Oslo"}')), asked=FORMAT),
    consequence="typed programs refuse the answer that they were promised",
)
def format_valid(message: Message) -> Iterator[Violation]:
    """With output_config.format json_schema the text validates against the schema.

    The rule is this suite's own; the catalogue has it for Chat alone.
    """
    said = _formatted(message)
    value = ABSENT if said is None else read_json(said).value
    if value is ABSENT or message.asked is None:
        return
    if wrong := first_error(message.asked.output_schema, value):
        yield message.found("content", wanted="a text that fits the schema", saw=wrong)


@rule(
    "anth.response.strict-tool-input",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OUTPUTS,
    violating=answer(tool_use(input=TOWN), asked=STRICT),
    conforming=stream(told(tool_use()), asked=STRICT),
    consequence="the strictness that was asked for was ignored, and the tool refuses its input",
)
def strict_input(block: Block) -> Iterator[Violation]:
    """The input of a strict tool's call validates against its input_schema.

    The rule is this suite's own; the catalogue has it for Chat alone.
    """
    yield from _misfit(block, strict=True)


@rule(
    "anth.response.tool-input-schema",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=anthropic_docs("agents-and-tools/tool-use/define-tools"),
    subject="model",
    violating=answer(tool_use(input=TOWN)),
    conforming=answer(tool_use()),
    consequence="the tool refuses its input and the turn is lost",
)
def input_schema(block: Block) -> Iterator[Violation]:
    """The input of a call validates against its tool's input_schema.

    The rule is this suite's own; the catalogue has it for Chat alone. Without strict nothing holds the model
    to the schema, so that this says nothing of the server.
    """
    yield from _misfit(block, strict=False)


def _formatted(message: Message) -> str | None:
    """The text of a message that was asked for in a format, where it can be held to that."""
    if message.asked is None or message.asked.output_schema is None or not message.settled or message.calls:
        return None
    if message.stop_reason == "stop_sequence":
        return None
    texts = (block.get("text") for block in message.blocks if block.type == "text")
    return "".join(one for one in texts if isinstance(one, str)) or None


def _misfit(block: Block, *, strict: bool) -> Iterator[Violation]:
    name = block.get("name")
    if block.type != "tool_use" or block.asked is None or not block.settled or not isinstance(name, str):
        return
    offered, given = block.asked.tools.get(name), block.get("input")
    if offered is None or (offered.get("strict") is True) is not strict or not isinstance(given, dict):
        return
    if wrong := first_error(lookup(offered, ("input_schema",)), given):
        yield block.found("input", wanted="an input that fits the tool's schema", saw=wrong)
