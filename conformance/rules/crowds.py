"""Requests under way at the same time, each with a code that nobody can guess."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.rules.reading import Reading
from conformance.rules.views import View, Violation

_CODE = re.compile(r"\bcanary-[0-9a-f]{8}\b")


def foreign_codes(messages: Iterable[View], crowd: Iterable[Reading]) -> Iterator[Violation]:
    """Nothing where no message of a crowd has the code of another request than its own."""
    own = {reading.index: _codes(reading.asked) for reading in crowd}
    owners = {code: index for index, codes in own.items() for code in codes}
    for message in messages:
        for code in sorted(_codes(message.value) - own[message.reading.index]):
            if code in owners:
                saw = f"{code}, which is in the request of exchange {owners[code]}"
                yield message.found(wanted="nothing of another request", saw=saw)


def _codes(value: Any) -> frozenset[str]:
    try:
        return frozenset(_CODE.findall(json.dumps(value, default=str)))
    except (TypeError, ValueError, RecursionError):
        return frozenset()
