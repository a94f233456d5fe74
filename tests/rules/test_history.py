"""Rules about histories and schemas at the edge: what they find, and the near miss they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.examples import USAGE, Exchanges, answer, call, conversation, error
from conformance.types import Expect

UNICODE = "Ærø 東京 😀"
CALL = call(arguments='{"city":"Oslo"}')
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
QUESTION = {"role": "user", "content": "What about Oslo?"}
SECOND: dict[str, Any] = {"id": "chatcmpl-2", "headers": {"x-request-id": "req_2"}}


def result(content: Any, id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def fired(exchanges: Exchanges) -> set[str]:
    return {finding.rule for finding in check(exchanges)}


def about(probe: str, *messages: Any, says: str = "Hello.", expect: Expect = "answer") -> Exchanges:
    asked = {"messages": list(messages)}
    return answer(asked=asked, probe=probe, expect=expect, message={"content": says})


# ------------------------------------------------------------------------------------------- acceptance

ACCEPTED = {
    "tool-results": "mt.tool-results-consecutive",
    "tool-content-string": "mt.tool-content-string",
    "tool-content-parts": "mt.tool-content-parts",
    "assistant-null-content": "mt.assistant-null-content",
    "assistant-content-and-calls": "mt.assistant-content-and-calls",
    "foreign-ids": "mt.foreign-ids-accepted",
    "reasoning-empty": "mt.reasoning-empty-accepted",
    "instruction-role": "mt.system-and-developer-roles",
    "consecutive-same-role": "mt.consecutive-same-role",
    "name-field": "mt.name-field-accepted",
    "content-parts-text": "mt.content-parts-text",
    "tools-omitted": "mt.tools-omitted-with-history",
}
SURVIVED = {
    "assistant-empty": "mt.assistant-empty",
    "assistant-empty-tool-calls": "mt.assistant-empty-tool-calls",
    "arguments-object": "mt.arguments-string-required",
    "arguments-invalid-json": "mt.arguments-invalid-json-in-history",
    "function-role": "mt.legacy-function-role",
    "strict-open-object": "so.strict-needs-closed-objects",
    "strict-optional-property": "so.strict-needs-all-required",
    "strict-keywords": "so.unsupported-keyword",
}
REFUSED = {
    "tool-result-missing": "mt.tool-result-missing-400",
    "tool-result-duplicate": "mt.tool-result-duplicate",
    "tool-id-missing": "mt.tool-id-required",
    "schema-without-name": "so.schema-name-required",
    "invalid-schema": "so.invalid-schema-400",
}


@pytest.mark.parametrize(("probe", "rule"), ACCEPTED.items())
@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_history_that_is_to_be_accepted_may_not_be_refused(probe: str, rule: str, status: int) -> None:
    assert rule in fired(error(status, probe=probe, expect="answer"))
    assert rule not in fired(about(probe, QUESTION))


@pytest.mark.parametrize("probe", [*ACCEPTED, *SURVIVED, *REFUSED, "reasoning-omitted"])
@pytest.mark.parametrize("status", [401, 403, 429, 502, 503, 504, 529])
def test_credentials_quota_and_load_prove_nothing(probe: str, status: int) -> None:
    assert not [r for r in fired(error(status, probe=probe)) if r.startswith(("mt.", "so."))]


@pytest.mark.parametrize(("probe", "rule"), SURVIVED.items())
def test_what_may_be_refused_may_not_break_the_server(probe: str, rule: str) -> None:
    assert rule in fired(error(500, probe=probe, expect="either"))
    assert rule not in fired(error(400, probe=probe, expect="either"))
    assert rule not in fired(about(probe, QUESTION, expect="either"))


@pytest.mark.parametrize(("probe", "rule"), REFUSED.items())
def test_what_is_to_be_refused_gets_400_or_422(probe: str, rule: str) -> None:
    assert rule in fired(about(probe, QUESTION, expect="refusal"))
    assert rule in fired(error(500, probe=probe))
    assert rule not in fired(error(400, probe=probe))
    assert rule not in fired(error(422, probe=probe))


@pytest.mark.parametrize(
    ("status", "message", "found"),
    [
        (400, "The reasoning_content must be passed back.", False),
        (422, "reasoning is missing", False),
        (400, "Bad message.", True),
        (500, "reasoning_content", True),
    ],
)
def test_an_endpoint_that_wants_reasoning_back_says_so(status: int, message: str, found: bool) -> None:
    refusal = error(status, error={"message": message}, probe="reasoning-omitted", expect="either")
    assert ("mt.reasoning-echo-required" in fired(refusal)) is found


# ------------------------------------------------------------------------------- what the answer makes of it

TWO = {
    "role": "assistant",
    "content": None,
    "tool_calls": [call("call_1", arguments='{"city":"Oslo"}'), call("call_2", arguments='{"city":"Lima"}')],
}
RESULTS = (result("HERON", "call_2"), result("KESTREL"))


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ("Oslo has KESTREL.", False),
        ("Oslo has HERON.", True),
        ("Oslo has KESTREL, Lima has HERON.", False),
        ("I do not know.", False),
    ],
)
def test_only_the_result_of_another_call_is_a_swapped_one(says: str, found: bool) -> None:
    exchanges = about("tool-results", QUESTION, TWO, *RESULTS, QUESTION, says=says)
    assert fired(exchanges) == ({"mt.tool-result-any-order"} if found else set())


@pytest.mark.parametrize(
    ("says", "found"),
    [
        (UNICODE, False),
        ("It said something.", False),
        ("Aero, Tokyo, a smile", False),
        (UNICODE.encode().decode("latin-1"), True),
        ("Ærø".encode().decode("cp1252"), True),
        ("\\u6771\\u4eac", True),
        (f"{UNICODE}, in escapes \\u6771\\u4eac", False),
    ],
)
def test_only_damage_is_held_against_the_endpoint(says: str, found: bool) -> None:
    exchanges = about("tool-content-string", QUESTION, CALLED, result(UNICODE), says=says)
    assert ("mt.unicode-round-trip" in fired(exchanges)) is found


@pytest.mark.parametrize(
    ("arguments", "found"),
    [('{"city":"Oslo"}', True), ('{ "city": "Oslo" }', True), ('{"city":"Bergen"}', False)],
)
def test_a_call_is_repeated_however_its_arguments_are_spaced(arguments: str, found: bool) -> None:
    asked = {"messages": [QUESTION, CALLED, result("18 degrees")]}
    exchanges = answer(asked=asked, probe="tool-result", calls=[call("call_2", arguments=arguments)])
    assert ("mt.no-call-loop" in fired(exchanges)) is found


def test_a_call_whose_result_was_not_sent_may_be_made_again() -> None:
    asked = {"messages": [QUESTION, CALLED, result("18 degrees", "call_9")]}
    exchanges = answer(asked=asked, probe="tool-result", calls=[call("call_2", arguments='{"city":"Oslo"}')])
    assert "mt.no-call-loop" not in fired(exchanges)


# ------------------------------------------------------------------------------------ strict schemas

OPEN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NARROW = {**OPEN, "properties": {"city": {"type": "string", "pattern": "^[A-Z]+$"}}}


def strict(probe: str, schema: Any, says: str, **choice: Any) -> Exchanges:
    json_schema = {"name": "a", "strict": True, "schema": schema}
    asked = {"response_format": {"type": "json_schema", "json_schema": json_schema}}
    return answer(asked=asked, probe=probe, expect="either", message={"content": says}, choice=choice)


@pytest.mark.parametrize(("says", "found"), [('{"city":"A"}', False), ('{"city":"A","wind":4}', True)])
def test_an_open_object_is_handled_as_closed_or_not(says: str, found: bool) -> None:
    assert ("so.strict-needs-closed-objects" in fired(strict("strict-open-object", OPEN, says))) is found


@pytest.mark.parametrize(("says", "found"), [('{"city":"A"}', False), ('{"city":"a"}', True)])
def test_a_keyword_is_enforced_or_not(says: str, found: bool) -> None:
    assert ("so.unsupported-keyword" in fired(strict("strict-keywords", NARROW, says))) is found


def test_an_answer_that_was_cut_proves_nothing_about_a_keyword() -> None:
    cut = strict("strict-keywords", NARROW, '{"city":"a"}', finish_reason="length")
    assert "so.unsupported-keyword" not in fired(cut)


# ------------------------------------------------------------------------------------ prompt tokens


def with_image(prompt_tokens: int) -> Exchanges:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    asked = {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]}
    usage = {**USAGE, "prompt_tokens": prompt_tokens, "total_tokens": prompt_tokens + 3}
    return answer(asked=asked, usage=usage)


@pytest.mark.parametrize(("tokens", "found"), [(9, True), (8, True), (10, False)])
def test_an_image_costs_prompt_tokens_or_was_ignored(tokens: int, found: bool) -> None:
    bare = answer(probe="without-image", expect="either", **SECOND)
    assert ("chat.request.image-not-ignored" in fired(conversation(with_image(tokens), bare))) is found


def test_an_image_is_not_called_ignored_where_nothing_shows_what_the_text_costs() -> None:
    refused = error(400, probe="without-image", expect="either", headers={"x-request-id": "req_2"})
    assert not fired(conversation(with_image(9), refused))
    assert not fired(with_image(9))


@pytest.mark.parametrize(("tokens", "found"), [(9, False), (1, True), (12, True)])
def test_a_repeated_prompt_counts_the_same(tokens: int, found: bool) -> None:
    usage = {**USAGE, "prompt_tokens": tokens, "total_tokens": tokens + 3}
    run = conversation(answer(), answer(probe="repeated-prompt", usage=usage, **SECOND))
    assert ("chat.response.usage-prompt-includes-cached" in fired(run)) is found


# ---------------------------------------------------------------------------------------- large results


@pytest.mark.parametrize(
    ("status", "message", "rules"),
    [
        (400, "This model's maximum context length is 8192 tokens.", set()),
        (400, "The request exceeds the available context size.", set()),
        (413, "Prompt too long.", set()),
        (413, "Payload Too Large", {"mt.tool-large-result"}),
        (400, "Bad tool message.", {"mt.tool-large-result"}),
        (500, "Out of tokens.", {"mt.tool-large-result"}),
    ],
)
def test_a_large_result_is_turned_down_for_the_context_alone(
    status: int, message: str, rules: set[str]
) -> None:
    refused = error(
        status,
        error={"message": message},
        asked={"messages": [QUESTION, CALLED, result("wind steady " * 2000)]},
        probe="tool-large-result",
        expect="answer",
    )
    assert fired(refused) == rules
