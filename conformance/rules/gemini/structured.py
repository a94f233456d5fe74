"""Answers in a form that was asked for, and calls that never left the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.examples import WEATHER_SCHEMA
from conformance.rules.gemini.examples import WIRES, answer, config, offering, said, stream, text
from conformance.rules.gemini.views import Candidate
from conformance.rules.leaks import LEAKED, QUOTED, register
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.sources import gemini_docs, gemini_sdk
from conformance.rules.views import Violation

CONFIG = gemini_sdk("types.py GenerationConfig")
GUIDE = gemini_docs("structured-output")
JSON_TYPE, ENUM_TYPE = "application/json", "text/x.enum"
JSON_MODE = config(responseMimeType=JSON_TYPE)
SCHEMA = config(responseMimeType=JSON_TYPE, responseJsonSchema=WEATHER_SCHEMA)
OPEN_API: dict[str, Any] = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING", "nullable": True}},
    "required": ["city"],
}
OPEN_API_SCHEMA = config(responseMimeType=JSON_TYPE, responseSchema=OPEN_API)
ENUM = config(responseMimeType=ENUM_TYPE, responseSchema={"type": "STRING", "enum": ["calm", "storm"]})


@rule(
    "gem.response.json-mode",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(f"{CONFIG}.response_mime_type", GUIDE),
    violating=answer(text('```json\n{"city":"Oslo"}\n```'), asked=JSON_MODE),
    conforming=answer(text('{"city":"Oslo"}'), asked=JSON_MODE),
    consequence="google-genai's parsed is None, and json.loads fails",
)
def json_mode(one: Candidate) -> Iterator[Violation]:
    """With responseMimeType application/json the text is JSON.

    Not in the catalogue. A turn of calls or without text, and one that was cut, are left alone.
    """
    if one.asked.mime_type == JSON_TYPE and one.settled and one.spoken is not None and not one.calls:
        read = read_json(one.text)
        if read.value is ABSENT and not read.beyond:
            yield one.spoken.found("text", wanted="JSON", saw=f"{read.problem}: {one.text}")


@rule(
    "gem.response.schema",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(f"{CONFIG}.response_schema", f"{CONFIG}.response_json_schema", GUIDE),
    violating=stream(said(text('{"town":')), said(text('"Oslo"}'), finish="STOP"), asked=OPEN_API_SCHEMA),
    conforming=answer(text('{"city":"Oslo"}'), asked=SCHEMA),
    consequence="google-genai's parsed is None where it should be an object of the class that was asked for",
)
def schema(one: Candidate) -> Iterator[Violation]:
    """With a response schema the JSON of the text fits it.

    Not in the catalogue.
    """
    if one.asked.mime_type == JSON_TYPE and one.settled and one.spoken is not None and not one.calls:
        value = read_json(one.text).value
        if value is not ABSENT and (wrong := first_error(one.asked.schema, value)):
            yield one.spoken.found("text", wanted="JSON that fits the schema", saw=wrong)


@rule(
    "gem.response.enum",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(f"{CONFIG}.response_mime_type", GUIDE),
    violating=answer(text("It is calm."), asked=ENUM),
    conforming=answer(text("calm"), asked=ENUM),
    consequence="a classifier gets a label that it does not have",
)
def enum(one: Candidate) -> Iterator[Violation]:
    """With responseMimeType text/x.enum the text is one of the schema's words, and nothing else.

    Not in the catalogue.
    """
    words = one.asked.schema.get("enum") if one.asked.schema else None
    if one.asked.mime_type != ENUM_TYPE or not isinstance(words, list) or not one.settled:
        return
    if one.spoken is not None and one.text not in words:
        yield one.spoken.found("text", wanted="one of " + ", ".join(map(str, words)))


no_call_markup = register(
    "gem.response.no-call-markup-leak",
    "gemini",
    "functionCall parts",
    answer(text(LEAKED), asked=offering()),
    answer(text(QUOTED), asked=offering()),
    gemini_sdk("types.py FunctionCall"),
)
