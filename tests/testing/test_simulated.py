"""What a test of an adapter can ask a simulator: journal, faults, assertions, runs apart."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.config import ConfigError
from conformance.testing import Options, Server, Simulated, serving, simulator
from conformance.types import WIRES, WireName
from tests.cli.support import clean_environment

TOOL: Any = {"type": "function", "function": {"name": "get_weather"}}
STRICT = "duplicate-tool-names-rejected"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Options(quirks=(STRICT,))) as started:
        yield started


@pytest.fixture
def simulated(server: Server) -> Simulated:
    return server.run()


def ask(simulated: Simulated, persona: str = "reference", **members: Any) -> httpx.Response:
    body = {"model": "reference", "messages": [{"role": "user", "content": "Hi"}], **members}
    headers = {"authorization": f"Bearer {simulated.key(persona)}"}
    return httpx.post(f"{simulated.base_url(persona)}/chat/completions", json=body, headers=headers)


def test_runs_are_apart_and_fresh_ones_have_names_of_their_own(server: Server) -> None:
    one, other = server.run(), server.run()
    ask(one)
    assert (len(one.journal()), len(other.journal())) == (1, 0)
    assert one.run != other.run
    assert len(server.run(one.run).journal()) == 1


def test_the_run_is_in_the_base_url_or_in_a_header(simulated: Simulated) -> None:
    plain = simulated.base_url().replace(f"/r/{simulated.run}", "")
    for url, headers in ((simulated.base_url(), {}), (plain, simulated.headers)):
        httpx.get(f"{url}/models", headers={"authorization": f"Bearer {simulated.key()}", **headers})
    assert [entry.status for entry in simulated.journal()] == [200, 200]


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_has_a_base_url(simulated: Simulated, wire: WireName) -> None:
    assert simulated.base_url("custom", wire).startswith("http://127.0.0.1:")


def test_the_journal_and_the_requests_of_one_persona(simulated: Simulated) -> None:
    ask(simulated, user="a")
    ask(simulated, "custom", user="b")
    assert [entry.persona for entry in simulated.journal()] == ["reference", "custom"]
    assert [body["user"] for body in simulated.requests("custom")] == ["b"]
    simulated.reset()
    assert simulated.journal() == ()


def test_the_next_requests_meet_a_fault(simulated: Simulated) -> None:
    simulated.next_fault("server-error", times=2)
    assert [ask(simulated).status_code for _ in range(3)] == [500, 500, 200]
    simulated.assert_asked(3)


def test_a_fault_that_is_not_known_or_never_meets_anything_is_told(simulated: Simulated) -> None:
    with pytest.raises(ValueError, match="did you mean html-502"):
        simulated.next_fault("html-503")
    with pytest.raises(ValueError, match="not positive"):
        simulated.next_fault("html-502", times=0)
    with pytest.raises(KeyError):
        simulated.next_fault("html-502", persona="nobody")


@pytest.mark.parametrize("name", ["", "a b", "x" * 101])
def test_what_is_no_name_for_a_run_is_told(server: Server, name: str) -> None:
    with pytest.raises(ValueError, match="X-Conformance-Run"):
        server.run(name)


Check = Callable[[Simulated], None]

HOLD: list[Check] = [
    lambda s: s.assert_no_refusals("reference"),
    lambda s: s.assert_refused(STRICT),
    lambda s: s.assert_refused(STRICT, "custom"),
    lambda s: s.assert_asked(2),
    lambda s: s.assert_asked(1, "custom"),
    lambda s: s.assert_sent("/messages/0/content"),
    lambda s: s.assert_sent("/messages/*/content", "Hi"),
    lambda s: s.assert_sent("/tools/*[type=function]/function/name", "get_weather"),
    lambda s: s.assert_not_sent("/messages/*/reasoning_content"),
    lambda s: s.assert_tool_names_unique("reference"),
]
BREAK: list[tuple[Check, str]] = [
    (lambda s: s.assert_no_refusals(), "1 of the requests were refused"),
    (lambda s: s.assert_refused("other"), "no request was refused because of other"),
    (lambda s: s.assert_refused(STRICT, "reference"), "no request was refused because of"),
    (lambda s: s.assert_asked(1), "1 requests were expected, 2 came"),
    (lambda s: s.assert_sent("/nothing"), "nothing was sent at /nothing"),
    (
        lambda s: s.assert_sent("/messages/*/content", "Ho"),
        "'Ho' was not sent at /messages/*/content: 'Hi', 'Hi'",
    ),
    (lambda s: s.assert_not_sent("/model"), "something was sent at /model: 'reference', 'reference'"),
    (lambda s: s.assert_tool_names_unique(), "several tools of the name get_weather"),
]


@pytest.fixture
def asked(simulated: Simulated) -> Simulated:
    ask(simulated, tools=[TOOL])
    ask(simulated, "custom", tools=[TOOL, TOOL])
    return simulated


@pytest.mark.parametrize("check", HOLD)
def test_an_assertion_that_holds_is_silent(asked: Simulated, check: Check) -> None:
    check(asked)


@pytest.mark.parametrize(("check", "said"), BREAK)
def test_one_that_does_not_says_what_was_wrong_and_what_the_simulator_saw(
    asked: Simulated, check: Check, said: str
) -> None:
    with pytest.raises(AssertionError) as caught:
        check(asked)
    assert said in str(caught.value)
    assert f"-> 400, refused: {STRICT}" in str(caught.value)


@pytest.mark.parametrize(
    ("wire", "path", "tools"),
    [
        ("openai-responses", "/responses", [{"type": "function", "name": "a"}]),
        ("anthropic-messages", "/v1/messages", [{"name": "a", "input_schema": {"type": "object"}}]),
        ("gemini", "/v1beta/models/reference:generateContent", [{"functionDeclarations": [{"name": "a"}]}]),
        ("ollama", "/api/chat", [{"type": "function", "function": {"name": "a"}}]),
    ],
)
def test_duplicate_tool_names_are_seen_on_every_wire(
    simulated: Simulated, wire: WireName, path: str, tools: list[Any]
) -> None:
    url = simulated.base_url("reference", wire) + path
    httpx.post(url, json={"tools": tools})
    simulated.assert_tool_names_unique()
    httpx.post(url, json={"tools": tools * 2})
    with pytest.raises(AssertionError, match="of the name a"):
        simulated.assert_tool_names_unique()


def test_it_is_used_from_a_running_event_loop(simulated: Simulated) -> None:
    async def main() -> int:
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {simulated.key()}"}) as client:
            simulated.next_fault("server-error")
            body = {"model": "reference", "messages": [{"role": "user", "content": "Hi"}]}
            posts = [client.post(f"{simulated.base_url()}/chat/completions", json=body) for _ in range(4)]
            return sorted(response.status_code for response in await asyncio.gather(*posts))[-1]

    assert asyncio.run(main()) == 500
    assert len(simulated.journal()) == 4


def test_a_simulator_of_ones_own_without_pytest(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text("turns: [{text: Scripted}]")
    with simulator(Options(personas=("reference",), script=tmp_path / "turns.yaml")) as simulated:
        assert ask(simulated).json()["choices"][0]["message"]["content"] == "Scripted"


def test_the_same_requests_bring_the_same_bytes_unless_a_seed_is_declined() -> None:
    def answer(seed: int | None) -> bytes:
        with simulator(Options(personas=("reference",), seed=seed)) as simulated:
            return ask(simulated).content

    assert answer(0) == answer(0)
    assert answer(None) != answer(None)


def test_an_option_that_can_not_be_used_is_told() -> None:
    with (
        pytest.raises(ConfigError, match="did you mean reference"),
        simulator(Options(personas=("refrence",))),
    ):
        pass


def test_a_failing_test_shows_what_the_simulator_saw_and_the_session_keeps_its_run(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["conformance.testing"]\n')
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
        import httpx

        def ask(simulated):
            headers = {"authorization": "Bearer " + simulated.key()}
            httpx.get(simulated.base_url() + "/models", headers=headers)

        def test_fails(conformance_simulator, conformance_session_simulator):
            ask(conformance_simulator)
            ask(conformance_session_simulator)
            assert not conformance_simulator.journal()

        def test_passes(conformance_simulator, conformance_session_simulator):
            assert not conformance_simulator.journal()
            assert len(conformance_session_simulator.journal()) == 1
        """)
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout
    assert "the simulator saw:\n1. GET /p/reference/v1/models -> 200, answered models" in done.stdout
