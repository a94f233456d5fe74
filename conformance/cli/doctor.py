"""``conformance doctor``."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from conformance.cli.failing import clearly

if TYPE_CHECKING:
    from conformance.config import Endpoint

CONNECT_TIMEOUT_S = 3.0


@click.command()
@click.option("--config", default="providers.yaml", show_default=True, help="Configuration file.")
@click.option("--connect", is_flag=True, help="Also open a TCP connection to every endpoint with a key.")
@clearly
def doctor(config: str, connect: bool) -> int:
    """Check the installation: Python, libyaml, keys present, endpoints reachable.

    Reaching out needs --connect: without it nothing leaves this machine. Loopback endpoints are always tried.
    """
    bad = 0
    for good, text in (*installation(), *endpoints(Path(config), connect)):
        mark = {True: "ok  ", False: "FAIL", None: "-   "}[good]
        click.echo(f"{mark} {text}")
        bad += good is False
    return 3 if bad else 0


def installation() -> Iterator[tuple[bool | None, str]]:
    """What can be said about this Python and its packages."""
    import yaml

    version = platform.python_version()
    yield sys.version_info >= (3, 11), f"Python {version} (3.11 or newer is needed)"
    fast = hasattr(yaml, "CSafeLoader")
    yield (
        fast,
        "libyaml" if fast else "libyaml is missing: cassettes load about 50 times slower; reinstall PyYAML",
    )
    for name in ("pytest", "pytest-xdist", "allure-pytest", "vcrpy", "httpx", "pydantic"):
        try:
            yield True, f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield False, f"{name} is missing: install llm-wire-conformance again"


def endpoints(path: Path, connect: bool) -> Iterator[tuple[bool | None, str]]:
    """What can be said about each endpoint of the configuration."""
    from conformance.engine.options import Options, select
    from conformance.engine.sources import missing_variables, source_of

    if not path.exists():
        yield None, f"{path}: no such file (only needed for conformance run)"
        return
    options = Options(config=str(path))
    for endpoint in select(options).endpoints:
        source = source_of(endpoint, options)
        missing = missing_variables(endpoint, os.environ)
        said = f"{endpoint.name}: {source.kind if source.kind != 'none' else 'no cassette'}"
        if endpoint.persona:
            yield True, said
            continue
        if missing:
            yield None, f"{said}; {', '.join(missing)} is not set"
        elif connect or is_loopback(endpoint):
            error = asyncio.run(reach(endpoint))
            good = True if error is None else (False if connect else None)
            yield good, f"{said}; {'reachable' if error is None else error}"
        else:
            yield None, f"{said}; key present, not tried (--connect)"


def is_loopback(endpoint: Endpoint) -> bool:
    """Whether the endpoint is on this machine."""
    host = urlsplit(endpoint.base_url or "").hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


async def reach(endpoint: Endpoint) -> str | None:
    """Open and close a TCP connection to the endpoint; what went wrong, or ``None``."""
    parts = urlsplit(endpoint.base_url or "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection(parts.hostname, port), timeout=CONNECT_TIMEOUT_S
        )
    except (OSError, TimeoutError) as error:
        why = "connection refused" if isinstance(error, ConnectionRefusedError) else str(error) or "timed out"
        return f"{parts.hostname}:{port} not reachable: {why}"
    writer.close()
    return None
