"""Whether a JSON value is what a type of an SDK's requests says; those types are annotations only."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, NotRequired, Required, Union

from typing_extensions import get_type_hints, is_typeddict

_WRAPPERS = (Required, NotRequired, typing.Required, typing.NotRequired, typing.Annotated)


def strangers(value: Any, kind: Any, path: str = "") -> Iterator[str]:
    """JSON Pointers to the members that the type has no place for, and to values of another type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return
    if origin in _WRAPPERS:
        yield from strangers(value, inner[0], path)
    elif origin in (Union, UnionType):
        yield from min((list(strangers(value, each, path)) for each in inner), key=_weight)
    elif origin is Literal:
        if value not in inner:
            yield f"{path}: no such word"
    elif is_typeddict(kind):
        yield from _members(value, kind, path)
    elif isinstance(value, list):
        if origin is None or issubclass(origin, Mapping):
            yield f"{path}: a list"
            return
        for each in value:
            yield from strangers(each, inner[0], f"{path}/*")
    elif isinstance(value, dict):
        if origin is None or not issubclass(origin, Mapping):
            yield f"{path}: an object"
    elif not isinstance(value, _SCALARS.get(kind, ())):
        yield f"{path}: of another type"


_SCALARS: dict[Any, Any] = {str: str, int: int, float: (int, float), bool: bool, type(None): type(None)}


def _weight(problems: list[str]) -> tuple[int, int]:
    """Wrong values and missing members weigh more than members that nobody knows."""
    return sum(":" in problem for problem in problems), len(problems)


def _members(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: no object"
        return
    known = _hints(kind)
    for name in kind.__required_keys__ - value.keys():
        yield f"{path}/{name}: is missing"
    for name, member in value.items():
        if name in known:
            yield from strangers(member, known[name], f"{path}/{name}")
        else:
            yield f"{path}/{name}"


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)
