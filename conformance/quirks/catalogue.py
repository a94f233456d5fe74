"""Loads and validates the catalogue: ``data/*.yaml`` beside this file, one file per provider family."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from conformance.quirks.conditions import Pattern
from conformance.quirks.declarations import Alters, Example, Refuses
from conformance.types import Finding, WireName

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class QuirkError(Exception):
    """The catalogue itself is wrong; the message names file, quirk and key."""


class Shows(BaseModel):
    """How a quirk shows: findings of these rules, in these scenarios, whose ``got`` matches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: tuple[str, ...] = Field(min_length=1)
    scenarios: tuple[str, ...] = Field(min_length=1, description="Ids or globs.")
    got: Pattern | None = Field(
        default=None, description="Pattern searched in what was got, case-insensitive."
    )
    path: Pattern | None = Field(default=None, description="Pattern searched in the finding's path.")

    def explains(self, scenario: str, finding: Finding) -> bool:
        """Whether this is the finding that the quirk makes show."""
        return any(fnmatchcase(scenario, pattern) for pattern in self.scenarios) and self.fits(finding)

    def fits(self, finding: Finding) -> bool:
        """Whether the finding is what the quirk makes show, wherever it was made."""
        return (
            finding.rule in self.rules
            and (self.got is None or re.search(self.got, finding.got, re.IGNORECASE) is not None)
            and (self.path is None or re.search(self.path, finding.path) is not None)
        )


class Act(BaseModel):
    """A behaviour of the simulator by name, with what it needs to know."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    behaviour: str
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"behaviour": value} if isinstance(value, str) else value


class Quirk(BaseModel):
    """One catalogued deviation: what triggers it, how it shows, who has it, the evidence, the workaround.

    ``providers`` are those it was seen at; ``personas`` those among them whose persona has it unasked (all,
    if nothing is said): what shows only in old versions, only now and then or only on some routes is had by
    asking. ``unsimulated``, ``undetected`` and ``no_workaround`` say why a thing can't be done.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"[a-z0-9][a-z0-9-]*")
    title: str
    providers: tuple[str, ...] = Field(min_length=1)
    personas: tuple[str, ...] | None = None
    wire: WireName
    category: str
    trigger: str
    observed: str
    expected: str
    severity: Literal["breaks", "degrades", "cosmetic"]
    workaround: str
    since: str | None = Field(default=None, description="When it was first seen, as precisely as is known.")
    until: str | None = Field(default=None, description="When or in which version it ended.")
    confidence: Literal["recorded", "documented", "maintainer-confirmed", "user-reported", "unconfirmed"]
    sources: tuple[str, ...] = Field(min_length=1)
    note: str | None = None
    review_by: datetime.date
    shows: tuple[Shows, ...] = ()
    breaks: tuple[str, ...] = Field(
        default=(),
        description="Ids or globs of scenarios in which the connection ends before its answer does.",
    )
    simulate: tuple[Act, ...] = Field(default=(), description="Behaviours of the simulator that act it out.")
    refuses: tuple[Refuses, ...] = ()
    alters: tuple[Alters, ...] = ()
    transient: bool = Field(
        default=False, description="The same request, asked again, is answered as it should be."
    )
    example: Example | None = None
    unsimulated: str | None = None
    undetected: str | None = None
    no_workaround: str | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.personas is not None and not set(self.personas) <= set(self.providers):
            raise ValueError("personas: a persona that has it must be among the providers")
        for reason, done in (("unsimulated", self.simulated), ("undetected", self.detected)):
            if done and getattr(self, reason) is not None:
                raise ValueError(f"{reason}: it is done, so there is no reason to give")
        return self

    @property
    def simulated(self) -> bool:
        """Whether the simulator can act it out."""
        ignores = any(alters.effect == "ignored" for alters in self.alters)
        return bool(self.simulate or self.refuses or ignores)

    @property
    def detected(self) -> bool:
        """Whether scenarios are named in which it is seen: by findings, or by an answer that is not whole."""
        return bool(self.shows or self.breaks)

    @property
    def had_by(self) -> tuple[str, ...]:
        """The personas that have it unasked."""
        return self.providers if self.personas is None else self.personas

    def explains(self, scenario: str, finding: Finding) -> bool:
        """Whether the finding is this quirk showing."""
        return any(shows.explains(scenario, finding) for shows in self.shows)

    def fits(self, finding: Finding) -> bool:
        """Whether the finding, made outside of any scenario, is this quirk showing."""
        return any(shows.fits(finding) for shows in self.shows)

    def breaks_off(self, scenario: str) -> bool:
        """Whether the quirk ends a connection of this scenario before its answer ends."""
        return any(fnmatchcase(scenario, pattern) for pattern in self.breaks)

    @property
    def shows_asked_twice(self) -> bool:
        """Whether it shows only where a request is asked both ways beyond the scenario's own script.

        Cases of the chapter ``parser`` ask both ways themselves.
        """
        named = [name for shows in self.shows for name in shows.scenarios if not name.startswith("parser.")]
        return bool(named) and all(rule.startswith("parity.") for shows in self.shows for rule in shows.rules)

    def expected_in(self, scenario: str) -> bool:
        """Whether the quirk shows in this scenario by name, not only through a glob.

        Only such a scenario can prove a declared quirk stale: a glob says where it *may* show.
        """
        return scenario in self.breaks or any(scenario in shows.scenarios for shows in self.shows)


@cache
def catalogue() -> Mapping[str, Quirk]:
    """Every quirk by id. Raises `QuirkError` when a file of the catalogue is not valid."""
    quirks: dict[str, Quirk] = {}
    folder = resources.files("conformance.quirks") / "data"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".yaml"):
            continue
        for row in yaml.load(file.read_text("utf-8"), _LOADER) or ():  # noqa: S506 -- both are safe
            label = f"{file.name}: {row.get('id', '?') if isinstance(row, dict) else row!r}"
            try:
                quirk = Quirk.model_validate(row)
            except ValidationError as error:
                first = error.errors()[0]
                key = ".".join(str(part) for part in first["loc"])
                raise QuirkError(f"{label}: {key}: {first['msg']}") from None
            if quirk.id in quirks:
                raise QuirkError(f"{label}: this id occurs twice")
            quirks[quirk.id] = quirk
    return quirks
