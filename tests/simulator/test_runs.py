"""Runs: what one client made the simulator remember is nothing to another."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from conformance.simulator import PERSONAS, Simulator, persona, running
from conformance.simulator.journal import BYTES, ENTRIES, Journal, JournalEntry
from conformance.simulator.runs import JOURNALS, RUNS, Runs
from conformance.simulator.script import Script, ScriptedTurn

KEY = {"authorization": "Bearer sk-reference"}
HEADER = "X-Conformance-Run"
ENTRY = JournalEntry("p", "POST", "/p/p/v1", None, "answered improvised")
SCRIPT = Script((("one", ScriptedTurn(text="one")), ("two", ScriptedTurn(text="two"))))


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    personas = [PERSONAS["reference"], persona("other")]
    with running(Simulator(personas, {}, gap_s=0, script=SCRIPT)) as started:
        yield started


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(headers=KEY, timeout=10) as shared:
        yield shared


def ask(client: httpx.Client, url: str, run: str | None = None) -> httpx.Response:
    body = {"model": "reference", "messages": [{"role": "user", "content": "Hi"}]}
    return client.post(url + "/chat/completions", json=body, headers={} if run is None else {HEADER: run})


def text(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_each_run_has_its_own_journal_and_place_in_the_script(
    simulator: Simulator, client: httpx.Client
) -> None:
    url = simulator.base_url("reference")
    said = [text(ask(client, url, run)) for run in ("a", "b", "a", "b", "a")]
    assert said == ["one", "one", "two", "two", "You wrote: Hi"]
    assert [len(simulator.run(run).journal.entries()) for run in ("a", "b")] == [3, 2]
    assert [entry.number for entry in simulator.run("a").journal.entries()] == [1, 2, 3]
    assert {entry.run for entry in simulator.run("a").journal.entries()} == {"a"}


def test_a_run_can_be_named_in_the_path_for_clients_that_send_no_headers(
    simulator: Simulator, client: httpx.Client
) -> None:
    url = simulator.base_url("reference", run="in-path")
    assert text(ask(client, url)) == "one"
    (entry,) = simulator.run("in-path").journal.entries()
    assert entry.path == "/p/reference/v1/chat/completions"
    ask(client, url, run="in-header")
    assert len(simulator.run("in-header").journal.entries()) == 1


def test_a_stored_response_is_unknown_in_another_run(simulator: Simulator, client: httpx.Client) -> None:
    url = simulator.base_url("reference", "openai-responses") + "/responses"
    first = client.post(url, json={"model": "reference", "input": "Hi"}, headers={HEADER: "s1"}).json()
    following = {"model": "reference", "input": "And?", "previous_response_id": first["id"]}
    statuses = [client.post(url, json=following, headers={HEADER: run}).status_code for run in ("s1", "s2")]
    assert statuses[0] == 200
    assert statuses[1] >= 400


def test_a_prompt_is_cached_per_run(simulator: Simulator, client: httpx.Client) -> None:
    def cached(run: str) -> int:
        body = {"model": "reference", "messages": [{"role": "user", "content": "word " * 3000}]}
        url = simulator.base_url("reference") + "/chat/completions"
        usage = client.post(url, json=body, headers={HEADER: run}).json()["usage"]
        return int(usage["prompt_tokens_details"]["cached_tokens"])

    assert cached("c1") == 0
    assert cached("c1") > 0
    assert cached("c2") == 0


@pytest.mark.parametrize("name", ["", " ", "a b", "x" * 101, "ä", "../x"])
def test_what_is_no_name_for_a_run_is_refused(simulator: Simulator, client: httpx.Client, name: str) -> None:
    headers = {HEADER: name.encode().decode("latin-1").strip()}
    url = simulator.base_url("reference") + "/chat/completions"
    response = client.post(
        url, json={}, headers=[(k.encode(), v.encode("latin-1")) for k, v in headers.items()]
    )
    assert response.status_code == 400
    assert HEADER in response.json()["error"]["message"]


def test_a_reset_forgets_one_run(simulator: Simulator, client: httpx.Client) -> None:
    url = simulator.base_url("reference")
    assert [text(ask(client, url, run)) for run in ("r1", "r2")] == ["one", "one"]
    simulator.reset("r1")
    assert [text(ask(client, url, run)) for run in ("r1", "r2")] == ["one", "two"]


def test_the_run_that_was_not_used_the_longest_is_forgotten() -> None:
    runs = Runs()
    for i in range(RUNS):
        runs.get(f"r{i}").journal.note(ENTRY, 1)
    runs.get("r0")
    runs.get("one-more")
    assert len(runs) == RUNS
    assert len(runs.get("r0").journal.entries()) == 1
    assert runs.get("r1").journal.entries() == ()


def test_large_journals_are_forgotten_sooner() -> None:
    runs = Runs()
    for i in range(JOURNALS // BYTES + 1):
        runs.get(f"r{i}").journal.note(ENTRY, BYTES)
    runs.get("last")
    assert len(runs) < JOURNALS // BYTES + 2
    assert runs.get("r0").journal.entries() == ()


def test_a_journal_keeps_the_newest_entries_by_number_and_by_size() -> None:
    journal = Journal()
    for _ in range(ENTRIES + 1):
        journal.note(ENTRY, 1)
    assert (journal.entries()[0].number, len(journal.entries()), journal.size) == (2, ENTRIES, ENTRIES)
    journal.note(ENTRY, BYTES)
    assert [entry.number for entry in journal.entries()] == [ENTRIES + 2]
    journal.note(ENTRY, BYTES + 1)
    assert len(journal.entries()) == 1
