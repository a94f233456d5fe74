"""Laws that hold of every dialect, for any text: splits, markers, budgets, round trips."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.dialects import DIALECTS, Call, Dialect, leaked
from conformance.dialects.grammar import Context, Outcome, Wait
from conformance.dialects.growing import Event
from conformance.dialects.incremental import Parser
from conformance.dialects.jsontext import same
from conformance.dialects.schema_types import type_of
from conformance.types import Message, Reasoning, Request, Text, Tool, ToolCall, Turn

from .samples import SAMPLES, TOOLS

ALL = list(DIALECTS.values())
each_dialect = pytest.mark.parametrize("dialect", ALL, ids=lambda d: d.name)

_COMMON = [
    *(
        "`",
        "``",
        "```\n",
        "\n```\n",
        "```json\n",
        "~~~\n",
        "\n",
        " ",
        "text",
        "<think>",
        "</think>",
        "<",
        "\\",
    ),
    *("{", "}", "[", "]", '"', "'", ":", '{"name":"f","arguments":{}}', '{"city": "Oslo"}'),
    *("é", "\U0001f600", "\ud83d", "\ude00"),
]


def literals(dialect: Dialect) -> list[str]:
    own = dialect.markers
    markers = (*own.open, *own.lines, *own.first, *own.close, *own.stop, *own.swallow)
    return [marker for marker in markers if isinstance(marker, str)]


def soups(dialect: Dialect) -> st.SearchStrategy[str]:
    """Texts of markers, samples, pieces of samples and noise."""
    samples = [sample.text for sample in SAMPLES if sample.dialect == dialect.name]
    cut = st.sampled_from(samples).flatmap(
        lambda s: st.tuples(st.integers(0, len(s)), st.integers(0, len(s))).map(lambda c: s[min(c) : max(c)])
    )
    piece = st.one_of(
        st.sampled_from(samples), cut, st.sampled_from(literals(dialect) + _COMMON), st.text(max_size=5)
    )
    return st.lists(piece, max_size=7).map("".join)


def fed(dialect: Dialect, text: str, sizes: list[int]) -> tuple[Any, list[Event]]:
    """The text in pieces of these sizes, over and over: the result and all events."""
    parser = dialect.parser(TOOLS)
    events: list[Event] = []
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        events += parser.feed(text[at : at + size])
        at, number = at + size, number + 1
    parsed = parser.finish()
    return parsed, events + list(parser.events())


def merged(events: list[Event]) -> list[Event]:
    """Neighbouring stretches of one kind as one."""
    whole: list[Event] = []
    for event in events:
        last = whole[-1] if whole else None
        if isinstance(event, Text) and isinstance(last, Text):
            whole[-1] = Text(last.text + event.text)
        elif isinstance(event, Reasoning) and isinstance(last, Reasoning) and last.spelling == event.spelling:
            whole[-1] = Reasoning(last.text + event.text, event.spelling)
        else:
            whole.append(event)
    return whole


@each_dialect
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_split_gives_what_the_whole_gives_and_the_events_add_up_to_it(
    dialect: Dialect, data: st.DataObject
) -> None:
    text = data.draw(soups(dialect))
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    whole = dialect.parse(text, TOOLS)
    parsed, events = fed(dialect, text, sizes)
    assert parsed == whole
    assert merged(events) == merged(list(whole.pieces))


@each_dialect
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_bytes_cut_anywhere_give_what_the_text_gives(dialect: Dialect, data: st.DataObject) -> None:
    raw = data.draw(soups(dialect)).encode("utf-8", "replace") + data.draw(st.binary(max_size=4))
    size = data.draw(st.integers(1, 7))
    parser = dialect.parser(TOOLS)
    for at in range(0, len(raw), size):
        parser.feed_bytes(raw[at : at + size])
    assert parser.finish() == dialect.parse(raw.decode("utf-8", "replace"), TOOLS)


@each_dialect
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_no_part_of_a_call_is_ever_emitted_as_content(dialect: Dialect, size: int) -> None:
    call = ToolCall("call_1", "f", '{"city": "Oslo", "opts": {"a": [1]}}')
    text = dialect.render_calls(Turn((Text("Look:"), call, call)), TOOLS)
    parser = dialect.parser(TOOLS)
    said = ""
    for at in range(0, len(text), size):
        said += "".join(e.text for e in parser.feed(text[at : at + size]) if isinstance(e, Text))
        assert "Look:".startswith(said)
    assert parser.finish().content == "Look:"


@each_dialect
def test_the_beginning_of_a_marker_is_released_when_the_text_ends_there(dialect: Dialect) -> None:
    for marker in literals(dialect):
        for cut in range(1, len(marker)):
            parser = dialect.parser(TOOLS)
            emitted = [*parser.feed("x\n"), *parser.feed(marker[:cut])]
            assert merged(emitted) == [Text("x")]
            assert parser.finish().content == f"x\n{marker[:cut].rstrip()}"


@each_dialect
@given(text=st.text(st.characters(codec=None, categories=None), max_size=60))
@settings(max_examples=30, deadline=None)
def test_no_text_raises_and_text_without_markers_stays_as_it_is(dialect: Dialect, text: str) -> None:
    parsed = dialect.parse(text)
    if not any(mark in text for mark in "<[{`~｜\ud83d") and not any("\ud800" <= c <= "\udfff" for c in text):
        assert (parsed.content or "") == text.strip()
    leaked(text, TOOLS)


# ----------------------------------------------------------------------------------------- hostile

_N = 20_000


def hostile(dialect: Dialect) -> dict[str, str]:
    """Texts that make a careless parser read everything again and again."""
    texts = {
        "backticks": "`" * _N,
        "growing backticks": " ".join("`" * size for size in range(1, 500)),
        "fences": "```\n" * (_N // 4),
        "brackets": "[ " * (_N // 2),
        "braces on lines": "{\n" * (_N // 2),
        "white space": " \n" * (_N // 2),
        "thoughts": "<think>a</think>\n" * (_N // 17),
        "surrogates": "\ud83d" * _N,
    }
    for marker in literals(dialect):
        texts[f"many {marker}"] = marker * (_N // len(marker))
        texts[f"deep {marker}"] = marker + "[" * _N
        texts[f"open string {marker}"] = marker + '{"name":"f","arguments":{"city":"' + "x" * _N
        opening = marker + '{"name":"f","arguments":{"city":"'
        texts[f"many open strings {marker}"] = opening * (_N // len(opening))
    return texts


@each_dialect
def test_hostile_texts_read_the_same_in_pieces(dialect: Dialect) -> None:
    for name, text in hostile(dialect).items():
        parser = dialect.parser(TOOLS)
        for at in range(0, len(text), 509):
            parser.feed(text[at : at + 509])
        assert parser.finish() == dialect.parse(text, TOOLS), name


class Counting:
    """A dialect that counts the characters it is given to read in vain, waiting for more."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.waited = 0
        self.name, self.ids, self.markers = dialect.name, dialect.ids, dialect.markers
        self.verdict: Callable[..., Any] = dialect.verdict

    def region(self, text: str, at: int, context: Context) -> Outcome:
        outcome = self.dialect.region(text, at, context)
        if isinstance(outcome, Wait):
            assert not context.final
            self.waited += len(text) - at
        return outcome


@each_dialect
def test_waiting_for_the_end_of_a_region_is_linear_even_char_by_char(dialect: Dialect) -> None:
    for marker in literals(dialect):
        text = marker + '{"name":"f","arguments":{"city":"' + "x" * 15_000
        counting = Counting(dialect)
        parser = Parser(counting, TOOLS)
        for char in text:
            parser.feed(char)
        parser.finish()
        assert counting.waited <= 64 * 1024 + 9 * len(text), marker


@each_dialect
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_no_region_waits_for_more_than_all_of_the_text(dialect: Dialect, data: st.DataObject) -> None:
    text = data.draw(soups(dialect))
    for cut in range(len(text)):
        parser = Parser(Counting(dialect), TOOLS)
        parser.feed(text[:cut])
        parser.finish()


@pytest.mark.parametrize(
    "pattern", ["<tool_call>", "<tool_call>\n", '<tool_call>{"a":"', "<tool_call>{{", "`<tool_call>`"]
)
def test_two_megabytes_of_markup_are_content(pattern: str) -> None:
    text = pattern * (2_000_000 // len(pattern))
    parsed = DIALECTS["hermes"].parse(text, TOOLS)
    assert parsed.content == text.strip()
    assert parsed.calls == ()


def test_a_call_appears_as_soon_as_it_is_complete() -> None:
    parser = DIALECTS["hermes"].parser(TOOLS)
    text = 'Now.<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    events = [parser.feed(char) for char in text]
    assert [event for event in events[-1] if isinstance(event, Call)]
    assert not any(isinstance(event, Call) for some in events[:-1] for event in some)


# ------------------------------------------------------------------------------------- round trips

_KEY = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
_NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,20}", fullmatch=True)
_FORGED = [marker for d in ALL for marker in literals(d)] + [
    "<|im_end|>",
    "\nObservation: x",
    "</parameter>",
    "`",
    "```",
]
_WORDS = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.sampled_from(_FORGED))
_STRINGS = st.lists(_WORDS, max_size=3).map("".join)
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    _STRINGS,
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEY, inner, max_size=3)),
    max_leaves=8,
)
_ARGS = st.dictionaries(_KEY, _VALUES, max_size=4)
_CALLS = st.lists(st.tuples(_NAME, _ARGS), min_size=1, max_size=3, unique_by=lambda call: call[0])


def schema_of(value: Any) -> dict[str, Any]:
    return {"type": type_of(value)}


def turn_and_tools(calls: list[tuple[str, dict[str, Any]]], text: str) -> tuple[Turn, tuple[Tool, ...]]:
    parts = [ToolCall(f"call_{n}", name, json.dumps(args)) for n, (name, args) in enumerate(calls)]
    tools = tuple(
        Tool(name, "", {"type": "object", "properties": {k: schema_of(v) for k, v in args.items()}})
        for name, args in calls
    )
    return Turn((Text(text), *parts) if text else tuple(parts)), tools


def breaks(dialect: Dialect, value: Any) -> bool:
    """Whether a value holds a string that the dialect's raw values can't hold."""
    if dialect.value_ends is None:
        return False
    if isinstance(value, str):
        return dialect.raw_marks.search(value) is not None
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(breaks(dialect, v) for v in inner)


@each_dialect
@given(calls=_CALLS, text=st.sampled_from(["", "Let me look.", "Zwei Dinge: ü 東京"]))
@settings(max_examples=60, deadline=None)
def test_what_is_written_reads_back_with_the_same_values(
    dialect: Dialect, calls: list[tuple[str, dict[str, Any]]], text: str
) -> None:
    turn, tools = turn_and_tools(calls, text)
    parsed = dialect.parse(dialect.render_calls(turn, tools), tools)
    assert [call.name for call in parsed.calls] == [name for name, _ in calls]
    assert parsed.content == (text or None)
    for call, (_, args) in zip(parsed.calls, calls, strict=True):
        assert same(json.loads(call.arguments), call.args)
        if not breaks(dialect, args):
            assert same(call.args, args)


@each_dialect
@given(calls=_CALLS)
@settings(max_examples=40, deadline=None)
def test_a_value_that_does_not_read_back_is_a_loss(
    dialect: Dialect, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    turn, tools = turn_and_tools(calls, "")
    request, losses = dialect.to_text(Request((Message.user("x"), Message.assistant(turn)), tools=tools))
    parsed = dialect.parse(request.messages[-1].parts[0].text, tools)  # type: ignore[union-attr]
    for number, (call, (_, args)) in enumerate(zip(parsed.calls, calls, strict=True)):
        lost = any(loss.path == f"/messages/1/parts/{number}" and loss.weight == "meaning" for loss in losses)
        assert lost != same(call.args, args)
