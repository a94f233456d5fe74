"""What wires ask of the JSON Schemas in a request.

Sources: OpenAI's guide "Structured Outputs", "Supported schemas"; Anthropic's guide "Structured outputs",
"JSON Schema limitations".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.types import Loss
from conformance.wires.body import MAX_DEPTH
from conformance.wires.losses import pointer

_BY_NAME = ("properties", "$defs", "definitions")
_LISTED = ("anyOf", "allOf", "oneOf", "prefixItems")
_ONE = ("items",)

_NOT_STRICT = frozenset(
    ("allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else", "patternProperties")
)
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_NOT_GRAMMAR: Mapping[str, tuple[str, ...]] = {
    "number": _NUMBERS,
    "integer": _NUMBERS,
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems", "contains", "prefixItems"),
    "object": ("patternProperties", "minProperties", "maxProperties", "propertyNames"),
}
"""What Anthropic's grammars don't hold answers to, by the type that it constrains."""


def is_strict(schema: Any) -> bool:
    """Whether OpenAI takes a schema as a strict one: objects closed, all their properties required."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object" or "anyOf" in schema:
        return False
    waiting = [schema]
    while waiting:
        inner = waiting.pop()
        properties = inner.get("properties")
        named = properties if isinstance(properties, Mapping) else {}
        required = inner.get("required")
        if _NOT_STRICT & inner.keys():
            return False
        if (inner.get("type") == "object" or named) and (
            inner.get("additionalProperties") is not False
            or not isinstance(required, list | None)
            or not named.keys() <= {name for name in required or () if isinstance(name, str)}
        ):
            return False
        for keyword in inner:
            waiting += _inner(inner, keyword)
    return True


def for_grammar(schema: Mapping[str, Any], at: str, losses: list[Loss]) -> dict[str, Any]:
    """The schema as Anthropic's structured outputs take it; ``at`` is where it is, for ``losses``.

    Every object must be closed in so many words; limits on numbers, lengths and the like are refused with
    400 and left out. What cannot be said without them (conditions, recursion) stays for the API to refuse.
    """
    return _walked(schema, at, losses, 0)


def _walked(schema: Mapping[str, Any], at: str, losses: list[Loss], depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        return dict(schema)
    kinds = schema.get("type")
    said = {kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)}
    dropped = {keyword for kind in said for keyword in _NOT_GRAMMAR.get(kind, ())} & schema.keys()
    if "array" in said and schema.get("minItems") not in (None, 0, 1):
        dropped.add("minItems")
    losses += [
        Loss(at + pointer(keyword), "no grammar holds answers to it here") for keyword in sorted(dropped)
    ]

    def inner(value: Any, *where: str | int) -> Any:
        return (
            _walked(value, at + pointer(*where), losses, depth + 1) if isinstance(value, Mapping) else value
        )

    out = {
        keyword: _mapped(keyword, value, inner) for keyword, value in schema.items() if keyword not in dropped
    }
    if "object" in said and out.get("additionalProperties") is not False:
        let_in = out.get("additionalProperties") is not None
        what = "other properties: objects are closed here" if let_in else "closed: objects must say so here"
        losses.append(Loss(at + "/additionalProperties", what, "meaning" if let_in else "form"))
        out["additionalProperties"] = False
    return out


def _mapped(keyword: str, value: Any, inner: Callable[..., Any]) -> Any:
    if keyword in _BY_NAME and isinstance(value, Mapping):
        return {name: inner(child, keyword, name) for name, child in value.items()}
    if keyword in _LISTED and isinstance(value, list):
        return [inner(child, keyword, i) for i, child in enumerate(value)]
    return inner(value, keyword) if keyword in _ONE else value


def _inner(schema: Mapping[str, Any], keyword: str) -> list[Mapping[str, Any]]:
    """The schemas under a keyword."""
    found: list[Mapping[str, Any]] = []

    def keep(value: Any, *_: str | int) -> None:
        if isinstance(value, Mapping):
            found.append(value)

    _mapped(keyword, schema[keyword], keep)
    return found
