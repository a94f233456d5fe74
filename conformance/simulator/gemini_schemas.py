"""Gemini's subset of OpenAPI schemas: what it forbids, and the JSON Schema that says the same.

Source: Gemini API reference, "Schema" (google-genai 3.6.1, ``types.Schema``); the refusals are worded as in
public reports (issues of google-gemini/gemini-cli and googleapis/python-genai).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.simulator import schemas
from conformance.simulator.gemini_json import invalid

_KEPT = (
    "title", "description", "minItems", "maxItems", "minProperties", "maxProperties", "minLength",
    "maxLength", "pattern", "minimum", "maximum",
)  # fmt: skip
_TEXT_FORMATS = ("date", "date-time", "time", "duration", "email", "uri", "uuid")


def json_schema(schema: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The JSON Schema of an OpenAPI one, as read by ``gemini_fields``.

    Raises:
        Refused: 400, Gemini does not take it.
    """
    converted = _converted(schema, path)
    problem = schemas.problem(converted)
    if problem is not None:
        raise invalid(path, problem)
    return converted


def plain_schema(schema: Any, path: str) -> dict[str, Any]:
    """A JSON Schema that came as such.

    Raises:
        Refused: 400, it is none, or no object.
    """
    problem = schemas.problem(schema)
    if problem is None and not isinstance(schema, dict):
        problem = "it is not an object"
    if problem is not None:
        raise invalid(path, problem)
    assert isinstance(schema, dict)
    return schema


def _converted(schema: Mapping[str, Any], path: str) -> dict[str, Any]:
    kind = schema.get("type", "TYPE_UNSPECIFIED")
    _check(schema, kind, path)
    converted: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
    if kind != "TYPE_UNSPECIFIED":
        converted["type"] = [kind.lower(), "null"] if schema.get("nullable") else kind.lower()
    if schema.get("enum"):
        converted["enum"] = [*schema["enum"], *([None] if schema.get("nullable") else [])]
    if schema.get("format") in _TEXT_FORMATS:
        converted["format"] = schema["format"]
    if "items" in schema:
        converted["items"] = _converted(schema["items"], f"{path}.items")
    if schema.get("anyOf"):
        options = [_converted(item, f"{path}.any_of[{i}]") for i, item in enumerate(schema["anyOf"])]
        converted["anyOf"] = [*options, *([{"type": "null"}] if schema.get("nullable") else [])]
    if "properties" in schema:
        converted["properties"] = {
            name: _converted(item, f"{path}.properties[{name[:60]}]")
            for name, item in schema["properties"].items()
        }
    if schema.get("required"):
        converted["required"] = schema["required"]
    return converted


def _check(schema: Mapping[str, Any], kind: str, path: str) -> None:
    if kind == "ARRAY" and "items" not in schema:
        raise invalid(f"{path}.items", "missing field.")
    if "items" in schema and kind not in ("ARRAY", "TYPE_UNSPECIFIED"):
        raise invalid(f"{path}.items", "only allowed for ARRAY type.")
    if "properties" in schema and kind not in ("OBJECT", "TYPE_UNSPECIFIED"):
        raise invalid(f"{path}.properties", "only allowed for OBJECT type.")
    if schema.get("enum") and kind not in ("STRING", "TYPE_UNSPECIFIED"):
        raise invalid(f"{path}.enum", "only allowed for STRING type.")
    for index, name in enumerate(schema.get("required", ())):
        if name not in schema.get("properties", {}):
            raise invalid(f"{path}.required[{index}]", "property is not defined")
