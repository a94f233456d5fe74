"""A body that is no request is refused by every persona, whatever its quirks look for in requests."""

from __future__ import annotations

import httpx
import pytest

from conformance.simulator import PERSONAS, Simulator, running

BODIES = {
    "nested without end": b'{"model": "reference", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "nested too deeply": b'{"model": "reference", "x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "no UTF-8": b'{"model": "reference", "messages": [{"role": "user", "content": "\xff\xfe"}]}',
    "half a character": b'{"model": "reference", "messages": [{"role": "user", "content": "\\ud800"}]}',
    "no number": b'{"model": "reference", "temperature": NaN}',
    "a number without end": b'{"model": "reference", "max_tokens": ' + b"9" * 5_000 + b"}",
    "a list": b"[]",
    "nothing": b"",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_it_is_refused_and_the_connection_lives_on(body: bytes) -> None:
    simulator = Simulator(tuple(PERSONAS.values()), {})
    headers = {"authorization": f"Bearer {PERSONAS['reference'].key}"}
    with running(simulator), httpx.Client(headers=headers) as client:
        for name in PERSONAS:
            url = f"{simulator.base_url(name)}/chat/completions"
            assert client.post(url, content=body).status_code >= 400, name
    assert {entry.action.partition(":")[0] for entry in simulator.journal} <= {"refused", "took over"}
