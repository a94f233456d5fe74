"""``conformance explain``: all that is known of one rule, scenario, quirk or policy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.failing import clearly
from conformance.types import ASPECTS, Aspect

if TYPE_CHECKING:
    from conformance.quirks import Quirk
    from conformance.rules import Rule

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

_WIDE = 110
_MARGIN = 12
_AS_THEY_STAND = ("request", "answer", "sources")


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
    from conformance.engine.twins import twins_of
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
    if twins := len(twins_of(scenario)):
        lines.append(f"twins     {twins}, asked the other way on rows with our scripted model (parity.*)")
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
    from conformance.profiles import PROFILES
    from conformance.quirks import catalogue
    from conformance.quirks.families import families

    quirk = catalogue()[id]
    example = quirk.example
    declared = (*(refuses.wire for refuses in quirk.refuses), *(alters.wire for alters in quirk.alters))
    wires = dict.fromkeys((quirk.wire, *(wire for wire in declared if wire)))
    around = [profile.name for profile in PROFILES.values() if id in profile.works_around]
    profiles = "those of all compatible endpoints" if len(around) > len(PROFILES) // 2 else ", ".join(around)
    having = ", ".join(family.name for family in families().values() if quirk in family.quirks)
    seldom = "by asking alone: it shows now and then, or on some routes only"
    rows = [
        ("trigger", quirk.trigger),
        ("request", _json(example.request, "reference") if example else None),
        ("answer", _answer(quirk)),
        ("observed", quirk.observed),
        ("expected", quirk.expected),
        ("severity", quirk.severity),
        ("wires", ", ".join(wires)),
        ("providers", ", ".join(quirk.providers)),
        ("personas", having or (None if quirk.had_by else seldom)),
        ("since", quirk.since),
        ("until", quirk.until),
        ("workaround", quirk.workaround),
        ("profiles", profiles and f"{profiles} (conformance run --adapted)"),
        ("", quirk.no_workaround and f"(no client's work: {quirk.no_workaround})"),
        ("shows as", _showing(quirk)),
        ("simulated", _simulation(quirk)),
        ("confidence", quirk.confidence),
        ("review by", quirk.review_by.isoformat()),
        ("note", quirk.note),
        ("sources", "\n".join(quirk.sources)),
    ]
    lines = [f"quirk {id}: {quirk.title}", ""]
    for name, value in rows:
        if value:
            told = value.splitlines()
            if name not in _AS_THEY_STAND:
                told = [
                    line
                    for text in told
                    for line in wrap(text, _WIDE - _MARGIN, break_long_words=False, break_on_hyphens=False)
                ]
            lines.append(f"{name:<{_MARGIN}}{told[0]}")
            lines += [f"{'':<{_MARGIN}}{line}" for line in told[1:]]
    return "\n".join(lines)


def _answer(quirk: Quirk) -> str | None:
    if quirk.example is None or quirk.example.answer is None:
        return None
    answer = quirk.example.answer
    return answer.rstrip("\n") if isinstance(answer, str) else _json(answer, "reference")


def _json(value: Any, model: str) -> str:
    """JSON in as few lines as fit a page, with the name of a model in its place."""
    return "\n".join(_json_lines(value, "", _WIDE - _MARGIN)).replace("{{model}}", model)


def _json_lines(value: Any, key: str, width: int) -> list[str]:
    whole = key + json.dumps(value, ensure_ascii=False)
    if len(whole) <= width or not isinstance(value, dict | list) or not value:
        return [whole]
    if isinstance(value, dict):
        inner = [_json_lines(one, f"{json.dumps(name)}: ", width - 3) for name, one in value.items()]
    else:
        inner = [_json_lines(one, "", width - 3) for one in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = [key + opening]
    for number, told in enumerate(inner):
        lines += [f"  {line}" for line in told]
        lines[-1] += "," if number < len(inner) - 1 else ""
    return [*lines, closing]


def _showing(quirk: Quirk) -> str:
    if not quirk.detected:
        return f"not detected: {quirk.undetected}"
    told = []
    for shows in quirk.shows:
        where = "any scenario" if "*" in shows.scenarios else ", ".join(shows.scenarios)
        told.append(f"{', '.join(shows.rules)} in {where}")
    if quirk.breaks:
        told.append(f"an answer that breaks off, or none, in {', '.join(quirk.breaks)}")
    return "\n".join(told)


def _simulation(quirk: Quirk) -> str:
    if not quirk.simulated:
        return f"no: {quirk.unsimulated}" if quirk.unsimulated else "no"
    how = ["refuses such a request"] if any(refuses.when for refuses in quirk.refuses) else []
    how += ["refuses whatever is asked"] if any(refuses.when is None for refuses in quirk.refuses) else []
    how += ["ignores it"] if any(alters.effect == "ignored" for alters in quirk.alters) else []
    how += [act.behaviour for act in quirk.simulate]
    return f"{', '.join(how)}\nconformance serve --quirk {quirk.id}"


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
