"""Folding: events of one shape are told once, and nothing that a rule finds is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules import check, folding
from conformance.rules import examples as ex
from conformance.rules.chat.streams import ChoiceStream
from conformance.rules.folding import KEPT, fold
from conformance.rules.reading import ABSENT
from conformance.rules.views import Run
from conformance.transport import sse
from conformance.types import Exchange


def told(exchanges: tuple[Exchange, ...]) -> list[tuple[Any, ...]]:
    return sorted((f.rule, f.path, f.wanted, f.got, f.more) for f in check(exchanges))


def unfolded(exchanges: tuple[Exchange, ...]) -> list[tuple[Any, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "KEPT", 10**9)
        return told(exchanges)


def test_a_long_text_is_folded_and_said_whole() -> None:
    pieces = [f"word {n} " for n in range(100)]
    run = Run.read(ex.stream(ex.start(), *(ex.piece(content=p) for p in pieces), ex.piece("stop")))
    (choice,) = run.views(ChoiceStream)
    assert len(choice.deltas) < 10
    assert choice.value["content"] == "".join(pieces)
    assert [piece.text for piece in choice.said("content")] == pieces
    assert [piece.event for piece in choice.said("content")] == list(range(1, 101))
    assert sum(delta.times for delta in choice.deltas) == 102


def test_arguments_are_folded_into_their_own_call() -> None:
    first = [ex.tool_piece(0, str(n)) for n in range(20)]
    second = [ex.tool_piece(1, str(n)) for n in range(20)]
    run = Run.read(ex.tool_stream(ex.opened(0), *first, ex.opened(1), *second))
    (choice,) = run.views(ChoiceStream)
    expected = "".join(map(str, range(20)))
    assert [call["function"]["arguments"] for call in choice.value["tool_calls"]] == [expected] * 2
    assert len(choice.deltas) < 20


@pytest.mark.parametrize(
    "data",
    [
        '{"choices":[{"index":0,"delta":{"content":"x"},"logprobs":{"content":[]}}]}',
        '{"choices":[{"index":0,"delta":{"content":"x"},"message":{"content":"x"}}]}',
        '{"choices":[{"index":0,"delta":{"content":"x","content":"y"}}]}',
        '{"content":"x"}',
        '{"choices":[{"index":0,"delta":{"content":"x"}}]',
        "[DONE]",
    ],
    ids=["logprobs", "text elsewhere", "a member twice", "no choices", "not JSON", "no object"],
)
def test_what_is_not_plainly_a_message_text_is_never_folded(data: str) -> None:
    body = f"data: {data}\n\n" * 50
    assert not fold(sse.parse(body.encode()).events)


@pytest.mark.parametrize("text", ['a\\"b', "\\u00e9\\n", "\\ud83d", "\\\\", "漢字"])
def test_escapes_are_read_as_json_reads_them(text: str) -> None:
    data = f'data: {{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}\n\n'
    (one,) = fold(sse.parse((data * 10).encode()).events).values()
    assert set(one.texts) == {(json.loads(f'"{text}"'),)}


def test_a_text_that_json_does_not_allow_is_part_of_the_shape_and_so_found() -> None:
    good, bad = ex.piece(content="x"), b'data: {"choices":[{"index":0,"delta":{"content":"\\x"}}]}\n\n'
    exchanges = ex.stream(ex.start(), *[good] * 20, bad, *[good] * 20, ex.piece("stop"))
    assert "sse.one-json-object-per-event" in {f.rule for f in check(exchanges)}


def test_repeated_findings_are_counted_through_the_fold() -> None:
    exchanges = ex.stream(
        ex.start(), *(ex.piece(content="x", role="assistant") for _ in range(50)), ex.piece("stop")
    )
    found = [f for f in check(exchanges) if f.rule == "chat.stream.role-once"]
    assert len(found) <= KEPT
    assert sum(1 + f.more for f in found) == 50


_TEXTS = st.text(st.characters(codec="utf-8"), min_size=0, max_size=4)
_DELTAS = st.one_of(
    st.builds(lambda t: ex.piece(content=t), _TEXTS),
    st.builds(lambda t: ex.piece(content=t, role="assistant"), _TEXTS),
    st.builds(lambda t: ex.piece(reasoning_content=t), _TEXTS),
    st.builds(lambda t: ex.piece(content=t, obfuscation=t), _TEXTS),
    st.builds(lambda t: ex.piece(content=t, choice={"index": 1}), _TEXTS),
    st.builds(lambda t: ex.piece("stop", content=t), _TEXTS),
    st.builds(lambda t: ex.tool_piece(0, t), _TEXTS),
    st.builds(lambda t: ex.tool_piece(1, t, id="c"), _TEXTS),
    st.builds(lambda t: ex.tool_piece(ABSENT, t), _TEXTS),
    st.just(ex.piece()),
    st.just(ex.chunk(id="other")),
    st.just(b": comment\n\n"),
    st.just(b"data: {\n\n"),
)
_RUNS = st.lists(st.tuples(_DELTAS, st.integers(1, 12)), max_size=8)


@given(_RUNS)
def test_folding_changes_no_finding(runs: list[tuple[Any, int]]) -> None:
    chunks = [delta for delta, times in runs for _ in range(times)]
    exchanges = ex.stream(ex.start(), *chunks, ex.piece("stop"))
    assert told(exchanges) == unfolded(exchanges)
