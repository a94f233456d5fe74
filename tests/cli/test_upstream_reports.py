"""The draft reports in docs/upstream: their cells tell their rules, and their requests can be sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.engine.options import Options
from conformance.engine.run import run
from conformance.rules import RULES

from .support import conformance

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "docs" / "upstream"
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")
REPORTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("[0-9]*.md"))}
NAMES = sorted(REPORTS)

SCRIPTS = re.compile(r"cat > texts\.json <<'END'\n(.*?)\nEND\n", re.DOTALL)
BODIES = re.compile(r"^curl .*? -d '(.*)'$", re.MULTILINE)
BUILDS = re.compile(
    r"^conformance scripted-model build --scripts texts\.json (.*) --out scripted$", re.MULTILINE
)
ADDRESSES = re.compile(r"https?://([^/\s\"']+)")


def named(report: str, row: str) -> list[str]:
    """What a row of a report's table names between backticks."""
    line = next(line for line in report.splitlines() if line.startswith(f"| {row} |"))
    return re.findall(r"`([^`\s]+)`", line)


def rows_of(table: str) -> list[list[str]]:
    """The rows of the index that name a cell: their columns."""
    return [
        [column.strip() for column in line.strip("| ").split(" | ")]
        for line in table.splitlines()
        if re.search(r"`[a-z-]+/[a-z.-]+`", line)
    ]


@pytest.fixture(scope="module")
def told() -> Mapping[str, frozenset[str]]:
    """The rules told in every cell that a report or the index names, replayed."""
    cells = {cell for report in REPORTS.values() for cell in named(report, "Cell")}
    cells |= set(re.findall(r"`([a-z-]+/[a-z.-]+)`", INDEX))
    in_dialects = {cell for cell in cells if (CHECKOUT / "cassettes-dialects" / f"{cell}.yaml").is_file()}
    found: dict[str, frozenset[str]] = {}
    for config, cassettes, chosen in (
        ("dialects.yaml", "cassettes-dialects", in_dialects),
        ("providers.yaml", "cassettes", cells - in_dialects),
    ):
        pairs = [cell.partition("/") for cell in sorted(chosen)]
        options = Options(
            str(CHECKOUT / config),
            endpoints=tuple(dict.fromkeys(row for row, _, _ in pairs)),
            scenarios=tuple(dict.fromkeys(scenario for _, _, scenario in pairs)),
            cassettes=str(CHECKOUT / cassettes),
        )
        for one in run(options).matrix.cells:
            found[f"{one.endpoint}/{one.scenario}"] = frozenset(finding.rule for finding in one.findings)
    return {cell: found[cell] for cell in cells}


def test_there_are_ten_over_five_programs_at_least() -> None:
    programs = {
        re.sub(r"\d.*", "", columns[1]).strip() for columns in rows_of(INDEX) if columns[0].startswith("[")
    }
    assert (len(NAMES), len(programs) >= 5) == (10, True), programs


@pytest.mark.parametrize("name", NAMES)
def test_the_index_has_the_report_with_its_rule_and_its_cell(name: str) -> None:
    row = next(columns for columns in rows_of(INDEX) if f"({name})" in columns[0])
    rule, cell = row[3].strip("`"), row[4].strip("`")
    assert rule in named(REPORTS[name], "Rule")
    assert cell in named(REPORTS[name], "Cell")


@pytest.mark.parametrize("name", NAMES)
def test_each_rule_that_a_report_names_is_told_in_one_of_its_cells(
    name: str, told: Mapping[str, frozenset[str]]
) -> None:
    cells = named(REPORTS[name], "Cell")
    seen = frozenset().union(*(told[cell] for cell in cells))
    for rule in named(REPORTS[name], "Rule"):
        assert rule in RULES
        assert rule in seen, (rule, sorted(seen))


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_are_linked_where_the_rulebook_has_them(name: str) -> None:
    links = re.findall(r"\[`([^`]+)`\]\(\.\./rules/([a-z.]+\.md)#([a-z-]+)\)", REPORTS[name])
    assert [rule for rule, _, _ in links] == named(REPORTS[name], "Rule")
    for rule, page, anchor in links:
        assert (CHECKOUT / "docs" / "rules" / page).is_file()
        assert rule.startswith(page.removesuffix("md"))
        assert anchor == rule.replace(".", "")


def test_every_cell_that_is_named_is_recorded(told: Mapping[str, frozenset[str]]) -> None:
    cells = set(re.findall(r"`([a-z-]+/[a-z.-]+)`", INDEX))
    assert cells <= set(told)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_one_text_and_one_request_to_this_machine(name: str) -> None:
    (scripts,) = SCRIPTS.findall(REPORTS[name])
    (body,) = BODIES.findall(REPORTS[name])
    assert len(json.loads(scripts)) == 1
    assert isinstance(json.loads(body), dict)
    hosts = {address.rsplit(":", 1)[0] for address in ADDRESSES.findall(REPORTS[name])}
    assert hosts == {"127.0.0.1"}
    assert len(REPORTS[name].splitlines()) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_its_model_can_be_built(name: str, tmp_path: Path) -> None:
    (scripts,) = SCRIPTS.findall(REPORTS[name])
    (options,) = BUILDS.findall(REPORTS[name])
    (tmp_path / "texts.json").write_text(scripts, encoding="utf-8")
    words = ("--scripts", "texts.json", *options.split(), "--format", "gguf", "--out", "scripted")
    built = conformance("scripted-model", "build", *words, cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    written = json.loads((tmp_path / "scripted" / "scripts.json").read_text(encoding="utf-8"))
    assert written.keys() == json.loads(scripts).keys()
