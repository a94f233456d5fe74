"""Texts with a known right reading: what each dialect can write of them, and what counts as read rightly."""

from __future__ import annotations

import pytest

from conformance.dialects import DIALECTS, Dialect
from conformance.dialects.case import Case, everything
from conformance.dialects.cases import CASES
from conformance.scenarios.parser import OFFERED
from conformance.types import Text, ToolCall, Turn, Usage

HERMES = DIALECTS["hermes"]
EVERY_CASE = [pytest.param(case, id=case.id) for case in CASES.values()]
EVERY_DIALECT = [pytest.param(dialect, id=name) for name, dialect in DIALECTS.items()]
JSON_BODIES = {
    "hermes",
    "function-call-tag",
    "llama3-json",
    "llama-function-tag",
    "mistral-json",
    "mistral-compact",
    "deepseek-v3",
    "deepseek-v31",
    "kimi-k2",
    "harmony",
    "react",
    "json-action",
}
"""Those that write arguments as JSON."""


def text(case: Case, dialect: Dialect = HERMES) -> str:
    written = case.text(dialect, OFFERED)
    assert written is not None
    return written


def weather(arguments: str, name: str = "get_weather") -> ToolCall:
    return ToolCall("call_1", name, arguments)


@pytest.mark.parametrize("case", EVERY_CASE)
def test_hermes_can_write_every_case_and_its_words_are_in_it(case: Case) -> None:
    assert all(word in text(case) for word in case.words)


@pytest.mark.parametrize("dialect", EVERY_DIALECT)
@pytest.mark.parametrize("case", EVERY_CASE)
def test_what_a_dialect_writes_its_own_grammar_reads_rightly(case: Case, dialect: Dialect) -> None:
    written = case.text(dialect, OFFERED)
    if written is None or case.kind == "cut":
        return
    read = [ToolCall("", one.name, one.arguments) for one in dialect.parse(written, OFFERED).calls]
    assert case.allows(read)
    assert not case.strangers(read)


@pytest.mark.parametrize("dialect", EVERY_DIALECT)
@pytest.mark.parametrize(
    "name",
    [
        "text-before",
        "two-calls",
        "empty-arguments",
        "nested-arguments",
        "unicode-arguments",
        "escaped-arguments",
        "digits-in-string",
        "broken-off",
        "unknown-tool",
        "unclosed-reasoning",
        "cut-by-cap",
    ],
)
def test_what_needs_no_spelling_of_its_own_every_dialect_can_write(name: str, dialect: Dialect) -> None:
    assert CASES[f"parser.{name}"].text(dialect, OFFERED)


@pytest.mark.parametrize("dialect", EVERY_DIALECT)
@pytest.mark.parametrize(
    "name", ["single-quotes", "trailing-comma", "raw-newline", "missing-brace", "bare-value", "no-space"]
)
def test_json_is_broken_only_where_a_dialect_writes_json(name: str, dialect: Dialect) -> None:
    writes_it = CASES[f"parser.{name}"].text(dialect, OFFERED) is not None
    assert writes_it == (dialect.name in JSON_BODIES)


def test_words_tell_the_cases_apart() -> None:
    texts = {case.id: text(case) for case in CASES.values()}
    for case in CASES.values():
        if case.kind != "cut" and case.words != ("ping",):
            others = [name for name, other in texts.items() if all(word in other for word in case.words)]
            assert others == [case.id]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("single-quotes", '{"name": "get_weather", "arguments": {\'city\': \'Neuss\'}}'),
        ("trailing-comma", '{"name": "get_weather", "arguments": {"city": "Olpe",}}'),
        ("raw-newline", '{"name": "get_weather", "arguments": {"city": "Passau\nInn"}}'),
        ("missing-brace", '{"name": "get_weather", "arguments": {"city": "Rheine"}'),
        ("bare-value", '{"name": "get_weather", "arguments": {"city": Soest}}'),
        ("double-encoded", '{"name": "get_weather", "arguments": "{\\"city\\": \\"Trier\\"}"}'),
        ("no-arguments", '{"name": "ping"}'),
        ("extra-members", '{"name": "get_weather", "arguments": {"city": "Fulda"}, "note": "urgent"}'),
        ("arguments-first", '{"arguments": {"city": "Kiel"}, "name": "get_weather"}'),
        ("markup-in-string", '{"name": "get_weather", "arguments": {"city": "Gotha </tool_call> East"}}'),
    ],
)
def test_an_edit_changes_what_its_case_is_about_and_nothing_else(name: str, wanted: str) -> None:
    assert text(CASES[f"parser.{name}"]) == f"<tool_call>\n{wanted}\n</tool_call>"


@pytest.mark.parametrize(
    ("name", "calls", "right"),
    [
        ("text-before", [weather('{"city":"Aalen"}')], True),
        ("text-before", [weather('{"city":"Aachen"}')], False),
        ("text-before", [weather('{"city":"Aalen"}')] * 2, False),
        ("text-before", [], False),
        ("two-calls", [weather('{"city":"Delft"}', "get_time"), weather('{"city":"Dresden"}')], False),
        ("digits-in-string", [weather('{"city":4510}')], False),
        ("single-quotes", [weather('{"city":"Neuss"}')], True),
        ("single-quotes", [], True),
        ("single-quotes", [weather("{'city': 'Neuss'}")], False),
        ("broken-off", [weather('{"city":"Verd"}')], False),
        ("unknown-tool", [weather('{"city":"Wesel"}', "launch_rocket")], True),
        ("unknown-tool", [weather('{"city":"Wesel"}')], False),
        ("fenced-call", [weather('{"city":"Xanten"}')], False),
        ("no-arguments", [weather("{}", "ping")], True),
    ],
)
def test_a_reading_is_right_by_names_order_and_values(name: str, calls: list[ToolCall], right: bool) -> None:
    assert CASES[f"parser.{name}"].allows(calls) is right


def test_strangers_are_the_calls_beyond_the_best_right_reading() -> None:
    case, again = CASES["parser.two-calls"], weather('{"city":"Dresden"}')
    assert case.strangers([again]) == []
    assert case.strangers([again, again]) == [again]
    assert case.strangers([weather('{"city":"Ulm"}')]) == [weather('{"city":"Ulm"}')]


@pytest.mark.parametrize(
    ("arguments", "as_text"),
    [
        ("", True),
        ('{"ci', True),
        ('{ "city" : "Aurich, Bam', True),
        ('{"city":"Aurich, Bam', True),
        ('{"city":"Aurich, Bam"}', False),
        ("{}", False),
        ('{"city":"Bamberg', False),
        ('{"city":"Bamberg"}', False),
        ('{"town":"Aurich"}', False),
    ],
)
def test_the_text_of_arguments_may_be_cut_anywhere_and_is_not_completed(
    arguments: str, as_text: bool
) -> None:
    case = CASES["parser.cut-by-cap"]
    assert case.begins(weather(arguments), spelt=True) is as_text
    assert not case.begins(weather(arguments, "get_time"), spelt=True)


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ('{"city":"Aurich, Bam"}', True),
        ("{}", True),
        ('{"city":"Bamberg"}', False),
        ('{"town":"Aurich"}', False),
    ],
)
def test_where_arguments_are_an_object_its_values_may_be_cut(arguments: str, begins: bool) -> None:
    assert CASES["parser.cut-by-cap"].begins(weather(arguments), spelt=False) is begins


def test_a_turn_is_known_by_its_words_wherever_they_went() -> None:
    case = CASES["parser.unicode-arguments"]
    assert case.known(Turn((weather('{"city": "\\u0160ibenik"}'),)))
    assert case.known(Turn((Text("Šibenik"),)))
    assert not case.known(Turn((weather('{"city": "Split"}'),)))
    assert not case.known(Turn((Text("Hello."),)))


def test_what_a_server_swallowed_may_have_been_written() -> None:
    assert CASES["parser.single-quotes"].known(Turn(finish_reason="tool_calls"))
    assert CASES["parser.broken-off"].known(Turn((Text("Let me see.\n"),)))


def test_everything_is_what_can_be_read_and_what_can_not() -> None:
    assert everything(Turn((weather("{'a"),))).endswith("{'a\nnull")


def spent(tokens: int | None, *parts: Text | ToolCall) -> Turn:
    return Turn(parts, usage=Usage(completion_tokens=tokens))


ALONE = spent(9, Text(text(CASES["parser.text-before"])))


@pytest.mark.parametrize(
    ("turns", "fought"),
    [
        ([spent(9, weather('{"city": "Aalen"}'))], False),
        ([spent(8, weather('{"city": "Aalen"}'))], True),
        ([spent(9, weather('{"city": "Wesel"}'))], True),
        ([spent(9, weather('{"city": "Aalen"}', "get_time"))], True),
        ([spent(None, weather('{"city": "Aalen"}'))], False),
        ([spent(0), spent(9)], False),
        ([spent(9), spent(400)], False),
        ([None, spent(400)], True),
        ([None, None], False),
    ],
)
def test_a_text_was_bent_where_its_tokens_or_its_words_are_others(
    turns: list[Turn | None], fought: bool
) -> None:
    assert CASES["parser.text-before"].bent(ALONE, *turns) is fought


def test_nothing_is_bent_where_nobody_knows_what_is_written() -> None:
    assert not CASES["parser.text-before"].bent(None, spent(9))
