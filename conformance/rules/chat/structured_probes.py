"""Response formats at the edge: incomplete, invalid, or with schemas that strict mode does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.rules.examples import WEATHER_SCHEMA, Exchanges, answer, error
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.sources import docs, schema, sdk
from conformance.rules.views import Probe, Violation, lookup
from conformance.types import Expect

STRICT_DOCS = docs("guides/structured-outputs supported schemas")
STRICT_SCHEMA = sdk("lib/_pydantic.py to_strict_json_schema")
FORMAT = ("response_format", "json_schema")
OPEN = {k: v for k, v in WEATHER_SCHEMA.items() if k != "additionalProperties"}
OPTIONAL = {**WEATHER_SCHEMA, "required": []}
NARROW = {**WEATHER_SCHEMA, "properties": {"city": {"type": "string", "pattern": "^[A-Z]{3}$"}}}


def _asked(json_schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": dict(json_schema)}}


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "place", "strict": True, "schema": dict(schema)}


def _refused(json_schema: Mapping[str, Any], probe: str, expect: Expect, status: int = 400) -> Exchanges:
    return error(status, asked=_asked(json_schema), probe=probe, expect=expect)


def _answered(json_schema: Mapping[str, Any], probe: str, expect: Expect, content: str) -> Exchanges:
    return answer(asked=_asked(json_schema), probe=probe, expect=expect, message={"content": content})


@rule(
    "so.schema-name-required",
    level="SHOULD",
    basis="schema",
    source=schema("ResponseFormatJsonSchema name"),
    probe="schema-without-name",
    violating=_answered({"schema": WEATHER_SCHEMA}, "schema-without-name", "refusal", '{"city":"Oslo"}'),
    conforming=_refused({"schema": WEATHER_SCHEMA}, "schema-without-name", "refusal"),
    consequence="a client that forgets the name works here and is refused by OpenAI",
)
def name_required(probe: Probe) -> Iterator[Violation]:
    """json_schema without name is refused with 400.

    422 is accepted.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "so.strict-needs-closed-objects",
    level="SHOULD",
    basis="prose",
    source=(STRICT_DOCS, STRICT_SCHEMA, "vLLM docs/features/tool_calling.md strict mode"),
    probe="strict-open-object",
    violating=_answered(_strict(OPEN), "strict-open-object", "either", '{"city":"Oslo","wind":4}'),
    conforming=_refused(_strict(OPEN), "strict-open-object", "either"),
    consequence="a typed client meets members that its schema does not have",
)
def closed_objects(probe: Probe) -> Iterator[Violation]:
    """A strict schema with an object lacking additionalProperties false is refused or handled as closed.

    Refused with 400 or 422; never a 5xx.
    """
    yield from probe.survived()
    value = _structured(probe)
    known = lookup(probe.reading.asked, (*FORMAT, "schema", "properties"))
    if isinstance(value, dict) and isinstance(known, dict):
        for name in value.keys() - known.keys():
            yield probe.found("status", wanted="400, or no other members", saw=f"200 with a member {name!r}")


@rule(
    "so.strict-needs-all-required",
    level="SHOULD",
    basis="prose",
    source=(STRICT_DOCS, STRICT_SCHEMA),
    probe="strict-optional-property",
    violating=_refused(_strict(OPTIONAL), "strict-optional-property", "either", 500),
    conforming=_refused(_strict(OPTIONAL), "strict-optional-property", "either"),
    consequence="where OpenAI refuses with a reason, an error comes that is retried in vain",
)
def all_required(probe: Probe) -> Iterator[Violation]:
    """A strict schema with a property not in required is refused with 400 or honoured as optional.

    What it is answered with is the matter of so.json-schema-strict-valid.
    """
    yield from probe.survived()


@rule(
    "so.unsupported-keyword",
    level="SHOULD",
    basis="convention",
    source=("vLLM docs structured outputs", STRICT_DOCS),
    probe="strict-keywords",
    violating=_answered(_strict(NARROW), "strict-keywords", "either", '{"city":"Oslo"}'),
    conforming=_refused(_strict(NARROW), "strict-keywords", "either"),
    consequence="the constraint that was asked for was dropped, and nothing said so",
    also=("so.json-schema-strict-valid",),
)
def unsupported_keyword(probe: Probe) -> Iterator[Violation]:
    """A schema keyword the server cannot enforce is refused, not silently dropped, under strict."""
    yield from probe.survived()
    value = _structured(probe)
    schema = lookup(probe.reading.asked, (*FORMAT, "schema"))
    if value is not ABSENT and (wrong := first_error(schema, value)):
        yield probe.found("status", wanted="400, or output that fits the schema", saw=f"200, but {wrong}")


@rule(
    "so.invalid-schema-400",
    level="SHOULD",
    basis="convention",
    source=schema("ResponseFormatJsonSchemaSchema"),
    probe="invalid-schema",
    violating=_refused({"name": "place", "schema": {"type": "objekt"}}, "invalid-schema", "refusal", 500),
    conforming=_refused({"name": "place", "schema": {"type": "objekt"}}, "invalid-schema", "refusal"),
    consequence="a misspelt schema is answered with any text, or with an error that is retried in vain",
)
def invalid_schema(probe: Probe) -> Iterator[Violation]:
    """A schema that is not valid JSON Schema is refused with 400, never 5xx.

    422 is accepted.
    """
    yield from probe.refused_with(400, 422)


def _structured(probe: Probe) -> Any:
    """The content of a complete answer as JSON; ``ABSENT`` where there is none."""
    choice = lookup(probe.reading.body.value, ("choices", 0))
    content = lookup(choice, ("message", "content"))
    complete = lookup(choice, ("finish_reason",)) == "stop"
    return read_json(content).value if complete and isinstance(content, str) else ABSENT
