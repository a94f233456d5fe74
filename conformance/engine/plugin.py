"""The pytest plugin: ``providers.yaml`` is collected, endpoints are collectors, scenarios are items.

Load it by name (``pytest -p conformance.engine.plugin providers.yaml -k groq``); it never loads itself.
Node ids read ``providers.yaml::groq::tools.parallel-calls``.
"""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from conformance.config import ConfigError, Endpoint
from conformance.engine.acquire import Acquirer, OnCell
from conformance.engine.options import Options, Selection, select
from conformance.engine.sources import Source, source_of
from conformance.report.jsonfile import cell_to_json
from conformance.scenarios import Scenario
from conformance.types import Cell

OPTIONS = pytest.StashKey[Options]()
ACQUIRER = pytest.StashKey[Acquirer]()
ON_CELL = pytest.StashKey[OnCell]()
INTERRUPTED = pytest.StashKey[threading.Event]()

CELL_ATTRIBUTE = "conformance_cell"
"""Name of the report attribute that carries the cell as JSON from a worker to the controller."""

NOTES_KEY = "conformance_notes"
"""Key of the worker output that carries the acquirer's notes to the controller."""


class CellFailure(AssertionError):
    """The endpoint violates the protocol (an AssertionError: Allure calls anything else broken)."""


class CellError(Exception):
    """We could not tell: network, quota, a missing or stale cassette."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "conformance of LLM endpoints")
    group.addoption(
        "--conformance-mode",
        choices=("replay", "live", "record"),
        default="replay",
        help="Where answers come from: cassettes and the embedded simulator (default), or the network.",
    )
    group.addoption(
        "--conformance-adapted", action="store_true", help="Run every cell through its endpoint's profile."
    )
    group.addoption(
        "--conformance-options", default=None, help="All options of a run as JSON; set by the CLI."
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # What a run makes lives until its report: looking for garbage in it took a sixth of a replay's time.
    gc.set_threshold(50_000, 20, 100)
    given = config.getoption("--conformance-options")
    mode, adapted = config.getoption("--conformance-mode"), config.getoption("--conformance-adapted")
    options = Options.from_json(given) if given else Options(mode=mode, adapted=adapted)
    config.stash[OPTIONS] = options
    if getattr(config.option, "dist", "no") == "load":
        # Plain -n would spread one endpoint's items over workers, and each would acquire all of them.
        config.option.dist = "loadscope"


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput") and getattr(session.config.option, "dist", "no") != "no":
        return
    stash = session.config.stash
    acquirer = Acquirer(
        stash[OPTIONS], on_cell=stash.get(ON_CELL, None), interrupted=stash.get(INTERRUPTED, None)
    )
    stash[ACQUIRER] = acquirer.__enter__()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    acquirer = session.config.stash.get(ACQUIRER, None)
    if acquirer is not None:
        acquirer.__exit__()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[NOTES_KEY] = list(acquirer.notes)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    if file_path.name == "providers.yaml" or parent.session.isinitpath(file_path):
        return cast(pytest.Collector, ProvidersFile.from_parent(parent, path=file_path))
    return None


def pytest_runtestloop(session: pytest.Session) -> None:
    """All endpoints start when the run starts; in a worker each starts with its first item."""
    if hasattr(session.config, "workerinput"):
        return
    for item in session.items:
        if isinstance(item, ScenarioItem):
            item.begin()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" and isinstance(item, ScenarioItem) and item.cell is not None:
        setattr(report, CELL_ATTRIBUTE, json.dumps(cell_to_json(item.cell)))
    return report


class ProvidersFile(pytest.File):
    """``providers.yaml`` as a collector."""

    def collect(self) -> Iterable[pytest.Collector]:
        """The endpoints; raises `CollectError` with file, line and key when the file can't be used."""
        given = self.config.stash[OPTIONS]
        options = given if Path(given.config) == self.path else replace(given, config=str(self.path))
        try:
            selection = select(options)
        except ConfigError as error:
            raise self.CollectError(str(error)) from None
        for endpoint in selection.endpoints:
            yield EndpointCollector.of(self, endpoint, selection, options)


class EndpointCollector(pytest.Collector):
    """One endpoint; its items are the selected scenarios."""

    endpoint: Endpoint
    selection: Selection
    source: Source

    @classmethod
    def of(
        cls, parent: ProvidersFile, endpoint: Endpoint, selection: Selection, options: Options
    ) -> EndpointCollector:
        """The collector of one endpoint of the file."""
        node = cls.from_parent(parent, name=endpoint.name)
        node.endpoint, node.selection = endpoint, selection
        node.source = source_of(endpoint, options)
        return node

    def collect(self) -> Iterable[pytest.Item]:
        """One item per scenario, or a single skipped one that says why the endpoint can't run."""
        if self.source.kind == "none":
            yield cast(pytest.Item, NotRunItem.from_parent(self, name="not-run"))
            return
        for scenario in self.selection.scenarios_of(self.endpoint):
            yield ScenarioItem.of(self, scenario)

    def begin(self) -> None:
        """Start acquiring all of the endpoint's cells, unless that has begun."""
        own = (i for i in self.session.items if isinstance(i, ScenarioItem) and i.parent is self)
        chosen = {item.scenario.id for item in own}
        wanted = [s for s in self.selection.scenarios_of(self.endpoint) if s.id in chosen]
        self.config.stash[ACQUIRER].start(self.endpoint, self.source, wanted)


class NotRunItem(pytest.Item):
    """Stands for an endpoint that can't run."""

    parent: EndpointCollector

    def runtest(self) -> None:
        """Skip, with the reason."""
        pytest.skip(f"{self.parent.endpoint.name} not run: {self.parent.source.reason}")

    def reportinfo(self) -> tuple[Path, None, str]:
        """File and title for reports."""
        return self.path, None, f"{self.parent.name}::{self.name}"


class ScenarioItem(pytest.Item):
    """One cell."""

    parent: EndpointCollector
    scenario: Scenario
    cell: Cell | None = None

    @classmethod
    def of(cls, parent: EndpointCollector, scenario: Scenario) -> ScenarioItem:
        """The item of one scenario against the collector's endpoint."""
        item = cls.from_parent(parent, name=scenario.id)
        item.scenario = scenario
        return item

    def begin(self) -> None:
        """Start acquiring the endpoint's cells."""
        self.parent.begin()

    def runtest(self) -> None:
        """Wait for the cell and report it: violations fail, what we could not tell is an error."""
        self.begin()
        self.cell = cell = self.config.stash[ACQUIRER].cell(self.parent.endpoint.name, self.scenario.id)
        if cell.verdict == "violates":
            raise CellFailure(describe(cell))
        if cell.verdict == "error":
            raise CellError(cell.reason)
        if cell.verdict in ("unsupported", "inconclusive", "not-run"):
            pytest.skip(f"{cell.verdict}: {cell.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings, not a traceback."""
        if isinstance(excinfo.value, CellFailure | CellError):
            return f"{self.parent.name} {self.name}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """File and title for reports."""
        return self.path, None, f"{self.parent.name}::{self.name}"


def describe(cell: Cell) -> str:
    """The findings of a cell as lines a person can act on."""
    lines = [f"{cell.verdict}: {cell.reason}"]
    for finding in cell.findings:
        if finding.level == "MAY":
            continue
        note = f" (declared quirk {finding.quirk})" if finding.quirk else ""
        lines.append(f"  {finding.level} {finding.rule}{note}: {finding.message}")
        lines.append(f"    at {finding.path}: wanted {finding.wanted}, got {finding.got}")
        if finding.consequence:
            lines.append(f"    breaks: {finding.consequence}")
    return "\n".join(lines)
