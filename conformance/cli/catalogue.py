"""``conformance list`` and ``conformance schema``: what the suite knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from conformance.cli.failing import clearly
from conformance.types import ASPECTS

Row = Mapping[str, Any]


@click.group("list")
def list_group() -> None:
    """List rules, scenarios, endpoints, quirks, profiles, policies, wires or dialects, as text or as JSON."""


def _rules() -> list[Row]:
    from conformance.rules import RULES

    return [
        {
            "id": rule.id,
            "level": rule.level,
            "basis": rule.basis,
            "kind": rule.kind,
            "subject": rule.subject,
            "wires": list(rule.wires),
            "flavour": rule.flavour,
            "needs": [aspect for aspect in ASPECTS if aspect in rule.needs],
            "requirement": rule.requirement,
            "source": list(rule.source),
        }
        for rule in RULES.values()
    ]


def _scenarios() -> list[Row]:
    from conformance.scenarios import SCENARIOS

    return [
        {
            "id": s.id,
            "title": s.title,
            "chapter": s.chapter,
            "needs": list(s.needs),
            "intrusive": s.intrusive,
            "wires": list(s.wires),
        }
        for s in SCENARIOS.values()
    ]


def _quirks() -> list[Row]:
    from conformance.quirks import catalogue

    return [
        {"id": q.id, "title": q.title, "providers": list(q.providers), "wire": q.wire, "severity": q.severity}
        for q in catalogue().values()
    ]


def _profiles() -> list[Row]:
    from conformance.profiles import PROFILES
    from conformance.quirks import catalogue

    known = {provider for quirk in catalogue().values() for provider in quirk.providers}
    return [
        {
            "id": profile.name,
            "providers": [provider for provider in profile.providers if provider in known],
            "works_around": list(profile.works_around),
        }
        for profile in PROFILES.values()
    ]


def _policies() -> list[Row]:
    from conformance.policies import POLICIES

    return [
        {
            "id": policy.id,
            "title": policy.title,
            "evidence": policy.evidence,
            "aspects": dict(policy.aspects),
            "outcomes": dict(policy.outcomes),
            "reference": [
                {"wire": one.wire, "provider": one.provider, "outcomes": one.outcomes, "source": one.source}
                for one in policy.reference
            ],
        }
        for policy in POLICIES.values()
    ]


def _wires() -> list[Row]:
    from conformance.types import WIRES
    from conformance.wires import wire

    return [
        {"id": name, "path": wire(name).path("MODEL", False), "models": wire(name).models_path}
        for name in WIRES
    ]


def _dialects() -> list[Row]:
    from conformance.dialects import DIALECTS

    return [
        {
            "id": d.name,
            "title": d.title,
            "aliases": list(d.aliases),
            "families": list(d.families),
            "results_as": d.results_as,
            "source": d.source,
        }
        for d in DIALECTS.values()
    ]


def _listing(name: str, what: str, rows: Callable[[], list[Row]], columns: tuple[str, ...]) -> click.Command:
    @click.command(name, help=f"List {what}.")
    @click.option("--json", "as_json", is_flag=True, help="As JSON, complete.")
    @clearly
    def command(as_json: bool) -> int:
        print_rows(rows(), columns, as_json)
        return 0

    return command


def print_rows(rows: Sequence[Row], columns: tuple[str, ...], as_json: bool) -> None:
    """Rows as aligned text (the named columns) or as one JSON array (everything)."""
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max((len(row[n]) for row in cells), default=0) for n in range(len(columns))]
    for row in cells:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


for _command in (
    _listing("rules", "the rules", _rules, ("id", "level", "basis", "requirement")),
    _listing("scenarios", "the scenarios", _scenarios, ("id", "title")),
    _listing("quirks", "the catalogued quirks", _quirks, ("id", "severity", "title", "providers")),
    _listing("profiles", "what clients do for a provider family", _profiles, ("id", "providers")),
    _listing("policies", "the policies that are observed, not judged", _policies, ("id", "title")),
    _listing("wires", "the wires", _wires, ("id", "path", "models")),
    _listing("dialects", "the text-level tool-call formats", _dialects, ("id", "title")),
):
    list_group.add_command(_command)


@list_group.command("endpoints")
@click.option("--config", default="providers.yaml", show_default=True, help="Configuration file.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, complete.")
@clearly
def list_endpoints(config: str, as_json: bool) -> int:
    """List the endpoints of the configuration and whether they can run now."""
    from dataclasses import asdict

    from conformance.engine.options import Options, select
    from conformance.engine.sources import row_of, source_of

    options = Options(config=config)
    rows = [
        {**asdict(row_of(e, source_of(e, options))), "dialect": e.dialect} for e in select(options).endpoints
    ]
    shown = [
        {
            **row,
            "spoken": f"{row['wire']} + {row['dialect']}" if row["dialect"] else row["wire"],
            "state": row["source"] if row["status"] == "run" else row["reason"],
        }
        for row in rows
    ]
    print_rows(rows if as_json else shown, ("name", "spoken", "model", "state"), as_json)
    return 0


@click.command()
@click.argument(
    "what", type=click.Choice(["providers", "matrix", "exchange", "grading"]), default="providers"
)
@clearly
def schema(what: str) -> int:
    """Print the JSON Schema of providers.yaml (default), matrix.json, a line of exchanges, or grade --json.

    An exchange is what `run --exchanges` writes and `grade` reads, one a line.
    """
    if what == "providers":
        from conformance.config import json_schema as found
    elif what == "matrix":
        from conformance.report.jsonfile import schema as found
    elif what == "exchange":
        from conformance.grade.jsonl import exchange_schema as found
    else:
        from conformance.grade.document import schema as found
    click.echo(json.dumps(found(), ensure_ascii=False, indent=1))
    return 0
