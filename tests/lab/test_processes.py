"""Processes are told apart from others by number and start, and nothing else is ever stopped."""

from __future__ import annotations

import os
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from conformance.lab import processes

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
IGNORES = (
    "import signal, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('deaf', flush=True)\n"
    "time.sleep(600)\n"
)
PARENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(600)\n"
)


def begin(tmp_path: Path, *command: str) -> tuple[int, str]:
    process = processes.start(command or SLEEP, environ=os.environ, cwd=tmp_path, log=tmp_path / "log")
    started = processes.began(process.pid)
    assert started is not None
    return process.pid, started


def first_line(tmp_path: Path) -> str:
    log = tmp_path / "log"
    assert processes.wait(lambda: log.read_text().endswith("\n"), seconds=30)
    return log.read_text().strip()


def test_a_process_of_ours_is_stopped(tmp_path: Path) -> None:
    pid, started = begin(tmp_path)
    assert processes.stop(pid, started)
    assert processes.began(pid) is None


def test_a_process_with_that_number_but_another_start_is_left_alone(tmp_path: Path) -> None:
    pid, started = begin(tmp_path)
    try:
        assert not processes.stop(pid, started + "0")
        assert processes.began(pid) == started
    finally:
        processes.stop(pid, started)


def test_stopping_what_has_ended_says_so(tmp_path: Path) -> None:
    pid, started = begin(tmp_path)
    assert processes.stop(pid, started)
    assert not processes.stop(pid, started)


def test_its_children_are_stopped_with_it(tmp_path: Path) -> None:
    pid, started = begin(tmp_path, sys.executable, "-c", PARENT)
    child = int(first_line(tmp_path))
    assert processes.stop(pid, started)
    assert processes.wait(lambda: processes.began(child) is None, seconds=30)


def test_one_that_ignores_the_polite_signal_is_stopped_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "STOP_S", 0.2)
    pid, started = begin(tmp_path, sys.executable, "-c", IGNORES)
    assert first_line(tmp_path) == "deaf"
    processes.stop(pid, started)
    assert processes.wait(lambda: processes.began(pid) != started, seconds=30)


def test_two_processes_do_not_have_the_same_start_and_number(tmp_path: Path) -> None:
    one, two = begin(tmp_path), begin(tmp_path)
    try:
        assert one != two
    finally:
        for pid, started in (one, two):
            processes.stop(pid, started)


def test_a_number_nobody_has_never_began() -> None:
    assert processes.began(2**22 + 1) is None


def test_nobody_answers_where_nobody_listens() -> None:
    assert not processes.answers("http://127.0.0.1:9/health")


def test_a_server_answers_where_the_status_is_the_one_that_is_waited_for() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        assert not processes.answers(url)
        assert processes.answers(url, HTTPStatus.NOT_IMPLEMENTED)
        server.shutdown()
        thread.join()
