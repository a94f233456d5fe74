"""A real server (the simulator) is brought up, told of, and taken down; nothing else is touched."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from conformance.lab import Bench, LabError, Running, recipes, running
from conformance.lab.processes import answers, began, start, stop


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "lab", say=lambda _line: None)
    yield made
    made.down()


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_answers_once_it_is_up_and_not_after_it_is_down(bench: Bench, port: int) -> None:
    (running,) = bench.up(["simulator"], {"simulator": port})
    url = f"http://127.0.0.1:{port}/__conformance/health"
    assert answers(url)
    assert dict(bench.running()) == {"simulator": running}
    assert bench.down() == (running,)
    assert not answers(url)
    assert not bench.running()


def test_what_runs_already_stays(bench: Bench, port: int) -> None:
    first = bench.up(["simulator"], {"simulator": port})
    assert bench.up(["simulator"], {"simulator": port}) == first


def test_another_bench_on_the_same_folder_sees_and_stops_it(bench: Bench, port: int) -> None:
    (running,) = bench.up(["simulator"], {"simulator": port})
    other = Bench(bench.folder, say=lambda _line: None)
    assert list(other.running()) == ["simulator"]
    assert other.down(["simulator"]) == (running,)


def test_a_port_that_somebody_else_has_is_not_taken(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(LabError, match=f"port {taken} is taken .*--port simulator=PORT"):
            bench.up(["simulator"], {"simulator": taken})
    assert not bench.running()


def test_a_process_that_only_has_the_number_is_neither_told_of_nor_stopped(
    bench: Bench, tmp_path: Path
) -> None:
    other = start(["sleep", "600"], environ={"PATH": "/usr/bin:/bin"}, cwd=tmp_path, log=tmp_path / "log")
    began_at = began(other.pid)
    assert began_at is not None
    try:
        state = bench.folder / "run" / "simulator.json"
        state.parent.mkdir(parents=True)
        state.write_text(json.dumps(asdict(Running("simulator", other.pid, "long ago", 1))))
        assert not bench.running()
        assert bench.down() == ()
        assert other.poll() is None
    finally:
        stop(other.pid, began_at)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"name": 1}', '{"name": "nope", "pid": 1, "began": "", "port": 1}']
)
def test_a_damaged_state_is_nothing_that_runs(bench: Bench, text: str) -> None:
    state = bench.folder / "run" / "simulator.json"
    state.parent.mkdir(parents=True)
    state.write_text(text)
    assert not bench.running()
    assert bench.down() == ()


def test_a_server_that_ends_at_once_is_told_with_the_end_of_its_log(
    bench: Bench, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = recipes()["simulator"].model_copy(
        update={"command": ("sh", "-c", "echo no such luck ${port} >&2; exit 1")}
    )
    monkeypatch.setattr(running, "with_needs", lambda _names: (broken,))
    with pytest.raises(LabError, match=r"the server ended; [^\n]*\nno such luck"):
        bench.up(["simulator"], {"simulator": port})
    assert not bench.running()


def test_only_we_can_read_what_may_hold_a_key(bench: Bench, port: int) -> None:
    bench.up(["simulator"], {"simulator": port})
    mode = (bench.folder / "run" / "simulator.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
