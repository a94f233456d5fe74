"""Where the simulator refuses, the official SDK raises its class of error with what our wires tell of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from conformance.types import WIRES, Exchange, WireName
from conformance.wires import ErrorInfo, wire

from .oracle import IN_STREAM, Oracle, Question
from .replay import Replay
from .spoken import CELLS, CLEAN, STATUSES, Simulated, refusing

Oracles = Callable[[WireName], Oracle]

OPENAI = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    409: "ConflictError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
}
ANTHROPIC = {
    **OPENAI,
    402: "PaymentRequiredError",
    408: "RequestTimeoutError",
    413: "ContentTooLargeError",
    503: "ServiceUnavailableError",
    504: "GatewayTimeoutError",
    529: "OverloadedError",
}


def class_of(over: WireName, status: int) -> str:
    """The class that an SDK documents for a status."""
    match over:
        case "gemini":
            return "ServerError" if status >= 500 else "ClientError"
        case "ollama":
            return "ResponseError"
        case "anthropic-messages":
            named = ANTHROPIC.get(status)
        case _:
            named = OPENAI.get(status)
    return named or ("InternalServerError" if status >= 500 else "APIStatusError")


def raises(exchange: Exchange, asked: Question, replay: Replay, oracle: Oracle) -> None:
    """The SDK raises what our wire tells, of the class for the status, whichever form was asked for."""
    answer = exchange.response
    assert answer is not None
    told = wire(oracle.wire).error_of(answer)
    assert told is not None
    for streamed in (False, True):
        replay.load(answer)
        raised = oracle.ask_in_vain(replace(asked, streamed=streamed))
        assert len(replay.heard) == 1
        assert (raised.name, raised.status) == (class_of(oracle.wire, answer.status), answer.status)
        assert raised.info == known_to(oracle.wire, told)


def known_to(over: WireName, told: ErrorInfo) -> ErrorInfo:
    """As much of it as the SDK has attributes for."""
    match over:
        case "ollama":
            return ErrorInfo(told.message)
        case "anthropic-messages" | "gemini":
            return replace(told, param=None)
        case _:
            return told


PLAIN: Mapping[WireName, dict[str, Any]] = {
    "openai-chat": {"messages": [{"role": "user", "content": "Hi"}]},
    "openai-responses": {"input": "Hi"},
    "anthropic-messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "ollama": {"messages": [{"role": "user", "content": "Hi"}]},
}


def plainly(over: WireName) -> Question:
    body = PLAIN[over] if over == "gemini" else {"model": "reference", **PLAIN[over]}
    return Question(body, "reference", False)


@pytest.mark.parametrize(("over", "scenario"), CELLS)
def test_every_refusal_is_raised_as_we_tell_it(
    simulated: Simulated, replay: Replay, oracle: Oracles, over: WireName, scenario: str
) -> None:
    for exchange in simulated.run(scenario, over, CLEAN):
        if exchange.response is not None and exchange.response.status >= 400:
            raises(exchange, plainly(over), replay, oracle(over))


@pytest.mark.parametrize("over", WIRES)
@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_raised_as_we_tell_it(
    simulated: Simulated, replay: Replay, oracle: Oracles, over: WireName, status: int
) -> None:
    (exchange,) = simulated.run("chat.plain", over, refusing(status))
    raises(exchange, plainly(over), replay, oracle(over))


BROKEN: Mapping[WireName, tuple[bytes, str]] = {
    "openai-chat": (
        b'data: {"error": {"message": "gone", "type": "server_error", "param": null, "code": "c"}}\n\n',
        "APIError",
    ),
    "openai-responses": (
        b'event: error\ndata: {"type": "error", "message": "gone", "param": null, "code": "c",'
        b' "sequence_number": 2}\n\n',
        "ResponseErrorEvent",
    ),
    "anthropic-messages": (
        b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error",'
        b' "message": "gone"}}\n\n',
        "APIStatusError",
    ),
    "gemini": (
        b'data: {"error": {"code": 503, "message": "gone", "status": "UNAVAILABLE"}}\n\n',
        "ServerError",
    ),
    "ollama": (b'{"error": "gone"}\n', "ResponseError"),
}
"""An error in a stream, as each API documents it, and the class of what its SDK raises or hands on."""


@pytest.mark.parametrize("over", BROKEN)
def test_an_error_in_a_stream_is_raised_as_we_tell_it(
    simulated: Simulated, replay: Replay, oracle: Oracles, over: WireName
) -> None:
    error, name = BROKEN[over]
    (stream,) = (e.response for e, q in simulated.questions("chat.plain", over, CLEAN) if q.streamed)
    assert stream is not None
    end = b"\n" if over == "ollama" else b"\r\n\r\n" if b"\r\n\r\n" in stream.body else b"\n\n"
    answer = replace(stream, body=stream.body.partition(end)[0] + end + error)
    replay.load(answer)
    told = wire(over).error_of(answer)
    assert told is not None
    raised = oracle(over).ask_in_vain(replace(plainly(over), streamed=True))
    assert (raised.name, raised.status, raised.info) == (name, IN_STREAM, known_to(over, told))
