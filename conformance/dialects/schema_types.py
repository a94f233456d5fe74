"""The type a raw text value has: the tool's schema decides, as the text can't.

Formats with raw values (Qwen3-Coder, GLM, MiniMax, DSML without ``string=``) write ``42`` both for the
number and for the text. Unknown parameters stay text: guessing would turn a postcode into a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.dialects.jsontext import Value, scan, skip_space
from conformance.dialects.parsed import Flag

_MAX_REFS = 8
_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def type_of(value: Any) -> str:
    """The JSON Schema name of a value's type."""
    return next((name for kind, name in _NAMES if isinstance(value, kind)), "null")


def child(schema: Any, key: str, root: Any = None) -> Any:
    """The schema of a member of an object, ``None`` where it says nothing."""
    schema = resolved(schema, root if root is not None else schema)
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key]
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, Mapping) else None


def item(schema: Any, root: Any = None) -> Any:
    """The schema of the members of an array, ``None`` where it says nothing."""
    schema = resolved(schema, root if root is not None else schema)
    return schema.get("items") if isinstance(schema, Mapping) else None


def resolved(schema: Any, root: Any) -> Any:
    """The schema that a local ``$ref`` points to."""
    for _ in range(_MAX_REFS):
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(ref, str) or not ref.startswith("#/"):
            return schema
        schema = root
        for step in ref[2:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            schema = schema.get(step) if isinstance(schema, Mapping) else None
    return None


def types(schema: Any, root: Any = None, depth: int = 0) -> frozenset[str]:
    """The types a schema allows; empty where it names none."""
    root = root if root is not None else schema
    schema = resolved(schema, root)
    if not isinstance(schema, Mapping) or depth > _MAX_REFS:
        return frozenset()
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset({named})
    if isinstance(named, list):
        return frozenset(n for n in named if isinstance(n, str))
    if isinstance(schema.get("enum"), list):
        return frozenset(type_of(value) for value in schema["enum"])
    if "const" in schema:
        return frozenset({type_of(schema["const"])})
    branches = [b for k in ("anyOf", "oneOf", "allOf") if isinstance(b := schema.get(k), list)]
    found = frozenset(t for branch in branches for s in branch for t in types(s, root, depth + 1))
    if not found and isinstance(schema.get("properties"), Mapping):
        return frozenset({"object"})
    return found


def typed(raw: str, schema: Any, root: Any = None) -> tuple[Any, frozenset[Flag]]:
    """The value of a raw text, with ``repaired`` or ``type-mismatch`` where the text did not fit the schema.

    Text stays text wherever the schema allows it and the text is not JSON of another type it allows.
    A value that can't be converted is kept as text.
    """
    allowed = types(schema, root)
    fine: frozenset[Flag] = frozenset()
    if not allowed or allowed == {"string"}:
        return raw, fine
    for python in (False, True):
        got = scan(raw, skip_space(raw, 0), python=python)
        if isinstance(got, Value) and skip_space(raw, got.end) == len(raw) and _fits(got.value, allowed):
            clean = got.exact and not python
            if clean or "string" not in allowed:
                return got.value, fine if clean else fine | {"repaired"}
    return raw, fine if "string" in allowed else fine | {"type-mismatch"}


def _fits(value: Any, allowed: frozenset[str]) -> bool:
    name = type_of(value)
    if name == "null":
        return "string" not in allowed or "null" in allowed
    if name == "number":
        return "number" in allowed or ("integer" in allowed and float(value).is_integer())
    return name in allowed or (name == "integer" and "number" in allowed)
