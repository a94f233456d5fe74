"""The part of JSON Schema that Anthropic's structured outputs and strict tools understand.

Source: Anthropic's guide "Structured outputs", "JSON Schema limitations"; the words and the limits on strict
tools are in recordings of the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_NOT_SUPPORTED: Mapping[str, tuple[str, ...]] = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems", "contains", "prefixItems"),
    "object": ("patternProperties", "minProperties", "maxProperties", "propertyNames"),
}
_COMPOSITION = ("oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas")
_DEFINITIONS = ("$defs", "definitions")
_OPTIONAL = 24
_UNIONS = 16


def problem(schema: Any) -> str | None:
    """Why ``schema``, a valid JSON Schema, is beyond what is supported, in a line, or ``None``."""
    return next(_problems(schema), None) or _circular(schema)


def too_complex(schemas: Iterable[Any]) -> str | None:
    """Why all ``schemas`` of a request's strict tools are too much together, in a line, or ``None``."""
    optional = unions = 0
    for schema in _nested(schemas):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            optional += len(properties.keys() - set(schema.get("required", ())))
            unions += sum(_is_union(child) for child in properties.values())
    if optional > _OPTIONAL:
        return f"Schemas contains too many optional parameters ({optional}) (limit: {_OPTIONAL})."
    if unions > _UNIONS:
        return f"Schemas contains too many parameters with union types ({unions}) (limit: {_UNIONS})."
    return None


def _nested(schemas: Iterable[Any]) -> Iterator[dict[str, Any]]:
    waiting = list(schemas)
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict):
            yield schema
            waiting += _children(schema)


def _is_union(schema: Any) -> bool:
    return isinstance(schema, dict) and ("anyOf" in schema or isinstance(schema.get("type"), list))


def _problems(schema: Any) -> Iterator[str]:
    """Recursion is bounded by the depth that a request body may have."""
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        yield f"Invalid schema: external $ref '{reference[:100]}' is not supported"
    for keyword in _COMPOSITION:
        if keyword in schema:
            yield f"'{keyword}' is not supported"
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        for keyword in _NOT_SUPPORTED.get(str(kind), ()):
            if keyword in schema:
                yield f"For '{kind}' type, property '{keyword}' is not supported"
        if kind == "object" and any(isinstance(child, bool) for child in _named(schema, "properties")):
            yield "For 'object' type, property 'properties' is not supported"
        if kind == "object" and schema.get("additionalProperties") is not False:
            yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
        if kind == "array" and schema.get("minItems", 0) not in (0, 1):
            yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    for child in _children(schema):
        yield from _problems(child)


def _children(schema: Mapping[str, Any]) -> Iterator[Any]:
    for keyword in ("properties", *_DEFINITIONS):
        yield from _named(schema, keyword)
    for keyword in ("anyOf", "allOf"):
        listed = schema.get(keyword)
        if isinstance(listed, list):
            yield from listed
    yield schema.get("items")


def _named(schema: Mapping[str, Any], keyword: str) -> Iterable[Any]:
    named = schema.get(keyword)
    return named.values() if isinstance(named, dict) else ()


def _circular(schema: Any) -> str | None:
    """A definition that leads back to itself, found by dropping those that lead nowhere."""
    root = schema if isinstance(schema, dict) else {}
    uses = {
        f"#/{keyword}/{name}": set(_references(definition))
        for keyword in _DEFINITIONS
        if isinstance(root.get(keyword), dict)
        for name, definition in root[keyword].items()
    }
    used_by: dict[str, list[str]] = {name: [] for name in uses}
    open_uses = {name: len(targets & uses.keys()) for name, targets in uses.items()}
    for name, targets in uses.items():
        for target in targets & uses.keys():
            used_by[target].append(name)
    ended = [name for name, count in open_uses.items() if not count]
    for name in ended:
        for user in used_by[name]:
            open_uses[user] -= 1
            if not open_uses[user]:
                ended.append(user)
    left = next((name for name in uses if open_uses[name]), None)
    if left is None and "#" not in set(_references(schema)):
        return None
    return f"Invalid schema: Circular reference detected in schema definitions: {(left or '#')[:100]}"


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference
        for child in schema.values():
            yield from _references(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _references(child)
