"""Tool calls of whole answers, and what holds for calls however they came."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import Call, Choice, Message, WholeCall
from conformance.rules.examples import answer, call, opened, tool, tool_piece, tool_stream
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.scripted import names
from conformance.rules.sources import schema
from conformance.rules.views import Violation, lookup

CALL = schema("ChatCompletionMessageToolCall")
EMPTY = ("", "null", '""')
"""Texts that stand for no arguments and are not ``{}``."""
CUSTOM_TOOL = {"tools": [{"type": "custom", "custom": {"name": "shell"}}]}
EARLIER = [
    {"role": "user", "content": "How warm is it in Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [call(id="call_1")]},
    {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
]


@rule(
    "chat.response.tool-calls-nonempty-or-absent",
    level="SHOULD",
    basis="convention",
    source=schema("ChatCompletionResponseMessage"),
    violating=answer(message={"tool_calls": []}),
    conforming=answer(),
    consequence="clients that test for the key see a turn with calls; openai-python tolerates null and []",
)
def calls_nonempty(choice: Choice) -> Iterator[Violation]:
    """tool_calls is omitted when there are no calls.

    The schema's type is array, not nullable; most clients test truthiness, some the key's presence.
    """
    if choice.get("message", "tool_calls") is not ABSENT and not choice.calls:
        yield choice.found("message", "tool_calls", wanted="no such member, or at least one call")


@rule(
    "chat.response.tool-call-id",
    level="MUST",
    basis="schema",
    needs=("values",),
    source=CALL,
    violating=answer(calls=[call(id="")]),
    conforming=answer(calls=[call(id="call_1")]),
    consequence="the result cannot be sent back: it is paired with its call by this id alone",
)
def call_id(one: WholeCall) -> Iterator[Violation]:
    """Every tool call has a non-empty string id."""
    given = one.get("id")
    if not (isinstance(given, str) and given):
        yield one.found("id", wanted="a non-empty string")


@rule(
    "chat.response.tool-call-id-unique",
    level="MUST",
    basis="derived",
    needs=("values",),
    source=(CALL, "mistral-common 1.13.1 mistral_common/protocol/instruct/validator.py"),
    violating=answer(calls=[call(id="call_1"), call(id="call_1", arguments='{"city":"Lima"}')]),
    conforming=answer(calls=[call(id="call_1"), call(id="call_2", arguments='{"city":"Lima"}')]),
    consequence="results are matched by id, so that the next turn cannot say which result is whose",
)
def call_id_unique(message: Message) -> Iterator[Violation]:
    """Tool call ids are unique within the message."""
    seen: set[str] = set()
    for one in message.calls:
        given = one.get("id")
        if isinstance(given, str) and given:
            if given in seen:
                yield one.found("id", wanted="an id that no other call of the message has")
            seen.add(given)


@rule(
    "chat.response.tool-call-type",
    level="MUST",
    basis="schema",
    source=CALL,
    violating=answer(calls=[call(type=ABSENT)]),
    conforming=answer(calls=[call(type="function")]),
    consequence="clients with typed unions cannot tell what kind of call it is and drop it",
)
def call_type(one: WholeCall) -> Iterator[Violation]:
    """Every tool call has type function (or custom for custom tools)."""
    if one.get("type") not in ("function", "custom"):
        yield one.found("type", wanted='"function"')


@rule(
    "chat.response.tool-call-function-object",
    level="MUST",
    basis="schema",
    source=CALL,
    violating=answer(calls=[{"id": "call_1", "type": "function", "name": "get_weather", "arguments": "{}"}]),
    conforming=answer(calls=[call()]),
    consequence="call.function.name raises AttributeError",
)
def call_function(one: WholeCall) -> Iterator[Violation]:
    """A function tool call has a function object with name and arguments."""
    if one.is_custom:
        return
    function = one.get("function")
    if not isinstance(function, dict):
        yield one.found("function", wanted="an object with name and arguments")
        return
    for name in ("name", "arguments"):
        if name not in function:
            yield one.found("function", name, wanted=f"a member {name}")


@rule(
    "chat.response.tool-call-name-nonempty",
    level="MUST",
    basis="schema",
    source=CALL,
    violating=answer(calls=[call(name="")]),
    conforming=answer(calls=[call(name="get_weather")]),
    consequence="no tool can be looked up by it",
    also=("chat.response.tool-call-name-declared",),
)
def call_name(one: WholeCall) -> Iterator[Violation]:
    """function.name is a non-empty string."""
    name = one.get("function", "name")
    good = isinstance(name, str) and name.strip() == name != ""
    if not good and name is not ABSENT and not one.is_custom:
        yield one.found("function", "name", wanted="a non-empty string without space around it")


@rule(
    "chat.response.tool-call-name-declared",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=CALL,
    subject="model",
    violating=answer(calls=[call(name="functions.get_weather")]),
    conforming=answer(calls=[call(name="get_weather")]),
    consequence="the client knows no tool of that name and fails the turn",
)
def call_declared(one: Call) -> Iterator[Violation]:
    """function.name is one of the functions in the request.

    A model can invent a name, hence no MUST; a server should not add a prefix (functions., default_api:).
    Corrected: judges the model, since nothing tells an invented name from one that a server changed.
    """
    if one.asked and one.asked.functions and not one.is_custom:
        name = one.get("function", "name")
        if isinstance(name, str) and name not in one.asked.functions and not names(one.reading, name):
            yield one.found("function", "name", wanted="one of " + ", ".join(one.asked.functions))


@rule(
    "chat.response.tool-call-arguments-string",
    level="MUST",
    basis="schema",
    source=CALL,
    violating=answer(calls=[call(arguments={"city": "Oslo"})]),
    conforming=answer(calls=[call(arguments='{"city":"Oslo"}')]),
    consequence="openai-python keeps the dict, and json.loads on it fails later",
)
def arguments_string(one: WholeCall) -> Iterator[Violation]:
    """function.arguments is a string, not an object."""
    arguments = one.get("function", "arguments")
    if arguments is not ABSENT and not isinstance(arguments, str) and not one.is_custom:
        yield one.found("function", "arguments", wanted="a string of JSON")


@rule(
    "chat.response.tool-call-arguments-json",
    level="SHOULD",
    basis="prose",
    source=f"{CALL} arguments",
    subject="model",
    violating=answer(calls=[call(arguments="{city: Oslo}")]),
    conforming=answer(calls=[call(arguments='{"city":"Oslo"}')]),
    consequence="the call cannot be run",
)
def arguments_json(one: WholeCall) -> Iterator[Violation]:
    """function.arguments parses as JSON.

    The schema's text warns that models may write invalid JSON, hence SHOULD; strict tools have a rule of
    their own. A call that the cap or a filter cut is left alone. Corrected: judges the model, whose text a
    server only passes on.
    """
    if not one.settled or one.arguments is None or not one.arguments.strip() or one.parsed.beyond:
        return
    if one.parsed.value is ABSENT:
        yield one.found("function", "arguments", wanted="JSON", saw=f"{one.parsed.problem}: {one.arguments}")


@rule(
    "chat.response.tool-call-arguments-object",
    level="SHOULD",
    basis="convention",
    source=CALL,
    subject="model",
    violating=answer(calls=[call(arguments="[1]")]),
    conforming=answer(calls=[call(arguments='{"city":"Oslo"}')]),
    consequence="LangChain and MCP take a mapping and refuse anything else",
    also=("chat.response.tool-call-arguments-schema",),
)
def arguments_object(one: Call) -> Iterator[Violation]:
    """The parsed arguments value is a JSON object.

    A function's parameters are an object's schema. Corrected: judges the model, which wrote the value; that
    it comes in a string is the server's (chat.response.tool-call-arguments-string).
    """
    if not isinstance(one.parsed.value, dict | str | None) and one.parsed.value is not ABSENT:
        yield one.found("function", "arguments", wanted="a JSON object")


@rule(
    "chat.response.tool-call-arguments-empty-object",
    level="SHOULD",
    basis="convention",
    source=(CALL, "langchain-core 1.8.4 langchain_core/output_parsers/openai_tools.py"),
    violating=answer(calls=[call(arguments="")], asked={"tools": [tool(parameters={"type": "object"})]}),
    conforming=answer(calls=[call(arguments="{}")], asked={"tools": [tool(parameters={"type": "object"})]}),
    consequence="json.loads fails on an empty string: strict tools in openai-python, and most agent loops",
)
def arguments_empty(one: Call) -> Iterator[Violation]:
    """A call without arguments uses "{}"."""
    if one.settled and one.arguments is not None and one.arguments.strip() in EMPTY:
        yield one.found("function", "arguments", wanted='"{}"')


@rule(
    "chat.response.tool-call-arguments-not-double-encoded",
    level="SHOULD",
    basis="convention",
    source=CALL,
    violating=answer(calls=[call(arguments='"{\\"city\\":\\"Oslo\\"}"')]),
    conforming=answer(calls=[call(arguments='{"city":"Oslo"}')]),
    consequence="the tool gets one string in place of its arguments",
    also=("chat.response.tool-call-arguments-schema",),
)
def arguments_once(one: Call) -> Iterator[Violation]:
    """arguments is encoded once."""
    inner = one.parsed.value
    if isinstance(inner, str) and inner and read_json(inner).value is not ABSENT:
        yield one.found("function", "arguments", wanted="an object, encoded once")


@rule(
    "chat.response.tool-call-arguments-schema",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=(CALL, "MoonshotAI/K2-Vendor-Verifier schema_accuracy"),
    subject="model",
    violating=tool_stream(opened(), tool_piece(0, '{"town":'), tool_piece(0, '"Oslo"}')),
    conforming=tool_stream(opened(), tool_piece(0, '{"city":'), tool_piece(0, '"Oslo"}')),
    consequence="the tool refuses its arguments and the turn is lost",
)
def arguments_schema(one: Call) -> Iterator[Violation]:
    """Parsed arguments validate against the function parameters schema.

    Corrected: judges the model. Without strict nothing holds it to the schema (the schema's text: it may
    hallucinate parameters), and strict tools have a rule of their own.
    """
    function = one.asked.functions.get(one.name) if one.asked else None
    if function is None or function.get("strict") is True or not one.settled:
        return
    value = one.parsed.value
    if value is ABSENT or value is None:
        return
    if wrong := first_error(lookup(function, ("parameters",)), value):
        yield one.found("function", "arguments", wanted="arguments that fit the function's schema", saw=wrong)


@rule(
    "chat.response.custom-tool-call-shape",
    level="MUST",
    basis="schema",
    source=schema("ChatCompletionMessageCustomToolCall"),
    violating=answer(
        calls=[{"id": "call_1", "type": "custom", "function": {"name": "shell", "arguments": "{}"}}],
        asked=CUSTOM_TOOL,
    ),
    conforming=answer(
        calls=[{"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}],
        asked=CUSTOM_TOOL,
    ),
    consequence="call.custom.input raises AttributeError",
)
def custom_shape(one: Call) -> Iterator[Violation]:
    """A custom tool call has id, type custom and custom{name,input} with string input.

    Its id is chat.response.tool-call-id's.
    """
    if not one.is_custom:
        return
    if one.get("type") != "custom":
        yield one.found("type", wanted='"custom" beside a custom object')
    if not isinstance(one.get("custom"), dict):
        yield one.found("custom", wanted="an object with name and input")
        return
    if not (isinstance(one.get("custom", "name"), str) and one.get("custom", "name")):
        yield one.found("custom", "name", wanted="a non-empty string")
    if not isinstance(one.get("custom", "input"), str):
        yield one.found("custom", "input", wanted="a string")


@rule(
    "chat.response.tool-call-id-unique-conversation",
    level="SHOULD",
    basis="convention",
    needs=("request", "values"),
    source=(CALL, "mistral-common 1.13.1 mistral_common/protocol/instruct/validator.py"),
    violating=answer(asked={"messages": EARLIER}, calls=[call(id="call_1")]),
    conforming=answer(asked={"messages": EARLIER}, calls=[call(id="call_2")]),
    consequence="clients that keep calls in a table by id overwrite an earlier one and its result",
)
def call_id_conversation(message: Message) -> Iterator[Violation]:
    """Tool call ids are not reused in later turns of a conversation.

    Seen in one exchange: a call of the answer has an id that the history sent with the request already has.
    """
    used = message.asked.call_ids if message.asked and message.calls else frozenset()
    for one in message.calls:
        given = one.get("id")
        if isinstance(given, str) and given in used:
            yield one.found("id", wanted="an id that no earlier call of the conversation has")
