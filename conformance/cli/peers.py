"""What other suites check, row by row, and what of ours checks it: ``data/peer_checks.yaml`` and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, Field


class PeerCheck(BaseModel):
    """One check; ``ours`` are ids of rules, scenarios and quirks, ``why_not`` says what they leave out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: str = Field(pattern=r"^\d+b?$")
    check: str = Field(min_length=1)
    who: tuple[str, ...] = Field(default=(), description="Keys of the peers; empty where nobody checks it.")
    ours: tuple[str, ...] = ()
    why_not: str = ""


class Part(BaseModel):
    """The checks on one subject."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    checks: tuple[PeerCheck, ...] = Field(min_length=1)


class Survey(BaseModel):
    """All peers by their key, and what they check."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    peers: Mapping[str, str]
    parts: tuple[Part, ...]

    @property
    def checks(self) -> tuple[PeerCheck, ...]:
        """The checks of all parts, in order."""
        return tuple(check for part in self.parts for check in part.checks)


@cache
def survey() -> Survey:
    """The survey as it stands in the data. Raises ``ValidationError`` where that is malformed."""
    text = (resources.files("conformance.cli") / "data" / "peer_checks.yaml").read_text("utf-8")
    return Survey.model_validate(yaml.load(text, yaml.CSafeLoader))


def peers_page(generated: str) -> str:
    """The survey as a page; ``generated`` is the line that says so."""
    return "".join(_page(generated))


def _page(generated: str) -> Iterator[str]:
    from conformance.cli.docs import cell, chapter_of
    from conformance.rules import RULES
    from conformance.scenarios import SCENARIOS

    def linked(name: str) -> str:
        if name in RULES:
            page, anchor = f"rules/{chapter_of(name)}.md", name.replace(".", "")
            return f"[{name}]({page}#{anchor})"
        page = "scenarios.md" if name in SCENARIOS else "quirks.md"
        return f"[`{name}`]({page})"

    found = survey()
    covered = sum(bool(check.ours) for check in found.checks)
    yield f"# What other suites check\n\n{generated}\n"
    yield f"{covered} of {len(found.checks)} checks are made by rules of ours, or by scenarios and quirks\n"
    yield "(in code type); where a part of one is not, or none of it, the row says why.\n"
    for part in found.parts:
        yield f"\n## {part.title}\n\n| | check | who | ours | what is left out, and why |\n"
        yield "|--:|---|---|---|---|\n"
        for check in part.checks:
            ours = ", ".join(map(linked, check.ours))
            row = (check.number, cell(check.check), ", ".join(check.who) or "–", ours, cell(check.why_not))
            yield f"| {' | '.join(row)} |\n"
    yield "\n## The suites\n\n| | suite |\n|---|---|\n"
    for key, name in found.peers.items():
        yield f"| {key} | {cell(name)} |\n"
