"""What ``lab record`` makes of cells that could not be judged at first: they are as in one run."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from conformance.cli.lab_record import Recording
from conformance.simulator import PERSONAS
from conformance.simulator.mutants import MUTANTS
from tests.engine.support import at, cells, configure, go, served

REFERENCE = PERSONAS["reference"]
OTHER = next(mutant for mutant in MUTANTS if mutant.rule == "across.text").persona()
PLAIN = ("chat.plain",)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", REFERENCE.key)


def test_a_cell_asked_again_is_compared_with_the_other_wire_as_in_one_run(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    with served(REFERENCE, OTHER) as simulator:
        other = at(simulator, OTHER.name) | {
            "wire": "anthropic-messages",
            "same_server_as": "chat",
            "base_url": simulator.base_url(OTHER.name, "anthropic-messages"),
        }
        config = configure(tmp_path, chat=at(simulator, "reference"), messages=other)
        fault = json.dumps({"fault": "html-502", "persona": OTHER.name}).encode()
        origin = simulator.base_url("reference").partition("/p/")[0]
        urllib.request.urlopen(f"{origin}/__conformance/faults", fault).close()
        first = go(config, PLAIN, mode="record", cassettes=str(fresh))
        recording = Recording(Path(config), tmp_path / "kept", (), PLAIN, check=False)
        whole = recording.complete(first, Path(config), fresh)
    replayed = go(config, PLAIN, cassettes=str(fresh))
    assert cells(first, "messages")["chat.plain"].verdict == "error"
    told = cells(whole, "messages")["chat.plain"]
    assert "across.text" in {finding.rule for finding in told.findings}
    assert told.findings == cells(replayed, "messages")["chat.plain"].findings
