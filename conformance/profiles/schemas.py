"""JSON Schemas, repaired for who takes only a part of the language.

Nesting beyond ``MAX_DEPTH`` is left as it is. Every repair keeps what the schema means where the smaller
language has words for it, and widens it (never narrows) where it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

MAX_DEPTH = 100

_BY_NAME = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")

GEMINI_KEYS = frozenset(
    ("type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems",
     "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern",
     "example", "anyOf", "propertyOrdering", "default", "minimum", "maximum")
)  # fmt: skip
"""Members of Gemini's ``Schema`` (ai.google.dev, API reference, ``Schema``)."""

Schema = dict[str, Any]


def walked(schema: Any, change: Callable[[Schema], Schema], depth: int = 0) -> Any:
    """The schema with ``change`` applied to each schema in it, the inner ones first."""
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return schema

    def inner(value: Any) -> Any:
        return walked(value, change, depth + 1)

    out: Schema = {}
    for key, value in schema.items():
        if key in _BY_NAME and isinstance(value, Mapping):
            out[key] = {name: inner(child) for name, child in value.items()}
        elif key in _LISTED and isinstance(value, list):
            out[key] = [inner(child) for child in value]
        else:
            out[key] = inner(value) if key in _ONE else value
    return change(out)


def without(schema: Any, keys: Collection[str]) -> Any:
    """The schema without these keywords, anywhere in it."""
    return walked(schema, lambda node: {k: v for k, v in node.items() if k not in keys})


# ------------------------------------------------------------------------------------------ Moonshot


def for_moonshot(schema: Any) -> Any:
    """A type on every node and none beside ``anyOf``; no null branches or members; ``required`` in
    objects.
    """
    return walked(schema, _moonshot)


def _moonshot(node: Schema) -> Schema:
    out = dict(node)
    out.pop("nullable", None)
    if "oneOf" in out and "anyOf" not in out:
        out["anyOf"] = out.pop("oneOf")
    if isinstance(out.get("enum"), list):
        out["enum"] = [value for value in out["enum"] if value not in (None, "")]
        if not out["enum"]:
            del out["enum"]
    if isinstance(out.get("type"), list):
        out["type"] = _main_type(out["type"])
    if isinstance(out.get("items"), list) or "prefixItems" in out:
        tuple_items = out.pop("prefixItems", None) or out.get("items")
        out["items"] = tuple_items[0] if isinstance(tuple_items, list) and tuple_items else {"type": "string"}
    if isinstance(out.get("anyOf"), list):
        return _without_null_branches(out)
    if "$ref" not in out and not isinstance(out.get("type"), str):
        out["type"] = _type_of(out)
    if out.get("type") == "object":
        out.setdefault("required", [])
    return out


def _without_null_branches(node: Schema) -> Schema:
    branches = [b for b in node["anyOf"] if not (isinstance(b, Mapping) and b.get("type") == "null")]
    above = node.get("type")
    rest = {k: v for k, v in node.items() if k not in ("anyOf", "type")}
    if len(branches) == 1 and isinstance(branches[0], Mapping):
        return {**branches[0], **{k: v for k, v in rest.items() if k not in branches[0]}}
    if not branches:
        return {**rest, "type": "string"}
    if isinstance(above, str):
        branches = [
            {**b, "type": above} if isinstance(b, Mapping) and not _typed_by_itself(b) else b
            for b in branches
        ]
    return {**rest, "anyOf": branches}


def _typed_by_itself(branch: Mapping[str, Any]) -> bool:
    """A branch that came without a type got a guessed one on the way; only words of its own count."""
    return any(key in branch for key in ("properties", "items", "enum", "anyOf", "$ref")) or (
        branch.get("type") not in (None, "string")
    )


def _main_type(types: list[Any]) -> Any:
    return next((kind for kind in types if kind != "null"), "string")


def _type_of(node: Mapping[str, Any]) -> str:
    """The type that a node's other words mean."""
    if "properties" in node or "required" in node:
        return "object"
    if "items" in node:
        return "array"
    values = node.get("enum") if isinstance(node.get("enum"), list) else [node.get("const")]
    first = next((value for value in values or () if value is not None), "")
    kinds = ((bool, "boolean"), (int, "integer"), (float, "number"), (dict, "object"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(first, kind)), "string")


# -------------------------------------------------------------------------------------------- Gemini


def required_declared(schema: Any) -> Any:
    """Only declared properties are required, and items have a type."""
    return walked(schema, _declared)


def _declared(node: Schema) -> Schema:
    out = dict(node)
    properties, required = out.get("properties"), out.get("required")
    if isinstance(required, list) and (isinstance(properties, Mapping) or out.get("type") == "object"):
        names = properties if isinstance(properties, Mapping) else {}
        out["required"] = [name for name in required if name in names]
        if not out["required"]:
            del out["required"]
    if out.get("type") == "array" and not (isinstance(out.get("items"), Mapping) and out["items"]):
        out["items"] = {"type": "string"}
    return out


def const_as_enum(schema: Any) -> Any:
    """``const`` as an ``enum`` of one."""
    return walked(
        schema,
        lambda node: {("enum" if k == "const" else k): ([v] if k == "const" else v) for k, v in node.items()},
    )


def without_const(schema: Any) -> Any:
    """``const`` as an ``enum`` of one, and a union with null as ``nullable``."""
    return walked(schema, _no_const)


def _no_const(node: Schema) -> Schema:
    out = dict(node)
    if "const" in out:
        out["enum"] = [out.pop("const")]
    kinds = out.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        others = [kind for kind in kinds if kind != "null"]
        if len(others) == 1:
            out |= {"type": others[0], "nullable": True}
        elif others:
            del out["type"]
            out |= {"anyOf": [{"type": kind} for kind in others], "nullable": True}
    branches = out.get("anyOf")
    if isinstance(branches, list) and {"type": "null"} in branches:
        others = [branch for branch in branches if branch != {"type": "null"}]
        if len(others) == 1 and isinstance(others[0], Mapping):
            del out["anyOf"]
            out = {**others[0], **out, "nullable": True}
        elif others:
            out |= {"anyOf": others, "nullable": True}
    return out


def for_gemini(schema: Any) -> Any:
    """A schema in the words of Gemini's ``Schema``: references resolved, what it has no word for left out."""
    return without_const(required_declared(_known_words(_resolved(schema))))


def _known_words(schema: Any) -> Any:
    # "const" and unions are words until they are put otherwise.
    return walked(schema, lambda node: {k: v for k, v in node.items() if k in GEMINI_KEYS or k == "const"})


def _resolved(schema: Any, depth: int = 0) -> Any:
    """Local references replaced by what they name, each once on its way; recursion ends as any object."""
    if not isinstance(schema, Mapping):
        return schema
    named = {
        f"#/{key}/{name}": child
        for key in ("$defs", "definitions")
        if isinstance(schema.get(key), Mapping)
        for name, child in schema[key].items()
    }
    budget = [_MAX_RESOLVED]

    def follow(node: Any, on_the_way: tuple[str, ...], level: int) -> Any:
        if level > MAX_DEPTH or budget[0] <= 0:
            return {}
        budget[0] -= 1
        if isinstance(node, list):
            return [follow(item, on_the_way, level + 1) for item in node]
        if not isinstance(node, Mapping):
            return node
        ref = node.get("$ref")
        if isinstance(ref, str):
            if ref not in named or ref in on_the_way:
                return {"type": "object"}
            rest = {k: v for k, v in node.items() if k != "$ref"}
            target = named[ref]
            merged = {**target, **rest} if isinstance(target, Mapping) else rest
            return follow(merged, (*on_the_way, ref), level + 1)
        return {
            k: follow(v, on_the_way, level + 1) for k, v in node.items() if k not in ("$defs", "definitions")
        }

    return follow(schema, (), depth) if named else schema


_MAX_RESOLVED = 20_000
"""Nodes that references may grow a schema to: a small one can name itself many times over."""


# ------------------------------------------------------------------------------------------- others


def without_all_of(schema: Any) -> Any:
    """``allOf`` flattened into the schema that holds it."""
    return walked(schema, _flat)


def _flat(node: Schema) -> Schema:
    parts = node.get("allOf")
    if not isinstance(parts, list):
        return node
    out = {k: v for k, v in node.items() if k != "allOf"}
    for part in parts:
        for key, value in part.items() if isinstance(part, Mapping) else ():
            old = out.get(key)
            if key == "properties" and isinstance(old, Mapping) and isinstance(value, Mapping):
                out[key] = {**value, **old}
            elif key == "required" and isinstance(old, list) and isinstance(value, list):
                out[key] = [*old, *(name for name in value if name not in old)]
            else:
                out.setdefault(key, value)
    return out
