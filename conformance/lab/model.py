"""The scripted model in the lab's folder, rebuilt when what it says has changed."""

# ruff: noqa: S603 -- the command is our own

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import conformance
from conformance.config import DEFAULT_DIALECT
from conformance.lab.errors import LabError

CONTEXT = 32768
"""Tokens of context; a byte of a prompt is a token, and the longest scenario has 128 tools."""

_SOURCES = ("scripted_model", "scenarios", "dialects", "types")
"""The packages that decide what the model says and how."""


def build(folder: Path, dialect: str, say: Callable[[str], None]) -> str:
    """Build the model of the scenarios' ideal turns, unless ``folder`` holds that of these sources.

    Returns a digest of what the model says: a build from other sources that makes the same model keeps it, so
    that its servers go on. Raises `LabError` with the builder's own words where it fails.
    """
    stamp = folder / "sources.sha256"
    digest = _digest(dialect)
    sources, _, model = (stamp.read_text() if stamp.is_file() else "").partition("\n")
    if sources == digest:
        return model or sources
    say(f"building the scripted model in {dialect} (about half a minute)")
    before = _said_by(folder)
    stamp.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "conformance",
        "scripted-model",
        "build",
        "--out",
        str(folder),
        "--ctx",
        str(CONTEXT),
        "--dialect",
        dialect,
    ]
    suite = Path(conformance.__file__).parents[1]
    done = subprocess.run(command, cwd=suite, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"the scripted model could not be built: {done.stderr.strip()[-2000:]}")
    if not (folder / "model.gguf").is_file():
        raise LabError(f"the scripts became several models in {folder}; a server loads one")
    same = sources and _said_by(folder) == before
    model = (model or sources) if same else digest
    stamp.write_text(f"{digest}\n{model}")
    return model


def digest_of(folder: Path) -> str:
    """A digest of a model that somebody else built, by its scripts and when it was written.

    Raises `LabError` where the folder holds none.
    """
    try:
        written = (folder / "model.gguf").stat().st_mtime_ns
        scripts = (folder / "scripts.json").read_bytes()
    except OSError as error:
        raise LabError(
            f"{error.filename}: {error.strerror}; conformance scripted-model build writes it"
        ) from None
    return hashlib.sha256(f"{folder}\0{written}\0".encode() + scripts).hexdigest()


def _said_by(folder: Path) -> str:
    """A digest of all files of a model but its stamp; of none where there is no model."""
    seen = hashlib.sha256()
    for path in sorted(folder.glob("*")):
        if path.is_file() and path.name != "sources.sha256":
            seen.update(path.name.encode() + b"\0" + path.read_bytes())
    return seen.hexdigest()


def _digest(dialect: str) -> str:
    package = Path(conformance.__file__).parent
    files = [path for name in _SOURCES for path in sorted((package / name).rglob("*")) if path.is_file()]
    seen = hashlib.sha256(str(CONTEXT).encode() + (b"" if dialect == DEFAULT_DIALECT else dialect.encode()))
    for path in files:
        if "__pycache__" not in path.parts:
            seen.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return seen.hexdigest()
