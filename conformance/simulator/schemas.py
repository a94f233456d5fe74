"""JSON Schemas that clients send: are they valid, do they obey strict mode, what conforms to them.

Schemas are untrusted: references are resolved inside the document only, never fetched, and every
walk is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jsonschema_rs

_MAX_DEPTH = 12
_MAX_STEPS = 4000
# Structured Outputs guide, "Supported schemas": composition and conditions are not enforceable.
_NOT_STRICT = (
    "allOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "patternProperties",
)
_FORMATS = {
    "date-time": "2024-01-01T00:00:00Z",
    "date": "2024-01-01",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "ada@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_WORDS = (
    "value",
    "a",
    "A",
    "1",
    "abc",
    "ABC",
    "Abc",
    "123",
    "a1",
    "A1",
    "ABC-123",
    "00000",
    "#000000",
    "1.0",
)


class Unsatisfiable(ValueError):
    """No conforming value was found."""


def _validator(schema: Any) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema, validate_formats=True, offline=True)


def problem(schema: Any) -> str | None:
    """Why ``schema`` is no usable JSON Schema, in a line, or ``None``."""
    if not isinstance(schema, (dict, bool)):
        return "it is not an object"
    try:
        _validator(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        return str(error).splitlines()[0][:200]
    return None


def conforms(schema: Any, value: Any) -> bool:
    """True when ``value`` validates against the valid ``schema``."""
    return bool(_validator(schema).is_valid(value))


def strict_problem(schema: Any, path: str = "", depth: int = 0) -> str | None:
    """Why strict mode refuses ``schema``, in a line, or ``None``.

    Source: OpenAI's Structured Outputs guide, "Supported schemas".
    """
    if not isinstance(schema, dict) or depth > 64:
        return None
    here = path or "the root"
    if depth == 0 and (schema.get("type") != "object" or "anyOf" in schema):
        return "the root is not an object"
    found = next((keyword for keyword in _NOT_STRICT if keyword in schema), None)
    if found is not None:
        return f"{here} uses '{found}', which is not permitted"
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        if schema.get("additionalProperties") is not False:
            return f"{here} must set 'additionalProperties' to false"
        missing = sorted(set(properties or ()) - set(schema.get("required") or ()))
        if missing:
            return f"{here} must list '{missing[0]}' in 'required'"
    for name, child in _children(schema):
        if wrong := strict_problem(child, f"{path}/{name}", depth + 1):
            return wrong
    return None


def _children(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in ("properties", "$defs", "definitions"):
        group = schema.get(keyword)
        if isinstance(group, dict):
            yield from group.items()
    for keyword in ("anyOf", "oneOf", "prefixItems"):
        options = schema.get(keyword)
        if isinstance(options, list):
            yield from ((f"{keyword}/{i}", option) for i, option in enumerate(options))
    yield "items", schema.get("items")


def conforming(schema: Any) -> Any:
    """A value that validates against the valid ``schema``, always the same one.

    Raises:
        Unsatisfiable: none was found within bounds; there may be one.
    """
    for optional in (True, False):
        try:
            value = _Search(schema, optional).build(schema, 0)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            continue
        if conforms(schema, value):
            return value
    raise Unsatisfiable("no conforming value was found")


class _Search:
    """One attempt; it may trip over odd schemas, which ``conforming`` takes for not found."""

    def __init__(self, root: Any, optional: bool) -> None:
        self._root = root
        self._optional = optional
        self._steps = 0

    def build(self, schema: Any, depth: int) -> Any:
        self._steps += 1
        if schema is False or depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            raise Unsatisfiable
        if schema is True:
            return "value"
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if "$ref" in schema:
            rest = {k: v for k, v in schema.items() if k != "$ref"}
            return self.build(_merged(self._resolve(schema["$ref"]), rest), depth + 1)
        if "allOf" in schema:
            rest = {k: v for k, v in schema.items() if k != "allOf"}
            for part in schema["allOf"]:
                rest = _merged(rest, self._resolve(part["$ref"]) if "$ref" in part else part)
            return self.build(rest, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                rest = {k: v for k, v in schema.items() if k != keyword}
                return self._first([_merged(rest, option) for option in schema[keyword]], depth)
        kinds = schema.get("type", _implied(schema))
        if isinstance(kinds, list):
            options = sorted(kinds, key=lambda kind: kind == "null")
            return self._first([{**schema, "type": kind} for kind in options], depth)
        return self._typed(kinds, schema, depth)

    def _first(self, options: Iterable[Any], depth: int) -> Any:
        # References last: in a recursive schema they are what does not end.
        for option in sorted(options, key=lambda o: isinstance(o, dict) and "$ref" in o):
            try:
                return self.build(option, depth + 1)
            except Unsatisfiable:
                continue
        raise Unsatisfiable

    def _resolve(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise Unsatisfiable
        node = self._root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node[int(step)] if isinstance(node, list) else node[step]
        return node

    def _typed(self, kind: Any, schema: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return _string(schema)
            case "integer" | "number":
                return _number(kind, schema)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                raise Unsatisfiable

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        made: dict[str, Any] = {}
        for name, child in properties.items():
            if name in required:
                made[name] = self.build(child, depth + 1)
            elif self._optional and depth < 4:
                try:
                    made[name] = self.build(child, depth + 1)
                except Unsatisfiable:
                    continue
        for name in required:
            if name not in made:
                made[name] = self.build(schema.get("additionalProperties", True), depth + 1)
        return made

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        leading = schema.get("prefixItems", [])
        least = schema.get("minItems", 0)
        wanted = max(least, len(leading), 1 if self._optional and "items" in schema and depth < 4 else 0)
        wanted = min(wanted, schema.get("maxItems", wanted), 256)
        made = [self.build(child, depth + 1) for child in leading[:wanted]]
        while len(made) < wanted:
            item = self.build(schema.get("items", True), depth + 1)
            if schema.get("uniqueItems") and item in made:
                item = _another(schema["items"], item, made)
            made.append(item)
        return made


def _another(schema: Mapping[str, Any], item: Any, made: list[Any]) -> Any:
    candidates = [*schema.get("enum", ())]
    if isinstance(item, str):
        candidates += [f"{item}{i}" for i in range(2, 300)]
    elif isinstance(item, (int, float)) and not isinstance(item, bool):
        candidates += [item + i for i in range(1, 300)]
    fresh = next((c for c in candidates if c not in made and conforms(schema, c)), None)
    if fresh is None:
        raise Unsatisfiable
    return fresh


def _merged(left: Any, right: Any) -> Any:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return left if right is True or right == {} else right
    merged = {**left, **right}
    if "properties" in left and "properties" in right:
        merged["properties"] = {**left["properties"], **right["properties"]}
    if "required" in left and "required" in right:
        merged["required"] = [*left["required"], *right["required"]]
    return merged


def _implied(schema: Mapping[str, Any]) -> str:
    if any(k in schema for k in ("properties", "required", "additionalProperties", "minProperties")):
        return "object"
    if any(k in schema for k in ("items", "prefixItems", "minItems")):
        return "array"
    if any(k in schema for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")):
        return "number"
    return "string"


def _string(schema: Mapping[str, Any]) -> str:
    """A word of the list that fits: patterns are tried, not solved."""
    own = {k: schema[k] for k in ("type", "format", "pattern", "minLength", "maxLength") if k in schema}
    least: int = schema.get("minLength", 0)
    most: int = schema.get("maxLength", 1 << 16)
    if least > 1 << 16:
        raise Unsatisfiable
    words: tuple[str, ...] = (
        (_FORMATS[schema["format"]], *_WORDS) if schema.get("format") in _FORMATS else _WORDS
    )
    check = _validator(own)
    for word in words:
        padded = word + word[-1] * (least - len(word))
        for candidate in (padded, padded[:most]):
            if check.is_valid(candidate):
                return candidate
    raise Unsatisfiable


def _number(kind: str, schema: Mapping[str, Any]) -> int | float:
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    own = {"type": kind, **{k: schema[k] for k in bounds if k in schema}}
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 2))
    step = schema.get("multipleOf", 1)
    multiple = (low // step + 1) * step
    candidates: list[float] = [1, 0, low, high, low + 1, high - 1, (low + high) / 2, multiple, step]
    check = _validator(own)
    for candidate in candidates:
        number = int(candidate) if kind == "integer" or candidate == int(candidate) else candidate
        if check.is_valid(number):
            return number
    raise Unsatisfiable
