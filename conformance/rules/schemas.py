"""JSON Schema validation of values that models wrote against schemas that requests gave."""

from __future__ import annotations

from typing import Any

import jsonschema_rs


def first_error(schema: Any, value: Any) -> str | None:
    """The first way in which a value does not fit a schema, in words; ``None`` where it fits.

    ``None`` too where the schema itself is unusable or refers to something outside itself: that is the
    request's fault. Never fetches anything.
    """
    if not isinstance(schema, dict):
        return None
    try:
        error = next(
            iter(jsonschema_rs.Draft202012Validator(schema, retriever=_refuse).iter_errors(value)), None
        )
    except (ValueError, RecursionError):
        return None
    if error is None:
        return None
    place = "/".join(map(str, error.instance_path))
    return f"{error.message[:150]} at /{place}"


def _refuse(address: str) -> Any:
    raise ValueError(f"references are not followed: {address[:60]}")
