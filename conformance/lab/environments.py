"""Installs a recipe's environment into the lab's folder, and finds the Python or Node that it needs."""

# ruff: noqa: S603 -- every command here is our own: pip, npm, a Python

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from conformance.lab.errors import LabError, Unavailable
from conformance.lab.recipe import PythonEnvironment, Recipe, version_tuple

STAMP = "installed.json"
INSTALL_S = 3600
_SHOWN = 2_000
_ASK_VERSION = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
_FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NODE_PATH", "NODE_OPTIONS")

Say = Callable[[str], None]


def is_installed(recipe: Recipe, folder: Path) -> bool:
    """Whether the environment in ``folder`` is what the recipe asks for today."""
    if recipe.python is None and recipe.node is None:
        return True
    try:
        stamp = json.loads((folder / STAMP).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(stamp, dict) and stamp.get("digest") == _digest(recipe)


def why_not(recipe: Recipe, folder: Path) -> str | None:
    """Why this machine can't have the recipe's environment, or ``None`` where it can."""
    if is_installed(recipe, folder):
        return None
    try:
        if recipe.python is not None:
            interpreter(recipe.python)
        if recipe.node is not None:
            node(recipe.node.minimum)
        _check_disk(recipe, folder)
    except Unavailable as error:
        return str(error)
    return None


def install(recipe: Recipe, folder: Path, log: Path, say: Say) -> None:
    """Make the environment, unless it is there; pip's and npm's output goes to ``log``.

    Raises `Unavailable` where the machine doesn't fit, `LabError` where an installer fails. A failed or
    interrupted installation leaves no stamp, so the next one begins anew.
    """
    if is_installed(recipe, folder):
        return
    _check_disk(recipe, folder)
    if recipe.python is not None:
        python = interpreter(recipe.python)
        say(f"installing {recipe.server} ({recipe.disk_mb} MB) with {python} into {folder}")
        _remake(folder)
        _install_python(recipe, recipe.python, python, folder, log)
    elif recipe.node is not None:
        npm = node(recipe.node.minimum)
        say(f"installing {recipe.server} ({recipe.disk_mb} MB) with npm into {folder}")
        _remake(folder)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(recipe.folder / name, folder / name)
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], log, cwd=folder)
    (folder / STAMP).write_text(json.dumps({"digest": _digest(recipe), "server": recipe.server}) + "\n")


def interpreter(wanted: PythonEnvironment) -> Path:
    """A Python with ``venv`` within the versions wanted, this one first.

    Raises `Unavailable` naming what was looked for.
    """
    low = version_tuple(wanted.minimum)
    high = version_tuple(wanted.below) if wanted.below else (4,)
    for candidate in _pythons(low[1], high[1] if len(high) > 1 else low[1] + 8):
        version = version_tuple(_said_by([str(candidate), "-c", _ASK_VERSION]))
        if version and low <= version < high:
            return candidate
    wording = f"Python {wanted.minimum} or newer"
    if wanted.below:
        wording += f", older than {wanted.below}"
    raise Unavailable(f"needs {wording}, with venv; none was found on the PATH or with pyenv")


def node(minimum: int) -> str:
    """The path of npm beside a Node.js that is new enough. Raises `Unavailable`."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        raise Unavailable(f"needs Node.js {minimum} or newer with npm; there is none on the PATH")
    version = version_tuple(_said_by([found, "--version"]))
    if version < (minimum,):
        raise Unavailable(f"needs Node.js {minimum} or newer; {found} is {'.'.join(map(str, version))}")
    return npm


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would lead a foreign program to our packages."""
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN} | dict(extra)


def _pythons(first: int, last: int) -> Iterator[Path]:
    yield Path(sys.executable)
    roots = [Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"]
    for minor in range(first, last):
        on_path = shutil.which(f"python3.{minor}")
        if on_path:
            yield Path(on_path)
        for root in roots:
            yield from sorted(root.glob(f"3.{minor}.*/bin/python3.{minor}"))


def _said_by(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, env=clean_environment({}), capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _check_disk(recipe: Recipe, folder: Path) -> None:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free // 1_000_000
    wanted = 2 * recipe.disk_mb  # the downloads lie there beside what they become
    if free < wanted:
        raise Unavailable(f"needs {wanted} MB while it is installed; {existing} has {free} MB left")


def _remake(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _install_python(recipe: Recipe, wanted: PythonEnvironment, python: Path, folder: Path, log: Path) -> None:
    _run([str(python), "-m", "venv", str(folder)], log)
    own = str(folder / "bin" / "python")
    pip = [own, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--no-cache-dir"]
    if wanted.first:
        _run([*pip, *wanted.first], log)
    lock = recipe.folder / wanted.requirements
    loud = ["--verbose"] if wanted.build else []  # otherwise pip keeps a compiler's output to itself
    # The lock is complete: without resolving, nothing can come in that it doesn't name.
    locked = ["--no-deps", "--require-hashes", "--requirement", str(lock)]
    _run([*pip, *loud, *locked], log, environ=wanted.build)
    if wanted.after:
        _run([own, str(recipe.folder / wanted.after)], log)


def _run(
    command: list[str], log: Path, cwd: Path | None = None, environ: Mapping[str, str] | None = None
) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        output.write(f"$ {' '.join(command)}\n".encode())
        output.flush()
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env=clean_environment(environ or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=INSTALL_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LabError(f"took longer than {INSTALL_S} s: {' '.join(command)}; see {log}") from None
    if done.returncode:
        raise LabError(f"failed ({done.returncode}): {' '.join(command)}\n{tail(log)}")


def tail(log: Path) -> str:
    """The end of a log, and where it lies."""
    try:
        text = log.read_bytes()[-_SHOWN:].decode(errors="replace")
    except OSError:
        text = "(no log)"
    return f"the end of {log}:\n{text}"


def _digest(recipe: Recipe) -> str:
    """Of all that decides what gets installed."""
    files: list[str] = []
    if recipe.python is not None:
        files = [recipe.python.requirements, *([recipe.python.after] if recipe.python.after else [])]
    elif recipe.node is not None:
        files = ["package.json", "package-lock.json"]
    words: list[str] = []
    if recipe.python is not None:
        words = [*recipe.python.first, *(f"{name}={value}" for name, value in recipe.python.build.items())]
    parts = [b"\0".join(word.encode() for word in words)]
    parts += [(recipe.folder / name).read_bytes() for name in files]
    return hashlib.sha256(b"\0\0".join(parts)).hexdigest()
