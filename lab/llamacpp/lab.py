"""``lab.py up | down | status | smoke``: now ``conformance lab``, see docs/lab.md; kept for old habits."""

# ruff: noqa: S603 -- the command is our own

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
WORDS = {
    "up": ["up", "llamacpp"],
    "down": ["down", "llamacpp"],
    "status": ["status"],
    "smoke": ["record", "llamacpp", "--endpoint", "llamacpp", "--scenario", "chat.*", "--check"],
}


def main() -> int:
    words = sys.argv[1:]
    if not words or words[0] not in WORDS:
        print(__doc__, file=sys.stderr)
        return 2
    own = CHECKOUT / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    # The old --port took the number alone.
    more = [f"llamacpp={word}" if before == "--port" else word for before, word in pairwise(words)]
    command = [python, "-m", "conformance", "lab", *WORDS[words[0]], *more]
    return subprocess.run(command, cwd=CHECKOUT, env=dict(os.environ), check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
