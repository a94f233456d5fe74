"""The parser's scenarios: what the model is made to write, and when that counts."""

from __future__ import annotations

import pytest

from conformance.dialects import DIALECTS
from conformance.dialects.case import ALONE, Case
from conformance.dialects.cases import CASES
from conformance.scenarios import SCENARIOS, written
from conformance.scenarios.base import ModelDidNot, written_in
from conformance.scenarios.parser import ROOM
from conformance.types import Ask, Text, Turn, Usage

from .test_scenarios import reply, walk

EVERY_CASE = [pytest.param(case, id=case.id) for case in CASES.values()]


def asks(case: Case, *turns: Turn | None) -> list[Ask]:
    steps = walk(SCENARIOS[case.id], lambda n: reply(turns[n], 200 if turns[n] else 400))
    return [step for step in steps if isinstance(step, Ask)]


@pytest.mark.parametrize("case", EVERY_CASE)
def test_the_same_is_asked_without_tools_with_them_and_streamed(case: Case) -> None:
    alone, whole, streamed = asks(case, *SCENARIOS[case.id].ideal)
    assert [one.probe for one in (alone, whole, streamed)] == [ALONE, case.id, case.id]
    assert [bool(one.request.tools) for one in (alone, whole, streamed)] == [False, True, True]
    assert [one.request.stream for one in (alone, whole, streamed)] == [False, False, True]
    assert len({(one.request.messages, one.request.max_tokens) for one in (alone, whole, streamed)}) == 1


@pytest.mark.parametrize("case", EVERY_CASE)
def test_all_three_are_scripted_with_one_text(case: Case) -> None:
    texts = {written()[f"{case.id}/{number}"] for number in range(3)}
    assert len(texts) == 1


@pytest.mark.parametrize("case", EVERY_CASE)
def test_every_text_has_room_even_where_each_character_is_a_token(case: Case) -> None:
    for dialect in DIALECTS.values():
        text = written_in(dialect)[f"{case.id}/0"]
        assert text is None or case.kind == "cut" or len(text) < ROOM


def test_only_a_broken_text_may_be_refused() -> None:
    for case in CASES.values():
        expected = {one.expect for one in asks(case, *SCENARIOS[case.id].ideal)[1:]}
        assert expected == {"either" if case.kind == "broken" else "answer"}


def test_a_model_that_has_no_such_text_did_not_write_it() -> None:
    with pytest.raises(ModelDidNot, match="its dialect may not have"):
        asks(CASES["parser.text-before"], Turn((Text("Hello."),)))


def test_a_model_whose_text_a_grammar_bent_did_not_write_it() -> None:
    case = CASES["parser.text-before"]
    alone, whole, _ = SCENARIOS[case.id].ideal
    with pytest.raises(ModelDidNot, match="a grammar bent its text"):
        asks(case, alone, Turn(whole.parts, usage=Usage(completion_tokens=3)), whole)


def test_refusals_end_nothing() -> None:
    assert len(asks(CASES["parser.single-quotes"], None, None, None)) == 3


def test_what_is_scripted_in_hermes_is_what_hermes_writes_of_all_that_is_written() -> None:
    assert written_in(DIALECTS["hermes"]) == written()


def test_another_dialect_has_neither_hermes_text_nor_what_it_can_not_write() -> None:
    found = written_in(DIALECTS["qwen3-coder"])
    assert "parser.one-line/0" not in found
    assert found["parser.single-quotes/0"] is None
    assert "<function=get_weather>" in (found["parser.text-before/0"] or "")
