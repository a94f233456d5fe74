"""What a run is asked to do: one frozen value that also crosses to worker processes as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from conformance import config
from conformance.config import Endpoint
from conformance.dialects import DIALECTS, dialect
from conformance.judge import Strictness
from conformance.profiles import PROFILES
from conformance.quirks import Quirk, catalogue
from conformance.rules import RULES
from conformance.scenarios import SCENARIOS, Scenario
from conformance.scenarios.base import CAPABILITIES
from conformance.scenarios.quirks import QUIRK_SCENARIOS
from conformance.types import Basis, Rulebook

RunMode = Literal["replay", "live", "record"]


@dataclass(frozen=True, slots=True)
class Options:
    """Everything a run depends on besides the configuration file and the environment.

    ``endpoints``, ``scenarios`` and ``rules`` are empty for "all"; the last two are globs. ``cassettes`` is
    the folder of recordings; ``None`` is ``cassettes/`` beside the configuration file. ``exchanges`` is the
    file that all exchanges are written to, as JSON lines. ``adapted``: every cell runs through its endpoint's
    profile.
    """

    config: str = "providers.yaml"
    mode: RunMode = "replay"
    endpoints: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    bases: tuple[Basis, ...] = ()
    rulebook: Rulebook = "default"
    intrusive: bool = False
    cassettes: str | None = None
    max_requests: int | None = None
    exchanges: str | None = None
    adapted: bool = False

    def to_json(self) -> str:
        """One line that `from_json` reads back."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Options:
        """The options that `to_json` wrote."""
        data: dict[str, Any] = json.loads(text)
        return cls(**{f.name: _frozen(data[f.name]) for f in fields(cls)})

    @property
    def cassettes_folder(self) -> Path:
        """Where recordings lie: ``<folder>/<endpoint>/<scenario>.yaml``."""
        return Path(self.cassettes) if self.cassettes else Path(self.config).parent / "cassettes"

    @property
    def strictness(self) -> Strictness:
        """What the judge counts."""
        return Strictness(
            self.rulebook,
            frozenset(_matching(self.rules)) if self.rules else None,
            frozenset(self.bases) if self.bases else None,
        )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Selection:
    """The endpoints and scenarios of a run, all names resolved.

    ``asked`` are the patterns by which scenarios were asked for, if any were.
    """

    endpoints: tuple[Endpoint, ...]
    scenarios: tuple[Scenario, ...]
    asked: tuple[str, ...] = ()

    def scenarios_of(self, endpoint: Endpoint) -> tuple[Scenario, ...]:
        """Those that run at the endpoint: a quirk's own only where it is declared, or asked for by name."""
        return tuple(
            scenario
            for scenario in self.scenarios
            if scenario.id not in QUIRK_SCENARIOS
            or scenario.id.partition(".")[2] in {quirk.id for quirk in quirks_of(endpoint)}
            or any(fnmatchcase(scenario.id, pattern) for pattern in self.asked if pattern != "*")
        )


def select(options: Options) -> Selection:
    """Load the configuration and resolve every name in it and in the options.

    Raises `ConfigError` for an unknown endpoint, scenario, rule, quirk, persona or capability, with the
    file and line where it stands and a hint.
    """
    path = Path(options.config)
    endpoints = config.load(path)
    for endpoint in endpoints:
        _resolve(path, endpoint, endpoints)
    names = [endpoint.name for endpoint in endpoints]
    for name in options.endpoints:
        if name not in names:
            raise config.ConfigError(
                f"{path}: no endpoint {name}{config.did_you_mean(name, names)}; "
                "conformance list endpoints shows them"
            )
    check_rules(options.rules)
    chosen = tuple(e for e in endpoints if not options.endpoints or e.name in options.endpoints)
    selection = Selection(chosen, scenarios_matching(options.scenarios, options.intrusive), options.scenarios)
    run = {scenario.id for endpoint in chosen for scenario in selection.scenarios_of(endpoint)}
    return replace(selection, scenarios=tuple(s for s in selection.scenarios if s.id in run))


def check_rules(rules: tuple[str, ...]) -> None:
    """Raises `ConfigError` for a glob that no rule's id matches."""
    for rule in rules:
        if not _matching((rule,)):
            raise config.ConfigError(
                f"no rule {rule}{config.did_you_mean(rule, list(RULES))}; conformance list rules shows them"
            )


def _matching(patterns: tuple[str, ...]) -> list[str]:
    return [rule for rule in RULES if any(fnmatchcase(rule, pattern) for pattern in patterns)]


def unknown_dialect(name: str) -> str | None:
    """What to say of a name that no dialect has, neither as its own nor as an alias."""
    try:
        dialect(name)
    except LookupError:
        near = config.did_you_mean(name, list(DIALECTS))
        return f"no dialect {name}{near}; conformance list dialects shows them"
    return None


def scenarios_matching(patterns: tuple[str, ...], intrusive: bool) -> tuple[Scenario, ...]:
    """The scenarios that match any of the globs (all without globs), in their order.

    Raises `ConfigError` for a pattern that matches none. Intrusive ones need ``intrusive``.
    """
    known = {**SCENARIOS, **QUIRK_SCENARIOS}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise config.ConfigError(
                f"no scenario {pattern}{config.did_you_mean(pattern, list(known))}; "
                "conformance list scenarios shows them"
            )
    return tuple(
        scenario
        for scenario in known.values()
        if (not patterns or any(fnmatchcase(scenario.id, pattern) for pattern in patterns))
        and (intrusive or not scenario.intrusive)
    )


def quirks_of(endpoint: Endpoint) -> tuple[Quirk, ...]:
    """The catalogued quirks that the endpoint declares; ``persona`` among them stands for its persona's."""
    from conformance.simulator.personas import PERSONAS

    names = [name for name in endpoint.quirks if name != "persona"]
    if "persona" in endpoint.quirks and endpoint.persona is not None:
        names += [name for name in PERSONAS[endpoint.persona].quirks if name not in names]
    return tuple(catalogue()[name] for name in names)


def _resolve(path: Path, endpoint: Endpoint, endpoints: Sequence[Endpoint]) -> None:
    from conformance.simulator.personas import PERSONAS

    checks: tuple[tuple[str, tuple[str, ...], list[str], str], ...] = (
        ("quirks", endpoint.quirks, [*catalogue(), *(["persona"] if endpoint.persona else [])], "quirk"),
        ("unsupported", tuple(endpoint.unsupported), list(CAPABILITIES), "capability"),
        ("persona", (endpoint.persona,) if endpoint.persona else (), list(PERSONAS), "persona"),
        ("profile", (endpoint.profile,) if endpoint.profile else (), list(PROFILES), "profile"),
    )
    wrong = {
        "ca_file": _ca_file(path, endpoint),
        "dialect": unknown_dialect(endpoint.dialect) if endpoint.dialect else None,
        "scripted": unknown_dialect(endpoint.written_in) if endpoint.written_in else None,
        "same_server_as": _same_server(endpoint, endpoints),
    }
    for key, said in wrong.items():
        if said is not None:
            line = config.line_of(path, ("endpoints", endpoint.name, key))
            raise config.ConfigError(f"{path}:{line}: endpoints.{endpoint.name}.{key}: {said}")
    for key, given, known, kind in checks:
        for number, word in enumerate(given):
            if word not in known:
                written = getattr(endpoint, key)
                at = () if isinstance(written, str) else (word if isinstance(written, Mapping) else number,)
                keys: tuple[str | int, ...] = ("endpoints", endpoint.name, key, *at)
                raise config.ConfigError(
                    f"{path}:{config.line_of(path, keys)}: endpoints.{endpoint.name}.{key}: "
                    f"no {kind} {word}{config.did_you_mean(word, known)}"
                )


def _ca_file(path: Path, endpoint: Endpoint) -> str | None:
    if endpoint.ca_file is None or (path.parent / endpoint.ca_file).is_file():
        return None
    return f"no such file {endpoint.ca_file} (beside {path.name})"


def _same_server(endpoint: Endpoint, endpoints: Sequence[Endpoint]) -> str | None:
    name = endpoint.same_server_as
    if name is None:
        return None
    if name == endpoint.name:
        return f"{name} is this row itself; name another row of the same server"
    named = next((other for other in endpoints if other.name == name), None)
    if named is None:
        return f"no endpoint {name}{config.did_you_mean(name, [other.name for other in endpoints])}"
    if named.same_server_as is not None:
        # A row that is compared itself is no measure: chains of rows would wait for one another.
        return f"{name} is compared with {named.same_server_as} itself; let all rows of a server name one"
    return None
