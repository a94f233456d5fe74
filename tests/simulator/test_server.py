"""The server's life: start, stop, journal, latency, many clients at once."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest

from conformance.simulator import BEHAVIOURS, PERSONAS, Behaviour, Persona, Simulator, persona, running
from conformance.simulator.request import ChatRequest
from conformance.types import Text, Turn

from .support import SCRIPTS, TIME, Talk

MANY = {f"n/{i}": Turn((Text(f"answer {i} " * (i + 1)),)) for i in range(50)}


async def answers(simulator: Simulator, stream: bool) -> list[str]:
    url = simulator.base_url("reference") + "/chat/completions"
    headers = {"authorization": "Bearer sk-reference"}
    limits = httpx.Limits(max_connections=50)
    transport = httpx.AsyncHTTPTransport(verify=False, limits=limits)
    async with httpx.AsyncClient(transport=transport, headers=headers, timeout=30) as client:
        bodies = [
            {"model": "reference", "stream": stream, "messages": [{"role": "user", "content": f"[[n/{i}]]"}]}
            for i in range(50)
        ]
        responses = await asyncio.gather(*(client.post(url, json=body) for body in bodies))
    return [response.text for response in responses]


@pytest.mark.parametrize("stream", [False, True])
def test_fifty_requests_at_once_get_their_own_answers(stream: bool) -> None:
    async def main() -> list[str]:
        async with Simulator([PERSONAS["reference"]], MANY) as simulator:
            return await answers(simulator, stream)

    for i, text in enumerate(asyncio.run(main())):
        mentioned = "".join(part.partition('"content":"')[2].partition('"')[0] for part in text.split("\n\n"))
        assert mentioned == MANY[f"n/{i}"].text


def test_latency_is_per_answer_not_summed_up() -> None:
    async def main() -> float:
        async with Simulator([PERSONAS["reference"]], MANY, latency_s=0.2) as simulator:
            started = time.monotonic()
            await answers(simulator, stream=False)
            return time.monotonic() - started

    assert 0.2 <= asyncio.run(main()) < 5


def test_the_journal_says_what_was_done_and_why() -> None:
    personas = [*PERSONAS.values(), persona("liar", "html-200")]
    with running(Simulator(personas, SCRIPTS)) as simulator, httpx.Client() as client:
        Talk(simulator, "reference", client).ask("[[plain]]")
        Talk(simulator, "reference", client).ask("Hello")
        Talk(simulator, "reference", client).ask("[[nowhere]]")
        Talk(simulator, "deepseek", client).ask("Hi", tools=[TIME, TIME])
        Talk(simulator, "reference", client).get("/models")
        Talk(simulator, "reference", client).send(b"{")
        Talk(simulator, "liar", client).ask("Hi")
        entries = simulator.journal
    assert [entry.action for entry in entries] == [
        "answered plain",
        "answered improvised",
        "answered improvised (no script nowhere)",
        "refused: duplicate-tool-names-rejected",
        "answered models",
        "refused: 400 malformed-json",
        "took over: html-200",
    ]
    assert (entries[0].persona, entries[0].method) == ("reference", "POST")
    assert entries[0].path == "/p/reference/v1/chat/completions"
    assert entries[0].body is not None
    assert entries[0].body["model"] == "reference"
    assert entries[5].body is None


def test_a_behaviour_that_fails_costs_its_client_a_500_and_no_one_else_anything() -> None:
    @dataclass(frozen=True, slots=True)
    class Broken(Behaviour):
        name: str = "broken"

        def turn(self, request: ChatRequest, turn: Turn) -> Turn:
            raise RuntimeError("broken")

    personas = [PERSONAS["reference"], Persona("broken", (Broken(),))]
    with running(Simulator(personas, SCRIPTS)) as simulator, httpx.Client() as client:
        response = Talk(simulator, "broken", client).ask("Hi")
        assert response.status_code == 500
        assert response.json()["error"]["type"] == "server_error"
        assert "broken" not in response.text
        assert simulator.journal[-1].action == "failed: RuntimeError('broken')"
        assert Talk(simulator, "reference", client).ask("Hi").status_code == 200


def test_a_persona_has_its_own_model_and_key() -> None:
    with (
        running(Simulator([Persona("own", model="m/1", key="k")], SCRIPTS)) as simulator,
        httpx.Client() as client,
    ):
        talk = Talk(simulator, "own", client)
        assert talk.ask("Hi", model="m/1").status_code == 401
        talk.headers = {"authorization": "Bearer k"}
        assert talk.ask("Hi", model="m/1").json()["model"] == "m/1"
        assert talk.get("/models/m%2F1").json()["id"] == "m/1"


def test_stopping_closes_what_is_open_and_frees_the_port() -> None:
    with running(Simulator([persona("hang", "hang")], SCRIPTS)) as simulator:
        where = urlsplit(simulator.base_url("hang"))
        raw = socket.create_connection((where.hostname or "", where.port or 0), timeout=10)
        raw.sendall(f"GET {where.path}/models HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        while not simulator.journal:
            time.sleep(0.001)
    with raw, contextlib.suppress(ConnectionResetError):
        assert raw.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((where.hostname or "", where.port or 0), timeout=10)


def test_it_can_be_started_again_on_the_same_port() -> None:
    simulator = Simulator([PERSONAS["reference"]], SCRIPTS)
    with running(simulator):
        port = urlsplit(simulator.base_url("reference")).port
    with running(simulator, port or 0), httpx.Client() as client:
        assert Talk(simulator, "reference", client).ask("Hi").status_code == 200


def test_a_taken_port_is_reported() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="address already in use"),
        running(Simulator([], SCRIPTS), taken.getsockname()[1]),
    ):
        pass


def test_unknown_names_are_key_errors() -> None:
    with pytest.raises(KeyError):
        persona("x", "no-such-behaviour")
    with pytest.raises(KeyError):
        Simulator([], SCRIPTS).base_url("nobody")
    with pytest.raises(KeyError):
        Simulator([Persona("own")], SCRIPTS).base_url("own", "no-such-wire")  # type: ignore[arg-type]


def test_behaviours_are_named_as_they_are_listed() -> None:
    assert all(name == behaviour.name for name, behaviour in BEHAVIOURS.items())
