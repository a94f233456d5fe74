"""The simulator as the author of an adapter meets it: by the example that the README gives."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
AGENT = """
import openai


def run_my_agent(base_url, key):
    client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=2)
    client.chat.completions.create(model="reference", messages=[{"role": "user", "content": "Hello"}])
"""


def test_the_readme_s_example_passes_with_an_agent_that_asks_again(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    plugin, test = example.split("\n\n\n")
    (tmp_path / "conftest.py").write_text(plugin)
    (tmp_path / "test_agent.py").write_text(AGENT + test)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
