"""What a type of an SDK's requests has no place for is found, whichever way the type says it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Required, TypedDict

import pytest

from .typed import strangers


class Text(TypedDict, total=False):
    type: Required[Literal["text"]]
    text: Required[str]


class Picture(TypedDict, total=False):
    type: Required[Literal["picture"]]
    url: str


class Message(TypedDict, total=False):
    content: Required[str | Iterable[Text | Picture]]
    count: int | None
    free: dict[str, object]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"content": "a"}, []),
        ({"content": [{"type": "text", "text": "a"}, {"type": "picture"}]}, []),
        ({"content": "a", "count": None, "free": {"b": [1]}}, []),
        ({"content": "a", "more": 1}, ["/more"]),
        ({"content": [{"type": "text", "text": "a", "more": 1}]}, ["/content/*/more"]),
        ({"content": [{"type": "picture", "text": "a"}]}, ["/content/*/text"]),
        ({"content": [{"type": "text"}]}, ["/content/*/text: is missing"]),
        ({"content": [{"type": "sound"}]}, ["/content/*/type: no such word"]),
        ({"content": ["a"]}, ["/content/*: no object"]),
        ({"content": {}}, ["/content: an object"]),
        ({"content": "a", "count": "1"}, ["/count: of another type"]),
        ({"content": "a", "free": []}, ["/free: a list"]),
        ({}, ["/content: is missing"]),
    ],
)
def test_strangers_are_found(value: Any, found: list[str]) -> None:
    assert list(strangers(value, Message)) == found
