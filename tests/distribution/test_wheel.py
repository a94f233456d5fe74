"""The wheel, installed into an empty environment outside the checkout, certifies the reference endpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
        "--wheel-dir", str(folder), str(ROOT),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"conformance"}
    shipped = {name for name in names if name.startswith("conformance/")}
    for path in (ROOT / "conformance").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in shipped


def test_it_certifies_the_reference_endpoint_from_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    subprocess.run(
        [*install, "--require-hashes", "--requirement", str(ROOT / "requirements/run.txt")], check=True
    )
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [python, "-m", "conformance", "certify", "simulator:reference", "--model", "reference", "--json"],
        cwd=elsewhere,
        env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {cell["verdict"] for cell in document["cells"]} == {"conforms", "unsupported"}
