"""Checks of the schemas of Chat Completions tools that paths can't say, by name. They never raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.quirks.paths import Place, as_text, places


def required_not_in_properties(body: Mapping[str, Any]) -> Iterator[Place]:
    """Names in ``required`` that are not among the ``properties`` beside it (BoltAI/BoltAI issue 375)."""
    for schema in places(body, "/tools/*/function/parameters/$**[required]"):
        required, properties = schema.value["required"], schema.value.get("properties")
        known = properties if isinstance(properties, dict) else {}
        for index, name in enumerate(required if isinstance(required, list) else ()):
            if as_text(name) not in known:
                yield Place((*schema.path, "required", index), name)


CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Place]]] = {
    "required-not-in-properties": required_not_in_properties,
}
