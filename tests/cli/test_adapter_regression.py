"""The documented example of an adapter regression: on its recordings the commands say what the page says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from .support import ROOT, conformance

PAGE = ROOT / "docs" / "adapter-regression.md"
EXAMPLE = ROOT / "examples" / "adapter-regression"


def sessions() -> Iterator[tuple[str, list[str]]]:
    """Each command of the page, in order, with the lines it shows."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    for command in re.split(r"^\$ ", "".join(blocks).replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        line, *shown = command.splitlines()
        yield line, shown


def in_pairs(
    found: Iterator[tuple[str, list[str]]],
) -> Iterator[tuple[tuple[str, list[str]], tuple[str, list[str]]]]:
    """A command and the ``echo $?`` after it."""
    for command in found:
        echo = next(found)
        assert echo[0] == "echo $?"
        yield command, echo


@dataclass(frozen=True, slots=True)
class Ran:
    """A command's process, and the lines and the exit code that the page shows of it."""

    process: subprocess.CompletedProcess[str]
    shown: list[str]
    code: int


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page's commands run: it has the examples, and then what they wrote."""
    made = tmp_path_factory.mktemp("page")
    (made / "examples").symlink_to(ROOT / "examples")
    return made


@pytest.fixture(scope="module")
def ran(folder: Path) -> list[Ran]:
    """The page's commands, one after the other, each with what ``echo $?`` shows after it."""
    done: list[Ran] = []
    for (line, shown), (_, code) in in_pairs(sessions()):
        process = conformance(*shlex.split(line)[1:], cwd=folder)
        done.append(Ran(process, shown, int(code[0])))
    return done


def test_every_command_prints_what_the_page_shows_and_exits_as_it_says(ran: list[Ran]) -> None:
    assert len(ran) == 6
    for one in ran:
        told = one.process.stdout.splitlines()
        assert one.process.returncode == one.code, one.process.stderr
        if "…" not in one.shown:
            assert told == one.shown
            continue
        rest = iter(told)
        assert [line for line in one.shown if line != "…" and line not in rest] == []


def test_nothing_but_the_gateways_dependency_differs_between_the_two() -> None:
    (before, after) = (
        yaml.safe_load((EXAMPLE / name / "providers.yaml").read_text("utf-8"))["endpoints"]["portkey"]
        for name in ("pinned", "plain")
    )
    assert {key for key in before if before[key] != after[key]} == {"base_url", "server", "recipe"}
    assert [re.findall(r"node-server ([\d.]+)", row["server"]) for row in (before, after)] == [
        ["1.13.8"],
        ["1.19.19"],
    ]


def test_streams_and_the_list_of_models_broke_and_whole_answers_did_not(ran: list[Ran], folder: Path) -> None:
    assert ran
    matrix = json.loads((folder / "after" / "matrix.json").read_text("utf-8"))
    broken = {cell["scenario"] for cell in matrix["cells"] if cell["verdict"] == "violates"}
    whole = {cell["scenario"] for cell in matrix["cells"]} - broken
    assert {scenario.partition(".")[0] for scenario in broken} == {"stream", "models"}
    assert whole == {"chat.plain", "tools.single-call"}
