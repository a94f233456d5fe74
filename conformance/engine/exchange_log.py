"""The exchanges of a run as JSON lines, redacted: what ``grade`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.config import ConfigError
from conformance.grade.jsonl import to_line
from conformance.transport.redact import Redactor, SecretLeak
from conformance.types import Exchange, FailureKind

_NEVER_SENT: frozenset[FailureKind] = frozenset({"no-cassette", "older-scenario", "request-cap"})


def begin(path: Path, option: str = "--exchanges") -> None:
    """Make the file, empty. Raises `ConfigError`, naming the option, where it can't be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError as error:
        raise ConfigError(f"{option} {path}: can't be written to: {error.strerror}") from None


def append(
    path: Path, exchanges: Iterable[Exchange], cell: tuple[str, str], redactor: Redactor
) -> tuple[str, ...]:
    """Add the exchanges of a cell (endpoint, scenario), in order; returns why they could not be, if so.

    The scenario is ``""`` for exchanges that belong to none.

    Several processes may add to one file: the lines of a cell stay together. None of them is written when
    redaction leaves something.
    """
    try:
        data = "".join(_lines(exchanges, *cell, redactor)).encode()
        with path.open("ab", buffering=0) as file:
            file.write(data)
    except (SecretLeak, OSError) as error:
        return (f"{cell[0]}: {cell[1]}: exchanges not written to {path}: {error}",)
    return ()


def _lines(exchanges: Iterable[Exchange], endpoint: str, scenario: str, redactor: Redactor) -> Iterator[str]:
    for exchange in exchanges:
        if exchange.failure is not None and exchange.failure.kind in _NEVER_SENT:
            continue
        clean = redactor.exchange(exchange)
        line = json.dumps(to_line(clean, endpoint=endpoint, scenario=scenario), ensure_ascii=False)
        if leaks := redactor.leaks(line):
            raise SecretLeak(leaks[0])
        yield line + "\n"
