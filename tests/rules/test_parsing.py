"""What is said of a parser whose text is known: deviations of real servers as they were seen, and no others.

The servers' answers are those of ``servers.md``, section 3: vLLM 0.32.0, transformers serve 5.24.0, mlx-lm
0.32.2, Portkey 1.15.2; SGLang's as its parser is known to answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.dialects.case import ALONE, Case
from conformance.dialects.cases import CASES
from conformance.rules import check
from conformance.rules.examples import (
    Exchanges,
    answer,
    call,
    chunk,
    conversation,
    error,
    opened,
    piece,
    start,
    stream,
    tool,
)
from conformance.rules.parsing import in_hermes
from conformance.rules.scripted import Scripted
from conformance.rules.twice import Twice
from conformance.rules.views import Run

USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
TOOLS = [tool(name) for name in ("get_weather", "get_time", "ping", "get_report")]


def case_of(name: str) -> Case:
    return CASES[f"parser.{name}"]


def alone(name: str, tokens: int = 3, **more: Any) -> Exchanges:
    case = case_of(name)
    usage = USAGE | {"completion_tokens": tokens, "total_tokens": 9 + tokens}
    finish = "length" if case.kind == "cut" else "stop"
    message = {"content": in_hermes(case), **more}
    return answer(
        message=message, choice={"finish_reason": finish}, probe=ALONE, id="chatcmpl-0", usage=usage
    )


def whole(name: str, said: str | None, *calls: Any, finish: str | None = None, **more: Any) -> Exchanges:
    return answer(
        asked={"tools": TOOLS},
        calls=list(calls) or None,
        message={"content": said, **more},
        choice={"finish_reason": finish} if finish else None,
        probe=f"parser.{name}",
    )


def streamed(name: str, *pieces: Any, finish: str = "stop") -> Exchanges:
    chunks = (start(), *pieces, piece(finish), chunk(usage=USAGE))
    return stream(
        *({"usage": None, **one, "id": "chatcmpl-2"} for one in chunks),
        asked={"stream_options": {"include_usage": True}, "tools": TOOLS},
        probe=f"parser.{name}",
    )


def broken(*exchanges: Exchanges) -> set[str]:
    """The rules on parsers, and on the two paths, that are broken."""
    found = {one.rule for one in check(conversation(*exchanges))}
    return {rule for rule in found if rule.startswith(("parser.", "parity."))}


BAD, LOST = case_of("missing-brace"), case_of("unclosed-call")
RHEINE = '{"city": "Rheine"'

SEEN = {
    "vLLM: bad JSON is text whole, and a call with bad JSON streamed": (
        "missing-brace",
        whole("missing-brace", in_hermes(BAD)),
        streamed("missing-brace", opened(arguments=RHEINE), finish="tool_calls"),
        {
            "parser.arguments-json",
            "parity.calls",
            "parity.text",
            "parity.finish",
        },
    ),
    "vLLM: what the cap cuts is text whole, and a call without arguments streamed": (
        "cut-by-cap",
        whole("cut-by-cap", in_hermes(case_of("cut-by-cap"))[:60], finish="length"),
        streamed("cut-by-cap", opened(), finish="length"),
        {"parity.calls", "parity.text"},
    ),
    "vLLM: line breaks before a call are streamed": (
        "empty-arguments",
        whole("empty-arguments", None, call(name="ping", arguments="{}")),
        streamed(
            "empty-arguments",
            piece(content="\n\n"),
            opened(name="ping", arguments="{}"),
            finish="tool_calls",
        ),
        {"parity.space"},
    ),
    "vLLM: text behind a call is dropped": (
        "text-after",
        whole("text-after", None, call(arguments='{"city": "Bochum"}')),
        streamed("text-after", opened(arguments='{"city": "Bochum"}'), finish="tool_calls"),
        {"parser.text-kept"},
    ),
    "transformers: a malformed call is a 500 whole, and an error streamed": (
        "missing-brace",
        error(500, probe=BAD.id, expect="either"),
        stream(start(), {"error": "bad"}, probe=BAD.id, expect="either", done=b""),
        {"parser.survives"},
    ),
    "transformers: an unclosed call vanishes from the stream": (
        "unclosed-call",
        error(500, probe=LOST.id, expect="either"),
        streamed("unclosed-call"),
        {
            "parser.survives",
            "parser.nothing-swallowed",
            "parser.text-kept",
            "parity.outcome",
        },
    ),
    "mlx-lm: malformed JSON leaves nothing but a finish reason": (
        "missing-brace",
        whole("missing-brace", None, finish="tool_calls"),
        streamed("missing-brace", finish="tool_calls"),
        {"parser.nothing-swallowed", "parser.text-kept"},
    ),
    "mlx-lm: what the cap cuts is gone": (
        "cut-by-cap",
        whole("cut-by-cap", None, finish="length"),
        streamed("cut-by-cap", finish="length"),
        {"parser.text-kept"},
    ),
    "SGLang: the call of an unknown tool is dropped": (
        "unknown-tool",
        whole("unknown-tool", ""),
        streamed("unknown-tool"),
        {"parser.nothing-swallowed", "parser.text-kept"},
    ),
    "SGLang: a quoted call is made": (
        "fenced-call",
        whole("fenced-call", "So it is written:", call(arguments='{"city": "Xanten"}')),
        streamed(
            "fenced-call",
            piece(content="So it is written:"),
            opened(arguments='{"city": "Xanten"}'),
            finish="tool_calls",
        ),
        {"parser.quotation-not-called", "parser.text-kept"},
    ),
    "Portkey: cut arguments are closed whole, and left open streamed": (
        "cut-by-cap",
        whole("cut-by-cap", None, call(arguments="{}"), finish="length"),
        streamed("cut-by-cap", opened(arguments="{"), finish="length"),
        {"parser.call-as-written"},
    ),
    "a string of digits becomes a number": (
        "digits-in-string",
        whole("digits-in-string", None, call(arguments='{"city": 4510}')),
        streamed("digits-in-string", opened(arguments='{"city": 4510}'), finish="tool_calls"),
        {"parser.call-as-written", "parser.nothing-swallowed"},
    ),
    "the second of two calls is lost": (
        "two-calls",
        whole("two-calls", None, call(arguments='{"city": "Dresden"}')),
        streamed("two-calls", opened(arguments='{"city": "Dresden"}'), finish="tool_calls"),
        {"parser.calls-read", "parser.nothing-swallowed"},
    ),
}


@pytest.mark.parametrize(("name", "first", "second", "wanted"), SEEN.values(), ids=SEEN.keys())
def test_a_deviation_as_it_was_seen_breaks_the_rules_about_it(
    name: str, first: Exchanges, second: Exchanges, wanted: set[str]
) -> None:
    assert broken(alone(name), first, second) == wanted


THOUGHT = "I never stop thinking about Worms"
RIGHT = {
    "a broken call stays text": ("missing-brace", whole("missing-brace", in_hermes(BAD))),
    "a broken call is repaired": (
        "missing-brace",
        whole("missing-brace", None, call(arguments='{"city": "Rheine"}')),
    ),
    "a broken call is refused": ("missing-brace", error(400, probe=BAD.id, expect="either")),
    "a busy server says nothing of the text": (
        "missing-brace",
        error(503, probe=BAD.id, expect="either"),
    ),
    "an unknown tool's call is passed on": (
        "unknown-tool",
        whole("unknown-tool", None, call(name="launch_rocket", arguments='{"city": "Wesel"}')),
    ),
    "white space around text may go": (
        "text-before",
        whole("text-before", "Let me look at Aalen.\n", call(arguments='{"city":"Aalen"}')),
    ),
    "reasoning that does not end is reasoning": (
        "unclosed-reasoning",
        whole("unclosed-reasoning", "", reasoning_content=THOUGHT),
    ),
}


@pytest.mark.parametrize(("name", "first"), RIGHT.values(), ids=RIGHT.keys())
def test_every_right_reading_is_let_be(name: str, first: Exchanges) -> None:
    thought = name == "unclosed-reasoning"
    more: dict[str, Any] = {"content": "", "reasoning_content": THOUGHT} if thought else {}
    findings = check(conversation(alone(name, **more), first))
    assert {one.rule for one in findings} <= {"chat.response.id-unique"}


WRONG = whole("text-before", None, call(arguments='{"city": "Aachen"}'))


def test_a_text_that_a_grammar_bent_is_not_judged() -> None:
    assert broken(alone("text-before", tokens=5), WRONG) == set()


def test_words_that_nobody_wrote_are_a_grammars() -> None:
    assert broken(alone("text-before"), WRONG) == set()


def test_a_quotation_that_set_off_a_grammar_is_judged_all_the_same() -> None:
    made = whole("fenced-call", "So it is written:", call(arguments='{"city": "Xanten"}'))
    assert broken(alone("fenced-call", tokens=5), made) == {"parser.quotation-not-called"}


def test_nothing_is_said_of_a_text_that_was_not_seen_to_be_written() -> None:
    other = answer(message={"content": "Hello."}, probe=ALONE, id="chatcmpl-0")
    assert broken(other, whole("text-before", "")) == set()
    assert broken(whole("text-before", "")) == set()


def test_nothing_is_said_of_a_parser_that_was_offered_no_tools() -> None:
    (exchange,) = whole("text-before", in_hermes(case_of("text-before")))
    (plain,) = answer(probe="parser.text-before")
    asked = replace(exchange, request=plain.request)
    assert broken(alone("text-before"), (asked,)) == set()


def test_a_stream_that_counts_otherwise_is_the_counters_fault_and_not_a_grammars() -> None:
    one = call(arguments='{"city": "Aalen"}')
    (exchange,) = streamed(
        "text-before",
        piece(content="Let me look at Aalen."),
        opened(arguments='{"city": "Aalen"}'),
        finish="tool_calls",
    )
    assert exchange.response is not None
    body = exchange.response.body.replace(
        b'"completion_tokens":3,"total_tokens":12', b'"completion_tokens":4'
    )
    dearer = replace(exchange, response=replace(exchange.response, body=body))
    found = broken(alone("text-before"), whole("text-before", "Let me look at Aalen.", one), (dearer,))
    assert found == {"parity.usage"}


def test_answers_of_different_cases_are_not_compared() -> None:
    exchanges = conversation(
        alone("text-before"), whole("text-before", ""), alone("unclosed-call"), whole("unclosed-call", "")
    )
    assert Run.read(exchanges).views(Twice) == ()
    assert [one.case.id for one in Run.read(exchanges).views(Scripted)] == [
        "parser.text-before",
        "parser.unclosed-call",
    ]


def test_markup_that_is_special_tokens_is_no_leak_where_no_tools_were_offered() -> None:
    text = "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    proof = answer(message={"content": text}, probe=ALONE)
    assert not {one.rule for one in check(proof) if one.rule.endswith("-leak")}
    assert "chat.response.no-special-token-leak" in {
        one.rule for one in check(answer(message={"content": text}))
    }
