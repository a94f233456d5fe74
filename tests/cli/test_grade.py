"""``conformance grade``: recordings in, verdicts out; what a person, a pipeline and a code host get."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from click.testing import CliRunner

from conformance import quirks
from conformance.cli import cli, graded_run
from conformance.grade import batches, sarif
from conformance.grade.batches import Batch
from conformance.grade.document import schema
from conformance.grade.jsonl import to_line
from conformance.quirks import Quirk, catalogue
from conformance.report.jsonfile import from_document
from conformance.rules.examples import answer, error
from conformance.types import Exchange

from .support import conformance

RULE = "chat.response.finish-reason-enum"
FINE = answer()
ODD = answer(choice={"finish_reason": "eos"})
WARNS = answer(choice={"delta": {}})
REFUSED = tuple(
    replace(one, response=one.response and replace(one.response, body=b"no")) for one in error(401)
)


def write(path: Path, *exchanges: Exchange) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(to_line(replace(one, expect="either"))) + "\n" for one in exchanges))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recordings in a repository: one that is fine, one with a deviation, one that is no evidence."""
    write(tmp_path / "cassettes" / "fine.jsonl", *FINE)
    write(tmp_path / "cassettes" / "odd.jsonl", *FINE, *ODD)
    write(tmp_path / "cassettes" / "refused.jsonl", *REFUSED)
    (tmp_path / "cassettes" / "README.md").write_text("Recorded by hand.\n")
    return tmp_path


# ---------------------------------------------------------------------------------------------- for a person


def test_each_deviation_is_told_with_its_proof_and_its_place(folder: Path) -> None:
    done = conformance("grade", "cassettes", cwd=folder)
    assert done.returncode == 1, done.stderr
    told = " ".join(done.stdout.split())
    assert f"✗ {RULE} in 1 of 3 exchanges" in told
    assert "cassettes/odd.jsonl @1 at /response/body/choices/0/finish_reason" in told
    assert "wanted stop or length or tool_calls or content_filter or function_call" in told
    assert 'got "eos"' in told
    assert "graded 3 of 4 exchanges in 4 files; 1 not gradable; 1 file of no recordings" in told
    assert "1 HTTP 401: the credentials were refused" in told


def test_of_an_error_without_a_verdict_it_is_told_what_was_judged(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", *error(429))
    told = " ".join(conformance("grade", "a.jsonl", cwd=tmp_path).stdout.split())
    assert (
        "Graded in part 1 HTTP 429: the rate limit or quota is spent: only the error's form was judged"
        in told
    )


def test_a_file_that_is_no_recording_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "log.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "notes.txt").write_text("Nothing.")
    alone = conformance("grade", "notes.txt", cwd=tmp_path)
    assert (alone.returncode, "no recording in any known format" in alone.stdout) == (3, True)
    write(tmp_path / "a.jsonl", *FINE)
    beside = conformance("grade", ".", cwd=tmp_path).stdout
    assert "a zip archive: unpack it first" in beside
    assert "no recording in any known format" not in beside


def test_nothing_in_a_recording_steers_the_terminal(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", *answer(choice={"finish_reason": "\x1b[2J\u202eeos"}))
    done = conformance("grade", "a.jsonl", cwd=tmp_path)
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "u202eeos" in done.stdout


def test_the_clients_faults_are_told_as_such(tmp_path: Path) -> None:
    result = {"role": "tool", "tool_call_id": "call_9", "content": "18 degrees"}
    write(tmp_path / "a.jsonl", *answer(asked={"messages": [result]}))
    done = conformance("grade", "a.jsonl", cwd=tmp_path)
    assert "client.results-answer-calls in 1 of 1 exchanges, the client's" in done.stdout


def test_help_says_what_it_takes_what_it_does_and_what_its_exit_codes_mean(tmp_path: Path) -> None:
    told = conformance("grade", "--help", cwd=tmp_path).stdout
    for word in ("PATH", "HAR", "--write-baseline conformance-baseline.json", "client.*", "130  interrupted"):
        assert word in told


# ----------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("exchanges", "options", "code"),
    [
        (FINE, [], 0),
        (ODD, [], 1),
        (ODD, ["--fail-on", "never"], 0),
        (ODD, ["--rule", "sse.*"], 0),
        (WARNS, [], 0),
        (WARNS, ["--fail-on", "SHOULD"], 1),
        (WARNS, ["--fail-on", "SHOULD", "--level", "MUST"], 0),
        (REFUSED, [], 3),
    ],
)
def test_the_exit_code_says_whether_something_is_broken_or_could_not_be_judged(
    exchanges: tuple[Exchange, ...], options: list[str], code: int, tmp_path: Path
) -> None:
    write(tmp_path / "a.jsonl", *exchanges)
    found = CliRunner().invoke(cli, ["grade", str(tmp_path / "a.jsonl"), *options])
    assert found.exit_code == code, found.output


def test_a_path_that_is_not_there_is_an_error_even_beside_one_that_is(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", *FINE)
    found = CliRunner().invoke(cli, ["grade", str(tmp_path / "a.jsonl"), str(tmp_path / "none")])
    assert (found.exit_code, "No such file" in found.output) == (3, True)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            ["--rule", "sse.done-sentinal"],
            "no rule is like sse.done-sentinal (did you mean sse.done-sentinel?)",
        ),
        (["--quirks", "no-such-quirk"], "--quirks: no quirk no-such-quirk"),
        (["--baseline", "none.json"], "none.json: no such file"),
        (["--sarif", "/dev/null/x.sarif"], "can't be written to"),
    ],
)
def test_a_wrong_option_ends_it_before_anything_is_read(
    options: list[str], complaint: str, folder: Path
) -> None:
    found = CliRunner().invoke(cli, ["grade", str(folder), *options])
    assert found.exit_code == 2
    assert complaint in " ".join(found.output.split())


# -------------------------------------------------------------------------------------------- for pipelines


def test_json_goes_to_standard_output_and_nothing_else_does(folder: Path) -> None:
    done = conformance("grade", "cassettes", "--json", cwd=folder)
    document = json.loads(done.stdout)
    jsonschema_rs.Draft202012Validator(schema()).validate(document)
    assert [(one["position"], one["outcome"]) for one in document["exchanges"]] == [
        (1, "graded"),
        (0, "not gradable"),
    ]
    assert RULE in done.stderr


def test_several_processes_print_the_same(folder: Path) -> None:
    write(folder / "more" / "odd.jsonl", *ODD)
    alone, together = (
        conformance("grade", "cassettes", "more", "--json", *words, cwd=folder).stdout
        for words in ((), ("-n", "2"))
    )
    assert alone == together


def test_the_schema_of_the_json_is_published(tmp_path: Path) -> None:
    assert json.loads(conformance("schema", "grading", cwd=tmp_path).stdout) == schema()


def test_findings_go_to_code_hosts_and_to_the_reports_of_run(folder: Path) -> None:
    conformance("grade", "cassettes", "--sarif", "x/found.sarif", "--out", "reports", cwd=folder)
    (result,) = json.loads((folder / "x" / "found.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "cassettes/odd.jsonl"
    matrix = from_document(json.loads((folder / "reports" / "matrix.json").read_text()))
    cells = {(cell.endpoint, cell.scenario): cell for cell in matrix.cells}
    cell = cells["unknown", "chat.response"]
    assert (cell.verdict, [finding.rule for finding in cell.findings]) == ("violates", [RULE])
    assert cell.findings[0].path == "/exchanges/0/response/body/choices/0/finish_reason"
    assert '"eos"' in cell.evidence[0]["response"]["body"]
    assert (matrix.endpoints[0].source, cells["unknown", "err"].verdict) == ("recording", "conforms")


def test_what_a_log_for_code_hosts_has_no_room_for_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 0)
    told = CliRunner().invoke(cli, ["grade", str(folder), "--sarif", str(folder / "x.sarif")]).output
    assert "(1 of 1 results are left out: 1 MUST)" in " ".join(told.split())


# --------------------------------------------------------------------------- what is known, declared, drafted


def test_a_repository_with_known_findings_can_start_today(folder: Path) -> None:
    assert conformance("grade", "cassettes", "--write-baseline", "known.json", cwd=folder).returncode == 1
    assert conformance("grade", "cassettes", "--baseline", "known.json", cwd=folder).returncode == 0
    write(folder / "cassettes" / "odd.jsonl", *ODD, *FINE, *ODD)
    assert conformance("grade", "cassettes", "--baseline", "known.json", cwd=folder).returncode == 1
    write(folder / "cassettes" / "odd.jsonl", *FINE)
    fixed = conformance("grade", "cassettes", "--baseline", "known.json", cwd=folder)
    told = f"the baseline knows more than was found: cassettes/odd.jsonl: {RULE} (1 fewer)"
    assert (fixed.returncode, told in " ".join(fixed.stdout.split())) == (0, True)


def test_a_declared_quirk_does_not_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shows = {"rules": [RULE], "scenarios": ["*"], "got": "eos"}
    some = next(iter(catalogue().values())).model_dump() | {"undetected": None}
    known = {"says-eos": Quirk.model_validate(some | {"id": "says-eos", "shows": [shows]})}
    monkeypatch.setattr(quirks, "catalogue", lambda: known)
    found = CliRunner().invoke(cli, ["grade", str(folder), "--quirks", "says-eos"])
    assert (found.exit_code, f"~ {RULE}" in found.output, "1 by quirk" in found.output) == (0, True, True)


def test_a_deviation_that_repeats_becomes_a_draft(folder: Path) -> None:
    write(folder / "cassettes" / "again.jsonl", *ODD)
    conformance("grade", "cassettes", "--suggest-quirks", "drafts.yaml", "--endpoint", "mine", cwd=folder)
    (entry,) = yaml.safe_load((folder / "drafts.yaml").read_text())
    assert Quirk.model_validate(entry).id == "mine-chat-response-finish-reason-enum"


# ------------------------------------------------------------------------------------------------ interrupted


def test_what_is_finished_is_told_when_it_is_interrupted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = batches.graded_batches

    def interrupted(*words: Any) -> Iterator[Batch]:
        yield next(iter(whole(*words)))
        raise KeyboardInterrupt

    monkeypatch.setattr(graded_run, "graded_batches", interrupted)
    log, base = folder / "x.sarif", folder / "known.json"
    base.write_text("as it was")
    written = ["--sarif", str(log), "--write-baseline", str(base)]
    found = CliRunner().invoke(cli, ["grade", str(folder / "cassettes"), "--json", *written])
    assert (found.exit_code, base.read_text()) == (130, "as it was")
    assert json.loads(found.stdout)["interrupted"] is True
    assert json.loads(log.read_text())["runs"][0]["results"]
    assert "only a part was graded" in found.stderr
