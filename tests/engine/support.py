"""Configurations and runs for the engine's tests: real runs against the real simulator on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from conformance.engine.options import Options
from conformance.engine.run import Outcome, run
from conformance.scenarios import scripts
from conformance.simulator import Persona, Simulator, running
from conformance.types import Cell


def configure(folder: Path, **rows: dict[str, Any]) -> str:
    """Write a ``providers.yaml`` of these rows; returns its path."""
    path = folder / "providers.yaml"
    path.write_text(
        yaml.safe_dump(
            {"endpoints": {name.replace("_", "-"): row for name, row in rows.items()}}, sort_keys=False
        )
    )
    return str(path)


@contextmanager
def served(*personas: Persona, latency_s: float = 0.0) -> Iterator[Simulator]:
    """A simulator on loopback, answering with the scenarios' ideal turns."""
    simulator = Simulator(personas, scripts(), latency_s=latency_s)
    with running(simulator):
        yield simulator


def at(simulator: Simulator, name: str, **more: Any) -> dict[str, Any]:
    """The row of a persona as any endpoint on the network: by URL, with its key in KEY."""
    row = {"base_url": simulator.base_url(name), "model": "reference", "scripted": True, "key_env": "KEY"}
    return {**row, **more}


def cells(outcome: Outcome, endpoint: str | None = None) -> dict[str, Cell]:
    """The cells of a run by scenario."""
    return {c.scenario: c for c in outcome.matrix.cells if endpoint in (None, c.endpoint)}


def go(config: str, scenarios: Sequence[str] = (), **more: Any) -> Outcome:
    """Run the configuration."""
    workers = more.pop("workers", 0)
    known = more.pop("known", ())
    return run(Options(config=config, scenarios=tuple(scenarios), **more), workers=workers, known=known)


@contextmanager
def gathering(base_url: str, wanted: int) -> Iterator[str]:
    """A TCP relay before ``base_url`` that lets nothing through until ``wanted`` connections are open."""
    parts = urlsplit(base_url)
    loop = asyncio.new_event_loop()
    ready = asyncio.Event()
    opened = 0

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        if opened >= wanted:
            ready.set()
        await ready.wait()
        there, back = await asyncio.open_connection(parts.hostname, parts.port)
        await asyncio.gather(pump(reader, back), pump(there, writer), return_exceptions=True)

    server = loop.run_until_complete(asyncio.start_server(relay, "127.0.0.1", 0))
    port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}{parts.path}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
