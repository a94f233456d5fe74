"""Servers that close connections without an answer: a quirk where it is declared, recorded and replayed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.engine.run import Outcome
from conformance.transport import tape
from tests.engine.support import cells, configure, go

SCENARIO = "parser.no-arguments"
QUIRK = "mlx-lm-connection-closed"
"""A quirk of the catalogue that breaks the scenario."""


@pytest.fixture
def closing() -> Iterator[str]:
    """The base URL of a server that reads whatever is asked and closes the connection."""
    loop = asyncio.new_event_loop()

    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100_000)
        writer.close()

    server = loop.run_until_complete(asyncio.start_server(close, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    host, port = server.sockets[0].getsockname()
    yield f"http://{host}:{port}/v1"
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=10)
    server.close()
    loop.close()


def row(base_url: str, *quirks: str) -> dict[str, object]:
    return {"base_url": base_url, "model": "m", "scripted": True, "quirks": list(quirks)}


def told(outcome: Outcome) -> tuple[str, str]:
    cell = cells(outcome)[SCENARIO]
    return cell.verdict, cell.reason


def cassette(folder: Path) -> Path:
    return folder / "cassettes" / "e" / f"{SCENARIO}.yaml"


def test_what_a_declared_quirk_leaves_unanswered_is_recorded_and_replays_alike(
    closing: str, tmp_path: Path
) -> None:
    config = configure(tmp_path, e=row(closing, QUIRK))
    recorded = go(config, (SCENARIO,), mode="record")
    replayed = go(config, (SCENARIO,))
    assert told(recorded) == told(replayed) == ("quirk", f"declared: {QUIRK}")
    assert cells(replayed)[SCENARIO].flags == ()
    assert [note for outcome in (recorded, replayed) for note in outcome.matrix.notes if QUIRK in note] == []


def test_such_a_recording_is_an_error_where_the_quirk_is_not_declared(closing: str, tmp_path: Path) -> None:
    go(configure(tmp_path, e=row(closing, QUIRK)), (SCENARIO,), mode="record")
    verdict, reason = told(go(configure(tmp_path, e=row(closing)), (SCENARIO,)))
    assert verdict == "error"
    assert reason.endswith("closed the connection without an answer")


def test_a_server_that_crashed_replaces_no_recording(closing: str, tmp_path: Path) -> None:
    path = cassette(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("a good recording")
    outcome = go(configure(tmp_path, e=row(closing)), (SCENARIO,), mode="record")
    assert told(outcome)[0] == "error"
    assert f"e: {SCENARIO} was not recorded: it was not answered" in outcome.matrix.notes
    assert path.read_text() == "a good recording"


def test_a_recording_of_another_request_is_of_an_older_scenario(closing: str, tmp_path: Path) -> None:
    config = configure(tmp_path, e=row(closing, QUIRK))
    go(config, (SCENARIO,), mode="record")
    path = cassette(tmp_path)
    path.write_text(path.read_text().replace("Please see to ping", "Please see to pong"))
    verdict, reason = told(go(config, (SCENARIO,)))
    assert verdict == "error"
    assert reason.startswith("cassette is of an older scenario")


def test_adapted_every_try_is_recorded_and_replays_alike(closing: str, tmp_path: Path) -> None:
    config = configure(tmp_path, e=row(closing, QUIRK))
    recorded = go(config, (SCENARIO,), mode="record", adapted=True)
    tries = tape.load(cassette(tmp_path).with_name(f"{SCENARIO}.adapted.yaml")).exchanges
    assert len(tries) == cells(recorded)[SCENARIO].requests > 1
    assert {one.failure and one.failure.kind for one in tries} == {"protocol"}
    assert told(recorded) == told(go(config, (SCENARIO,), adapted=True)) == ("quirk", f"declared: {QUIRK}")
