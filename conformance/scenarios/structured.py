"""Structured output."""

from __future__ import annotations

from conformance.scenarios.base import JSON_SCHEMA, ask, need, request, scenario
from conformance.scenarios.kit import said
from conformance.types import JsonSchemaFormat, Message, Script

REPORT = JsonSchemaFormat(
    name="weather_report",
    schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "temperature": {"type": "integer"}},
        "required": ["city", "temperature"],
        "additionalProperties": False,
    },
    strict=True,
)


@scenario(
    "structured.json-schema",
    ideal=(said('{"city": "Athens", "temperature": 31}'),),
    needs=("json-schema",),
    optional=(JSON_SCHEMA,),
)
def json_schema() -> Script:
    """A strict ``json_schema`` response format constrains the answer."""
    turn = yield from ask(
        request(
            Message.user("Report the weather as JSON: it is 31 degrees in Athens."), response_format=REPORT
        )
    )
    need(turn.text or turn.refusal, "answer with text")
