"""Gemini's OpenAPI subset as JSON Schema.

Source: google-genai 3.6.1, ``types.Schema``: upper-case ``Type``, ``nullable``, ``ref`` and ``defs``; 64-bit
integers are strings in Google's JSON mapping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.wires.body import MAX_DEPTH
from conformance.wires.gemini_names import camel

_ONE = frozenset({"items", "additionalProperties", "not"})
_MANY = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "defs", "$defs", "definitions"})
_COUNTS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
_RENAMED = {"ref": "$ref", "defs": "$defs"}


def json_schema(schema: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """The JSON Schema that a Gemini ``Schema`` means; what is not understood stays as it is."""
    if depth > MAX_DEPTH:
        return dict(schema)

    def inner(value: Any) -> Any:
        return json_schema(value, depth + 1) if isinstance(value, Mapping) else value

    out: dict[str, Any] = {}
    for key, value in schema.items():
        name = key if key.startswith("$") else camel(key)
        if name == "type" and isinstance(value, str):
            if value.upper() != "TYPE_UNSPECIFIED":
                out["type"] = value.lower()
            continue
        if name in _ONE:
            value = inner(value)
        elif name in _MANY and isinstance(value, list):
            value = [inner(item) for item in value]
        elif name in _NAMED and isinstance(value, Mapping):
            value = {property_: inner(item) for property_, item in value.items()}
        elif name in _COUNTS and isinstance(value, str) and value.isascii() and value.isdecimal():
            value = int(value[:20])
        elif name == "format" and value == "enum":
            continue
        out[_RENAMED.get(name, name)] = value
    return _with_null(out) if out.pop("nullable", False) is True else out


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    kind, several, values = schema.get("type"), schema.get("anyOf"), schema.get("enum")
    out = dict(schema)
    if isinstance(kind, str) and kind != "null":
        out["type"] = [kind, "null"]
    if isinstance(several, list):
        out["anyOf"] = [*several, {"type": "null"}]
    if isinstance(values, list) and None not in values:
        out["enum"] = [*values, None]
    return out
