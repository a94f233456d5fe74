"""Cassettes: exchanges on disk in vcrpy's file format, and a transport that replays them.

The format is vcrpy's, so stock ``vcr.use_cassette`` replays our files. What it has no place for (arrival
times, ending, raw headers) lies under ``response.conformance``: a key beside ``request`` and ``response``
is dropped when vcrpy saves, one inside ``response`` survives. vcrpy's own recorder isn't used: it holds
streams back, and can't record one that was cut. A connection that was closed without an answer is a response
of status 0 in which ``conformance`` has the ``failure``.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any, get_args

import vcr.request
import vcr.serialize
import yaml

from conformance.transport import tape_yaml
from conformance.transport.coding import decode
from conformance.transport.redact import Redactor, SecretLeak
from conformance.transport.tape_yaml import OURS, Flow, Parts
from conformance.types import (
    WIRES,
    Ending,
    Exchange,
    Expect,
    Failure,
    HttpRequest,
    HttpResponse,
    WireName,
)

MAX_BYTES = 16 * 1024 * 1024
"""The largest cassette that ``load`` reads, and ``save`` writes."""

_Headers = tuple[tuple[str, str], ...]
_KEPT_FAILURES = ("protocol",)
_NO_RESPONSE = HttpResponse(tape_yaml.NO_STATUS, (), b"", http_version="")


class CassetteError(Exception):
    """A cassette that can't be read or written; the message names the file and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Tape:
    """What a cassette holds. ``metadata`` is its provenance: server, version, recipe, date."""

    exchanges: tuple[Exchange, ...]
    metadata: Mapping[str, str]


def is_kept(exchange: Exchange) -> bool:
    """Whether a cassette can hold it: it was answered, or the server took the request and gave no answer."""
    return exchange.response is not None or (
        exchange.failure is not None and exchange.failure.kind in _KEPT_FAILURES
    )


def save(
    path: Path, exchanges: Sequence[Exchange], *, metadata: Mapping[str, str], redactor: Redactor
) -> None:
    """Write the exchanges, redacted, in one step: a reader sees the old file or the new one, whole.

    Raises ``SecretLeak`` when something is left after redaction (nothing is written then),
    ``CassetteError`` for an exchange that is not kept or more than ``MAX_BYTES`` in all, ``OSError`` when the
    file can't be written.
    """
    for number, exchange in enumerate(exchanges):
        if not is_kept(exchange):
            reason = exchange.failure.message if exchange.failure else "no reason given"
            raise CassetteError(f"{path}: exchange {number} has no response: {redactor.text(reason)}")
    clean = [redactor.exchange(exchange) for exchange in exchanges]
    for number, exchange in enumerate(clean):
        for where, data in _places(exchange):
            if leaks := redactor.leaks(data):
                raise SecretLeak(f"{path}: not saved: exchange {number}, {where}: {leaks[0]}")
    try:
        requests = [_request_to_vcr(exchange.request) for exchange in clean]
    except ValueError as error:
        raise CassetteError(f"{path}: not saved: vcrpy can't hold a URL: {error}") from None
    responses = [_response_to_vcr(exchange) for exchange in clean]
    cassette = {
        "requests": requests,
        "responses": responses,
        "metadata": {redactor.text(name): redactor.text(value) for name, value in metadata.items()},
    }
    text = vcr.serialize.serialize(cassette, _Yaml(None))
    stand_ins = [response[OURS]["parts"] for response in responses]
    text = tape_yaml.fill_in(text, [parts for parts in stand_ins if parts])
    if len(text.encode()) > MAX_BYTES:
        raise CassetteError(f"{path}: not saved: larger than {MAX_BYTES >> 20} MiB")
    if leaks := redactor.leaks(text):
        raise SecretLeak(f"{path}: not saved: {leaks[0]} of the file")
    _write(path, text.encode())


def load(path: Path) -> Tape:
    """Read a cassette, ours or one that stock vcrpy wrote (then all endings are ``complete``).

    Raises ``CassetteError`` when it is missing, no regular file, over ``MAX_BYTES``, not YAML or not a
    cassette; the message says which interaction and key.
    """
    text = _read(path)
    try:
        data = tape_yaml.load(text)
        tape_yaml.check(data)
        requests, responses, *rest = vcr.serialize.deserialize("", _Yaml(data))
        exchanges = tuple(map(_exchange, count(), requests, responses))
        metadata = rest[0] if rest and isinstance(rest[0], dict) else {}
    except yaml.YAMLError as error:
        raise CassetteError(f"{path}: not YAML: {' '.join(str(error).split())[:200]}") from None
    except ValueError as error:
        raise CassetteError(f"{path}: not a cassette: {' '.join(str(error).split())[:200]}") from None
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else "something is of another kind"
        raise CassetteError(f"{path}: not a cassette: {reason}") from None
    return Tape(exchanges, {k: str(v) for k, v in metadata.items() if isinstance(k, str) and _is_scalar(v)})


def interaction(data: Any) -> Exchange:
    """One interaction of a cassette of ours. Raises ``ValueError``, which says what is wrong with it."""
    try:
        cassette = {"version": 1, "interactions": [data]}
        tape_yaml.check(cassette)
        requests, responses, *_ = vcr.serialize.deserialize("", _Yaml(cassette))
        return _any_exchange(requests[0], responses[0])
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError("something is of another kind") from error


class ReplayTransport:
    """Answers from a tape, without a socket.

    A request matches a recorded one of the same method, path and query, and body (as JSON where both are
    JSON); never by host. Equal requests are answered in recorded order, each once. The recorded ones were
    redacted, so each incoming one is compared as ``redactor`` leaves it. A request that matches nothing
    brings a failure ``older-scenario``.
    """

    def __init__(self, tape: Tape, path: Path, redactor: Redactor) -> None:
        self._path = path
        self._redactor = redactor
        self._waiting: defaultdict[tuple[str, ...], deque[Exchange]] = defaultdict(deque)
        for exchange in tape.exchanges:
            self._waiting[_key(exchange.request)].append(exchange)

    async def send(
        self,
        request: HttpRequest,
        *,
        wire: WireName,
        close_after_events: int | None = None,  # noqa: ARG002
    ) -> Exchange:
        """The recorded exchange, as it went then; ``close_after_events`` is part of the recording."""
        redacted = self._redactor.request(request)
        waiting = self._waiting.get(_key(redacted))
        if waiting:
            return replace(waiting.popleft(), wire=wire)
        known = "no answer to" if waiting is None else "no further answer to"
        what = f"{known} {redacted.method} {_target(redacted.url)}"
        older = "cassette is of an older scenario, or its row was set otherwise"
        message = f"{self._path}: {older}: {what}; record it again"
        return Exchange(redacted, None, "cut", wire, Failure("older-scenario", message))

    async def aclose(self) -> None:
        """Nothing is held open."""

    def unplayed(self) -> int:
        """How many recorded exchanges were never asked for."""
        return sum(map(len, self._waiting.values()))


# ---------------------------------------------------------------------------------- exchange <-> vcr


def _request_to_vcr(request: HttpRequest) -> Any:
    headers: dict[str, str] = {}
    for name, value in request.headers:
        headers.setdefault(name, value)
    return vcr.request.Request(request.method, request.url, request.body, headers)


def _response_to_vcr(exchange: Exchange) -> dict[str, Any]:
    response, failure = exchange.response or _NO_RESPONSE, exchange.failure
    return {
        "status": {"code": response.status, "message": _phrase(response.status)},
        "headers": _stock_headers(response),
        "body": {"string": response.body},
        OURS: {
            "wire": exchange.wire,
            "probe": exchange.probe,
            "expect": exchange.expect,
            "ending": exchange.ending,
            **({"failure": {"kind": failure.kind, "message": failure.message}} if failure else {}),
            "http_version": response.http_version,
            "started": exchange.started,
            "elapsed_ms": exchange.elapsed_ms,
            "request_headers": [Flow(pair) for pair in exchange.request.headers],
            "raw_headers": [Flow(pair) for pair in response.headers],
            "parts": Parts(response.parts) if response.parts else [],
        },
    }


def _stock_headers(response: HttpResponse) -> dict[str, list[str]]:
    """The headers that fit the stored body: decoded, redacted, whole. The raw ones lie beside them."""
    headers: dict[str, list[str]] = {}
    spelling: dict[str, str] = {}
    for name, value in response.headers:
        lower = name.lower()
        if lower in ("content-encoding", "transfer-encoding"):
            continue
        fitting = str(len(response.body)) if lower == "content-length" else value
        headers.setdefault(spelling.setdefault(lower, name), []).append(fitting)
    return headers


def _exchange(number: int, request: Any, response: Mapping[str, Any]) -> Exchange:
    try:
        return _any_exchange(request, response)
    except ValueError as error:
        raise ValueError(f"interaction {number}: {error}") from None


def _any_exchange(request: Any, response: Mapping[str, Any]) -> Exchange:
    ours = response.get(OURS)
    if ours is None:
        return _stock_exchange(request, response)
    body = _bytes(response["body"]["string"])
    parts = tuple((float(ms), int(size)) for ms, size in ours["parts"])
    if parts and (sum(size for _, size in parts) != len(body) or min(size for _, size in parts) < 0):
        raise ValueError("the sizes of the parts don't sum to the body's")
    failed = ours.get("failure")
    failure = failed and Failure(_one_of(failed["kind"], _KEPT_FAILURES), _text(failed["message"]))
    answer = HttpResponse(
        status=int(response["status"]["code"]),
        headers=_pairs(ours["raw_headers"]),
        body=body,
        parts=parts,
        http_version=_text(ours["http_version"]),
    )
    return Exchange(
        request=_http_request(request, _pairs(ours["request_headers"])),
        response=None if failure else answer,
        failure=failure,
        ending=_one_of(ours["ending"], get_args(Ending)),
        wire=_one_of(ours["wire"], WIRES),
        started=float(ours["started"]),
        elapsed_ms=float(ours["elapsed_ms"]),
        probe=None if ours["probe"] is None else _text(ours["probe"]),
        expect=_one_of(ours["expect"], get_args(Expect)),
    )


def _stock_exchange(request: Any, response: Mapping[str, Any]) -> Exchange:
    """From a file of stock vcrpy: it keeps bodies as they were encoded, and no times or endings."""
    headers = tuple(
        (_text(name), _text(value))
        for name, values in response["headers"].items()
        for value in (values if isinstance(values, list) else [values])
    )
    if "status_code" in response:  # as vcrpy before version 6 wrote httpx's responses
        status, body = response["status_code"], response["content"]
    else:
        status, body = response["status"]["code"], response["body"]["string"]
    answer = HttpResponse(int(status), headers, _bytes(body))
    answer = replace(answer, body=decode(answer.body, answer.header("content-encoding"), MAX_BYTES))
    sent = tuple((_text(name), _text(value)) for name, value in request.headers.items())
    return Exchange(_http_request(request, sent), answer, "complete", "openai-chat")


def _http_request(request: Any, headers: _Headers) -> HttpRequest:
    return HttpRequest(_text(request.method), _text(request.uri), headers, _bytes(request.body))


def _one_of(value: Any, choices: tuple[str, ...]) -> Any:
    if _text(value) not in choices:
        raise ValueError(f"{value!r} is none of {', '.join(choices)}")
    return value


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | date)


def _pairs(value: Any) -> _Headers:
    return tuple((_text(name), _text(text)) for name, text in value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is wanted, not a {type(value).__name__}")
    return value


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if not isinstance(value, bytes | str):
        raise TypeError(f"a body is wanted, not a {type(value).__name__}")
    return value.encode() if isinstance(value, str) else value


def _places(exchange: Exchange) -> Iterator[tuple[str, bytes | str]]:
    request, response = exchange.request, exchange.response or _NO_RESPONSE
    yield "request line", f"{request.method} {request.url}"
    yield "request headers", "\n".join(f"{name}: {value}" for name, value in request.headers)
    yield "request body", request.body
    if exchange.failure is not None:
        yield "failure", exchange.failure.message
    yield "response headers", "\n".join(f"{name}: {value}" for name, value in response.headers)
    yield "response body", response.body


def _key(request: HttpRequest) -> tuple[str, ...]:
    try:
        # Sorted, so that the order of members doesn't count, as it doesn't in JSON.
        body = "json " + json.dumps(json.loads(request.body), sort_keys=True)
    except (ValueError, RecursionError):
        body = "raw " + request.body.decode("latin-1")
    return request.method.upper(), _target(request.url), body


def _target(url: str) -> str:
    """Path and query."""
    target = re.sub(r"^[^/?#]*://[^/?#]*", "", url).partition("#")[0]
    return target if target.startswith("/") else "/" + target


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


# ---------------------------------------------------------------------------------------------- disk


class _Yaml:
    """A serializer in vcrpy's sense; it reads what was read already."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def serialize(self, cassette: dict[str, Any]) -> str:
        return tape_yaml.dump(cassette)

    def deserialize(self, _text: str) -> Any:
        return self._data


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a FIFO would wait for its writer


def _read(path: Path) -> str:
    try:
        with open(path, "rb", opener=_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise CassetteError(f"{path}: cannot be read: not a regular file")
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise CassetteError(f"{path}: no such cassette") from None
    except OSError as error:
        raise CassetteError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise CassetteError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CassetteError(f"{path}: not YAML: not UTF-8") from None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
