"""The output of a response: its items, whatever they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.examples import (
    WIRES,
    answer,
    call,
    message,
    open_run,
    reasoning,
    stream,
    told,
)
from conformance.rules.responses.views import Item, Result
from conformance.rules.sources import open_responses, open_schema, schema
from conformance.rules.views import Violation

RESPONSE = schema("Response")
FUNCTION_CALL = schema("FunctionToolCall")
FIELDS = open_responses("Required item fields")
STATES = open_responses("Items are state machines")
KNOWN = frozenset(
    f"{stem}{end}"
    for stem, ends in {
        "message reasoning compaction program program_output additional_tools mcp_list_tools": ("",),
        "mcp_approval_request mcp_approval_response tool_search_output": ("",),
        "function custom computer shell local_shell apply_patch": ("_call", "_call_output"),
        "file_search web_search code_interpreter image_generation mcp tool_search": ("_call",),
    }.items()
    for stem in stem.split()
    for end in ends
) | {"custom_tool_call", "custom_tool_call_output"}
"""The types of items in OpenAI's schema (openai-python 3.57.0 ResponseOutputItem)."""
PREFIXED = re.compile(r"[A-Za-z0-9_.-]+:.+", re.DOTALL)
WITH_STATUS = ("message", "function_call", "function_call_output")
"""Items whose own schema in Open Responses has a status."""


@rule(
    "resp.response.output-array",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(output="Hello."),
    conforming=answer(message(), call()),
    consequence="openai-python 3.57.0 raises AttributeError where output_text is read",
)
def output_array(result: Result) -> Iterator[Violation]:
    """output is an array of objects, each with a type."""
    output = result.get("output")
    if output is ABSENT:
        return
    if not isinstance(output, list):
        yield result.found("output", wanted="an array")
        return
    for place, item in enumerate(output):
        if not (isinstance(item, dict) and isinstance(item.get("type"), str)):
            yield result.found("output", place, wanted="an object with a type")


@rule(
    "resp.response.output-text-not-on-wire",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=f"{RESPONSE} output_text (the SDKs' own)",
    violating=answer(output_text="Good day."),
    conforming=answer(output_text="Hello."),
    consequence="a client shows one text or the other, depending on where it looks",
)
def output_text_agrees(result: Result) -> Iterator[Violation]:
    """output_text is a convenience of the SDKs; sent, it equals the text of the output."""
    given = result.get("output_text")
    if given not in (ABSENT, None) and given != result.text:
        yield result.found("output_text", wanted=f'"{result.text}", as in output, or nothing')


@rule(
    "resp.response.item-id-unique",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("values",),
    source=FIELDS,
    violating=answer(message(), message()),
    conforming=answer(message(), message(id="msg_2")),
    consequence="clients that keep items by id lose one of them",
)
def item_id_unique(result: Result) -> Iterator[Violation]:
    """No two items of a response have the same id."""
    seen: set[str] = set()
    for item in result.items:
        given = item.get("id")
        if isinstance(given, str) and given:
            if given in seen:
                yield item.found("id", wanted="an id of its own")
            seen.add(given)


@rule(
    "resp.response.item-status",
    wires=WIRES,
    level="SHOULD",
    basis="derived",
    source=(STATES, f"{FUNCTION_CALL} status"),
    violating=answer(message(status="in_progress")),
    conforming=answer(reasoning(), message()),
    consequence="a client that waits for the end of the item waits for ever",
)
def item_status(item: Item) -> Iterator[Violation]:
    """In a response that is completed, no item is still in progress.

    Corrected: that every item has a status is said in Open Responses only, and the schema of its reasoning
    item has none; see resp.response.item-fields-open-responses. A call that a program makes goes on until
    its result is there.
    """
    if item.get("caller", "type") == "program":
        return
    if item.response_completed and item.get("status") == "in_progress":
        yield item.found("status", wanted="completed, incomplete or failed")


@rule(
    "resp.response.item-fields-openai",
    wires=WIRES,
    flavour="openai",
    level="SHOULD",
    basis="prose",
    source=(f"{FUNCTION_CALL} id", f"{FUNCTION_CALL} status"),
    violating=answer(call(id=ABSENT), store=ABSENT),
    conforming=answer(call(), store=ABSENT),
    consequence="clients that keep items by id have no key for the call; openai-python's id is None",
)
def item_fields_openai(item: Item) -> Iterator[Violation]:
    """A function_call that the API returns has an id and a status.

    OpenAI's schema requires neither and says that they are there when items are returned.
    """
    if item.type == "function_call":
        yield from _without(item, ("id", "status"))


@rule(
    "resp.response.item-fields-open-responses",
    wires=WIRES,
    flavour="open-responses",
    level="MUST",
    basis="schema",
    source=(FIELDS, open_schema("FunctionCall"), open_schema("Message")),
    violating=open_run(answer(call(status=ABSENT))),
    conforming=open_run(answer(call())),
    consequence="clients generated from the Open Responses schema refuse the item",
)
def item_fields_open(item: Item) -> Iterator[Violation]:
    """Every item has an id and a type; messages, calls and items of a provider's own have a status.

    The prose demands a status of every item; the schema of the reasoning item has none, and no server sends
    it, so that is not asked for.
    """
    if item.type in WITH_STATUS or ":" in item.type:
        yield from _without(item, ("id", "status"))
    elif item.type:
        yield from _without(item, ("id",))


@rule(
    "resp.response.incomplete-item-last",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=STATES,
    violating=answer(message(status="incomplete"), call()),
    conforming=answer(
        message(),
        call(arguments='{"ci', status="incomplete"),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
    consequence="a client that reads the status of the response takes a cut item for a whole one",
)
def incomplete_last(result: Result) -> Iterator[Violation]:
    """An incomplete item is the last one and makes the response incomplete."""
    for place, item in enumerate(result.items):
        if item.get("status") != "incomplete":
            continue
        if place < len(result.items) - 1 or result.get("status") == "completed":
            yield item.found("status", wanted="incomplete of the last item only, as of the response")


@rule(
    "resp.response.extension-type-prefixed",
    wires=WIRES,
    level="SHOULD",
    strict_level="MUST",
    basis="prose",
    source=(open_responses("Extending Items"), schema("OutputItem")),
    violating=answer(message(), {"type": "my_item", "id": "my_1", "status": "completed"}),
    conforming=answer(message(), {"type": "acme:my_item", "id": "my_1", "status": "completed"}),
    consequence="it collides with what the specification, or another provider, calls so later",
)
def prefixed(item: Item) -> Iterator[Violation]:
    """The type of an item is one of the schema's, or prefixed with the provider's slug.

    OpenAI's schema is closed and knows no prefixes, Open Responses demands them (MUST). Corrected: the
    catalogue asks it of events too, where OpenAI itself adds new names all the time.
    """
    if item.type and item.type not in KNOWN and not PREFIXED.fullmatch(item.type):
        yield item.found("type", wanted="a type of the schema, or slug:type")


@rule(
    "resp.response.call-id-unique",
    wires=WIRES,
    level="MUST",
    basis="derived",
    needs=("values",),
    source=FUNCTION_CALL,
    violating=answer(call(1), call(2, call_id="call_1")),
    conforming=answer(call(1), call(2)),
    consequence="the results of two calls cannot be told apart",
)
def call_id_unique(result: Result) -> Iterator[Violation]:
    """No two calls of a response have the same call_id."""
    ids = [item.get("call_id") for item in result.calls]
    counts = Counter(given for given in ids if isinstance(given, str) and given)
    for item in result.calls:
        given = item.get("call_id")
        if isinstance(given, str) and counts[given] > 1:
            yield item.found("call_id", wanted="an id of its own")
            return


@rule(
    "resp.response.call-id-vs-item-id",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("values",),
    source=FUNCTION_CALL,
    violating=answer(call(call_id="fc_1")),
    conforming=answer(call()),
    consequence="a client that answers with the wrong one of the two works here and nowhere else",
)
def call_id_apart(item: Item) -> Iterator[Violation]:
    """The call_id of a call is not the id of its item."""
    if item.type == "function_call" and item.get("call_id") == item.get("id") != ABSENT:
        yield item.found("call_id", wanted="an id apart from the item's id")


@rule(
    "resp.response.function-arguments-json",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{FUNCTION_CALL} arguments",
    subject="model",
    violating=answer(call(arguments="{city: Oslo}")),
    conforming=stream(told(call())),
    consequence="the call cannot be run",
)
def arguments_json(item: Item) -> Iterator[Violation]:
    """arguments parses as a JSON object.

    Models may write invalid JSON, hence SHOULD. A call that the cap or a filter cut is left alone.
    Corrected: judges the model, whose text a server only passes on.
    """
    parsed = item.arguments
    if item.type != "function_call" or not item.settled or parsed.beyond:
        return
    if parsed.problem or not isinstance(parsed.value, dict | type(ABSENT)):
        yield item.found("arguments", wanted="a JSON object")


def _without(item: Item, names: tuple[str, ...]) -> Iterator[Violation]:
    missing = [name for name in names if not isinstance(item.get(name), str)]
    if missing:
        yield item.found(*missing[:1], wanted=f"a {item.type} with {' and '.join(names)}")
