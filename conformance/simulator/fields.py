"""Typed access to the members of a request body, refusing what is missing, mistyped or out of range."""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from conformance.simulator.answer import Refused, refusal

_MAX_DEPTH = 100


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``.

    Raises:
        Refused: it is not UTF-8, not strict JSON, not an object, or nested over 100 levels deep.
    """
    try:
        document = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
        if not isinstance(document, dict):
            raise refusal("The request body must be a JSON object.", why="400 body-not-an-object")
        _check(document)
    except (ValueError, RecursionError):
        raise refusal("The request body is not valid JSON.", why="400 malformed-json") from None
    return document


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _check(document: Any) -> None:
    """Walk without recursion: depth, finite numbers, no lone surrogates (they have no UTF-8)."""
    level = [document]
    for _ in range(_MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                below += node.keys()
                below += node.values()
            elif isinstance(node, list):
                below += node
            elif isinstance(node, str):
                node.encode()
            elif isinstance(node, float) and not math.isfinite(node):
                raise ValueError("not a finite number")
        if not below:
            return
        level = below
    raise ValueError("nested too deeply")


def missing(param: str) -> Refused:
    """A required parameter is absent."""
    return refusal(f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter")


def wrong_type(param: str, wanted: str, value: Any) -> Refused:
    """A parameter has another type than ``wanted``."""
    message = f"Invalid type for '{param}': expected {wanted}, got {_kind(value)}."
    return refusal(message, param=param, code="invalid_type")


def wrong_value(param: str, wanted: str, code: str = "invalid_value") -> Refused:
    """A parameter has the right type and a value that is not allowed."""
    return refusal(f"Invalid value for '{param}': {wanted}.", param=param, code=code)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a decimal", str: "a string", list: "an array"}
    return names.get(type(value), "an object")


class Fields:
    """The members of one object; ``path`` is how its parameters are named in errors.

    A member that is null counts as absent, as most of OpenAI's optional members are nullable.
    Every method raises ``Refused``.
    """

    def __init__(self, members: Mapping[str, Any], path: str = "") -> None:
        self._members = members
        self._path = path

    def param(self, name: str) -> str:
        """The full name of a member."""
        return f"{self._path}.{name}" if self._path else name

    def names(self) -> Iterable[str]:
        """The names of the members, null ones included."""
        return self._members.keys()

    def closed(self, names: Container[str]) -> None:
        """Refuse members of other names than these."""
        for name in self._members:
            if name not in names:
                param = self.param(name[:100])
                raise refusal(f"Unknown parameter: '{param}'.", param=param, code="unknown_parameter")

    def has(self, name: str) -> bool:
        """True when the member is there and not null."""
        return self._members.get(name) is not None

    def boolean(self, name: str) -> bool | None:
        value = self._members.get(name)
        if value is not None and not isinstance(value, bool):
            raise wrong_type(self.param(name), "a boolean", value)
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        value = self._members.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise wrong_type(self.param(name), "a number", value)
        if not low <= value <= high:
            wanted = f"it must be between {low:g} and {high:g}"
            raise wrong_value(self.param(name), wanted, _beyond(value, low))
        return float(value)

    def integer(self, name: str, low: int, high: int) -> int | None:
        value = self._members.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_type(self.param(name), "an integer", value)
        if not low <= value <= high:
            raise wrong_value(self.param(name), f"it must be between {low} and {high}", _beyond(value, low))
        return value

    def text(self, name: str, most: int | None = None) -> str | None:
        """A string, of at most so many characters."""
        value = self._members.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise wrong_type(self.param(name), "a string", value)
        if most is not None and len(value) > most:
            wanted = f"it must have at most {most} characters"
            raise wrong_value(self.param(name), wanted, "string_above_max_length")
        return value

    def needed_text(self, name: str) -> str:
        """A string that must be there and not empty."""
        value = self.text(name)
        if value is None:
            raise missing(self.param(name))
        if not value:
            raise wrong_value(self.param(name), "it must not be empty", "empty_string")
        return value

    def choice(self, name: str, allowed: Sequence[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in allowed:
            raise wrong_value(self.param(name), f"supported values are {', '.join(allowed)}")
        return value

    def object(self, name: str) -> Fields | None:
        value = self._members.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise wrong_type(self.param(name), "an object", value)
        return Fields(value, self.param(name))

    def needed_object(self, name: str) -> Fields:
        found = self.object(name)
        if found is None:
            raise missing(self.param(name))
        return found

    def objects(self, name: str, least: int, most: int) -> list[Fields] | None:
        """An array of ``least`` to ``most`` objects."""
        value = self._members.get(name)
        if value is None:
            return None
        param = self.param(name)
        if not isinstance(value, list):
            raise wrong_type(param, "an array of objects", value)
        if len(value) < least:
            raise wrong_value(param, f"it must have at least {least} elements", "array_below_min_length")
        if len(value) > most:
            raise wrong_value(param, f"it must have at most {most} elements", "array_above_max_length")
        for i, item in enumerate(value):
            if not isinstance(item, dict):
                raise wrong_type(f"{param}[{i}]", "an object", item)
        return [Fields(item, f"{param}[{i}]") for i, item in enumerate(value)]

    def raw(self, name: str) -> Any:
        """The member as it is, or ``None``."""
        return self._members.get(name)


def _beyond(value: float, low: float) -> str:
    return "below_min_value" if value < low else "above_max_value"
