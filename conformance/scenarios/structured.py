"""Structured output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.scenarios.base import JSON_MODE, JSON_SCHEMA, TOOLS, ask, need, request, scenario
from conformance.scenarios.kit import CHAT, WEATHER, called, closed, raw, results, said
from conformance.types import Ask, JsonSchemaFormat, Message, Request, Script

REPORT = JsonSchemaFormat(
    name="weather_report",
    schema=closed({"city": {"type": "string"}, "temperature": {"type": "integer"}}, ("city", "temperature")),
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


@scenario(
    "structured.json-schema-stream",
    ideal=(said('{"city": "Valletta", "temperature": 27}'),),
    needs=("json-schema", "streaming"),
    optional=(JSON_SCHEMA,),
)
def json_schema_stream() -> Script:
    """The same, streamed: the pieces join to one JSON text."""
    question = Message.user("Report the weather as JSON: it is 27 degrees in Valletta.")
    turn = yield from ask(request(question, response_format=REPORT, stream=True))
    need(turn.text or turn.refusal, "answer with text")


@scenario(
    "structured.json-schema-loose",
    ideal=(said('{"city": "Nuuk", "temperature": -4}'),),
    needs=("json-schema",),
    optional=(JSON_SCHEMA,),
)
def json_schema_loose() -> Script:
    """A ``json_schema`` that is not strict."""
    question = Message.user("Report the weather as JSON with city and temperature: it is -4 degrees in Nuuk.")
    turn = yield from ask(request(question, response_format=replace(REPORT, strict=False)))
    need(turn.text or turn.refusal, "answer with text")


@scenario(
    "structured.json-object",
    ideal=(said('{"city": "Dakar", "degrees": 29}'),),
    optional=(JSON_MODE,),
)
def json_object() -> Script:
    """The older ``json_object`` format: any JSON object."""
    question = Message.user("Report as a JSON object: it is 29 degrees in Dakar.")
    turn = yield from ask(request(question, extra={"response_format": {"type": "json_object"}}))
    need(turn.text or turn.refusal, "answer with text")


@scenario(
    "structured.prose-written",
    ideal=(said('{"city": "Porto", "temperature": 22}'), said('{"city": "Bergen", "temperature": 9}')),
    written={0: lambda _: "It is 22 degrees in Porto.", 1: lambda _: "It is 9 degrees in Bergen."},
    needs=("scripted", "json-schema", "streaming"),
    optional=(JSON_SCHEMA,),
)
def prose_written() -> Script:
    """A model that disobeys and writes prose does not get past a strict ``json_schema``.

    What constrains the model may lead it astray up to the cap; prose that ends says that nothing did.
    """
    for city, degrees, stream in (("Porto", 22, False), ("Bergen", 9, True)):
        question = Message.user(f"Report the weather: it is {degrees} degrees in {city}.")
        asked = replace(request(question, response_format=REPORT, stream=stream), max_tokens=64)
        yield Ask(asked, probe="prose-written")


@scenario("structured.text", ideal=(said("Plain text it is."),))
def text() -> Script:
    """The format that is the default, asked for by name: an answer like any other."""
    yield Ask(request(Message.user("Answer plainly."), extra={"response_format": {"type": "text"}}))


@scenario(
    "structured.with-tools",
    ideal=(called(("get_weather", {"city": "Izmir"})), said('{"city": "Izmir", "temperature": 18}')),
    needs=("json-schema", "tools"),
    optional=(JSON_SCHEMA, TOOLS),
)
def with_tools() -> Script:
    """Tools and a response format together: a turn is calls, or text in that format."""
    question = Message.user("Look up the weather in Izmir with the tool, then report it as JSON.")
    turn = yield from ask(request(question, tools=(WEATHER,), response_format=REPORT))
    need(turn.calls, "call the tool it was asked to use")
    history = (question, Message.assistant(turn), *results(turn, {"get_weather": "18 degrees"}))
    yield Ask(request(*history, tools=(WEATHER,), response_format=REPORT), probe="tool-result")


@scenario(
    "structured.schema-limits",
    wires=CHAT,
    ideal=(
        said('{"word": "a schema without a name"}'),
        said('{"city": "Lomé"}'),
        said('{"city": "Perth", "temperature": 22}'),
        said('{"code": "ABC-123", "visitors": 1000}'),
        said('{"label": "root", "next": {"label": "leaf", "next": null}}'),
        said('{"word": "an invalid schema"}'),
    ),
    needs=("json-schema",),
    optional=(JSON_SCHEMA,),
)
def schema_limits() -> Script:
    """Response formats at the edge: no name, schemas that strict mode does not know, a schema that is none.

    What cannot be enforced is to be refused: the prompts ask for what the schemas forbid.
    """
    one_word = {"schema": closed({"word": {"type": "string"}}, ("word",))}
    yield Ask(formatted("Say a word as JSON.", one_word), probe="schema-without-name", expect="refusal")
    open_object = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    yield Ask(
        formatted("Report as JSON: city Lomé, temperature 30, wind 4.", _strict(open_object)),
        probe="strict-open-object",
        expect="either",
    )
    optional = closed({"city": {"type": "string"}, "temperature": {"type": "integer"}}, ("city",))
    yield Ask(
        formatted("Report as JSON: it is 22 degrees in Perth.", _strict(optional)),
        probe="strict-optional-property",
        expect="either",
    )
    narrow = closed(
        {
            "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"},
            "visitors": {"type": "integer", "minimum": 1000},
        },
        ("code", "visitors"),
    )
    yield Ask(
        formatted("Report as JSON: station code abc, 5 visitors.", _strict(narrow)),
        probe="strict-keywords",
        expect="either",
    )
    node = closed(
        {"label": {"type": "string"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, ("label", "next")
    )
    yield Ask(
        formatted("As JSON, link two nodes: root, then leaf, then the number 3.", _strict(node)),
        probe="strict-keywords",
        expect="either",
    )
    invalid = {"name": "nothing", "schema": {"type": "objekt"}}
    yield Ask(formatted("Say another word as JSON.", invalid), probe="invalid-schema", expect="refusal")
    for malformed in ("json", {"type": "yaml"}, {"type": "json_schema"}):
        # Capped: whoever takes it for "any JSON" may have no reason to end.
        asked = {"messages": [{"role": "user", "content": "Say one more word as JSON."}], "max_tokens": 64}
        yield raw({**asked, "response_format": malformed}, "malformed-format")


def formatted(question: str, json_schema: Mapping[str, Any]) -> Request:
    """A request for this ``json_schema``, which goes out as it is."""
    return request(
        Message.user(question),
        extra={"response_format": {"type": "json_schema", "json_schema": dict(json_schema)}},
    )


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "report", "strict": True, "schema": dict(schema)}
