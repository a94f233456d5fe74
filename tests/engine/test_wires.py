"""The same scenarios over every wire, in a dialect, and compared across the wires of one server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from conformance.engine.run import exit_code
from conformance.simulator import PERSONAS, Behaviour, Persona
from conformance.types import Text, Turn, WireName
from tests.engine.support import at, cells, configure, go, served

REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}
WIRES = get_args(WireName)
AUTH = {"ollama": ["auth"]}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", PERSONAS["reference"].key)


def over(wire: str, **more: Any) -> dict[str, Any]:
    """The reference endpoint over a wire; Ollama's asks for no key."""
    return {**REFERENCE, "wire": wire, "unsupported": AUTH.get(wire, []), **more}


@pytest.mark.parametrize("wire", WIRES)
def test_the_reference_endpoint_conforms_in_whatever_a_wire_can_say(tmp_path: Path, wire: str) -> None:
    outcome = go(configure(tmp_path, e=over(wire)), intrusive=True)
    by_verdict: dict[str, set[str]] = {}
    for name, cell in cells(outcome).items():
        by_verdict.setdefault(cell.verdict, set()).add(name)
    assert by_verdict.keys() == {"conforms", "unsupported"}
    assert {"chat.plain", "tools.parallel-calls", "stream.parallel-calls"} <= by_verdict["conforms"]
    assert not [f for cell in outcome.matrix.cells for f in cell.findings]
    assert exit_code(outcome, ["e"]) == 0


@pytest.mark.parametrize(
    ("wire", "scenario", "reason"),
    [
        ("anthropic-messages", "parameters.n", "anthropic-messages has no words for step 1: "),
        ("ollama", "tools.choice-required", "ollama has no words for step 1: "),
        ("gemini", "errors.malformed-messages", "the scenario is about openai-chat"),
    ],
)
def test_what_a_wire_cannot_say_is_unsupported_with_the_reason(
    tmp_path: Path, wire: str, scenario: str, reason: str
) -> None:
    outcome = go(configure(tmp_path, e=over(wire)), [scenario])
    cell = cells(outcome)[scenario]
    assert (cell.verdict, cell.reason.startswith(reason)) == ("unsupported", True)


def test_only_a_scripted_model_is_asked_for_what_no_other_can_be_made_to_write(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        row = at(simulator, "reference", scripted=False)
        outcome = go(configure(tmp_path, e=row), ["parser.one-line"], mode="live")
    assert cells(outcome)["parser.one-line"].reason == "only our scripted model writes what this needs"


# ------------------------------------------------------------------------------------- across wires


@dataclass(frozen=True, slots=True)
class Shouting(Behaviour):
    """An endpoint whose answers to a system prompt are in capitals."""

    def turn(self, request: Any, turn: Turn) -> Turn:
        return Turn(tuple(Text(p.text.upper()) if isinstance(p, Text) else p for p in turn.parts))


def test_a_difference_between_two_wires_of_a_server_is_a_finding_of_its_own(tmp_path: Path) -> None:
    with served(PERSONAS["reference"], Persona("loud", (Shouting("shouting"),))) as simulator:
        url = simulator.base_url("loud", "anthropic-messages")
        base = at(simulator, "reference")
        other = {**base, "base_url": url, "wire": "anthropic-messages", "same_server_as": "a"}
        outcome = go(configure(tmp_path, a=base, b=other), ["chat.plain"], mode="live")
    quiet, loud = outcome.matrix.cells
    assert (quiet.verdict, loud.verdict) == ("conforms", "warns")
    (finding,) = loud.findings
    assert (finding.rule, finding.path) == ("across.text", "/exchanges/0/response")
    assert "HELLO THERE" in finding.got
    assert "Hello there" in finding.wanted


def test_the_comparison_is_the_same_when_the_other_row_is_not_part_of_the_run(tmp_path: Path) -> None:
    rows = {"a": REFERENCE, "b": over("anthropic-messages", same_server_as="a")}
    alone = go(configure(tmp_path, **rows), ["chat.plain"], endpoints=("b",))
    assert [cell.verdict for cell in alone.matrix.cells] == ["conforms"]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nobody", "no endpoint nobody"),
        ("aa", r"no endpoint aa \(did you mean a\?\)"),
        ("b", "b is this row itself; name another row"),
        ("c", "c is compared with a itself"),
    ],
)
def test_a_row_is_compared_with_another_that_is_not_compared_itself(
    tmp_path: Path, named: str, said: str
) -> None:
    from conformance.config import ConfigError

    rows = {"a": REFERENCE, "b": {**REFERENCE, "same_server_as": named}}
    rows["c"] = {**REFERENCE, "same_server_as": "a"}
    with pytest.raises(ConfigError, match=rf":\d+: endpoints\.b\.same_server_as: {said}"):
        go(configure(tmp_path, **rows), ["chat.plain"])


# ----------------------------------------------------------------------------------------- dialects


DIALECTS = {"hermes-text": "hermes", "react-text": "react", "json-action-text": "json-action"}


@pytest.mark.parametrize(("persona", "dialect"), DIALECTS.items())
def test_tools_travel_in_the_prompt_and_calls_in_the_text(tmp_path: Path, persona: str, dialect: str) -> None:
    row = {**REFERENCE, "persona": persona, "dialect": dialect}
    outcome = go(configure(tmp_path, e=row), ["tools.*", "stream.*", "history.*"])
    said = {name: cell.verdict for name, cell in cells(outcome).items()}
    assert set(said.values()) == {"conforms", "unsupported"}
    for name in ("tools.parallel-calls", "tools.sequential-calls", "tools.image-result", "stream.arguments"):
        assert said[name] == "conforms"
    sent = cells(outcome)["tools.single-call"].evidence[0]["request"]["body"]
    assert '"tools"' not in sent
    assert "get_weather" in sent


def test_a_dialect_may_be_called_by_its_alias(tmp_path: Path) -> None:
    row = {**REFERENCE, "persona": "hermes-text", "dialect": "qwen3"}
    outcome = go(configure(tmp_path, e=row), ["tools.single-call"])
    assert cells(outcome)["tools.single-call"].verdict == "conforms"


def test_without_the_dialect_the_same_server_leaks_its_calls_and_is_told_so(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, e={**REFERENCE, "persona": "hermes-text"}), ["tools.single-call"])
    cell = cells(outcome)["tools.single-call"]
    (finding,) = [f for f in cell.findings if f.rule == "chat.response.no-call-markup-leak"]
    assert finding.got.startswith('hermes: get_weather({"city": "Paris"}), written <tool_call>')
    assert cell.verdict == "warns"


def test_what_a_dialect_cannot_say_is_unsupported_with_the_reason(tmp_path: Path) -> None:
    row = {**REFERENCE, "persona": "hermes-text", "dialect": "hermes"}
    outcome = go(configure(tmp_path, e=row), ["tools.choice-named", "tools.no-parameters"])
    reasons = {name: cell.reason for name, cell in cells(outcome).items()}
    assert reasons["tools.choice-named"].startswith("hermes has no words for step 1: said in words")
    assert reasons["tools.no-parameters"].startswith("hermes has no words for step 1: ")


def test_an_unknown_dialect_is_refused_with_its_line(tmp_path: Path) -> None:
    from conformance.config import ConfigError

    with pytest.raises(
        ConfigError, match=r"endpoints\.e\.dialect: no dialect hermse \(did you mean hermes\?\)"
    ):
        go(configure(tmp_path, e={**REFERENCE, "dialect": "hermse"}), ["chat.plain"])


# ----------------------------------------------------------------------------------------- flavours


@pytest.mark.parametrize(
    ("persona", "flavour"), [("reference", "openai"), ("open-responses", "open-responses")]
)
def test_where_published_readings_disagree_the_report_says_which_one_holds(
    tmp_path: Path, persona: str, flavour: str
) -> None:
    row = over("openai-responses", persona=persona)
    outcome = go(configure(tmp_path, e=row), ["stream.*", "reasoning.*", "tools.*"])
    assert {cell.verdict for cell in outcome.matrix.cells} == {"conforms", "unsupported"}
    assert {cell.flavour for cell in outcome.matrix.cells} == {None, flavour}
    assert [note.partition(" in ")[0] for note in outcome.matrix.notes] == [
        f"e holds to the flavour {flavour}"
    ]


def test_what_no_model_of_the_dialect_writes_is_unsupported_with_the_reason(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        row = at(simulator, "reference", scripted="qwen3-coder")
        outcome = go(configure(tmp_path, e=row), ["parser.arguments-first", "parser.two-calls"], mode="live")
    assert cells(outcome)["parser.arguments-first"].verdict == "unsupported"
    assert "no model of qwen3-coder writes this" in cells(outcome)["parser.arguments-first"].reason
    assert cells(outcome)["parser.two-calls"].verdict == "conforms"
    assert outcome.matrix.endpoints[0].scripted == "qwen3-coder"


def test_what_an_endpoint_does_not_claim_is_told_with_the_reason_it_gives(tmp_path: Path) -> None:
    row = {**REFERENCE, "unsupported": {"reasoning": "this build has none"}}
    outcome = go(configure(tmp_path, e=row), ["reasoning.stream"])
    (cell,) = outcome.matrix.cells
    assert cell.verdict == "unsupported"
    assert cell.reason.endswith("not supporting reasoning: this build has none")
