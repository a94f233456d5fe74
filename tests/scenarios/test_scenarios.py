"""Scenarios are sans-I/O scripts: walked here with ideal and with wrong turns, no endpoint in sight."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance.scenarios import SCENARIOS, Scenario, limits, scripts
from conformance.scenarios.base import TOOLS, ModelDidNot, Stuck, asks_of, marked, need, request, scenario
from conformance.types import (
    Ask,
    Exchange,
    HttpRequest,
    HttpResponse,
    Message,
    Raw,
    Reply,
    Script,
    Step,
    Together,
    Turn,
)

WANTED = {
    "chat": "plain multi-turn empty-content image sound document repeated-prompt",
    "parameters": "n stop max-tokens seed logprobs",
    "tools": "single-call parallel-calls mixed-text-and-tool-use duplicate-names result-round-trip "
    "choice-none choice-required choice-named no-arguments unicode-arguments cut-call parallel-false strict "
    "allowed-tools error-result image-result computer-use cleared-results",
    "stream": "plain arguments parallel-calls usage two-choices logprobs obfuscation-off",
    "parser": "one-line adjacent-calls quoted-markup text-before text-after text-between two-calls "
    "empty-arguments nested-arguments unicode-arguments escaped-arguments digits-in-string extra-members "
    "markup-in-string no-space wide-space arguments-first stop-behind-call no-arguments two-in-one-block "
    "list-in-one-block single-quotes trailing-comma raw-newline missing-brace bare-value double-encoded "
    "unclosed-call broken-off unknown-tool fenced-call prose-marker call-in-reasoning unclosed-reasoning "
    "cut-by-cap",
    "reasoning": "echo interleaved effort stream",
    "structured": "json-schema json-schema-stream json-schema-loose json-object with-tools schema-limits",
    "history": "tool-results tool-content broken-pairing assistant-messages arguments foreign-ids "
    "instruction-roles user-messages without-tools reasoning",
    "errors": "bad-key unknown-model malformed-json missing-messages orphan-tool-result bad-parameters "
    "unsupported-parameters bad-tools streamed-request unknown-route",
    "limits": "many-tools long-tool-name large-arguments large-tool-result schemas concurrent client-leaves "
    "body-too-large context-length rate-limit",
    "models": "list retrieve",
    "responses": "input-forms replay previous-response",
    "anthropic": "content-forms required-members versions result-forms broken-results stops prefill "
    "cached-prefix models thinking-signature redacted-thinking interleaved-thinking computer-use "
    "context-editing",
    "gemini": "request-forms function-results multimodal-result validated-mode response-schema stream-array "
    "streamed-signature bad-requests bad-tools models",
    "ollama": "default-stream load think result-forms bad-requests models",
    "policies": "duplicate-tool-names tool-choice malformed-histories empty-content reasoning-fields "
    "reasoning-blocks",
}


def reply(turn: Turn | None, status: int = 200) -> Reply:
    exchange = Exchange(
        HttpRequest("POST", "", (), b""), HttpResponse(status, (), b""), "complete", "openai-chat"
    )
    return Reply(exchange, turn)


def walk(scenario: Scenario, answer: Callable[[int], Reply]) -> list[Step]:
    steps: list[Step] = []
    script, asked = scenario.script(), 0
    try:
        step = next(script)
        while True:
            steps.append(step)
            asks = asks_of(step)
            replies = tuple(answer(asked + number) for number in range(len(asks))) or (reply(None),)
            asked += len(asks)
            step = script.send(replies if isinstance(step, Together) else replies[0])
    except StopIteration:
        return steps


def test_the_scenarios_of_the_first_release_exist() -> None:
    wanted = {f"{chapter}.{name}" for chapter, names in WANTED.items() for name in names.split()}
    assert wanted <= set(SCENARIOS)


def test_scenarios_come_in_the_order_of_the_chapters() -> None:
    assert list(dict.fromkeys(s.chapter for s in SCENARIOS.values())) == list(WANTED)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda s: s.id)
def test_a_perfect_model_takes_every_scenario_to_its_end_and_uses_every_ideal_turn(
    scenario: Scenario,
) -> None:
    steps = walk(scenario, lambda number: reply(scenario.ideal[number]))
    assert sum(len(asks_of(step)) for step in steps) == len(scenario.ideal)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda s: s.id)
def test_a_model_that_says_nothing_is_told_so_or_does_not_matter(scenario: Scenario) -> None:
    with contextlib.suppress(ModelDidNot):
        walk(scenario, lambda _: reply(Turn()))


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda s: s.id)
def test_an_endpoint_that_refuses_everything_never_makes_the_model_look_guilty(scenario: Scenario) -> None:
    with contextlib.suppress(Stuck):
        walk(scenario, lambda _: reply(None, 400))


def test_scenario_texts_never_carry_a_marker() -> None:
    for one in SCENARIOS.values():
        for step in walk(one, lambda number, one=one: reply(one.ideal[number])):  # type: ignore[misc]
            assert "[[" not in repr(step)


def test_the_marker_goes_at_the_end_of_the_last_user_or_tool_message() -> None:
    turn = Turn()
    asked = request(Message.user("a"), Message.assistant(turn), Message.user("b"), Message.assistant(turn))
    texts = ["".join(getattr(p, "text", "") for p in m.parts) for m in marked(asked, "x.y/0").messages]
    assert texts == ["a", "", "b\n[[x.y/0]]", ""]


@pytest.mark.parametrize(
    ("native", "marked_text"),
    [
        ({"openai-chat": {"messages": [{"role": "user", "content": "a"}]}}, '"a\\n[[x.y/0]]"'),
        ({"openai-responses": {"input": [{"role": "user", "content": "a"}]}}, '"a\\n[[x.y/0]]"'),
        ({"gemini": {"contents": [{"role": "user", "parts": [{"text": "a"}]}]}}, '"a\\n[[x.y/0]]"'),
        ({"gemini": {"contents": [{"role": "user", "parts": [{"functionResponse": {}}]}]}}, None),
        ({"ollama": {"messages": [{"role": "user", "content": "a"}, {"role": "user"}]}}, '"a\\n[[x.y/0]]"'),
        ({"anthropic-messages": {"messages": [{"role": "user", "content": [{}]}]}}, None),
        ({"openai-chat": {"tool_choice": "none"}}, None),
    ],
)
def test_a_history_in_a_wires_own_words_is_marked_in_the_last_plain_text_of_the_user(
    native: Any, marked_text: str | None
) -> None:
    found = json.dumps(marked(request(native=native), "x.y/0").native)
    assert (marked_text in found) if marked_text else "[[" not in found


def test_every_ideal_turn_is_scripted_under_its_scenario_and_number() -> None:
    assert len(scripts()) == sum(len(s.ideal) for s in SCENARIOS.values())
    assert scripts()["tools.parallel-calls/1"] is SCENARIOS["tools.parallel-calls"].ideal[1]


def test_every_multi_turn_tool_scenario_returns_the_results_of_all_calls() -> None:
    for one in SCENARIOS.values():
        for step in walk(one, lambda number, one=one: reply(one.ideal[number])):  # type: ignore[misc]
            if isinstance(step, Ask) and step.probe == "tool-result":
                called = [
                    c.id for m in step.request.messages if m.role == "assistant" for c in Turn(m.parts).calls
                ]
                assert called == [m.tool_call_id for m in step.request.messages if m.role == "tool"]


def test_a_scenario_needs_a_docstring_an_id_of_its_own_and_known_capabilities() -> None:
    def script() -> Script:
        yield Raw("GET", "@models")

    with pytest.raises(ValueError, match="docstring"):
        scenario("x.new")(script)
    script.__doc__ = "A title."
    with pytest.raises(ValueError, match="id of its own"):
        scenario("chat.plain")(script)
    with pytest.raises(ValueError, match="unknown capability telepathy"):
        scenario("x.new", needs=("telepathy",))(script)


def test_need_says_what_the_model_did_not_do() -> None:
    need(True, "sing")
    with pytest.raises(ModelDidNot, match="sing"):
        need("", "sing")


def test_what_costs_or_annoys_runs_only_when_asked_for() -> None:
    assert [one.id for one in SCENARIOS.values() if one.intrusive] == [
        "limits.body-too-large",
        "limits.context-length",
        "limits.rate-limit",
    ]


def test_the_longest_tool_name_and_the_most_tools_are_those_of_the_schema() -> None:
    assert (len(limits.LONG_NAME), len(limits.LAMPS)) == (64, 128)


def test_every_request_at_once_has_a_code_of_its_own() -> None:
    assert len(set(limits.CANARIES)) == len(limits.CANARIES)
    (step,) = walk(SCENARIOS["limits.concurrent"], lambda n: reply(SCENARIOS["limits.concurrent"].ideal[n]))
    for ask, code in zip(asks_of(step), limits.CANARIES, strict=True):
        assert [other for other in limits.CANARIES if other in repr(ask)] == [code]


@pytest.mark.parametrize(
    "text",
    [
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "Function calling is not enabled for this model",
        "Function calling is not supported.",
        "`tool calling` is not supported",
        "registry.example/m does not support tools",
        "Unrecognized request argument supplied: tools",
        "Unrecognized request arguments supplied: tool_choice, tools",
        "'tools' is not supported with this model.",
        "Unsupported parameter: 'tools'",
        "tools is not supported in this model.",
        "No endpoints found that support tool use.",
        "extra_forbidden body.tools Extra inputs are not permitted",
        "body.tools extra fields not permitted value_error.extra",
    ],
)
def test_tools_are_declined_in_these_words(text: str) -> None:
    assert TOOLS.named_by.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "Parallel tool calls are not supported.",
        "Strict tools are not supported",
        "Thinking mode does not support this tool_choice",
        "This model does not support tool choice",
        "No endpoints found that support the provided 'tool_choice' value",
        "tools.0.custom: For 'object' type, property 'properties' is not supported",
        "missing body.tools.0.function.name Field required",
        "list_type body.tools Input should be a valid list",
        "Unrecognized request argument supplied: tool_choice",
        "Unrecognized request argument supplied: tools[0].function.strict",
    ],
)
def test_words_on_a_part_of_tools_decline_no_tools(text: str) -> None:
    assert not TOOLS.named_by.search(text)
