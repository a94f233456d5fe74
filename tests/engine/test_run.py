"""A run from configuration to matrix: where answers come from, what is judged, what is only listed."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from conformance.config import ConfigError
from conformance.engine.drive import inexpressible
from conformance.engine.run import exit_code
from conformance.scenarios import SCENARIOS
from conformance.simulator import PERSONAS
from conformance.wires import wire
from tests.engine.support import at, cells, configure, gathering, go, served

REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}
DEEPSEEK = {**REFERENCE, "persona": "deepseek"}
GEMINI = {**REFERENCE, "persona": "gemini-front"}
DEEPSEEK_QUIRKS = [
    "deepseek-reasoning-echo-required",
    "duplicate-tool-names-rejected",
    "deepseek-thinking-tool-choice-required",
]
GEMINI_QUIRKS = ["gemini-tool-choice-required-unreliable", "gemini-error-body-array"]


CHAT = {name for name, one in SCENARIOS.items() if inexpressible(one, wire("openai-chat")) is None}
"""What can be said over Chat."""


REFUSING = {
    *("errors.bad-key", "errors.bad-parameters", "errors.bad-tools", "errors.malformed-json"),
    *("errors.malformed-messages", "errors.missing-messages", "errors.orphan-tool-result"),
    *("errors.streamed-request", "errors.unknown-model", "errors.unsupported-parameters"),
    *("history.arguments", "history.assistant-messages", "history.broken-pairing"),
    *("limits.context-length", "models.retrieve", "structured.schema-limits", "tools.custom"),
}
"""Where the reference refuses a request, so that the form of its errors shows."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", PERSONAS["reference"].key)


def test_the_clean_persona_conforms_everywhere(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, reference=REFERENCE), intrusive=True)
    said = {name: cell.verdict for name, cell in cells(outcome).items()}
    assert said == {name: "conforms" if name in CHAT else "unsupported" for name in SCENARIOS}
    assert not [f for cell in outcome.matrix.cells for f in cell.findings]
    assert all(cell.flags == ("simulated",) for name, cell in cells(outcome).items() if name in CHAT)
    assert exit_code(outcome, ["reference"]) == 0


@pytest.mark.parametrize(
    ("row", "quirks", "where"),
    [
        (
            DEEPSEEK,
            DEEPSEEK_QUIRKS,
            {
                "tools.parallel-calls",
                "tools.mixed-text-and-tool-use",
                "tools.result-round-trip",
                "tools.duplicate-names",
                "tools.error-result",
                "tools.sequential-calls",
                "tools.image-result",
                "tools.computer-use",
                "tools.cleared-results",
                "reasoning.echo",
                "structured.with-tools",
                "history.tool-results",
                "history.tool-content",
                "history.content-parts",
                "history.assistant-messages",
                "history.foreign-ids",
                "history.without-tools",
                "limits.large-tool-result",
                "quirks.deepseek-reasoning-echo-required",
                "quirks.deepseek-thinking-tool-choice-required",
                "tools.choice-required",
                "tools.choice-named",
            },
        ),
        (GEMINI, GEMINI_QUIRKS, {"tools.choice-required", *REFUSING}),
    ],
    ids=["deepseek-like", "gemini-like"],
)
def test_a_misbehaving_persona_shows_exactly_its_declared_quirks(
    tmp_path: Path, row: dict[str, Any], quirks: list[str], where: set[str]
) -> None:
    outcome = go(configure(tmp_path, e={**row, "quirks": quirks}), intrusive=True)
    verdicts = {name: cell.verdict for name, cell in cells(outcome).items()}
    assert {name for name, verdict in verdicts.items() if verdict == "quirk"} == where
    declined = {name for name, verdict in verdicts.items() if verdict == "refused"}
    assert declined <= {"tools.allowed-tools"}
    assert {name for name, verdict in verdicts.items() if verdict == "conforms"} == CHAT - where - declined
    assert {f.quirk for c in outcome.matrix.cells for f in c.findings if f.level != "MAY"} == set(quirks)
    assert not outcome.matrix.notes
    assert exit_code(outcome, ["e"]) == 0


@pytest.mark.parametrize(
    ("row", "scenario"),
    [(DEEPSEEK, "tools.duplicate-names"), (DEEPSEEK, "reasoning.echo"), (GEMINI, "tools.choice-required")],
)
def test_an_undeclared_deviation_violates(tmp_path: Path, row: dict[str, Any], scenario: str) -> None:
    outcome = go(configure(tmp_path, e=row), [scenario])
    assert cells(outcome)[scenario].verdict == "violates"
    assert exit_code(outcome, []) == 1


def test_a_quirk_declared_of_the_clean_persona_is_stale(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, e={**REFERENCE, "quirks": ["duplicate-tool-names-rejected"]}))
    assert "stale" in cells(outcome)["tools.duplicate-names"].flags
    assert "declared but no longer shows" in outcome.matrix.notes[0]


def test_what_an_endpoint_does_not_claim_is_unsupported_with_the_reason(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, e={**REFERENCE, "unsupported": ["reasoning"]}), ["reasoning.*"])
    assert {c.verdict for c in outcome.matrix.cells} == {"unsupported"}
    assert cells(outcome)["reasoning.echo"].reason == "the endpoint is configured as not supporting reasoning"


def test_an_endpoint_that_cannot_run_is_a_row_with_the_variable_and_the_command(tmp_path: Path) -> None:
    row = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "key_env": "NO_SUCH_KEY"}
    outcome = go(configure(tmp_path, reference=REFERENCE, other=row), ["chat.plain"])
    other = outcome.matrix.endpoints[1]
    assert (other.status, other.source) == ("not-run", "none")
    assert "set NO_SUCH_KEY" in other.reason
    assert "--record --endpoint other" in other.reason
    assert exit_code(outcome, []) == 0
    assert exit_code(outcome, ["other"]) == 3


def test_record_then_replay_gives_the_same_cells_without_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(PERSONAS["deepseek"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "deepseek", quirks=DEEPSEEK_QUIRKS))
        recorded = go(config, mode="record")
    monkeypatch.delenv("KEY")

    def refuse(*_: Any) -> None:
        raise AssertionError("a replay opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(asyncio, "open_connection", refuse)
    replayed = go(config)
    assert replayed.matrix.endpoints[0].source == "cassette"
    assert {n: (c.verdict, c.findings, c.reason) for n, c in cells(replayed).items()} == {
        n: (c.verdict, c.findings, c.reason) for n, c in cells(recorded).items()
    }
    assert {c.verdict for c in replayed.matrix.cells} == {"conforms", "quirk", "refused", "unsupported"}


def test_one_missing_cassette_of_a_recorded_endpoint_is_an_error_cell(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        go(config, ["chat.*"], mode="record")
    (tmp_path / "cassettes" / "e" / "chat.plain.yaml").unlink()
    outcome = go(config, ["chat.*"])
    verdicts = {n: c.verdict for n, c in cells(outcome).items()}
    assert verdicts.pop("chat.plain") == "error"
    assert set(verdicts.values()) == {"conforms"}
    assert "--record --endpoint e --scenario chat.plain" in cells(outcome)["chat.plain"].reason
    assert exit_code(outcome, []) == 3


def test_a_cassette_of_an_older_scenario_is_an_error_with_the_command_that_records_it_again(
    tmp_path: Path,
) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        go(config, ["chat.plain"], mode="record")
    path = tmp_path / "cassettes" / "e" / "chat.plain.yaml"
    path.write_text(path.read_text().replace("Say hello", "Say goodbye"))
    cell = cells(go(config, ["chat.plain"]))["chat.plain"]
    assert cell.verdict == "error"
    assert cell.reason.startswith("cassette is of an older scenario")
    assert "--record --endpoint e --scenario chat.plain" in cell.reason


def test_recording_again_replaces_a_cassette_only_on_success(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        go(config, ["chat.plain"], mode="record")
        path = tmp_path / "cassettes" / "e" / "chat.plain.yaml"
        before = path.read_bytes()
    outcome = go(config, ["chat.plain"], mode="record")
    assert cells(outcome)["chat.plain"].verdict == "error"
    assert path.read_bytes() == before
    assert outcome.matrix.notes == ("e: chat.plain was not recorded: it was not answered",)
    again = go(config, ["chat.plain", "chat.multi-turn"], mode="record")
    assert again.matrix.notes == ("e: 2 scenarios were not recorded: they were not answered",)


def test_the_request_cap_is_kept(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        outcome = go(config, mode="live", max_requests=5)
        assert len(simulator.journal) == 5
    capped = [c for c in outcome.matrix.cells if c.verdict == "error"]
    assert capped
    assert all(c.reason == "the request cap is spent (max_requests)" for c in capped)


def test_workers_give_the_same_matrix_as_a_single_process(tmp_path: Path) -> None:
    config = configure(tmp_path, a=REFERENCE, b={**DEEPSEEK, "quirks": DEEPSEEK_QUIRKS})
    alone, spread = go(config), go(config, workers=2)
    assert [(c.endpoint, c.scenario, c.verdict) for c in spread.matrix.cells] == [
        (c.endpoint, c.scenario, c.verdict) for c in alone.matrix.cells
    ]


def test_an_endpoints_requests_are_under_way_together(tmp_path: Path) -> None:
    """The server answers nobody until eight requests are open: one after the other would never end."""
    with served(PERSONAS["reference"]) as simulator, gathering(simulator.base_url("reference"), 8) as url:
        config = configure(tmp_path, e=at(simulator, "reference", base_url=url, concurrency=8))
        outcome = go(config, ["stream.*", "tools.choice-*", "tools.single-call"], mode="live")
    assert {c.verdict for c in outcome.matrix.cells} == {"conforms"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**REFERENCE, "persona": "referenc"}, "no persona referenc (did you mean reference?)"),
        (
            {**REFERENCE, "quirks": ["duplicate-tool-name-rejected"]},
            "did you mean duplicate-tool-names-rejected?",
        ),
        ({**REFERENCE, "unsupported": ["reasonin"]}, "no capability reasonin (did you mean reasoning?)"),
    ],
)
def test_an_unknown_name_in_the_configuration_is_refused_with_its_line(
    tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    config = configure(tmp_path, e=row)
    with pytest.raises(ConfigError) as error:
        go(config)
    assert said in str(error.value)
    line = int(str(error.value).split(":")[1])
    key = str(error.value).split(": ")[1].split(".")[-1]
    lines = Path(config).read_text().splitlines()
    assert key in lines[line - 1] or key in lines[line - 2]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"endpoints": ("refernce",)}, "no endpoint refernce (did you mean reference?)"),
        ({"scenarios": ("tols.*",)}, "no scenario tols.*"),
        ({"rules": ("chat.x",)}, "no rule chat.x"),
    ],
)
def test_an_unknown_name_in_the_options_is_refused(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        go(configure(tmp_path, reference=REFERENCE), **more)
    assert said in str(error.value)
