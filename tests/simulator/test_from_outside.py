"""The simulator as the author of an adapter meets it: by the example that the README gives."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_s_example_prints_what_it_says() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (said,) = re.findall(r"print\(.*\)  # (.*)", example)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == (said, 0), done.stderr
