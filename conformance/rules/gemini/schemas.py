"""Gemini's subset of OpenAPI schemas as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 40
"""Schemas nested deeper are as if they said nothing from there on."""
_KEPT = (
    *("title", "description", "minItems", "maxItems", "minProperties", "maxProperties", "minLength"),
    *("maxLength", "pattern", "minimum", "maximum"),
)


def plain_schema(schema: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """The JSON Schema that says the same: types in lower case, ``nullable`` as a type of its own.

    Source: google-genai 3.6.1, ``types.Schema``; Gemini API reference, "Schema".
    """
    if depth > MAX_DEPTH:
        return {}
    plain: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
    kind, nullable = schema.get("type"), schema.get("nullable") is True
    if isinstance(kind, str) and kind.upper() != "TYPE_UNSPECIFIED":
        plain["type"] = [kind.lower(), "null"] if nullable else kind.lower()
    if isinstance(values := schema.get("enum"), list) and values:
        plain["enum"] = [*values, None] if nullable else values
    if isinstance(required := schema.get("required"), list):
        plain["required"] = required
    if isinstance(items := schema.get("items"), dict):
        plain["items"] = plain_schema(items, depth + 1)
    if isinstance(members := schema.get("properties"), dict):
        plain["properties"] = {
            name: plain_schema(one, depth + 1) for name, one in members.items() if isinstance(one, dict)
        }
    if isinstance(options := schema.get("anyOf"), list):
        plain["anyOf"] = [plain_schema(one, depth + 1) for one in options if isinstance(one, dict)]
    return plain
