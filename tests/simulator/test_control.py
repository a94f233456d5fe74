"""The control API: what a test in any language asks of it, and who is not let in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from conformance.quirks import catalogue
from conformance.simulator import PERSONAS, Persona, Simulator, running
from conformance.simulator.personas import persona_of
from conformance.types import WIRES

from .support import exchange

RUN = "X-Conformance-Run"


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    personas = [PERSONAS["reference"], persona_of("strict", [catalogue()["duplicate-tool-names-rejected"]])]
    with running(Simulator(personas, {}, gap_s=0)) as started:
        yield started


@pytest.fixture
def control(simulator: Simulator) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{simulator.origin}/__conformance", timeout=10) as client:
        yield client


def ask(
    simulator: Simulator, name: str = "reference", run: str | None = None, **members: Any
) -> httpx.Response:
    body = {"model": "reference", "messages": [{"role": "user", "content": "Hi"}], **members}
    headers = {"authorization": "Bearer sk-reference", **({} if run is None else {RUN: run})}
    return httpx.post(simulator.base_url(name) + "/chat/completions", json=body, headers=headers)


def test_health_says_that_it_runs(control: httpx.Client) -> None:
    answer = control.get("/health")
    assert answer.json()["status"] == "ok"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"


def test_personas_tell_their_base_urls_key_and_quirks(control: httpx.Client, simulator: Simulator) -> None:
    listed = {entry["name"]: entry for entry in control.get("/personas").json()["personas"]}
    assert set(listed) == {"reference", "strict"}
    entry = listed["reference"]
    assert entry["simulated"] is True
    assert (entry["key"], entry["model"], entry["quirks"]) == ("sk-reference", "reference", [])
    assert entry["base_urls"] == {wire: simulator.base_url("reference", wire) for wire in WIRES}


def test_personas_of_a_run_have_it_in_their_base_urls(control: httpx.Client) -> None:
    entry = control.get("/personas", headers={RUN: "mine"}).json()["personas"][0]
    assert "/r/mine/p/reference" in entry["base_urls"]["gemini"]


def test_every_quirk_of_the_catalogue_is_listed(control: httpx.Client) -> None:
    listed = control.get("/quirks").json()["quirks"]
    assert {entry["id"] for entry in listed} == set(catalogue())
    assert all(isinstance(entry["simulated"], bool) for entry in listed)


def test_the_journal_tells_requests_without_their_keys(control: httpx.Client, simulator: Simulator) -> None:
    ask(simulator)
    (entry,) = control.get("/journal").json()["entries"]
    assert (entry["number"], entry["persona"], entry["wire"]) == (1, "reference", "openai-chat")
    assert (entry["status"], entry["action"], entry["asks"]) == (200, "answered improvised", True)
    assert entry["body"]["messages"][0]["content"] == "Hi"
    assert ["authorization", "[redacted]"] in entry["headers"]


def test_a_key_in_the_query_is_not_told(control: httpx.Client, simulator: Simulator) -> None:
    httpx.get(f"{simulator.base_url('reference', 'gemini')}/v1beta/models?key=sk-reference&pageSize=3")
    assert "sk-reference" not in control.get("/journal").text
    assert control.get("/journal").json()["entries"][0]["query"] == "key=[redacted]&pageSize=3"


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [1, 2, 3]),
        ("persona=strict", [2, 3]),
        ("action=refused", [3]),
        ("wire=openai-chat", [1, 2, 3]),
        ("wire=gemini", []),
        ("quirk=none", []),
        ("after=1", [2, 3]),
        ("limit=1", [3]),
        ("persona=strict&action=answered", [2]),
    ],
)
def test_the_journal_is_filtered(
    control: httpx.Client, simulator: Simulator, query: str, numbers: list[int]
) -> None:
    twice = [{"type": "function", "function": {"name": "a"}}] * 2
    ask(simulator)
    ask(simulator, "strict")
    ask(simulator, "strict", tools=twice)
    entries = control.get(f"/journal?{query}").json()["entries"]
    assert [entry["number"] for entry in entries] == numbers


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_reset_forgets_the_run_it_names(control: httpx.Client, simulator: Simulator, method: str) -> None:
    ask(simulator)
    ask(simulator, run="other")
    assert control.request(method, "/reset", headers={RUN: "other"}).json() == {"run": "other"}
    assert control.get("/journal", headers={RUN: "other"}).json()["entries"] == []
    assert len(control.get("/journal").json()["entries"]) == 1


def test_the_next_requests_meet_the_fault_and_the_one_after_is_answered(
    control: httpx.Client, simulator: Simulator
) -> None:
    pending = control.post("/faults", json={"fault": "html-502", "times": 2}).json()["faults"]
    assert pending == [{"fault": "html-502", "times": 2, "persona": None}]
    httpx.get(simulator.base_url("reference") + "/models", headers={"authorization": "Bearer sk-reference"})
    assert [ask(simulator).status_code for _ in range(3)] == [502, 502, 200]
    actions = [entry.action for entry in simulator.journal]
    assert actions == ["answered models", "fault: html-502", "fault: html-502", "answered improvised"]
    assert simulator.journal[1].body is not None


def test_faults_queue_up_and_wait_for_their_persona_and_run(
    control: httpx.Client, simulator: Simulator
) -> None:
    control.post("/faults", json={"fault": "server-error", "persona": "strict"})
    control.post("/faults", json={"fault": "rate-limited"})
    control.post("/faults", json={"fault": "html-200"}, headers={RUN: "r"})
    assert [ask(simulator).status_code for _ in range(2)] == [429, 200]
    assert ask(simulator, "strict").status_code == 500
    assert "html" in ask(simulator, run="r").headers["content-type"]


def test_faults_that_wait_can_be_dropped(control: httpx.Client, simulator: Simulator) -> None:
    control.post("/faults", json={"fault": "server-error", "times": 5})
    assert control.delete("/faults").json()["faults"] == []
    assert ask(simulator).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "said"),
    [
        ("GET", "/nothing", "", 404, "/__conformance/journal"),
        ("GET", "", "", 404, "/__conformance/journal"),
        ("GET", "/reset", "", 405, "POST, DELETE"),
        ("GET", "/journal?person=x", "", 400, "persona"),
        ("GET", "/journal?limit=0", "", 400, "from 1 to"),
        ("GET", "/journal?limit=9999999999999", "", 400, "from 1 to"),
        ("GET", "/journal?after=x", "", 200, ""),
        ("POST", "/faults", "", 400, "not valid JSON"),
        ("POST", "/faults", "[]", 400, "object"),
        ("POST", "/faults", "{}", 400, "fault"),
        ("POST", "/faults", '{"fault": "no-such"}', 400, "html-502"),
        ("POST", "/faults", '{"fault": 3}', 400, "string"),
        ("POST", "/faults", '{"fault": "hang", "times": 0}', 400, "between"),
        ("POST", "/faults", '{"fault": "hang", "times": 1e99}', 400, "integer"),
        ("POST", "/faults", '{"fault": "hang", "persona": "nobody"}', 400, "reference"),
        ("POST", "/faults", '{"fault": "hang", "time": 1}', 400, "time"),
        ("POST", "/faults", "[" * 100_000, 400, "JSON"),
    ],
)
def test_a_mistake_is_told_in_json(
    control: httpx.Client, method: str, path: str, content: str, status: int, said: str
) -> None:
    answer = control.request(method, path, content=content)
    assert answer.status_code == status
    assert said in json.dumps(answer.json())
    assert (status == 200) == ("error" not in answer.json())


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8089"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "localhost@evil.example"},
        {"host": "[::1"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/journal"), ("POST", "/reset"), ("OPTIONS", "/faults")]
)
def test_pages_of_others_are_not_let_in(
    control: httpx.Client, simulator: Simulator, headers: dict[str, str], method: str, path: str
) -> None:
    ask(simulator)
    assert control.request(method, path, headers=headers).status_code == 403
    assert len(simulator.journal) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:1"])
def test_any_loopback_name_is_let_in(control: httpx.Client, host: str) -> None:
    own = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    assert control.get("/health", headers=own).status_code == 200


def test_a_request_without_a_host_is_not_let_in(simulator: Simulator) -> None:
    answer = exchange(simulator.base_url("reference"), b"GET /__conformance/journal HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")


def test_the_control_api_is_in_no_journal_and_needs_no_key(
    simulator: Simulator, control: httpx.Client
) -> None:
    control.get("/health")
    control.get("/nothing")
    assert simulator.journal == []


def test_a_persona_without_a_key_lets_everyone_in() -> None:
    with running(Simulator([Persona("open", key="")], {})) as simulator:
        statuses = [
            httpx.get(simulator.base_url("open") + "/models", headers=headers).status_code
            for headers in ({}, {"authorization": "Bearer sk-any"}, {"x-goog-api-key": "any"})
        ]
        version = {"anthropic-version": "2023-06-01"}
        url = simulator.base_url("open", "anthropic-messages") + "/v1/models"
        statuses.append(httpx.get(url, headers=version).status_code)
    assert statuses == [200] * 4
