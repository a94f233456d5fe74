"""The words that JSON Schemas of our own documents are written in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from conformance.types.vocabulary import WIRES

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
WIRE: Schema = {"enum": list(WIRES)}


def closed(optional: Mapping[str, Any] | None = None, **required: Any) -> Schema:
    """An object with these members and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def array(items: Any) -> Schema:
    """A list of such items."""
    return {"type": "array", "items": items}


def word_of(literal: Any) -> Schema:
    """A word of a closed vocabulary, given as its ``Literal``."""
    return {"enum": list(get_args(literal))}
