"""The verdict logic as a table: what the model did x what the wire did x what is declared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judge import ORDER, Strictness, judge_attempt, mark_stale, worth_keeping
from conformance.quirks import Quirk
from conformance.rules import error_text, refusal_text
from conformance.rules import examples as ex
from conformance.types import Attempt, Cell, Exchange, VerdictName
from tests.judging import (
    BROKEN_STREAM,
    CLEAN,
    DID,
    DID_NOT,
    MISSING_ID,
    STUCK,
    WARNING,
    a_quirk,
    a_scenario,
    broken,
    cell_of,
    nobody,
    refusing,
)


def page(
    status: int, body: bytes = b"<html>Not here</html>", probe: str | None = None
) -> tuple[Exchange, ...]:
    return ex.error(status, raw=body, probe=probe, expect="refusal" if probe else "answer")


def models(status: int) -> tuple[Exchange, ...]:
    (one,) = ex.models(raw=b'{"error":{"message":"No.","type":"t","param":null,"code":null}}')
    assert one.response is not None
    return (replace(one, response=replace(one.response, status=status)),)


def lost(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    (one,) = exchanges
    return (replace(one, request=replace(one.request, url="http://x/v1/v1/models")),)


@pytest.mark.parametrize(
    ("model", "wire", "declared", "verdict"),
    [
        # the wire is clean: only the model decides
        (DID, CLEAN, [], "conforms"),
        (DID_NOT, CLEAN, [], "inconclusive"),
        # the wire is wrong: the model is no excuse
        (DID, MISSING_ID, [], "violates"),
        (DID_NOT, MISSING_ID, [], "violates"),
        (DID, WARNING, [], "warns"),
        (DID_NOT, WARNING, [], "warns"),
        # a declared quirk forgives exactly its own findings
        (DID, MISSING_ID, [a_quirk("chat.response.tool-call-id")], "quirk"),
        (DID_NOT, MISSING_ID, [a_quirk("chat.response.tool-call-id")], "quirk"),
        (DID, MISSING_ID, [a_quirk("chat.response.tool-call-type")], "violates"),
        (DID, MISSING_ID, [a_quirk("chat.response.tool-call-id", scenarios=("stream.*",))], "violates"),
        (DID, MISSING_ID + WARNING, [a_quirk("chat.response.tool-call-id")], "quirk"),
        (DID, MISSING_ID + ex.answer(id=""), [a_quirk("chat.response.tool-call-id")], "violates"),
        (DID, CLEAN, [a_quirk("chat.response.tool-call-id")], "conforms"),
        # an optional feature, honestly declined; anything else that is refused is a violation
        (STUCK, refusing(400, "m does not support tools"), [], "refused"),
        (STUCK, refusing(404, "m does not support tools"), [], "refused"),
        (STUCK, refusing(400, "tools[0] is bad"), [], "violates"),
        (STUCK, refusing(500, "m does not support tools"), [], "violates"),
        (DID, refusing(400, "m does not support tools") + MISSING_ID, [], "violates"),
        # we could not tell
        (STUCK, nobody("connect", "refused"), [], "error"),
        (STUCK, nobody("older-scenario", "cassette is of an older scenario"), [], "error"),
        (STUCK, refusing(401), [], "error"),
        (STUCK, refusing(403), [], "error"),
        (STUCK, refusing(404), [], "error"),
        (
            STUCK,
            refusing(404, "No endpoints found that support the provided 'tool_choice' value."),
            [],
            "violates",
        ),
        (STUCK, refusing(404, "Only 'text' content type is supported."), [], "violates"),
        (STUCK, refusing(404, "Response with id 'resp_1' not found."), [], "violates"),
        (STUCK, refusing(429), [], "error"),
        (STUCK, refusing(503), [], "error"),
        (DID, refusing(429, expect="refusal"), [], "error"),
        (DID, ex.error(429, probe="burst", expect="either"), [], "conforms"),
        (STUCK, BROKEN_STREAM, [], "error"),
        (STUCK, CLEAN, [], "error"),
        # several in one cell
        (STUCK, MISSING_ID + nobody("timeout", "late"), [], "violates"),
        (STUCK, MISSING_ID + nobody("timeout", "late"), [a_quirk("chat.response.tool-call-id")], "error"),
        # a refusal that was asked for is what a conforming endpoint does
        (DID, refusing(400, expect="refusal"), [], "conforms"),
        (DID, refusing(401, expect="refusal", probe="wrong-key"), [], "conforms"),
        (DID, refusing(404, expect="refusal"), [], "conforms"),
        # our own key refused: nothing is known of what was asked
        *((DID, refusing(s, expect="refusal", probe=p), [], "error")
          for s in (401, 403) for p in ("malformed-json", "missing-messages", "unknown-route")),
        (STUCK, models(401), [], "error"),
        (STUCK, models(403), [], "error"),
        # the list of models is asked for in vain
        *((DID, models(s), [], "violates") for s in (307, 404, 405, 500)),
        (DID, models(503), [], "error"),
        (DID, lost(models(404)), [], "error"),
        (DID, lost(models(500)), [], "violates"),
        # nothing answers at the path that chat requests go to
        *((STUCK, page(s), [], "error") for s in (404, 405)),
        *((DID, page(s, probe="malformed-json"), [], "error") for s in (404, 405)),
        (DID, page(404, b'{"detail":"Not Found"}', probe="missing-messages"), [], "error"),
        (DID, page(404, probe="unknown-model"), [], "violates"),
        (DID, refusing(404, probe="malformed-json", expect="refusal"), [], "violates"),
        *((DID, refusing(404, said, probe="malformed-json", expect="refusal"), [], "error")
          for said in ("Unknown URL: POST /v1/v1/messages", "Invalid URL (POST /v1/v1/chat/completions)",
                       "Not Found", "File Not Found")),
        (DID, refusing(404, "Previous response not found", probe="malformed-json", expect="refusal"), [],
         "violates"),
        # the model under test is not there
        (STUCK, refusing(400, "The model `m` does not exist or does not support tools"), [], "error"),
        (STUCK, ex.error(400, error={"code": "model_not_found"}, expect="answer"), [], "error"),
        (DID, refusing(404, "model 'm' not found", probe="bad-role", expect="refusal"), [], "error"),
        # what declines no feature, whatever its text names
        *((STUCK, refusing(s, "m does not support tools"), [], "error") for s in (401, 402, 403, 429)),
        (STUCK, ex.error(400, error={"message": "No.", "input": "does not support tools"}, expect="answer"),
         [], "violates"),
        # a 500 that says what 503 says
        (STUCK, refusing(500, "The server is overloaded"), [], "error"),
        (STUCK, refusing(500, "No capacity left. Please try again later."), [], "error"),
        (DID, refusing(500, "Overloaded", probe="malformed-json", expect="refusal"), [], "error"),
        (DID, refusing(500, "Try again later", probe="malformed-json", expect="refusal"), [], "violates"),
        (STUCK, refusing(500, "Internal error"), [], "violates"),
        (STUCK, refusing(500, "no matching overload for +"), [], "violates"),
        (STUCK, refusing(500, "tools param requires --jinja flag"), [], "violates"),
        # all of it came, only the connection stayed open
        (DID, broken("stalled", ex.stream()), [], "conforms"),
        (STUCK, broken("stalled", ex.stream(done=b"")), [], "error"),
        (STUCK, broken("stalled", ex.stream(done=b"data: [DONE]")), [], "error"),
        # what came before a stream broke counts, unless it is that it broke
        (STUCK, broken("cut", ex.stream(done=b"")), [], "error"),
        (STUCK, broken("cut", ex.stream(ex.start(), b"data: pong\n\n", done=b"")), [], "violates"),
        (STUCK, broken("stalled", ex.stream(ex.start(), b"data: pong\n\n", done=b"")), [], "violates"),
        (STUCK, broken("cut", ex.answer(raw=b'{"id":"chatcmpl-1",')), [], "error"),
    ],
)  # fmt: skip
def test_verdict(
    model: tuple[Any, str], wire: tuple[Exchange, ...], declared: Sequence[Quirk], verdict: VerdictName
) -> None:
    attempt = Attempt(wire, *model)
    assert judge_attempt(a_scenario(), attempt, declared).verdict == verdict


def test_one_call_where_two_are_needed_is_inconclusive_after_its_retries_never_violates() -> None:
    one_call = Attempt(ex.answer(calls=[ex.call()]), *DID_NOT)
    cell = cell_of(a_scenario(), [one_call] * 3)
    assert (cell.verdict, cell.attempts, cell.flags) == ("inconclusive", 3, ())
    assert cell.reason == "the model did not make two calls in one turn (in 3 attempts)"


def test_an_attempt_that_counts_decides_and_the_cell_is_flaky() -> None:
    cell = cell_of(a_scenario(), [Attempt(CLEAN, *DID_NOT), Attempt(CLEAN, *DID)])
    assert (cell.verdict, cell.decided_by, cell.flags) == ("conforms", 1, ("flaky",))


def test_a_violation_in_any_attempt_counts() -> None:
    cell = cell_of(a_scenario(), [Attempt(MISSING_ID, *DID_NOT), Attempt(CLEAN, *DID)])
    assert (cell.verdict, cell.decided_by) == ("violates", 0)


def test_a_finding_names_the_quirk_that_declares_it() -> None:
    quirk = a_quirk("chat.response.tool-call-id")
    cell = cell_of(a_scenario(), [Attempt(MISSING_ID, *DID)], quirks=[quirk])
    assert [f.quirk for f in cell.findings if f.rule == "chat.response.tool-call-id"] == ["some-quirk"]


def test_a_quirk_with_a_pattern_forgives_only_what_matches_it() -> None:
    refused = Attempt(refusing(400, "Tool names must be unique."), *STUCK)
    matching = a_quirk("chat.request.accepted", got="unique")
    other = a_quirk("chat.request.accepted", got="too long")
    assert judge_attempt(a_scenario(), refused, [matching]).verdict == "quirk"
    assert judge_attempt(a_scenario(), refused, [other]).verdict == "violates"


def test_only_selected_rules_count() -> None:
    only = Strictness(rules=frozenset({"chat.response.id-nonempty-string"}))
    assert judge_attempt(a_scenario(), Attempt(MISSING_ID, *DID), strictness=only).verdict == "conforms"


def test_a_declared_quirk_that_shows_nowhere_is_stale() -> None:
    quirk = a_quirk("chat.response.tool-call-id", scenarios=("tools.single-call", "tools.*"))
    clean = cell_of(a_scenario(), [Attempt(CLEAN, *DID)], quirks=[quirk])
    (cell,), notes = mark_stale([clean], [quirk])
    assert cell.flags == ("stale",)
    assert notes == ("e: quirk some-quirk is declared but no longer shows in tools.single-call",)


def test_a_quirk_that_shows_somewhere_or_could_not_show_is_not_stale() -> None:
    quirk = a_quirk("chat.response.tool-call-id", scenarios=("tools.single-call", "tools.other"))
    shows = cell_of(a_scenario(), [Attempt(MISSING_ID, *DID)], quirks=[quirk])
    clean = cell_of(a_scenario("tools.other"), [Attempt(CLEAN, *DID)], quirks=[quirk])
    unsure = cell_of(a_scenario(), [Attempt(CLEAN, *DID_NOT)], quirks=[quirk])
    assert mark_stale([shows, clean], [quirk])[1] == ()
    assert mark_stale([unsure], [quirk])[1] == ()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("API key not valid. Please pass a valid API key.", "HTTP 400: the credentials were refused"),
        ("Your credit balance is too low to access the API.", "HTTP 400: the account has no credit"),
    ],
)
def test_a_400_that_says_in_words_what_others_say_with_a_status_is_no_violation(
    said: str, reason: str
) -> None:
    for asked in (refusing(400, said), refusing(400, said, "refusal", "unknown-model")):
        cell = cell_of(a_scenario(), [Attempt(asked, *STUCK)])
        assert (cell.verdict, cell.reason.startswith(reason)) == ("error", True)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://x/v1/v1/messages", "there: leave /v1 out of the base URL, the wire adds it"),
        ("http://x/v1beta/v1beta/models/m:generateContent", "leave /v1beta out of the base URL"),
        ("http://x/api/api/chat", "leave /api out of the base URL"),
        ("http://x/v1/chat/completions/chat/completions", "leave /chat/completions out of the base URL"),
        ("http://x/chat/completions", "(is /v1 missing at the end of the base URL?)"),
        ("http://x/a/a/v1/chat/completions", "wrong base URL, or a model the endpoint does not know: No."),
    ],
)
def test_a_404_says_what_is_wrong_with_the_base_url_where_its_address_shows_it(url: str, said: str) -> None:
    (one,) = refusing(404)
    asked = replace(one, request=replace(one.request, url=url))
    assert said in cell_of(a_scenario(), [Attempt((asked,), *STUCK)]).reason


def test_cells_that_fail_alike_have_the_same_reason_whatever_their_request_ids() -> None:
    bodies = [{"error": {"message": "No."}, "request_id": f"req_{number}"} for number in (1, 2)]
    cells = [
        cell_of(
            a_scenario(), [Attempt(ex.error(401, raw=json.dumps(body).encode(), expect="answer"), *STUCK)]
        )
        for body in bodies
    ]
    assert cells[0].reason == cells[1].reason


@pytest.mark.parametrize(
    ("exchanges", "kept"),
    [
        (CLEAN, True),
        (MISSING_ID, True),
        (BROKEN_STREAM, True),
        (refusing(400), True),
        (refusing(500), True),
        (refusing(401, expect="refusal", probe="wrong-key"), True),
        (refusing(401, expect="refusal", probe="malformed-json"), False),
        (refusing(500, "Overloaded"), False),
        (refusing(401), False),
        (refusing(400, "API key not valid. Please pass a valid API key."), False),
        (refusing(400, "Your credit balance is too low to access the Anthropic API."), False),
        (refusing(400, "API key not valid.", expect="refusal", probe="wrong-key"), True),
        (refusing(429), False),
        (refusing(503, expect="refusal"), False),
        (ex.error(429, probe="burst", expect="either"), True),
        (nobody("connect", "refused"), False),
    ],
)
def test_only_what_was_answered_replaces_a_cassette(exchanges: tuple[Exchange, ...], kept: bool) -> None:
    assert worth_keeping(a_scenario(), [Attempt(exchanges)]) is kept


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error": {"message": "a\\n b", "code": 3, "type": "t"}}', "a b t"),
        (b'[{"error": {"message": "deep"}}]', "deep"),
        (b"<html>\n no </html>", "<html> no </html>"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"[" * 30_000, "[" * 500),
        (b"", ""),
    ],
)
def test_an_error_body_reads_as_one_line(body: bytes, text: str) -> None:
    assert error_text(body) == text


ASKED = b'{"messages":[{"role":"user","content":"Say hello to response_format."}]}'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"message":"No.","code":"c","param":"p","type":"t","raw":"x"}}', "No. c p t"),
        (b'{"detail":[{"type":"extra_forbidden","loc":["body","tools",0],"msg":"Extra","input":"x"}]}',
         "extra_forbidden body.tools.0 Extra"),
        (b'{"detail":"[{\'msg\': \'Bad\', \'input\': {\'response_format\': 1}}]"}', "[{'msg': 'Bad',"),
        (b'{"error":"' + b"x" * 300 + b'Say hello to response_format."}', ""),
        (b'{"error":"Bad: Say hello to response_format."}', "Bad: Say hello to response_format."),
        (b"not here", "not here"),
        (b"[" * 30_000, "[" * 2_000),
    ],
)  # fmt: skip
def test_a_refusal_speaks_in_its_own_words(body: bytes, text: str) -> None:
    assert refusal_text(body, ASKED) == text


@given(body=st.binary(max_size=60), asked=st.binary(max_size=60))
def test_a_refusal_of_any_bytes_reads_as_one_line(body: bytes, asked: bytes) -> None:
    assert "\n" not in refusal_text(body, asked)


def test_what_came_before_a_stream_broke_is_kept_and_that_it_broke_is_not() -> None:
    attempt = Attempt(broken("cut", ex.stream(ex.start(), b"data: pong\n\n", done=b"")), *STUCK)
    rules = {finding.rule for finding in judge_attempt(a_scenario(), attempt).findings}
    assert "sse.one-json-object-per-event" in rules
    assert "sse.done-sentinel" not in rules


@pytest.mark.parametrize("clean", [ex.answer(), ex.stream(), ex.tool_stream(ex.opened())])
@given(data=st.data())
def test_a_clean_answer_that_breaks_off_anywhere_is_an_error(
    clean: tuple[Exchange, ...], data: st.DataObject
) -> None:
    (one,) = clean
    assert one.response is not None
    size = data.draw(st.integers(0, len(one.response.body) - 1))
    half = replace(one.response, body=one.response.body[:size], parts=((1.0, size),))
    ending: Any = data.draw(st.sampled_from(["cut", "stalled"]))
    verdict = judge_attempt(
        a_scenario(), Attempt((replace(one, response=half, ending=ending),), *STUCK)
    ).verdict
    assert verdict == "error"


def test_a_call_that_the_model_misspelt_is_inconclusive_at_most() -> None:
    for call in (
        ex.call(arguments='{"town":1}'),
        ex.call(name="f.get_weather"),
        ex.call(arguments="{"),
        ex.call(arguments="[1]"),
    ):
        assert judge_attempt(a_scenario(), Attempt(ex.answer(calls=[call]))).verdict == "inconclusive"


def test_every_verdict_of_a_judged_cell_has_a_place_in_the_order() -> None:
    assert set(ORDER) == {"violates", "error", "quirk", "warns", "refused", "inconclusive", "conforms"}
    assert isinstance(cell_of(a_scenario(), [Attempt(CLEAN)]), Cell)
