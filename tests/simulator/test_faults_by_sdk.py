"""Every fault as the official SDKs meet it, on every wire: what they raise, or read all the same."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.simulator import Simulator
from conformance.simulator.faults import FAULTS
from conformance.types import WIRES, WireName

from .asking import HANG_S, WAIT_S, outcome
from .support import SCRIPTS

READ = SCRIPTS["plain"].text

LOST = ("RemoteProtocolError", "RemoteProtocolError")

Outcomes = tuple[str, str, str, str, str]
"""Over Chat, Responses, Anthropic's, Gemini's and Ollama's wire."""


def all_of(said: str) -> Outcomes:
    return (said, said, said, said, said)


def openai_and(said: str, anthropic: str, gemini: str, ollama: str) -> Outcomes:
    return (said, said, anthropic, gemini, ollama)


LIMITED = openai_and("RateLimitError", "RateLimitError", "ClientError", "ResponseError")
FAILED = openai_and("InternalServerError", "InternalServerError", "ServerError", "ResponseError")
BROKEN = openai_and("APIConnectionError", "RemoteProtocolError", "RemoteProtocolError", "RemoteProtocolError")
RESET = openai_and("APIConnectionError", "ReadError", "ReadError", "ReadError")
HUNG = openai_and("APITimeoutError", "APITimeoutError", "ReadTimeout", "ReadTimeout")

STREAMED: dict[str, Outcomes] = {
    "hang": HUNG,
    "garbage": openai_and("APIConnectionError", "APIConnectionError", *LOST),
    # An answer of nothing is an empty one to whoever does not look for its end.
    "empty-body": ("", "RuntimeError", "AssertionError", "", ""),
    "short-body": BROKEN,
    "html-200": ("", "RuntimeError", "AssertionError", "UnknownApiResponseError", "JSONDecodeError"),
    "html-502": FAILED,
    "rate-limited": LIMITED,
    "rate-limited-bare": LIMITED,
    "server-error": FAILED,
    "overloaded": ("InternalServerError", "InternalServerError", "ServiceUnavailableError", *FAILED[3:]),
    "error-body-200": ("", "RuntimeError", "AssertionError", "ServerError", "ResponseError"),
    "error-array": openai_and("BadRequestError", "BadRequestError", "ClientError", "AttributeError"),
    "error-mid-stream": ("APIError", "RuntimeError", "APIStatusError", "ServerError", "ResponseError"),
    # All of the text was there, but Gemini's last words are in its last chunk; one helper misses the end.
    "no-finish": (READ, "RuntimeError", READ, "cut", READ),
    "no-done": all_of(READ),
    "usage-late": all_of(READ),
    "usage-twice": all_of(READ),
    # Google's SDK reads no server-sent events but those it knows.
    "data-without-space": (READ, READ, READ, "UnknownApiResponseError", READ),
    "crlf": all_of(READ),
    "keep-alive-comments": (READ, READ, READ, "UnknownApiResponseError", READ),
    "wrong-content-type": all_of(READ),
    "broken-chunks": BROKEN,
    "split-utf8": all_of(READ),
    "slow": all_of(READ),
    "slow-drip": all_of(READ),
    "stream-cut": RESET,
    "stream-close": BROKEN,
    "arguments-object": all_of(READ),
    "missing-ids": all_of(READ),
    "missing-index": all_of(READ),
}

NO_JSON: Outcomes = ("JSONDecodeError", "JSONDecodeError", "JSONDecodeError", "None", "JSONDecodeError")
WHOLE: dict[str, Outcomes] = {
    **{name: said for name, said in STREAMED.items() if said[0] != READ},
    "garbage": openai_and("APIConnectionError", "APIConnectionError", *LOST),
    "empty-body": NO_JSON,
    "short-body": ("APIConnectionError", "APIConnectionError", "APIConnectionError", *LOST),
    "html-200": ("AttributeError", "AttributeError", "AttributeError", "JSONDecodeError", "JSONDecodeError"),
    "error-body-200": ("TypeError", "TypeError", "TypeError", "None", "ValidationError"),
    "error-mid-stream": all_of(READ),
    "broken-chunks": ("APIConnectionError", "APIConnectionError", "APIConnectionError", *LOST),
    "stream-cut": (
        "APIConnectionError",
        "APIConnectionError",
        "APIConnectionError",
        "ReadError",
        "ReadError",
    ),
    "stream-close": ("APIConnectionError", "APIConnectionError", "APIConnectionError", *LOST),
    **{name: all_of(READ) for name, said in STREAMED.items() if said[0] == READ},
}
"""Where nothing is streamed; what goes wrong with streams only, does not."""


def rows(table: dict[str, Outcomes]) -> list[Any]:
    return [
        pytest.param(fault, wire, said, id=f"{fault}-{wire}")
        for fault, all_said in table.items()
        for wire, said in zip(WIRES, all_said, strict=True)
    ]


def test_the_tables_have_every_fault_that_ends() -> None:
    assert STREAMED.keys() == WHOLE.keys() == {fault.name for fault in FAULTS} - {"endless-stream"}


@pytest.mark.parametrize(("fault", "wire", "said"), rows(STREAMED))
def test_streamed(simulator: Simulator, fault: str, wire: WireName, said: str) -> None:
    seen = outcome(simulator, fault, wire, True, HANG_S if fault == "hang" else WAIT_S)
    if said == "cut":
        assert seen
        assert READ.startswith(seen)
        assert seen != READ
    else:
        assert seen == said


@pytest.mark.parametrize(("fault", "wire", "said"), rows(WHOLE))
def test_whole(simulator: Simulator, fault: str, wire: WireName, said: str) -> None:
    seen = outcome(simulator, fault, wire, False, HANG_S if fault == "hang" else WAIT_S)
    assert seen == said
