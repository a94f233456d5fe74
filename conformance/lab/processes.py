"""Processes that outlive the command that started them, told apart from others by pid *and* start."""

# ruff: noqa: S603 -- the commands are the recipes'

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

STOP_S = 15.0
_STARTED_AT = 19
"""Where ``starttime`` stands in /proc/PID/stat, counted after the name. Source: proc(5)."""


def start(
    command: Sequence[str], *, environ: Mapping[str, str], cwd: Path, log: Path
) -> subprocess.Popen[bytes]:
    """Start a process that leads a session of its own and writes to ``log``. Raises `OSError`."""
    with log.open("wb") as output:
        return subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def began(pid: int) -> str | None:
    """When a living process started, in whatever words the system has; ``None`` where there is none.

    Two processes may have the same number one after the other, but not with the same start.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return _began_by_ps(pid) if not Path("/proc/self/stat").exists() else None
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[_STARTED_AT]


def stop(pid: int, start: str) -> bool:
    """End the process and its group, first politely; whether it was there.

    Nothing is sent to a process of that number that started at another time.
    """
    if began(pid) != start:
        return False
    _signal_group(pid, signal.SIGTERM)
    wait(lambda: began(pid) != start, seconds=STOP_S)
    # Also where the leader went: its children may have stayed, and the group's number is still theirs.
    _signal_group(pid, signal.SIGKILL)
    wait(lambda: began(pid) != start, seconds=STOP_S)
    return True


def wait(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Whether the condition became true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def answers(url: str, status: int = 200) -> bool:
    """Whether a GET is answered with that status."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as response:
            return bool(response.status == status)
    except urllib.error.HTTPError as refusal:
        return refusal.code == status
    except (OSError, ValueError, urllib.error.URLError):
        return False


def is_taken(port: int) -> bool:
    """Whether somebody listens on the port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _began_by_ps(pid: int) -> str | None:
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    state, _, at = said.strip().partition(" ")
    return None if not at or state.startswith("Z") else at.strip()


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
