"""Bad input from the network: each a clear verdict, no traceback, no hang."""

from __future__ import annotations

import datetime
import socket
from pathlib import Path
from typing import Any

import pytest

from conformance.simulator import PERSONAS
from conformance.simulator.personas import persona
from conformance.types import VerdictName
from tests.engine.support import at, cells, configure, go, served


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", PERSONAS["reference"].key)


@pytest.mark.parametrize(
    ("fault", "scenario", "verdict", "said"),
    [
        ("html-200", "chat.plain", "violates", "application/json"),
        ("html-200", "stream.plain", "violates", "event"),
        ("html-502", "chat.plain", "error", "HTTP 502: a gateway could not reach the server"),
        ("empty-body", "chat.plain", "violates", "JSON object"),
        ("short-body", "chat.plain", "error", "the connection broke after"),
        ("error-body-200", "chat.plain", "violates", "4xx or 5xx"),
        ("garbage", "chat.plain", "error", ""),
        ("hang", "chat.plain", "error", "sent no response headers within"),
        ("hang", "stream.plain", "error", "sent no response headers within"),
        ("rate-limited", "chat.plain", "error", "HTTP 429: the rate limit or quota is spent"),
        ("server-error", "chat.plain", "violates", "2xx"),
        ("no-done", "stream.plain", "violates", "[DONE]"),
        ("wrong-content-type", "stream.plain", "violates", "text/event-stream"),
        ("stream-cut", "stream.plain", "error", "the connection broke after"),
        ("stream-close", "stream.plain", "error", "the connection broke after"),
        ("arguments-object", "tools.single-call", "violates", "string"),
        ("missing-ids", "tools.single-call", "violates", "id"),
        ("missing-index", "stream.arguments", "violates", "index"),
    ],
)
def test_fault(tmp_path: Path, fault: str, scenario: str, verdict: VerdictName, said: str) -> None:
    with served(persona("bad", fault)) as simulator:
        row = at(simulator, "bad", timeout=1, attempts=1)
        outcome = go(configure(tmp_path, e=row), [scenario], mode="live")
    cell = cells(outcome)[scenario]
    assert cell.verdict == verdict, (cell.reason, cell.findings)
    text = cell.reason + "".join(f"{f.message} {f.wanted} {f.got}" for f in cell.findings)
    assert said in text
    assert cell.reason


def test_a_stream_that_never_ends_is_given_up_with_a_clear_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conformance.engine import acquire
    from conformance.transport.client import Limits

    monkeypatch.setattr(acquire, "Limits", lambda **_: Limits(max_bytes=20_000))
    with served(persona("bad", "endless-stream")) as simulator:
        outcome = go(configure(tmp_path, e=at(simulator, "bad", attempts=1)), ["stream.plain"], mode="live")
    cell = cells(outcome)["stream.plain"]
    assert cell.verdict == "error"
    assert "did not end within" in cell.reason


def unused_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_an_unreachable_host_is_an_error_that_names_host_and_port(tmp_path: Path) -> None:
    port = unused_port()
    row = {"base_url": f"http://127.0.0.1:{port}/v1", "model": "m"}
    cell = cells(go(configure(tmp_path, e=row), ["chat.plain"], mode="live"))["chat.plain"]
    assert cell.verdict == "error"
    assert f"127.0.0.1:{port}" in cell.reason


def test_https_to_a_plain_port_is_an_error_that_says_tls(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        url = simulator.base_url("reference").replace("http://", "https://")
        row = at(simulator, "reference", base_url=url)
        cell = cells(go(configure(tmp_path, e=row), ["chat.plain"], mode="live"))["chat.plain"]
    assert cell.verdict == "error"
    assert "TLS" in cell.reason


def test_a_wrong_key_of_our_own_is_an_error_not_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "sk-not-the-right-one-000000")
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        cell = cells(go(config, ["chat.plain"], mode="live"))["chat.plain"]
    assert cell.verdict == "error"
    assert "the credentials were refused" in cell.reason


def test_a_base_url_where_nothing_answers_is_an_error_that_says_so(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        row = at(simulator, "reference", base_url=simulator.base_url("reference") + "/v2")
        cell = cells(go(configure(tmp_path, e=row), ["chat.plain"], mode="live"))["chat.plain"]
    assert cell.verdict == "error"
    assert "wrong base URL" in cell.reason


def test_a_key_that_the_endpoint_echoes_is_nowhere_in_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conformance.report import write_all

    secret = "zq-" + "8f3Kd91mPw" * 3
    monkeypatch.setenv("KEY", secret)
    monkeypatch.setenv("TEAM", "team-" + secret)

    with served(persona("echo", "error-body-200"), PERSONAS["reference"]) as simulator:
        rows: dict[str, Any] = {
            "echo": at(simulator, "echo", headers={"x-team-token": {"env": "TEAM"}}),
            "plain": at(simulator, "reference", query={"key": {"env": "KEY"}}),
        }
        outcome = go(configure(tmp_path, **rows), mode="record")
    write_all(outcome.matrix, tmp_path / "out")
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    for path in written:
        assert secret.encode() not in path.read_bytes(), path


def test_an_old_recording_is_flagged(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        go(config, ["chat.plain"], mode="record")
    path = tmp_path / "cassettes" / "e" / "chat.plain.yaml"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    assert today in path.read_text()
    path.write_text(path.read_text().replace(today, "2020-01-01"))
    assert cells(go(config, ["chat.plain"]))["chat.plain"].flags == ("old",)
