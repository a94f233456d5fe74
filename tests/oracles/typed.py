"""Whether a JSON value is what a type of an SDK's requests says; those types are annotations only."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, NotRequired, Required, Union

import typing_extensions
from typing_extensions import get_type_hints, is_typeddict

_REQUIRED = (Required, typing_extensions.Required)
_OPTIONAL = (NotRequired, typing_extensions.NotRequired)
_WRAPPERS = (*_REQUIRED, *_OPTIONAL, typing.Annotated)


def strangers(value: Any, kind: Any, path: str = "") -> Iterator[str]:
    """JSON Pointers to the members that the type has no place for, and to values of another type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return
    if origin in _WRAPPERS:
        yield from strangers(value, inner[0], path)
    elif origin in (Union, UnionType):
        found = [list(strangers(value, each, path)) for each in inner]
        yield from min(found, key=lambda problems: _weight(problems, path))
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


def _weight(problems: list[str], path: str) -> tuple[bool, int, int]:
    """Another type weighs most, then wrong values and missing members, then members that nobody knows."""
    elsewhere = any(problem.startswith(f"{path}:") for problem in problems)
    return elsewhere, sum(":" in problem for problem in problems), len(problems)


def _members(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: no object"
        return
    known = _hints(kind)
    for name in _required(kind) - value.keys():
        yield f"{path}/{name}: is missing"
    for name, member in value.items():
        if name in known:
            yield from strangers(member, known[name], f"{path}/{name}")
        else:
            yield f"{path}/{name}"


@cache
def _required(kind: Any) -> frozenset[str]:
    """The class itself does not know, where its module's annotations are texts."""
    wrapped = {name: typing.get_origin(hint) for name, hint in _hints(kind).items()}
    always = {name for name in kind.__required_keys__ if wrapped[name] not in _OPTIONAL}
    return frozenset(always | {name for name, wrapper in wrapped.items() if wrapper in _REQUIRED})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)
