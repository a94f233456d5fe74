"""Bugs of released software that were mended: ``history/replays.yaml`` and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

import conformance
from conformance.config import Endpoint, load

HISTORY = Path(conformance.__file__).parents[1] / "history"
"""Cases, rows and recordings; part of a checkout, not of the installed package."""

_Source = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]
"""An issue or a pull request: ``owner/repository#number``."""

_INTRODUCTION = """\
Bugs that users met in released software and that a later release mended. The suite was run against both
releases: it tells the bug in the old one, by a rule that holds in the fixed one. {cases} cases in {programs}
programs are told by {rules} rules of level MUST or SHOULD.

The recordings lie in `history/cassettes`, and a test (`tests/lab/test_history.py`) judges them again at each
change. To see one:

```console
conformance run --config history/providers.yaml --scenario SCENARIO --endpoint OLD --endpoint FIXED -v
```

In {clean} cases the fixed release conforms in the whole scenario (✓); in the others it breaks other rules
there, which are not told here. The reports and changes are those that speak of the bug; not every bug has
both.
"""

_AGAIN = """\
## Running a case anew

Each row of `history/providers.yaml` is one release, over one wire. Install and start that release as its
program's lines below say, with its version for `VERSION`, then

```console
conformance run --record --config history/providers.yaml --cassettes again --endpoint ROW --scenario SCENARIO
```

Any release between the two can be put in their place, which is how a bisection goes; a server of one's own
build is asked with `conformance certify URL --model MODEL --scripted --scenario SCENARIO`.
"""


class Program(BaseModel):
    """A program that was replayed: how its releases are installed and started."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    about: str
    versions: Mapping[str, str] = Field(description="The release to install for each row (without its wire).")
    start: str = Field(description="Shell lines, with VERSION for the release.")


class Replay(BaseModel):
    """A bug: the rules that tell it in a scenario at the row ``old`` and no longer at the row ``fixed``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    program: str
    wrong: str
    sources: tuple[_Source, ...] = Field(min_length=1)
    scenario: str
    rules: tuple[str, ...] = Field(min_length=1)
    old: str
    fixed: str
    clean: bool = Field(default=False, description="The fixed release conforms in the whole scenario.")


class LeftOut(BaseModel):
    """What was tried and is no case, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    why: str


class History(BaseModel):
    """Everything that was replayed, and what could not be."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    programs: Mapping[str, Program]
    replays: tuple[Replay, ...] = Field(min_length=1)
    left_out: tuple[LeftOut, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> History:
        unknown = {replay.program for replay in self.replays} - self.programs.keys()
        if unknown:
            raise ValueError(f"no such programs: {', '.join(sorted(unknown))}")
        return self


@cache
def history() -> History:
    """The cases as they stand in the data. Raises ``ValidationError`` where that is malformed."""
    text = (HISTORY / "replays.yaml").read_text("utf-8")
    return History.model_validate(yaml.load(text, yaml.CSafeLoader))


@cache
def rows() -> Mapping[str, Endpoint]:
    """The releases by the names of their rows. Raises `ConfigError` where the file is malformed."""
    return {row.name: row for row in load(HISTORY / "providers.yaml")}


def replays_page(generated: str) -> str:
    """The cases as a page; ``generated`` is the line that says so."""
    return "".join(_page(generated))


def _page(generated: str) -> Iterator[str]:
    from conformance.cli.docs import cell

    told = history()
    rules = {rule for replay in told.replays for rule in replay.rules}
    yield f"# Bugs of the past, replayed\n\n{generated}\n"
    clean = sum(replay.clean for replay in told.replays)
    programs = len({replay.program for replay in told.replays})
    yield _INTRODUCTION.format(cases=len(told.replays), programs=programs, rules=len(rules), clean=clean)
    yield f"\n| what was wrong | old | fixed | told in | by | reports and changes |\n|{'---|' * 6}\n"
    for replay in told.replays:
        yield _line(replay)
    yield f"\n{_AGAIN}"
    for program in told.programs.values():
        yield f"\n### {program.title}\n\n{program.about}\n\n"
        for row, version in program.versions.items():
            yield f"- `{row}`: {version}\n"
        yield f"\n```sh\n{program.start}```\n"
    yield "\n## Tried, and no case\n\n| what | why |\n|---|---|\n"
    for tried in told.left_out:
        yield f"| {cell(tried.what)} | {cell(tried.why)} |\n"


def _line(replay: Replay) -> str:
    from conformance.cli.docs import cell, chapter_of

    by = ", ".join(f"[{rule}](rules/{chapter_of(rule)}.md#{rule.replace('.', '')})" for rule in replay.rules)
    old, fixed = (f"{rows()[name].server} (`{name}`)" for name in (replay.old, replay.fixed))
    sources = ", ".join(map(_link, replay.sources))
    mark = " ✓" if replay.clean else ""
    row = (cell(replay.wrong), old, f"{fixed}{mark}", f"`{replay.scenario}`", by, sources)
    return f"| {' | '.join(row)} |\n"


def _link(source: str) -> str:
    repository, _, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})"
