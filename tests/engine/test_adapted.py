"""Runs through profiles: what deviates strict conforms adapted, and the two are never mixed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.config import ConfigError, Endpoint
from conformance.engine.adapted import declared_quirks, profile_for
from conformance.engine.options import Options
from conformance.engine.run import Outcome
from conformance.report import write_all
from conformance.report.jsonfile import from_document, to_document
from conformance.simulator import PERSONAS, Persona
from conformance.simulator.faults import FAULTS
from conformance.transport import tape
from tests.engine.support import at, cells, configure, go, served

REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}
DEEPSEEK: dict[str, Any] = {
    **REFERENCE,
    "persona": "deepseek",
    "quirks": ["deepseek-reasoning-echo-required", "duplicate-tool-names-rejected"],
}
GEMINI: dict[str, Any] = {
    **REFERENCE,
    "persona": "gemini-front",
    "quirks": ["gemini-tool-choice-required-unreliable", "gemini-error-body-array"],
}
DEVIATING = {
    "deepseek": (
        DEEPSEEK,
        ("reasoning.echo", "tools.duplicate-names", "tools.result-round-trip",
         "tools.mixed-text-and-tool-use", "history.tool-content", "history.assistant-messages"),
    ),
    "gemini": (GEMINI, ("tools.choice-required",)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", PERSONAS["reference"].key)


def verdicts(outcome: Outcome) -> set[str]:
    return {cell.verdict for cell in outcome.matrix.cells}


@pytest.mark.parametrize("name", DEVIATING)
def test_what_deviates_strict_conforms_adapted(name: str, tmp_path: Path) -> None:
    row, scenarios = DEVIATING[name]
    config = configure(tmp_path, e=row)
    assert verdicts(go(config, scenarios)) == {"quirk"}
    adapted = go(config, scenarios, adapted=True)
    assert verdicts(adapted) == {"conforms"}
    assert not [finding for cell in adapted.matrix.cells for finding in cell.findings]


def test_everything_that_a_deviating_persona_is_asked_conforms_adapted(tmp_path: Path) -> None:
    # What the chapter of parsers makes a model write is for a server's parser to read.
    chapters = ("chat.*", "tools.*", "stream.*", "reasoning.*", "structured.*", "history.*", "errors.*")
    outcome = go(configure(tmp_path, deepseek=DEEPSEEK, gemini=GEMINI), chapters, adapted=True)
    assert verdicts(outcome) == {"conforms"}
    assert not [cell for cell in outcome.matrix.cells if "stale" in cell.flags]


def test_a_quirk_that_a_profile_works_around_is_not_forgiven_adapted(tmp_path: Path) -> None:
    row = Endpoint(**{**DEEPSEEK, "name": "e"})
    assert [quirk.id for quirk in declared_quirks(row, Options())] == DEEPSEEK["quirks"]
    assert declared_quirks(row, Options(adapted=True)) == ()


def test_without_its_workarounds_the_quirk_shows_again(tmp_path: Path) -> None:
    config = configure(tmp_path, e={**DEEPSEEK, "profile": "reference"})
    assert verdicts(go(config, ("tools.duplicate-names",), adapted=True)) == {"quirk"}


def test_cells_say_that_they_are_adapted_in_every_report(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, e=GEMINI), ("tools.choice-required", "chat.plain"), adapted=True)
    matrix = outcome.matrix
    assert {cell.mode for cell in matrix.cells} == {"adapted"}
    write_all(matrix, tmp_path / "out")
    for report in ("matrix.json", "junit.xml", "matrix.md"):
        assert "adapted" in (tmp_path / "out" / report).read_text("utf-8"), report
    assert from_document(to_document(matrix)) == matrix


def test_the_evidence_shows_what_went_over_the_wire_beside_what_the_client_saw(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, e=GEMINI), ("tools.choice-required",), adapted=True)
    (seen,) = cells(outcome)["tools.choice-required"].evidence
    (sent,) = seen["behind"]
    assert '"tool_choice": "required"' in seen["request"]["body"]
    assert '"tool_choice": "auto"' in sent["request"]["body"]


def test_retries_are_counted_and_shown(tmp_path: Path) -> None:
    limited = next(fault for fault in FAULTS if fault.name == "rate-limited")
    busy = Persona("busy", (limited,), key=PERSONAS["reference"].key)
    with served(busy) as simulator:
        config = configure(tmp_path, e=at(simulator, "busy", parity=False))
        strict = cells(go(config, ("chat.plain",), mode="live"))["chat.plain"]
        adapted = cells(go(config, ("chat.plain",), mode="live", adapted=True))["chat.plain"]
    assert (strict.requests, strict.verdict) == (1, "error")
    assert (adapted.requests, adapted.verdict) == (4, "error")
    assert len(adapted.evidence[0]["behind"]) == 4
    assert "behind" not in strict.evidence[0]


def test_a_policy_is_observed_without_a_profile(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, reference=REFERENCE), ("policies.*",), adapted=True)
    assert verdicts(outcome) == {"unsupported"}


# ------------------------------------------------------------------------------------------- cassettes


def test_adapted_recordings_have_their_own_files_and_replay_alike(tmp_path: Path) -> None:
    scenarios = ("tools.choice-required", "chat.plain")
    with served(PERSONAS["gemini-front"]) as simulator:
        row = at(simulator, "gemini-front", profile="google-gemini")
        config = configure(tmp_path, e=row)
        recorded = go(config, scenarios, mode="record", adapted=True)
    files = sorted(path.name for path in (tmp_path / "cassettes" / "e").iterdir())
    assert files == ["chat.plain.adapted.yaml", "tools.choice-required.adapted.yaml"]
    held = tape.load(tmp_path / "cassettes" / "e" / "tools.choice-required.adapted.yaml")
    assert b'"auto"' in held.exchanges[0].request.body
    assert held.metadata["profile"] == "google-gemini"
    replayed = go(config, scenarios, adapted=True)
    assert [c.verdict for c in replayed.matrix.cells] == [c.verdict for c in recorded.matrix.cells]
    assert {c.mode for c in replayed.matrix.cells} == {"adapted"}
    strict = go(config, scenarios)
    (line,) = strict.matrix.endpoints
    assert (line.status, "--adapted" in line.reason) == ("not-run", False)


def test_a_retry_is_replayed_without_its_wait(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        go(config, ("chat.plain",), mode="record", adapted=True)
    path = tmp_path / "cassettes" / "e" / "chat.plain.adapted.yaml"
    held = yaml.safe_load(path.read_text("utf-8"))
    (good,) = held["interactions"]
    busy = {**good, "response": {**good["response"], "status": {"code": 503, "message": "Busy"}}}
    error = '{"error":{"message":"busy","type":"server_error","param":null,"code":null}}'
    busy["response"] = {**busy["response"], "body": {"string": error}, "conformance": {
        **good["response"]["conformance"], "parts": [[1.0, len(error)]]}}  # fmt: skip
    busy["response"]["headers"] = {**good["response"]["headers"], "retry-after": ["50"]}
    path.write_text(yaml.safe_dump({**held, "interactions": [busy, good]}), "utf-8")
    cell = cells(go(config, ("chat.plain",), adapted=True))["chat.plain"]
    assert (cell.verdict, cell.requests) == ("conforms", 2)


# -------------------------------------------------------------------------------------------- profiles


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"profile": "groq", "base_url": "https://api.deepseek.com"}, "groq"),
        ({"base_url": "https://api.deepseek.com"}, "deepseek"),
        ({"base_url": "https://generativelanguage.googleapis.com", "wire": "gemini"}, "google-gemini"),
        ({"base_url": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"}, "alibaba"),
        ({"base_url": "https://ark.cn-beijing.volces.com/api/v3"}, "bytedance"),
        ({"base_url": "http://127.0.0.1:11434/v1"}, "ollama"),
        ({"persona": "deepseek"}, "deepseek"),
        ({"persona": "google-gemini"}, "google-gemini"),
        ({"persona": "reference"}, "compatible"),
        ({"base_url": "http://10.0.0.1/v1", "quirks": ["llamacpp-error-code-integer"]}, "llama.cpp"),
        ({"base_url": "http://10.0.0.1", "wire": "anthropic-messages"}, "anthropic"),
        ({"base_url": "http://10.0.0.1/v1"}, "compatible"),
    ],
)
def test_a_rows_profile_is_the_one_it_names_or_that_of_its_provider(row: dict[str, Any], name: str) -> None:
    assert profile_for(Endpoint(name="e", model="m", **row)).name == name


def test_an_unknown_profile_is_told_with_file_line_and_what_comes_close(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"providers.yaml:\d+: endpoints.e.profile: no profile deepsek .*deepseek"
    ):
        go(configure(tmp_path, e={**REFERENCE, "profile": "deepsek"}), adapted=True)
