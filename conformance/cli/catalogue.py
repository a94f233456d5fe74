"""``conformance explain``, ``conformance list`` and ``conformance schema``: what the suite knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.failing import clearly
from conformance.types import ASPECTS, Aspect

if TYPE_CHECKING:
    from conformance.quirks import Quirk
    from conformance.rules import Rule

Row = Mapping[str, Any]

ASPECT_WORDS: Mapping[Aspect, str] = {
    "request": "the request's body",
    "status": "the HTTP status",
    "headers": "the response's headers",
    "all-headers": "every one of them",
    "framing": "the lines of an event stream",
    "spelling": "how JSON was written",
    "presence": "which members were there",
    "values": "ids, times and model names as sent",
    "arrival": "when the bytes came",
    "purpose": "what the request was for",
}
"""What a recording may have kept, in words."""


@click.command()
@click.argument("id")
@clearly
def explain(id: str) -> int:
    """Explain a rule, a scenario, a quirk or a policy: requirement, reason, source, examples.

    \b
    Examples:
      conformance explain chat.stream.tool-index-present
      conformance explain tools.parallel-calls
      conformance explain deepseek-reasoning-echo-required
      conformance explain reasoning-echo
    """
    from conformance.config import ConfigError, did_you_mean
    from conformance.engine.options import unknown_dialect
    from conformance.policies import POLICIES
    from conformance.quirks import catalogue
    from conformance.rules import RULES
    from conformance.scenarios import SCENARIOS
    from conformance.types import WIRES

    if id in RULES:
        click.echo(explain_rule(id))
    elif id in SCENARIOS:
        click.echo(explain_scenario(id))
    elif id in catalogue():
        click.echo(explain_quirk(id))
    elif id in POLICIES:
        click.echo(explain_policy(id))
    else:
        known = [*RULES, *SCENARIOS, *catalogue(), *POLICIES]
        kind = "wire" if id in WIRES else "dialect" if unknown_dialect(id) is None else None
        if kind:
            raise ConfigError(
                f"{id} is a {kind}, and only rules, scenarios, quirks and policies are explained; "
                f"conformance list {kind}s shows it"
            )
        raise ConfigError(f"no rule, scenario, quirk or policy {id}{did_you_mean(id, known)}")
    return 0


def explain_rule(id: str) -> str:
    """A rule as text: requirement, level and basis, source, consequence, both examples."""
    from conformance.rules import examples_text, rule_of

    rule = rule_of(id)
    violating, conforming = examples_text(rule)
    literal = f" ({rule.strict_level} in the literal rulebook)" if rule.strict_level else ""
    rows = [
        ("level", f"{rule.level}{literal}"),
        ("basis", f"{rule.basis}: a {rule.kind} rule"),
        ("judges", f"the {rule.subject}"),
        ("wires", ", ".join(rule.wires)),
        ("flavour", rule.flavour),
        ("probe", rule.probe),
        ("needs", needs_text(rule)),
        ("reason", rule.reason),
        ("breaks", rule.consequence),
        ("source", "; ".join(rule.source)),
    ]
    lines = [f"rule {id}", "", rule.requirement, ""]
    lines += [f"{name:<8} {value}" for name, value in rows if value]
    return "\n".join([*lines, "", "violating:", indent(violating), "", "conforming:", indent(conforming)])


def needs_text(rule: Rule) -> str:
    """What a recording must have kept for a rule to be judged on it, in words."""
    return ", ".join(f"{aspect} ({ASPECT_WORDS[aspect]})" for aspect in ASPECTS if aspect in rule.needs)


def indent(text: str) -> str:
    """The text, four spaces further in."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def explain_scenario(id: str) -> str:
    """A scenario as text: what it asks, what it needs, what a perfect model answers."""
    from conformance.engine.drive import plan
    from conformance.scenarios import SCENARIOS
    from conformance.types import WIRES, Reasoning, Text, ToolCall
    from conformance.wires import wire

    scenario = SCENARIOS[id]
    cost = plan(scenario, wire(scenario.wires[0]))
    lines = [f"scenario {id}: {scenario.title}", ""]
    if scenario.doc:
        lines += [scenario.doc, ""]
    lines.append(
        f"sends     {cost.requests} request(s), at most {cost.output_tokens:,} output tokens an attempt"
    )
    if len(scenario.wires) < len(WIRES):
        lines.append(f"wires     {', '.join(scenario.wires)}")
    lines.append(f"needs     {', '.join(scenario.needs) or 'nothing special'}")
    if scenario.optional:
        names = ", ".join(feature.name for feature in scenario.optional)
        lines.append(f"optional  {names}: a 4xx that names it counts as refused")
    for number, turn in enumerate(scenario.ideal):
        lines.append(f"ideal turn {number}:")
        for part in turn.parts:
            if isinstance(part, ToolCall):
                lines.append(f"    call {part.name}({part.arguments})")
            elif isinstance(part, Text | Reasoning):
                kind = "reasoning" if isinstance(part, Reasoning) else "text"
                lines.append(f"    {kind}: {part.text}")
    return "\n".join(lines)


def explain_quirk(id: str) -> str:
    """A quirk as text: trigger, an example, what is observed and expected, who, workaround, sources."""
    from conformance.quirks import catalogue

    quirk = catalogue()[id]
    shows = [f"{', '.join(s.rules)} in {', '.join(s.scenarios)}" for s in quirk.shows]
    example = quirk.example
    rows = [
        ("trigger", quirk.trigger),
        ("request", _as_text(example.request) if example else None),
        ("answer", _as_text(example.answer) if example and example.answer is not None else None),
        ("observed", quirk.observed),
        ("expected", quirk.expected),
        ("severity", quirk.severity),
        ("wire", quirk.wire),
        ("providers", ", ".join(quirk.providers)),
        ("since", quirk.since),
        ("until", quirk.until),
        ("workaround", quirk.workaround),
        ("", quirk.no_workaround and f"(no client's work: {quirk.no_workaround})"),
        ("shows as", "; ".join(shows) or f"not detected: {quirk.undetected}"),
        ("simulated", _simulation(quirk)),
        ("confidence", quirk.confidence),
        ("review by", quirk.review_by.isoformat()),
        ("note", quirk.note),
        ("sources", "\n".join(quirk.sources)),
    ]
    lines = [f"quirk {id}: {quirk.title}", ""]
    for name, value in rows:
        if value:
            first, *rest = value.splitlines()
            lines.append(f"{name:<11} {first}")
            lines += [f"{'':<11} {line}" for line in rest]
    return "\n".join(lines)


def _as_text(value: Any) -> str:
    return value.rstrip("\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _simulation(quirk: Quirk) -> str:
    if not quirk.simulated:
        return f"no: {quirk.unsimulated}" if quirk.unsimulated else "no"
    how = ["refuses such a request"] if quirk.refuses else []
    how += [act.behaviour for act in quirk.simulate]
    return f"{', '.join(how)} (conformance serve --quirk {quirk.id})"


def explain_policy(id: str) -> str:
    """A policy as text: what is looked at, how it is told, and what the wires' own providers do."""
    from conformance.policies import POLICIES
    from conformance.scenarios import SCENARIOS

    policy = POLICIES[id]
    asking = ", ".join(one.id for one in SCENARIOS.values() if one.policy == id)
    lines = [f"policy {id}: {policy.title}", "", policy.evidence, "", f"asked by  {asking}"]
    for head, words in (("aspects:", policy.aspects), ("outcomes:", policy.outcomes)):
        width = max(map(len, words))
        lines += ["", head, *(f"    {name:<{width}}  {about}" for name, about in words.items())]
    lines += ["", "what the wires' own providers do, and the simulator's clean persona with them:"]
    for one in policy.reference:
        alike: dict[str, list[str]] = {}
        for aspect, outcome in one.outcomes.items():
            alike.setdefault(outcome, []).append(aspect)
        lines.append(f"    {one.wire} ({one.provider})")
        lines += [f"        {outcome}: {', '.join(aspects)}" for outcome, aspects in alike.items()]
        lines.append(f"        source: {one.source}")
    return "\n".join(lines)


@click.group("list")
def list_group() -> None:
    """List rules, scenarios, endpoints, quirks, policies, wires or dialects, as text or as JSON."""


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
    widths = [max((len(str(row[c])) for row in rows), default=0) for c in columns]
    for row in rows:
        line = "  ".join(f"{row[c]!s:<{width}}" for c, width in zip(columns, widths, strict=True))
        click.echo(line.rstrip())


for _command in (
    _listing("rules", "the rules", _rules, ("id", "level", "basis", "requirement")),
    _listing("scenarios", "the scenarios", _scenarios, ("id", "title")),
    _listing("quirks", "the catalogued quirks", _quirks, ("id", "severity", "title")),
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
