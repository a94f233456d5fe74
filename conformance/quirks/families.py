"""The provider families that have a persona: those of whose quirks the catalogue has evidence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from conformance.quirks.catalogue import Quirk, catalogue


class Family(BaseModel):
    """A provider family. ``models`` are patterns, as of file names, of what its persona serves.

    ``also`` are quirks that its persona has beside those that say so themselves.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    models: tuple[str, ...]
    also: tuple[str, ...] = ()

    @property
    def quirks(self) -> tuple[Quirk, ...]:
        """The quirks that its persona has unasked and that can be simulated, in the catalogue's order."""
        own = (q for q in catalogue().values() if self.name in q.had_by or q.id in self.also)
        return tuple(quirk for quirk in own if quirk.simulated)


@cache
def families() -> Mapping[str, Family]:
    """Every family by name."""
    text = (resources.files("conformance.quirks") / "families.yaml").read_text("utf-8")
    rows = TypeAdapter(tuple[Family, ...]).validate_python(yaml.safe_load(text))
    return {family.name: family for family in rows}
