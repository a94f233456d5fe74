"""Recordings in files and folders: found, told by their content, read; never raising."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.grade.exchanges import BINARY_STREAM
from conformance.grade.importers import IMPORTERS, Importer
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Unreadable, open_source

_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"SQLite format 3\0", "a SQLite database: export its exchanges as JSONL"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"(\xb5/\xfd", "packed with zstd: unpack it first"),
    (b"PAR1", "a Parquet file: export it as JSONL"),
    (b"\xd4\xc3\xb2\xa1", "a packet capture: export HAR from a proxy instead"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture: export HAR from a proxy instead"),
    (b"\xff\xfe", "UTF-16 text: convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text: convert it to UTF-8"),
)
"""What people have that is no recording here, by its first bytes, and what to do."""

MAX_REFUSED = 1_000
"""How many exchanges of one file are told one by one that can't be read."""

UNKNOWN = "no recording in any known format"


def exchanges(paths: Iterable[Path]) -> Iterator[Recorded | Unusable]:
    """The exchanges of all files below the paths, in order; what can't be read comes as `Unusable`."""
    for path in paths:
        for file in recordings(path):
            if isinstance(file, Unusable):
                yield file
            else:
                yield from exchanges_of(file)


def recordings(path: Path) -> Iterator[Path | Unusable]:
    """The files at or below a path, sorted by name in each folder.

    Hidden files and folders below it are left out, and each folder is entered once, however many symbolic
    links lead to it. Side files of a cassette belong to the cassette.
    """
    if _is_folder(path):
        yield from _below(path)
    else:
        yield path


def exchanges_of(path: Path) -> Iterator[Recorded | Unusable]:
    """The exchanges of one file."""
    file = _shown(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            yield Unusable(file, "not a regular file")
            return
        source = open_source(file, path)
        if not source.head.data.strip():
            yield Unusable(file, "empty", foreign=True)
            return
        importer = importer_of(source.head)
        if importer is None:
            yield Unusable(file, _foreign(source.head), foreign=True)
        else:
            yield from _bounded(file, importer.read(source))
    except (OSError, Unreadable) as error:
        yield Unusable(file, _reason(error))
    except Exception as error:
        yield Unusable(file, f"the suite failed here, please report it: {type(error).__name__}: {error}")


def _bounded(file: str, found: Iterable[Recorded | Unusable]) -> Iterator[Recorded | Unusable]:
    refused = 0
    for one in found:
        if isinstance(one, Unusable) and one.reason != BINARY_STREAM:
            refused += 1
            if refused > MAX_REFUSED:
                continue
        yield one
    if refused > MAX_REFUSED:
        yield Unusable(file, f"{refused - MAX_REFUSED:,} more exchanges of a file can't be read either")


def importer_of(head: Head) -> Importer | None:
    """The importer of the format that a file beginning so is in; ``None`` where none knows it."""
    return next((importer for importer in IMPORTERS if importer.looks_like(head)), None)


def _reason(error: OSError | Unreadable) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _foreign(head: Head) -> str:
    return next((reason for magic, reason in _FOREIGN if head.data.startswith(magic)), UNKNOWN)


def _shown(path: Path) -> str:
    """The path as text that any file can hold: a name need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _below(folder: Path) -> Iterator[Path | Unusable]:
    waiting = [folder]
    seen: set[tuple[int, int]] = set()
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.stat()
            key = (status.st_dev, status.st_ino)
            if key in seen:
                continue
            seen.add(key)
            entries = sorted(folder.iterdir())
        except OSError as error:
            yield Unusable(_shown(folder), _reason(error))
            continue
        names = {entry.name for entry in entries}
        folders: list[Path] = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if not _is_folder(entry):
                yield entry
            elif entry.suffix != ".blobs" or f"{entry.stem}.json" not in names:
                folders.append(entry)
        waiting += reversed(folders)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # such as a permission that is missing: reading it will say so
        return False
