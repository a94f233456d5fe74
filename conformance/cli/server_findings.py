"""What was seen of real servers, by hand and by the suite: ``data/server_findings.yaml`` and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator


class ServerFinding(BaseModel):
    """One deviation: where the suite finds it, or why it does not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: str = Field(
        default="", description="Its number in the list made by hand; empty for what was found beyond it."
    )
    deviation: str = Field(min_length=1)
    rules: tuple[str, ...] = Field(default=(), description="Rules of which one tells it, in each cell.")
    observed: str = Field(default="", description="ASPECT=OUTCOME, where a policy scenario tells it.")
    cells: tuple[str, ...] = Field(default=(), description="ROW/SCENARIO, where it is told.")
    grammar: bool = Field(default=False, description="The script fights a grammar of the server's.")
    why_not: str = Field(default="", description="Why no cell tells it, or tells a part of it.")

    @model_validator(mode="after")
    def _told(self) -> ServerFinding:
        if not self.cells and not self.why_not:
            raise ValueError("neither cells nor why_not")
        if bool(self.cells) != bool(self.rules or self.observed):
            raise ValueError("cells go with rules or with observed")
        return self


class Server(BaseModel):
    """The findings of one server; ``rows`` are those of ``providers.yaml`` that hold its recordings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    rows: tuple[str, ...] = ()
    findings: tuple[ServerFinding, ...] = Field(min_length=1)


@cache
def servers() -> tuple[Server, ...]:
    """All servers, in order. Raises ``ValidationError`` where the data is malformed."""
    text = (resources.files("conformance.cli") / "data" / "server_findings.yaml").read_text("utf-8")
    return tuple(map(Server.model_validate, yaml.load(text, yaml.CSafeLoader)))


def findings_page(generated: str) -> str:
    """The findings as a page; ``generated`` is the line that says so."""
    return "".join(_page(generated))


def _page(generated: str) -> Iterator[str]:
    everything = [finding for server in servers() for finding in server.findings]
    by_hand = [finding for finding in everything if finding.number]
    told = sum(bool(finding.cells) for finding in by_hand)
    yield f"# What real servers deviate in\n\n{generated}\n"
    yield f"{len(by_hand)} deviations were seen by hand, before the suite ran. {told} of them it finds\n"
    yield "by itself, in the recorded cells named here; of the others, and of parts, the last column\n"
    yield "says why not. What has no number it found beyond them. The bytes of a cell:\n"
    yield "`conformance run --endpoint ROW --scenario SCENARIO -vv`. A test holds that each tells the rule\n"
    yield "or policy named. Where a script fights a grammar of the server's (*), the answer says little\n"
    yield "about the server, and nothing is held against it. All rows serve the scripted model with our\n"
    yield "template of Hermes text. What a gateway's row shares with the direct row of the server\n"
    yield "behind it is that server's, and declared there under its own quirks.\n"
    for server in servers():
        yield f"\n## {server.title}\n\n"
        yield from _rows(server.rows)
        yield "| | deviation | rule or policy | cell | what is not seen, and why |\n|--:|---|---|---|---|\n"
        for finding in server.findings:
            yield from _line(finding)


def _rows(names: tuple[str, ...]) -> Iterator[str]:
    by_chain: dict[str, list[str]] = {}
    for name in names:
        by_chain.setdefault(_chains()[name], []).append(f"`{name}`")
    for chain, rows in by_chain.items():
        yield f"- {', '.join(rows)}: {chain}\n"
    if names:
        yield "\n"


@cache
def _chains() -> Mapping[str, str]:
    """Of each recorded row the whole chain: server, version, what lies behind it, and its command line."""
    from pathlib import Path

    import conformance
    from conformance.config import load
    from conformance.lab import recipes

    started = {}
    for recipe in recipes().values():
        flags = recipe.spoken("hermes").flags if recipe.dialects else ()
        words = (word.removeprefix("${env}/") for word in (*recipe.command, *flags))
        started.update(dict.fromkeys(recipe.rows, " ".join(words)))
    rows = load(Path(conformance.__file__).parents[1] / "providers.yaml")
    return {row.name: f"{row.server}; `{started[row.name]}`" for row in rows if row.name in started}


def _line(finding: ServerFinding) -> Iterator[str]:
    from conformance.cli.docs import cell, chapter_of

    number = f"{finding.number}{' (*)' if finding.grammar else ''}" if finding.number else ""
    rules = [f"[{rule}](rules/{chapter_of(rule)}.md#{rule.replace('.', '')})" for rule in finding.rules]
    if finding.observed:
        rules.append(f"policy `{finding.observed}`")
    where = ", ".join(f"`{one}`" for one in finding.cells)
    row = (number, cell(finding.deviation), ", ".join(rules), where, cell(finding.why_not))
    yield f"| {' | '.join(row)} |\n"
