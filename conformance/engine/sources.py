"""Decides, before anything is sent, where an endpoint's answers come from, or why it can't run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conformance.config import Endpoint, FromEnv
from conformance.engine.options import Options, quirks_of
from conformance.transport import tape
from conformance.types import EndpointRow

ADAPTED = ".adapted.yaml"
"""How the recording of an adapted cell ends."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the answers come from; ``none`` with the reason when the endpoint can't run."""

    kind: Literal["live", "cassette", "simulator", "none"]
    reason: str = ""
    server: str | None = None
    recorded: str | None = None


def source_of(endpoint: Endpoint, options: Options, env: Mapping[str, str] = os.environ) -> Source:
    """Where this run takes the endpoint's answers from. Reads one cassette at most, opens no socket."""
    if endpoint.persona is not None:
        return Source("simulator", server=f"simulator, persona {endpoint.persona}")
    if options.mode == "replay":
        return _recorded(endpoint, options, env)
    if missing := missing_variables(endpoint, env):
        return Source("none", f"{', '.join(missing)} is not set; then: {record_command(endpoint, options)}")
    return Source("live", server=endpoint.server)


def missing_variables(endpoint: Endpoint, env: Mapping[str, str]) -> list[str]:
    """The environment variables that the endpoint needs and that are unset or empty."""
    wanted = [endpoint.key_env] if endpoint.key_env else []
    wanted += [
        v.env for v in (*endpoint.headers.values(), *endpoint.query.values()) if isinstance(v, FromEnv)
    ]
    return [name for name in wanted if not env.get(name)]


def record_command(endpoint: Endpoint, options: Options, scenario: str | None = None) -> str:
    """The command that records the endpoint (or one of its cells)."""
    words = ["conformance run --record --endpoint", endpoint.name]
    if options.config != "providers.yaml":
        words[0] = f"conformance run --config {options.config} --record --endpoint"
    if scenario:
        words += ["--scenario", scenario]
    if options.adapted:
        words.append("--adapted")
    return " ".join(words)


def row_of(endpoint: Endpoint, source: Source) -> EndpointRow:
    """The endpoint as the matrix shows it."""
    return EndpointRow(
        name=endpoint.name,
        wire=endpoint.wire,
        model=endpoint.model,
        base_url=endpoint.shown_url,
        source=source.kind,
        status="not-run" if source.kind == "none" else "run",
        reason=source.reason,
        server=source.server,
        recorded=source.recorded,
        quirks=tuple(quirk.id for quirk in quirks_of(endpoint)),
        scripted=endpoint.written_in if endpoint.persona is None else None,
    )


def cassette_path(endpoint: Endpoint, scenario: str, options: Options) -> Path:
    """Where the recording of one cell lies; an adapted one beside the strict one."""
    ending = ADAPTED if options.adapted else ".yaml"
    return options.cassettes_folder / endpoint.name / f"{scenario}{ending}"


def _recorded(endpoint: Endpoint, options: Options, env: Mapping[str, str]) -> Source:
    folder = options.cassettes_folder / endpoint.name
    files = sorted(folder.glob("*.yaml")) if folder.is_dir() else []
    files = [file for file in files if file.name.endswith(ADAPTED) is options.adapted]
    if not files:
        missing = missing_variables(endpoint, env)
        first = f"set {' and '.join(missing)}, then: " if missing else ""
        lacks = endpoint.unsupported if isinstance(endpoint.unsupported, Mapping) else {}
        if "tools" in lacks:
            return Source("none", f"not supported: tools: {lacks['tools']}", server=endpoint.server)
        return Source("none", f"no cassette; {first}{record_command(endpoint, options)}")
    for file in files:
        try:
            metadata = tape.load(file).metadata
        except tape.CassetteError:
            continue
        return Source("cassette", server=metadata.get("server"), recorded=metadata.get("date"))
    return Source("cassette")
