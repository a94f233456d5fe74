"""Nothing secret reaches a cassette, wherever a server or a client put it."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from conformance.transport.client import LiveTransport
from conformance.transport.redact import Redactor, SecretLeak
from conformance.transport.tape import load, save
from conformance.types import Exchange, HttpRequest
from tests.transport.cassettes import (
    LIMITS,
    URL,
    closed,
    recorded,
    saved,
)

CANARY = "cAnary/q7ZkP2mXv9+Lr4TnB8sWd"
ORGANISATION = "acme-research-4711"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def leaky(coding: bytes, kind: bytes) -> Any:
    """A server that puts the key everywhere it can."""

    async def handler(request: bytes, _reader: object, writer: asyncio.StreamWriter) -> None:
        seen = request.split(b"\r\n\r\n")[0].decode()
        message = f"Incorrect API key provided: {CANARY}. You sent:\n{seen}"
        error = {"message": message, "hint": quote(CANARY, safe=""), "auth": b64(f"user:{CANARY}")}
        body = json.dumps({"error": error, "org": ORGANISATION}).encode()
        if kind == b"stream":
            body = b"data: " + body + b"\n\ndata: [DONE]\n\n"
        elif kind == b"blob":
            body = json.dumps({"blob": base64.b64encode(gzip.compress(body)).decode()}).encode()
        elif kind == b"unlabelled gzip":
            body = gzip.compress(body)
        if coding == b"gzip":
            body = gzip.compress(body)
        head = (
            f"HTTP/1.1 401 No\r\nSet-Cookie: session={CANARY}; path=/\r\nX-Echo: {CANARY}\r\n"
            f"OpenAI-Organization: {ORGANISATION}\r\nLocation: /v1?key={quote(CANARY, safe='')}\r\n"
            f"X-Debug: {b64('x' + CANARY)}\r\nContent-Length: {len(body)}\r\n"
        ).encode()
        writer.write(head + b"Content-Encoding: %b\r\n\r\n%b" % (coding, body))

    return handler


@pytest.mark.parametrize("kind", [b"json", b"stream", b"blob", b"unlabelled gzip"])
@pytest.mark.parametrize("coding", [b"identity", b"gzip", b"br"])
@pytest.mark.parametrize("known", [(CANARY, ORGANISATION), ()], ids=["known", "not known"])
def test_a_canary_is_nowhere_on_disk(
    serve: Any, tmp_path: Path, kind: bytes, coding: bytes, known: tuple[str, ...]
) -> None:
    path = tmp_path / "c.yaml"

    async def run() -> Exchange:
        async with serve(leaky(coding, kind)) as address:
            live = LiveTransport(replace(LIMITS, max_bytes=100_000))
            request = HttpRequest(
                "POST",
                f"http://{address}/v1?key={quote(CANARY, safe='')}&model=m",
                (
                    ("Authorization", f"Bearer {CANARY}"),
                    ("X-Api-Key", CANARY),
                    ("Proxy-Authorization", f"Basic {b64('user:' + CANARY)}"),
                    ("Cookie", f"session={CANARY}"),
                    ("OpenAI-Organization", ORGANISATION),
                ),
                json.dumps({"user": CANARY, "note": f"Basic {b64('user:' + CANARY)}"}).encode(),
            )
            exchange = await live.send(request, wire="openai-chat")
            await live.aclose()
            return exchange

    exchange = asyncio.run(run())
    assert exchange.response is not None
    assert exchange.response.status == 401
    save(path, [exchange], metadata={"note": "recorded"}, redactor=Redactor(known))

    text = path.read_text()
    folded = "".join(text.split())
    for trace in (
        CANARY,
        CANARY[:12],
        CANARY[-12:],
        quote(CANARY, safe=""),
        b64(CANARY)[:16],
        b64(f"user:{CANARY}")[8:24],
        b64("x" + CANARY)[4:20],
        ORGANISATION,
    ):
        assert trace not in text
        assert trace not in folded
    (kept,) = load(path).exchanges
    assert kept.response is not None
    assert kept.response.status == 401
    assert sum(size for _, size in kept.response.parts) == len(kept.response.body)
    if (kind, coding) == (b"json", b"identity"):
        assert b"Incorrect API key provided: [redacted]." in kept.response.body


class Blind(Redactor):
    """Redaction that overlooks everything: the last check must not."""

    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange

    def text(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    ("exchange", "where"),
    [
        (recorded(url=f"{URL}?x={CANARY}"), "exchange 1, request line"),
        (recorded(ask=CANARY.encode()), "exchange 1, request body"),
        (recorded(gzip.compress(CANARY.encode())), "exchange 1, response body"),
        (replace(recorded(), probe=CANARY), "of the file"),
        (closed(message=f"{CANARY} closed the connection"), "exchange 1, failure"),
    ],
)
def test_a_secret_that_redaction_overlooked_is_refused(
    tmp_path: Path, exchange: Exchange, where: str
) -> None:
    path = tmp_path / "c.yaml"
    saved(path, recorded(b"old"))
    with pytest.raises(SecretLeak, match=where) as error:
        saved(path, recorded(), exchange, redactor=Blind([CANARY]))
    assert CANARY not in str(error.value)
    assert load(path).exchanges == (recorded(b"old"),)
    assert len(list(tmp_path.iterdir())) == 1
