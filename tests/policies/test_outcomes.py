"""Every outcome of every policy can be observed over every wire: running endpoints prove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.policies import POLICIES
from conformance.simulator import Persona
from conformance.types import WIRES, Cell, Observation, WireName
from tests.engine.support import at, configure, go, served
from tests.policies import acts
from tests.policies.endpoints import Act, Acting

TABLES: Mapping[str, Mapping[str, tuple[Act, acts.Expected]]] = {
    "duplicate-tool-names": acts.DUPLICATES,
    "tool-choice": acts.CHOICE,
    "malformed-histories": acts.HISTORIES,
    "empty-content": acts.CONTENT,
}


def run(
    folder: Path, policy: str, table: Mapping[str, Act], wires: tuple[WireName, ...] = WIRES, **row: Any
) -> dict[tuple[str, WireName], Cell]:
    """The cells of a policy by act and wire, every act being an endpoint over every wire."""
    personas = [Persona(name, (Acting(name, act),)) for name, act in table.items()]
    with served(*personas) as simulator:
        rows: dict[str, Any] = {}
        for name in table:
            for wire in wires:
                base = {
                    "base_url": simulator.base_url(name, wire),
                    "wire": wire,
                    "scripted": False,
                    "attempts": 1,
                }
                rows[f"{name}--{wire}"] = at(simulator, name, **base, concurrency=16, **row)
        scenarios = ["policies.reasoning-*"] if policy == "reasoning-echo" else [f"policies.{policy}"]
        outcome = go(configure(folder, **rows), scenarios, mode="live")
    found: dict[tuple[str, WireName], Cell] = {}
    for row_ in outcome.matrix.endpoints:
        for cell in outcome.matrix.cells:
            if cell.endpoint == row_.name and cell.verdict != "unsupported":
                found[row_.name.partition("--")[0], row_.wire] = cell
    return found


@pytest.fixture(scope="module", autouse=True)
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEY", "sk-reference")
        yield


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str, WireName], Cell]:
    """The cells of all acts but the one that hangs, by policy, act and wire."""
    found: dict[tuple[str, str, WireName], Cell] = {}
    tables = {policy: {name: act for name, (act, _) in table.items()} for policy, table in TABLES.items()}
    tables["reasoning-echo"] = {name: acts.reasoning(act) for name, (act, _) in acts.ECHO.items()}
    for policy, table in tables.items():
        for (name, wire), cell in run(tmp_path_factory.mktemp("run"), policy, table).items():
            found[policy, name, wire] = cell
    return found


def outcomes(cell: Cell) -> dict[str, str]:
    return {one.aspect: one.outcome for one in cell.observations}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("policy", "name"), [(policy, name) for policy, table in TABLES.items() for name in table]
)
def test_what_an_endpoint_does_is_what_is_observed(
    observed: Mapping[tuple[str, str, WireName], Cell], policy: str, name: str, wire: WireName
) -> None:
    cell = observed[policy, name, wire]
    seen, wanted = outcomes(cell), TABLES[policy][name][1]
    assert {aspect: seen[aspect] for aspect in wanted} == dict(wanted), cell.observations


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", acts.ECHO)
def test_what_becomes_of_reasoning_is_observed(
    observed: Mapping[tuple[str, str, WireName], Cell], name: str, wire: WireName
) -> None:
    cell = observed["reasoning-echo", name, wire]
    assert outcomes(cell)[acts.AS_IT_CAME[wire]] == acts.ECHO[name][1], cell.observations


def test_every_outcome_of_every_policy_is_among_them(
    observed: Mapping[tuple[str, str, WireName], Cell],
) -> None:
    for policy in POLICIES.values():
        for wire in WIRES:
            cells = [cell for (name, _, on), cell in observed.items() if (name, on) == (policy.id, wire)]
            seen = {outcome for cell in cells for outcome in outcomes(cell).values()}
            assert seen | {"hang", "inconclusive"} == set(policy.outcomes), (policy.id, wire)


def test_whatever_is_observed_nothing_fails(observed: Mapping[tuple[str, str, WireName], Cell]) -> None:
    assert {cell.verdict for cell in observed.values()} == {"conforms", "inconclusive"}
    assert not [cell.findings for cell in observed.values() if cell.findings]


def test_an_observation_points_at_its_evidence(observed: Mapping[tuple[str, str, WireName], Cell]) -> None:
    def points(one: Observation, cell: Cell) -> bool:
        _, exchanges, number, *rest = one.path.split("/")
        exchange = cell.evidence[int(number)]
        return exchanges == "exchanges" and (not rest or exchange[rest[0]] is not None)

    assert all(points(one, cell) for cell in observed.values() for one in cell.observations)


@pytest.mark.parametrize("wire", WIRES)
def test_a_hang_is_observed_and_the_rest_is_asked_all_the_same(tmp_path: Path, wire: WireName) -> None:
    act, wanted = acts.HANGING
    cell = run(tmp_path, "malformed-histories", {"hangs": act}, (wire,), timeout=2)["hangs", wire]
    seen = outcomes(cell)
    assert {aspect: seen[aspect] for aspect in wanted} == dict(wanted)
    assert cell.verdict == "conforms"
    (hang,) = (one for one in cell.observations if one.outcome == "hang")
    assert hang.path.endswith("/failure")


def test_an_endpoint_that_answers_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    cells = run(tmp_path, "tool-choice", {"dead": lambda _: None}, ("openai-chat",), timeout=0.3)
    cell = cells["dead", "openai-chat"]
    assert (cell.verdict, cell.observations) == ("error", ())
