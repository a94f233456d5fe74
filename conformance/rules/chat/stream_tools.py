"""Streamed tool calls: how the deltas of a call are told apart and put together."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.stream import ACCUMULATE, DELTA, HELPER
from conformance.rules.chat.streams import CallStream, ChoiceStream, Delta, ToolDelta
from conformance.rules.chat.views import Call
from conformance.rules.examples import opened, piece, tool_piece, tool_stream
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Violation

PIECE = schema("ChatCompletionMessageToolCallChunk")
WHOLE = '{"city":"Oslo"}'
CLEAN = tool_stream(opened(), tool_piece(0, '{"city":'), tool_piece(0, '"Oslo"}'))
PARALLEL = tool_stream(opened(0), tool_piece(0, WHOLE), opened(1), tool_piece(1, WHOLE))


@rule(
    "chat.stream.tool-index-present",
    level="MUST",
    basis="schema",
    source=(PIECE, ACCUMULATE),
    violating=tool_stream(opened(ABSENT, id="call_0", arguments=WHOLE)),
    conforming=CLEAN,
    consequence="openai-python's helper raises TypeError at a first delta and RuntimeError at a later "
    "one; LangChain loses the arguments",
)
def index_present(one: ToolDelta) -> Iterator[Violation]:
    """Every tool call delta has index.

    The only required member of the object, and the one that clients merge by.
    """
    if one.get("index") is ABSENT:
        yield one.found("index", wanted="an index")


@rule(
    "chat.stream.tool-index-integer",
    level="MUST",
    basis="schema",
    source=PIECE,
    violating=tool_stream(opened("0", arguments=WHOLE)),
    conforming=CLEAN,
    consequence='openai-python\'s helper raises TypeError at null or a fraction, and takes "0" for 0',
)
def index_integer(one: ToolDelta) -> Iterator[Violation]:
    """index is a JSON integer."""
    if one.get("index") is not ABSENT and one.index is None:
        yield one.found("index", wanted="an integer")


@rule(
    "chat.stream.tool-index-contiguous",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=tool_stream(opened(1, arguments=WHOLE)),
    conforming=PARALLEL,
    consequence="openai-python's helper raises IndexError for a first index of 1, and for 0 then 2",
)
def index_contiguous(choice: ChoiceStream) -> Iterator[Violation]:
    """Tool call indexes start at 0 and grow by one."""
    expected = 0
    seen: set[int] = set()
    for call in choice.calls:
        if call.slot is None or call.slot in seen:
            continue
        if call.slot != expected:
            yield call.found("index", wanted=f"{expected}, the next index", saw=str(call.slot))
        seen.add(call.slot)
        expected = max(call.slot, expected) + 1


@rule(
    "chat.stream.tool-index-distinct",
    level="MUST",
    basis="sdk",
    needs=("values",),
    source=ACCUMULATE,
    violating=tool_stream(opened(0, id="call_a", arguments=WHOLE), opened(0, id="call_b", arguments=WHOLE)),
    conforming=PARALLEL,
    consequence='openai-python merges the two calls into one: id "call_acall_b"',
)
def index_distinct(choice: ChoiceStream) -> Iterator[Violation]:
    """Two parallel calls never share an index."""
    seen: set[int] = set()
    for call in choice.calls:
        if call.slot is not None and call.slot in seen:
            yield call.found(
                "index", wanted="an index of its own for a call with a new id", saw=str(call.slot)
            )
        elif call.slot is not None:
            seen.add(call.slot)


@rule(
    "chat.stream.tool-first-has-id",
    level="MUST",
    basis="derived",
    source=(PIECE, HELPER),
    violating=tool_stream(opened(id=ABSENT, arguments=WHOLE)),
    conforming=CLEAN,
    consequence="the result cannot be sent back: it is paired with its call by this id alone",
)
def first_id(one: ToolDelta) -> Iterator[Violation]:
    """The first delta of a call carries a non-empty id.

    What the deltas add up to must fit ChatCompletionMessageToolCall, whose id is required.
    """
    if one.first and not one.text("id"):
        yield one.found("id", wanted="a non-empty string")


@rule(
    "chat.stream.tool-first-has-type",
    level="MUST",
    basis="derived",
    source=(PIECE, HELPER),
    violating=tool_stream(opened(type=ABSENT, arguments=WHOLE)),
    conforming=CLEAN,
    consequence="openai-python's helper fires no events for the call's arguments",
)
def first_type(one: ToolDelta) -> Iterator[Violation]:
    """The first delta of a call carries type function.

    What the deltas add up to must fit ChatCompletionMessageToolCall, whose type is required.
    """
    if one.first and one.get("type") not in ("function", "custom"):
        yield one.found("type", wanted='"function"')


@rule(
    "chat.stream.tool-first-has-name",
    level="MUST",
    basis="derived",
    source=PIECE,
    violating=tool_stream(opened(name="", arguments=WHOLE)),
    conforming=CLEAN,
    consequence="clients that start a call at its first delta start one without a name",
    also=("chat.response.tool-call-name-declared",),
)
def first_name(one: ToolDelta) -> Iterator[Violation]:
    """The first delta of a call carries function.name."""
    if one.first and not one.custom and not one.text("function", "name"):
        yield one.found("function", "name", wanted="a non-empty string")


@rule(
    "chat.stream.tool-id-once",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=tool_stream(opened(id="call_a"), tool_piece(0, WHOLE, id="call_a")),
    conforming=CLEAN,
    consequence='openai-python concatenates string members: id "call_acall_a"',
)
def id_once(call: CallStream) -> Iterator[Violation]:
    """id occurs in one delta of a call (later ones omit it or send null or empty)."""
    for one in [delta for delta in call.deltas if delta.text("id")][1:]:
        yield one.found("id", wanted="no id after the first")


@rule(
    "chat.stream.tool-name-once",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=tool_stream(
        opened(), tool_piece(0, WHOLE, function={"name": "get_weather", "arguments": WHOLE})
    ),
    conforming=CLEAN,
    consequence='openai-python and LangChain concatenate: name "get_weatherget_weather"',
)
def name_once(call: CallStream) -> Iterator[Violation]:
    """function.name occurs in one delta of a call."""
    for one in [delta for delta in call.deltas if delta.text("function", "name")][1:]:
        yield one.found("function", "name", wanted="no name after the first")


@rule(
    "chat.stream.tool-type-never-nulled",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=tool_stream(opened(), tool_piece(0, WHOLE, type=None)),
    conforming=CLEAN,
    consequence="openai-python overwrites the type and its helper raises AssertionError",
)
def type_not_nulled(one: ToolDelta) -> Iterator[Violation]:
    """Later deltas omit type or repeat function; they never send null."""
    if not one.first and one.get("type") is None:
        yield one.found("type", wanted="no type after the first delta")


@rule(
    "chat.stream.tool-function-present",
    level="MUST",
    basis="sdk",
    source=f"{HELPER} _build_events",
    violating=tool_stream(opened(arguments=WHOLE), tool_piece(0, function=ABSENT)),
    conforming=CLEAN,
    consequence="openai-python's helper raises AssertionError",
)
def function_present(one: ToolDelta) -> Iterator[Violation]:
    """Every function tool delta has a function object."""
    if not one.custom and not isinstance(one.get("function"), dict):
        yield one.found("function", wanted="an object")


@rule(
    "chat.stream.tool-arguments-string",
    level="MUST",
    basis="schema",
    source=PIECE,
    violating=tool_stream(opened(arguments={"city": "Oslo"})),
    conforming=CLEAN,
    consequence="openai-python's helper hands out the dict as arguments, or drops it where a string came "
    "before",
)
def arguments_string(one: ToolDelta) -> Iterator[Violation]:
    """function.arguments in a delta is a string (null tolerated after the first)."""
    arguments = one.get("function", "arguments")
    tolerated = arguments is ABSENT or (arguments is None and not one.first)
    if not isinstance(arguments, str) and not tolerated and not one.custom:
        yield one.found("function", "arguments", wanted="a string")


@rule(
    "chat.stream.tool-arguments-fragment",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=tool_stream(opened(), tool_piece(0, '{"city":'), tool_piece(0, WHOLE)),
    conforming=CLEAN,
    consequence="clients concatenate: the arguments are no JSON",
    also=("chat.stream.tool-arguments-concat-json",),
)
def arguments_fragment(call: CallStream) -> Iterator[Violation]:
    """Argument deltas are fragments whose concatenation is the argument string.

    Seen where the concatenation is no JSON but the last delta, which repeats the first, is a whole object.
    """
    pieces = [one for one in call.deltas if one.text("function", "arguments")]
    if len(pieces) < 2:
        return
    first, last = (one.text("function", "arguments") for one in (pieces[0], pieces[-1]))
    snapshot = last.startswith(first) and isinstance(read_json(last).value, dict)
    if snapshot and read_json("".join(piece.text for piece in call.arguments)).value is ABSENT:
        yield pieces[-1].found("function", "arguments", wanted="only what is new")


@rule(
    "chat.stream.tool-arguments-concat-json",
    level="SHOULD",
    basis="prose",
    source=f"{PIECE} arguments",
    violating=tool_stream(opened(), tool_piece(0, '{"city":'), tool_piece(0, "Oslo}")),
    conforming=CLEAN,
    consequence="the call cannot be run; with strict tools openai-python's helper raises ValueError",
)
def arguments_json(call: Call) -> Iterator[Violation]:
    """The concatenated arguments parse as a JSON object.

    The schema's text warns that models may write invalid JSON, hence SHOULD; strict tools have a rule of
    their own. A call that the cap, a filter or a broken connection cut is left alone, and so is "".
    """
    if call.event is None or not call.settled or not (call.arguments or "").strip():
        return
    if call.parsed.value is ABSENT and not call.parsed.beyond:
        saw = f"{call.parsed.problem}: {call.arguments}"
        yield call.found("function", "arguments", wanted="JSON in all", saw=saw)


@rule(
    "chat.stream.tool-no-return-to-earlier-index",
    level="SHOULD",
    basis="sdk",
    source=f"{HELPER} get_done_events",
    violating=tool_stream(opened(0), opened(1, arguments=WHOLE), tool_piece(0, WHOLE)),
    conforming=PARALLEL,
    consequence="openai-python fires the done event of a call as soon as another index appears",
)
def no_return(choice: ChoiceStream) -> Iterator[Violation]:
    """Once a higher index has started, lower indexes get no more deltas."""
    highest = -1
    for one in (tool for delta in choice.deltas for tool in delta.tools):
        if one.index is None:
            continue
        if one.index < highest:
            yield one.found("index", wanted=f"{highest} or above")
        highest = max(highest, one.index)


@rule(
    "chat.stream.tool-calls-not-null",
    level="SHOULD",
    basis="schema",
    source=DELTA,
    violating=tool_stream(opened(arguments=WHOLE), piece(tool_calls=None)),
    conforming=CLEAN,
    consequence="clients that iterate over the member crash; openai-python tolerates null",
)
def calls_not_null(one: Delta) -> Iterator[Violation]:
    """delta.tool_calls is omitted rather than null or empty."""
    calls = one.get("delta", "tool_calls")
    if calls is not ABSENT and not (isinstance(calls, list) and calls):
        yield one.found("delta", "tool_calls", wanted="no such member, or at least one delta")
