"""JSON as Google's APIs read it: proto3 messages, by their field tables.

Source: the protocol buffers guide "ProtoJSON Format": members in lowerCamelCase or as the field is named,
null is absence, numbers may be strings, bytes are base64 of either alphabet. Recorded requests show
enumerations accepted in lower case. An unknown member is refused.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from conformance.simulator.answer import Refused, refusal

Reader: TypeAlias = Callable[[Any, str], Any]
"""Reads a JSON value that is not null and lies at a path; raises ``Refused``."""

_CAPITAL = re.compile("([A-Z])")
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?")
_SHOWN_CHARACTERS = 60


def wrong(path: str, kind: str, value: Any) -> Refused:
    """A value of another type than the field's."""
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    message = f"Invalid value at '{path}' ({kind}), {shown[:_SHOWN_CHARACTERS]}"
    return refusal(message, param=path, code="invalid_type")


def invalid(path: str, why: str) -> Refused:
    """A value that has the right type and may not be so."""
    return refusal(f"* GenerateContentRequest.{path}: {why}", param=path, code="invalid_value")


def snake(name: str) -> str:
    """A member's name as the field is named."""
    return _CAPITAL.sub(lambda found: "_" + found[1].lower(), name)


def text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise wrong(path, "TYPE_STRING", value)
    return value


def boolean(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(path, "TYPE_BOOL", value)
    return value


def integer(value: Any, path: str) -> int:
    """A whole number that fits into 64 bits: a JSON number or its text."""
    whole = (
        _INTEGER.fullmatch(value) if isinstance(value, str) else isinstance(value, float) and value % 1 == 0
    )
    if whole:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise wrong(path, "TYPE_INT64", value)
    return value


def int32(value: Any, path: str) -> int:
    """A whole number that fits into 32 bits."""
    number = integer(value, path)
    if not -(2**31) <= number < 2**31:
        raise wrong(path, "TYPE_INT32", value)
    return number


def number(value: Any, path: str) -> float:
    """A JSON number or its text."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong(path, "TYPE_FLOAT", value)
    try:
        return float(value)
    except OverflowError:
        raise wrong(path, "TYPE_FLOAT", value) from None


def data(value: Any, path: str) -> bytes:
    """Bytes: base64, padded or not."""
    if isinstance(value, str):
        plain = value.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except (binascii.Error, ValueError):
            pass
    raise refusal(f"Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed", param=path)


def anything(value: Any, path: str) -> Any:  # noqa: ARG001
    """A ``google.protobuf.Value``."""
    return value


def struct(value: Any, path: str) -> dict[str, Any]:
    """A ``google.protobuf.Struct``, or a message that this endpoint does not look into."""
    if not isinstance(value, dict):
        raise wrong(path, "TYPE_MESSAGE", value)
    return value


def enum(*names: str) -> Reader:
    """One of ``names``."""

    def read(value: Any, path: str) -> str:
        if not isinstance(value, str) or value.upper() not in names:
            raise wrong(path, "TYPE_ENUM", value)
        return value.upper()

    return read


def repeated(item: Reader) -> Reader:
    """An array; an element must not be null."""

    def read(value: Any, path: str) -> list[Any]:
        if not isinstance(value, list):
            raise wrong(path, "TYPE_ARRAY", value)
        return [item(element, f"{path}[{index}]") for index, element in enumerate(value)]

    return read


def mapping(item: Reader) -> Reader:
    """A map from texts."""

    def read(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(path, "TYPE_MESSAGE", value)
        return {key: item(element, f"{path}[{key[:_SHOWN_CHARACTERS]}]") for key, element in value.items()}

    return read


def message(fields: Mapping[str, Reader], one_of: frozenset[str] = frozenset()) -> Reader:
    """An object with ``fields``, by lowerCamelCase name; at most one of ``one_of`` may be set."""
    readers = {name: (name, reader) for name, reader in fields.items()}
    readers |= {snake(name): (name, reader) for name, reader in fields.items()}

    def read(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(path, "TYPE_MESSAGE", value)
        found: dict[str, Any] = {}
        for given, element in value.items():
            if given not in readers:
                where = f" at '{path}'" if path else ""
                shown = given[:_SHOWN_CHARACTERS]
                why = f'Invalid JSON payload received. Unknown name "{shown}"{where}: Cannot find field.'
                raise refusal(why, param=path or None, code="unknown_field")
            name, reader = readers[given]
            if element is None:
                continue
            inner = f"{path}.{snake(name)}" if path else snake(name)
            if name in found or (name in one_of and not one_of.isdisjoint(found)):
                raise refusal(f"Invalid value at '{inner}': it is set twice, or beside another.", param=inner)
            found[name] = reader(element, inner)
        return found

    return read
