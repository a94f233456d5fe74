"""Input of the commands that read a file or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

MAX_INPUT = 32 * 1024 * 1024
"""Most bytes read: far beyond any request or recorded answer."""


class InputError(Exception):
    """What can't be read; the message names the file."""


def read_input(file: str) -> bytes:
    """The bytes of a file, or of standard input for ``-``. Raises ``InputError``."""
    try:
        if file == "-":
            if sys.stdin is None:  # the caller closed it
                raise InputError("standard input: closed")
            data = sys.stdin.buffer.read(MAX_INPUT + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(MAX_INPUT + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{name_of(file)}: {reason}") from None
    if len(data) > MAX_INPUT:
        raise InputError(f"{name_of(file)}: larger than {MAX_INPUT:,} bytes")
    return data


def name_of(file: str) -> str:
    """The file as messages name it."""
    return "standard input" if file == "-" else file
