"""The lab's servers as endpoints of a configuration file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import yaml

from conformance.config import Endpoint
from conformance.lab.recipe import Recipe


def endpoints_of(
    recipe: Recipe,
    configured: Sequence[Endpoint] = (),
    ports: Mapping[str, int] | None = None,
    dialect: str | None = None,
) -> tuple[Endpoint, ...]:
    """The endpoints of one server; ``ports`` are those that differ from the recipes'.

    With a ``dialect`` it is the one that it has with a model of that dialect.

    Where ``configured`` has a row of that name, it counts (it may declare quirks), with the port changed.
    """
    rows = {endpoint.name: endpoint for endpoint in configured}
    port = (ports or {}).get(recipe.name, recipe.port)
    found = []
    mine = (
        [recipe.endpoint_in(dialect, ports)] if dialect else [recipe.endpoint(n, ports) for n in recipe.rows]
    )
    for own in mine:
        if (row := rows.get(own.name)) is not None and row.base_url:
            base_url = re.sub(r"(?<=//127\.0\.0\.1:)\d+", str(port), row.base_url)
            own = row.model_copy(update={"base_url": base_url})
        found.append(own)
    return tuple(found)


def to_yaml(endpoints: Sequence[Endpoint]) -> str:
    """A configuration file with these rows and no others; ``same_server_as`` stays where it can."""
    names = {endpoint.name for endpoint in endpoints}
    rows = {}
    for endpoint in endpoints:
        row = endpoint.model_dump(mode="json", exclude_defaults=True)
        if row.get("same_server_as") not in names:
            row.pop("same_server_as", None)
        rows[endpoint.name] = row
    return yaml.safe_dump({"endpoints": rows}, sort_keys=False, width=110, allow_unicode=True)
