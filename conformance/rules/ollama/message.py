"""The message: calls, thoughts, text in a form that was asked for, and what must not be in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.examples import WEATHER_SCHEMA
from conformance.rules.leaks import LEAKED, QUOTED, register
from conformance.rules.markup import think_markup
from conformance.rules.ollama.examples import WIRES, answer, call, stream, told, tool
from conformance.rules.ollama.views import Call, Message
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.scripted import names
from conformance.rules.sources import ollama, ollama_sdk
from conformance.rules.views import Violation, lookup

TOOLS = ollama("docs/capabilities/tool-calling.mdx")
CALL = ollama("docs/openapi.yaml ToolCall")
FORMATS = ollama("docs/capabilities/structured-outputs.mdx")
THINK = ollama("docs/capabilities/thinking.mdx")
OPTIONS = ollama("docs/openapi.yaml ModelOptions")
OFFER = {"tools": [tool()]}
LOGPROB = {"token": "Hello.", "logprob": -0.01, "bytes": [72], "top_logprobs": []}


@rule(
    "oll.response.tool-call-shape",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(CALL, ollama_sdk("_types.py Message.ToolCall")),
    violating=answer(call(function={"name": ABSENT})),
    conforming=answer(call(id=ABSENT)),
    consequence="ollama-python raises ValidationError for a call without its function or name",
)
def call_shape(one: Message) -> Iterator[Violation]:
    """tool_calls is an array of objects, each with function.name, a non-empty string.

    Not in the catalogue.
    """
    for chunk in one.chunks:
        calls = chunk.get("message", "tool_calls")
        if calls is not ABSENT and calls is not None and not isinstance(calls, list):
            yield chunk.found("message", "tool_calls", wanted="an array")
        for place, value in enumerate(calls if isinstance(calls, list) else ()):
            name = lookup(value, ("function", "name"))
            if not (isinstance(name, str) and name.strip()):
                yield chunk.found(
                    "message", "tool_calls", place, wanted="an object with a function and its name"
                )


@rule(
    "oll.response.tool-arguments-object",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(ollama_sdk("_types.py Message.ToolCall.Function"), TOOLS),
    violating=answer(call(function={"arguments": '{"city":"Oslo"}'})),
    conforming=answer(call()),
    consequence="ollama-python raises ValidationError for a text, and for arguments that are left out",
)
def arguments_object(one: Call) -> Iterator[Violation]:
    """function.arguments is an object, not a text of one."""
    if isinstance(one.get("function"), dict) and not isinstance(one.arguments, dict):
        yield one.found("function", "arguments", wanted="an object")


@rule(
    "oll.response.tool-call-declared",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=CALL,
    subject="model",
    violating=answer(call(function={"name": "functions.get_weather"})),
    conforming=answer(call()),
    consequence="the client knows no tool of that name and fails the turn",
)
def call_declared(one: Call) -> Iterator[Violation]:
    """function.name is that of an offered tool.

    Not in the catalogue. Judges the model: nothing tells an invented name from one that a server changed.
    """
    unknown = one.name and one.asked.functions and one.name not in one.asked.functions
    if unknown and not names(one.reading, one.name):
        yield one.found("function", "name", wanted="one of " + ", ".join(one.asked.functions))


@rule(
    "oll.response.no-tools-no-calls",
    wires=WIRES,
    level="MUST",
    basis="derived",
    needs=("request",),
    source=TOOLS,
    violating=answer(call(), asked={"tools": ABSENT}),
    conforming=answer(asked=OFFER),
    consequence="a client without tools has no code for a call and shows an empty answer",
)
def no_tools(one: Message) -> Iterator[Violation]:
    """Without tools no answer has calls.

    Not in the catalogue.
    """
    if one.calls and one.asked.known and not one.asked.functions:
        yield one.calls[0].found(wanted="no call: no tool was offered")


@rule(
    "oll.response.tool-arguments-schema",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=TOOLS,
    subject="model",
    violating=answer(call(function={"arguments": {"town": "Oslo"}})),
    conforming=answer(call()),
    consequence="the tool refuses its arguments and the turn is lost",
)
def arguments_schema(one: Call) -> Iterator[Violation]:
    """arguments fit the schema of the offered tool.

    Not in the catalogue. Judges the model: nothing holds it to the schema.
    """
    function = one.asked.functions.get(one.name)
    if function is None or not one.settled or not isinstance(one.arguments, dict):
        return
    if wrong := first_error(lookup(function, ("parameters",)), one.arguments):
        yield one.found("function", "arguments", wanted="arguments that fit the schema", saw=wrong)


no_call_markup = register(
    "oll.response.no-call-markup-leak",
    "ollama",
    "tool_calls",
    answer(asked=OFFER, message={"content": LEAKED}),
    answer(asked=OFFER, message={"content": QUOTED}),
    CALL,
)


@rule(
    "oll.response.thinking-separate",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=(ollama("docs/openapi.yaml ChatRequest think"), THINK),
    violating=stream(*told("<thi", "nk>They greet me.</think>", "Hello.")),
    conforming=answer(message={"thinking": "They greet me."}),
    consequence="the user sees the thoughts, and they are sent back as if they had been said",
)
def thinking_separate(one: Message) -> Iterator[Violation]:
    """What the model thought is in message.thinking, a text, and not in content.

    Corrected: whether or not think is set, since a model that can think does.
    """
    first = one.first_with("content")
    if first is not None and (leak := think_markup(one.content)):
        yield first.found("message", "content", wanted="thoughts in thinking", saw=leak)
    for chunk in one.chunks:
        if (
            not isinstance(chunk.get("message", "thinking"), str)
            and chunk.get("message", "thinking") is not ABSENT
        ):
            yield chunk.found("message", "thinking", wanted="a text")
            return


@rule(
    "oll.response.think-false",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=THINK,
    violating=answer(asked={"think": False}, message={"thinking": "They greet me."}),
    conforming=answer(asked={"think": False}),
    consequence="what was switched off is waited for, and shown",
)
def think_false(one: Message) -> Iterator[Violation]:
    """With think false nothing is thought, if the model permits it.

    Not in the catalogue. gpt-oss doesn't: it thinks low, medium or high, and ignores true and false.
    """
    shown = one.first_with("thinking")
    permits = "gpt-oss" not in str(one.asked.body.get("model"))
    if one.asked.thinks_not and permits and shown is not None:
        yield shown.found("message", "thinking", wanted="no thoughts (think was false)")


@rule(
    "oll.response.format-schema",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(FORMATS, ollama("docs/openapi.yaml ChatRequest format")),
    violating=answer(asked={"format": WEATHER_SCHEMA}, message={"content": '{"town":"Oslo"}'}),
    conforming=stream(*told('{"city":', '"Oslo"}'), asked={"format": WEATHER_SCHEMA}),
    consequence="json.loads fails, or the object lacks what was asked for",
)
def format_schema(one: Message) -> Iterator[Violation]:
    """With format json, or a schema, the content is JSON that fits it.

    A turn of calls or without content, and one that was cut, are left alone.
    """
    first = one.first_with("content")
    if not one.asked.wants_json or not one.settled or first is None or one.calls:
        return
    read = read_json(one.content)
    if read.beyond:
        return
    if read.value is ABSENT:
        yield first.found("message", "content", wanted="JSON", saw=f"{read.problem}: {one.content}")
    elif wrong := first_error(one.asked.schema, read.value):
        yield first.found("message", "content", wanted="JSON that fits the schema", saw=wrong)


@rule(
    "oll.response.stop-excluded",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=f"{OPTIONS} stop",
    violating=answer(asked={"options": {"stop": ["END"]}}, message={"content": "a END"}),
    conforming=stream(*told("a "), asked={"options": {"stop": ["END"]}}),
    consequence="clients that asked for the text up to a mark get the mark too, or what follows it",
)
def stop_excluded(one: Message) -> Iterator[Violation]:
    """The content has none of the sequences in options.stop.

    Not in the catalogue.
    """
    first, content = one.first_with("content"), one.content
    for sequence in one.asked.stop if first is not None else ():
        at = content.find(sequence)
        if at >= 0 and first is not None:
            around = content[max(0, at - 40) : at + len(sequence) + 40]
            yield first.found("message", "content", wanted=f"text that ends before {sequence}", saw=around)
            return


@rule(
    "oll.response.logprobs",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=ollama("docs/openapi.yaml ChatRequest logprobs"),
    violating=answer(asked={"logprobs": True}),
    conforming=answer(asked={"logprobs": True}, logprobs=[LOGPROB]),
    consequence="a client that weighs answers by their probabilities finds none; a token without one makes "
    "ollama-python raise ValidationError",
)
def logprobs(one: Message) -> Iterator[Violation]:
    """With logprobs an answer has the probability of each token: a text, and a logarithm of 0 at most.

    Not in the catalogue.
    """
    if not one.asked.logprobs or not one.settled or one.first_with("content") is None:
        return
    told_in = [(chunk, chunk.get("logprobs")) for chunk in one.chunks]
    if not any(isinstance(entries, list) and entries for _, entries in told_in):
        yield one.last.found("logprobs", wanted="the probabilities that were asked for")
    for chunk, entries in told_in:
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not _is_logprob(entry):
                yield chunk.found("logprobs", place, wanted="a token, and a logprob of 0 at most")
                return


def _is_logprob(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
        return False
    value = entry.get("logprob")
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= 0
