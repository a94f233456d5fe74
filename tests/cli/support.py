"""Runs the command as a user does: in a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def conformance(
    *words: str, cwd: Path, env: dict[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """The finished process; its environment holds nothing but PATH, HOME and ``env``."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *words],
        cwd=cwd,
        env=clean_environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )


def clean_environment(env: dict[str, str] | None = None) -> dict[str, str]:
    """A fresh machine's environment, with UTF-8 output."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **(env or {})}
