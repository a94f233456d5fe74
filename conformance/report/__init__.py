"""Reports: one writer per format, each a function of the matrix and a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.report import allure, dialects, jsonfile, junit, markdown
from conformance.types import Matrix

Writer = Callable[[Matrix, Path], None]

WRITERS: Mapping[str, Writer] = {
    "json": jsonfile.write,
    "markdown": markdown.write,
    "junit": junit.write,
    "allure": allure.write,
}

_NAMES = {"json": "matrix.json", "markdown": "matrix.md", "junit": "junit.xml", "allure": "allure-results"}


def write_all(matrix: Matrix, folder: Path) -> tuple[Path, ...]:
    """Write every format into ``folder``, made if missing, and say which files and folders that were.

    Where there are scripted models of several dialects, a page compares these, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for form, write in WRITERS.items():
        write(matrix, folder / _NAMES[form])
    written = tuple(folder / _NAMES[form] for form in WRITERS)
    if not dialects.covers(matrix):
        return written
    dialects.write(matrix, folder / "dialects.md")
    return (*written, folder / "dialects.md")
