"""Which results a question is about, where several calls were answered at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def by_question(question: str, results: Iterable[tuple[Any, str]]) -> tuple[list[str], list[str]]:
    """The results of the calls that a question is about, and those of the other calls.

    Each comes with the arguments of its call; the question is about it where it holds one of their values.
    """
    right: list[str] = []
    wrong: list[str] = []
    for arguments, text in results:
        values = arguments.values() if isinstance(arguments, dict) else ()
        about = any(isinstance(value, str) and value in question for value in values)
        (right if about else wrong).append(text)
    return right, wrong
