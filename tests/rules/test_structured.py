"""What stands in place of the JSON that was promised is told once, by the rule that says most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules import check
from conformance.rules.chat.structured import JSON_MODE, STRICT
from conformance.rules.examples import Exchanges, answer, piece, start, stream
from conformance.rules.reading import ABSENT, read_json

SCHEMA_PARSES, OBJECT_PARSES = "so.json-schema-parses", "so.json-object-parses"
FENCE, REFUSAL = "so.no-code-fence", "so.refusal-escape"
NO_JSON = {SCHEMA_PARSES, OBJECT_PARSES, FENCE, REFUSAL}
OSLO = '{"city":"Oslo"}'


def fired(exchanges: Exchanges) -> set[str]:
    """The rules that fire, MAY aside."""
    return {finding.rule for finding in check(exchanges) if finding.level != "MAY"}


def under_schema(content: str, finish: str = "stop") -> Exchanges:
    return answer(asked=STRICT, message={"content": content}, choice={"finish_reason": finish})


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        pytest.param(f"```json\n{OSLO}\n```", FENCE, id="a fence"),
        pytest.param(f"```\n{OSLO}\n``` Anything else?", FENCE, id="a fence and words"),
        pytest.param(f"Here it is: {OSLO}", FENCE, id="words before"),
        pytest.param(f"{OSLO}\nAnything else?", FENCE, id="words behind"),
        pytest.param(f"I'm sorry, only this: {OSLO}", FENCE, id="an apology before"),
        pytest.param("```json\n{city: Oslo}\n```", SCHEMA_PARSES, id="a fence around what is no JSON"),
        pytest.param("Oslo, as ever [1].", SCHEMA_PARSES, id="prose with a reference"),
        pytest.param("Put it in {}.", SCHEMA_PARSES, id="prose about braces"),
        pytest.param(f"{OSLO}{OSLO}", SCHEMA_PARSES, id="JSON twice"),
        pytest.param(f"{OSLO}}}", SCHEMA_PARSES, id="a bracket too many"),
        pytest.param("{city: 'Oslo'}", SCHEMA_PARSES, id="JavaScript"),
        pytest.param("I can't tell you that.", REFUSAL, id="a refusal"),
        pytest.param("Sorry, {that} I will not do.", REFUSAL, id="a refusal with braces"),
    ],
)
def test_under_a_schema_one_rule_tells(content: str, rule: str) -> None:
    assert fired(under_schema(content)) == {rule}


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (f"```json\n{OSLO}\n```", FENCE),
        (f"Here it is: {OSLO}", FENCE),
        ("Oslo.", OBJECT_PARSES),
        ("I can't tell you that.", OBJECT_PARSES),
        ('["Oslo"]', OBJECT_PARSES),
    ],
)
def test_in_json_mode_one_rule_tells(content: str, rule: str) -> None:
    assert fired(answer(asked=JSON_MODE, message={"content": content})) == {rule}


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        pytest.param("```json\n" + OSLO[:-5], {FENCE}, id="a fence"),
        pytest.param("Here is what you", {FENCE}, id="words"),
        pytest.param(OSLO[:-5], set(), id="JSON alone"),
    ],
)
def test_of_an_answer_that_the_cap_cut_its_beginning_tells(content: str, rules: set[str]) -> None:
    assert fired(under_schema(content, finish="length")) == rules


def test_a_streamed_fence_is_told_where_the_message_began() -> None:
    pieces = ("```json\n", OSLO, "\n```")
    (finding,) = check(stream(start(), *(piece(content=p) for p in pieces), piece("stop"), asked=STRICT))
    assert (finding.rule, finding.event) == (FENCE, 0)


@given(
    st.one_of(
        st.text(min_size=1),
        st.tuples(st.text(), st.just(OSLO), st.text()).map("".join),
        st.text('{}[]"`:,a1 \n', min_size=1),
    )
)
def test_what_is_no_json_is_always_told_and_never_by_two_of_the_four(content: str) -> None:
    for asked in (STRICT, JSON_MODE):
        told = fired(answer(asked=asked, message={"content": content})) & NO_JSON
        value = read_json(content).value
        wrong = value is ABSENT or (asked is JSON_MODE and not isinstance(value, dict))
        assert len(told) == (1 if wrong else 0)
