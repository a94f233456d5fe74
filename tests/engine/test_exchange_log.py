"""``--exchanges``: every exchange of a run, a line each, and what is read of them is what the run judged."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, get_args

import pytest

from conformance.config import ConfigError
from conformance.engine import exchange_log
from conformance.grade.files import exchanges_of
from conformance.grade.recorded import Recorded
from conformance.rules import check
from conformance.simulator import PERSONAS
from conformance.transport.redact import Redactor
from conformance.types import Exchange, Failure, FailureKind, Finding, HttpRequest, HttpResponse, WireName

from .support import at, cells, configure, go, served

REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}


def read(path: Path) -> dict[tuple[str, str], list[Exchange]]:
    """The exchanges of a file by endpoint and scenario."""
    found: dict[tuple[str, str], list[Exchange]] = defaultdict(list)
    for one in exchanges_of(path):
        assert isinstance(one, Recorded), one
        assert one.endpoint is not None
        assert one.scenario is not None
        found[one.endpoint, one.scenario].append(one.exchange)
    return found


def evidence(exchange: Exchange) -> dict[str, Any]:
    """What a cell's evidence shows of an exchange, but for its URL and its times."""
    request, response = exchange.request, exchange.response
    assert response is not None
    asked = request.body.decode("utf-8", "backslashreplace")  # a scenario sends what is packed
    return {
        "asked": (request.method, [list(pair) for pair in request.headers], asked),
        "got": (response.status, [list(pair) for pair in response.headers], response.body.decode()),
        "sizes": [size for _, size in response.parts],
        "ending": (exchange.ending, exchange.probe),
    }


def shown(view: Any) -> dict[str, Any]:
    """The same of a cell's evidence."""
    request, response = view["request"], view["response"]
    return {
        "asked": (request["method"], request["headers"], request["body"]),
        "got": (response["status"], response["headers"], response["body"]),
        "sizes": [size for _, size in response["parts"]],
        "ending": (view["ending"], view["probe"]),
    }


def said(finding: Finding) -> tuple[Any, ...]:
    """What a finding says; its times are those of a recording to a thousandth of a millisecond."""
    return finding.rule, finding.level, finding.path, finding.wanted, finding.got, finding.event


@pytest.mark.parametrize("wire", get_args(WireName))
def test_what_is_read_is_what_the_run_saw(tmp_path: Path, wire: str) -> None:
    log = tmp_path / "log" / "x.jsonl"
    row = {**REFERENCE, "wire": wire, "unsupported": ["auth"] if wire == "ollama" else []}
    outcome = go(configure(tmp_path, e=row), ["chat.*", "stream.*", "errors.*"], exchanges=str(log))
    found = read(log)
    assert found.keys() == {(c.endpoint, c.scenario) for c in outcome.matrix.cells if c.evidence}
    for cell in outcome.matrix.cells:
        whole = [view for view in cell.evidence if not view["truncated"] and view["response"]]
        assert [shown(view) for view in whole] == [
            evidence(exchange)
            for exchange, view in zip(found["e", cell.scenario], cell.evidence, strict=True)
            if view in whole
        ]


def test_what_is_read_breaks_the_rules_that_the_run_saw_broken(tmp_path: Path) -> None:
    log = tmp_path / "x.jsonl"
    row = {"persona": "deepseek", "model": "reference", "scripted": True}
    outcome = go(configure(tmp_path, e=row), intrusive=True, exchanges=str(log))
    found = read(log)
    broken = {name: cell for name, cell in cells(outcome).items() if cell.verdict == "violates"}
    assert broken
    for name, cell in broken.items():
        assert {said(f) for f in cell.findings} <= {said(f) for f in check(found["e", name])}


def test_workers_write_the_same_exchanges(tmp_path: Path) -> None:
    config = configure(tmp_path, a=REFERENCE, b={**REFERENCE, "wire": "anthropic-messages"})
    go(config, ["chat.*"], exchanges=str(tmp_path / "alone"))
    go(config, ["chat.*"], exchanges=str(tmp_path / "spread"), workers=2)
    alone, spread = read(tmp_path / "alone"), read(tmp_path / "spread")
    assert {key: len(value) for key, value in spread.items()} == {k: len(v) for k, v in alone.items()}


def test_a_second_run_replaces_the_file(tmp_path: Path) -> None:
    config, log = configure(tmp_path, e=REFERENCE), tmp_path / "x.jsonl"
    go(config, ["chat.*"], exchanges=str(log))
    go(config, ["chat.plain"], exchanges=str(log))
    assert read(log).keys() == {("e", "chat.plain")}


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = PERSONAS["reference"].key
    monkeypatch.setenv("KEY", key)
    log = tmp_path / "x.jsonl"
    with served(PERSONAS["reference"]) as simulator:
        go(configure(tmp_path, e=at(simulator, "reference")), ["chat.plain"], mode="live", exchanges=str(log))
    assert "Bearer [redacted]" in log.read_text()
    assert key not in log.read_text()


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"--exchanges .*can't be written to"):
        go(configure(tmp_path, e=REFERENCE), ["chat.plain"], exchanges=str(tmp_path / "file" / "x"))


def exchanged(body: bytes = b"{}", failure: Failure | None = None) -> Exchange:
    request = HttpRequest("POST", "http://h/v1/chat/completions", (), b"{}")
    response = None if failure else HttpResponse(200, (), body)
    return Exchange(request, response, "complete", "openai-chat", failure)


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_what_was_never_sent_is_no_exchange(tmp_path: Path, kind: FailureKind) -> None:
    log = tmp_path / "x.jsonl"
    exchange_log.begin(log)
    one = exchanged(failure=Failure(kind, "why"))
    assert exchange_log.append(log, [one], ("e", "s"), Redactor([])) == ()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    sent = kind not in ("no-cassette", "older-scenario", "request-cap")
    assert [line["failure"]["kind"] for line in lines] == [kind] * sent


def test_what_redaction_leaves_is_not_written_and_told(tmp_path: Path) -> None:
    secret = "s3cr3t-value-0123456789"

    class Leaky(Redactor):
        def exchange(self, exchange: Exchange) -> Exchange:
            return exchange

    log = tmp_path / "x.jsonl"
    exchange_log.begin(log)
    (note,) = exchange_log.append(log, [exchanged(), exchanged(secret.encode())], ("e", "s"), Leaky([secret]))
    assert note.startswith(f"e: s: exchanges not written to {log}: ")
    assert secret not in note
    assert log.read_bytes() == b""
