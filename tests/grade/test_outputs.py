"""What is counted, and what becomes of it: JSON by its schema, SARIF, drafts of quirks."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from conformance.grade import sarif
from conformance.grade.document import DocumentWriter, dumped, schema
from conformance.grade.drafts import drafts, drafts_text
from conformance.grade.grading import Graded, Grader
from conformance.grade.recorded import Unusable
from conformance.grade.sarif import SarifLog
from conformance.grade.tally import MAX_EXAMPLES, Place, Tally, sort_of
from conformance.quirks import Quirk
from conformance.rules.examples import answer, call, tool

from .recordings import exchange, graded

RULE = "chat.response.finish-reason-enum"
PLACE = Place(RULE, "unknown", "openai-chat")
TODAY = datetime.date(2026, 3, 1)


def eos(said: str = "eos") -> Graded:
    (one,) = graded(answer(choice={"finish_reason": said}))
    return one


def counted(*exchanges: Graded) -> Tally:
    tally = Tally()
    for one in exchanges:
        tally.count({sort_of(one): 1})
        tally.add(one, None)
    return tally


def warning() -> Graded:
    (one,) = graded(answer(choice={"delta": {}}))
    return one


def minor() -> Graded:
    findings = tuple(replace(finding, level="MAY") for finding in eos().findings)
    return replace(eos(), findings=findings)


def client_fault() -> Graded:
    result = {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}
    (one,) = graded(answer(asked={"messages": [result], "tools": [tool()]}))
    return one


# --------------------------------------------------------------------------------------------------- counts


def test_a_deviation_counts_its_exchanges_and_keeps_a_few_examples() -> None:
    deviation = counted(*[eos()] * 9).deviations[PLACE]
    assert (deviation.exchanges, deviation.open, len(deviation.examples)) == (9, 9, MAX_EXAMPLES)


def test_what_a_quirk_or_the_baseline_explains_is_not_open() -> None:
    (finding,) = eos().findings
    by_quirk = replace(eos(), findings=(replace(finding, quirk="says-eos"),))
    known = replace(eos(), findings=(replace(finding, known="baseline"),))
    deviation = counted(eos(), by_quirk, known).deviations[PLACE]
    assert (deviation.exchanges, deviation.forgiven, deviation.known, deviation.open) == (3, 1, 1, 1)
    assert counted(by_quirk, known).open_at("MUST") == 0
    assert counted(eos(), known).open_at("MUST") == 1


def test_what_a_model_did_is_never_open() -> None:
    called = answer(calls=[call(name="no_such_tool")], asked={"tools": [tool()]})
    (one,) = graded(called)
    assert [finding.rule for finding in one.findings] == ["chat.response.tool-call-name-declared"]
    assert counted(one).open_at("SHOULD") == 0


def test_endpoints_and_reasons_are_counted() -> None:
    refused, foreign = graded(
        [
            exchange("https://api.groq.com/openai/v1/chat/completions", {}, b"no", status=401),
            exchange("https://h/v1/embeddings", {}, {}),
        ]
    )
    tally = counted(eos(), refused, foreign)
    assert tally.outcomes == {"graded": 1, "not gradable": 1, "left alone": 1}
    assert tally.reasons("left alone") == [("embeddings", 1)]
    assert tally.endpoints() == [("groq", "openai-chat", 1, 0), ("unknown", "openai-chat", 1, 1)]


def test_recordings_made_by_hand_are_counted_together_whatever_betrays_them() -> None:
    made_up = [replace(eos(), outcome="not gradable", reason=f"put together by hand: {n}") for n in range(9)]
    assert counted(*made_up).reasons("not gradable") == [("put together by hand", 9)]


def test_rules_come_gravest_first_then_most_frequent() -> None:
    (warns,) = graded(answer(choice={"delta": {}}))
    (other,) = graded(answer(object="text_completion"))
    order = [rule for rule, _ in counted(warns, warns, warns, other, eos(), eos()).by_rule()]
    assert order == [RULE, "chat.response.object-literal", "chat.response.choice-no-delta"]


# ----------------------------------------------------------------------------------------------------- JSON


def document(
    exchanges: Iterable[Graded], unusable: Iterable[Unusable] = (), interrupted: bool = False
) -> Any:
    out, several = io.StringIO(), list(exchanges)
    writer = DocumentWriter(out, {"name": "conformance"})
    for one in several:
        writer.exchange(one)
    tally = counted(*several)
    for refused in unusable:
        tally.refuse(refused)
    writer.end(tally, Grader(), interrupted)
    return json.loads(out.getvalue())


def test_the_document_fits_its_schema() -> None:
    left = graded([exchange("https://h/v1/embeddings", {}, {})])
    whole = document(
        [eos(), client_fault(), *left], [Unusable("a.yaml", "empty"), Unusable("b", "broken", 3)]
    )
    jsonschema_rs.Draft202012Validator(schema()).validate(whole)
    assert whole["counts"]["unreadable"] == 2


def test_a_finding_in_the_document_says_where_and_whose_fault() -> None:
    first, second = document([eos(), client_fault()])["exchanges"]
    told = first["findings"][0]
    assert (first["file"], first["position"]) == ("recordings/one.yaml", 0)
    assert (told["rule"], told["path"], told["fault"]) == (
        RULE,
        "/response/body/choices/0/finish_reason",
        "endpoint",
    )
    assert (told["wanted"], told["got"]) == (
        "stop or length or tool_calls or content_filter or function_call",
        '"eos"',
    )
    assert {finding["fault"] for finding in second["findings"]} == {"client"}


def test_a_document_of_nothing_and_one_cut_short_are_documents_too() -> None:
    assert document([])["exchanges"] == []
    assert document([eos()], interrupted=True)["interrupted"] is True


def test_half_a_surrogate_pair_does_not_break_the_document() -> None:
    assert document([replace(eos(), file="\udc80.yaml")])["exchanges"][0]["file"] == "\udc80.yaml"


def test_nothing_in_the_document_steers_a_terminal_or_hides() -> None:
    odd = "\x1b[2J\x9b2J\u202e\u200b\ufeff\x7f"
    text = dumped({"endpoint": odd, "plain": "naïve 日本"})
    assert text.isprintable()
    assert "naïve 日本" in text
    assert json.loads(text)["endpoint"] == odd


# ---------------------------------------------------------------------------------------------------- SARIF


def log(*exchanges: Graded) -> Any:
    found = SarifLog("1.0")
    for one in exchanges:
        found.add(one)
    return found.document()["runs"][0]


def test_a_result_stands_for_a_rule_in_an_exchange_and_points_to_its_file() -> None:
    run = log(replace(eos(), file="tests/cassettes/a b.yaml"))
    (result,) = run["results"]
    place = result["locations"][0]
    assert (result["ruleId"], result["level"]) == (RULE, "error")
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "tests/cassettes/a%20b.yaml"
    assert place["logicalLocations"][0]["fullyQualifiedName"] == (
        "exchange 0/response/body/choices/0/finish_reason"
    )
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == RULE


def test_what_is_explained_is_suppressed() -> None:
    (finding,) = eos().findings
    known = replace(eos(), findings=(replace(finding, quirk="says-eos"),))
    result, other = log(known, eos())["results"]
    assert result["suppressions"] == [{"kind": "external", "justification": "says-eos"}]
    assert other["suppressions"] == []
    assert "suppressions" not in log(eos())["results"][0]


def test_a_result_keeps_its_fingerprint_as_long_as_file_rule_and_exchange_stay() -> None:
    first, again, moved = (log(one)["results"][0] for one in (eos(), eos("end"), replace(eos(), position=1)))
    assert first["partialFingerprints"] == again["partialFingerprints"] != moved["partialFingerprints"]


def test_more_results_than_code_hosts_keep_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 2)
    found = SarifLog("1.0")
    for one in (warning(), eos(), warning(), eos(), eos()):
        found.add(one)
    assert found.left_out == "3 of 5 results are left out: 1 MUST, 2 SHOULD"
    (run,) = found.document()["runs"]
    assert [result["level"] for result in run["results"]] == ["error", "error"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == found.left_out


def test_results_stay_in_the_order_of_the_recordings() -> None:
    assert [result["level"] for result in log(warning(), eos(), warning())["results"]] == [
        "warning",
        "error",
        "warning",
    ]


def test_a_run_that_was_interrupted_is_no_successful_one() -> None:
    (run,) = SarifLog("1.0").document(interrupted=True)["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_a_file_below_the_working_directory_is_named_from_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    uris = [
        log(replace(eos(), file=str(file)))["results"][0]["locations"][0]["physicalLocation"][
            "artifactLocation"
        ]["uri"]
        for file in (tmp_path / "a" / "b:c.yaml", Path("/elsewhere/a.yaml"))
    ]
    assert uris == ["a/b%3Ac.yaml", "file:///elsewhere/a.yaml"]


# --------------------------------------------------------------------------------------------------- drafts


def test_a_deviation_that_repeats_becomes_a_draft_that_the_catalogue_takes() -> None:
    (entry,) = yaml.safe_load(drafts_text(drafts(counted(eos(), eos()), TODAY)))
    quirk = Quirk.model_validate(entry)
    assert (quirk.id, quirk.confidence) == ("unknown-chat-response-finish-reason-enum", "recorded")
    assert quirk.fits(eos().findings[0])
    assert not quirk.fits(eos("end").findings[0])


def test_a_draft_takes_what_differs_for_any() -> None:
    (entry,) = drafts(counted(eos(), eos("end")), TODAY)
    quirk = Quirk.model_validate(entry)
    assert quirk.fits(eos("another").findings[0])


def test_drafts_of_one_deviation_over_several_wires_have_ids_of_their_own() -> None:
    moved = replace(eos(), wire="openai-responses")
    names = [entry["id"] for entry in drafts(counted(eos(), eos(), moved, moved), TODAY)]
    name = "unknown-chat-response-finish-reason-enum"
    assert names == [f"{name}-openai-chat", f"{name}-openai-responses"]


@pytest.mark.parametrize(
    "seen",
    [[eos()], [client_fault(), client_fault()], [minor(), minor()]],
    ids=["once", "the client's", "only a MAY"],
)
def test_what_showed_once_what_clients_do_and_a_may_become_no_drafts(seen: list[Graded]) -> None:
    assert drafts(counted(*seen), TODAY) == []


def test_no_drafts_are_a_file_of_an_empty_list() -> None:
    assert yaml.safe_load(drafts_text([])) == []
