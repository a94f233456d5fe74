"""The values of a JSON file, however they stand in it, and what its beginning shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade import source as module
from conformance.grade.source import HEAD, Unreadable, head_of, open_source

A: dict[str, Any] = {"a": [1, {"b": 'c, ]}\\"'}]}
LONG = {"first": "x" * HEAD, "then": 1}


def values(folder: Path, text: str | bytes) -> list[Any]:
    """The file's values; an `Unreadable` as its message."""
    path = folder / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [str(one) if isinstance(one, Unreadable) else one for one in open_source("f", path).values()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(json.dumps(A), [A], id="one"),
        pytest.param(json.dumps(A, indent=2), [A], id="one, over several lines"),
        pytest.param(json.dumps([A, 2]), [A, 2], id="the items of a list"),
        pytest.param(json.dumps([A, 2], indent=2), [A, 2], id="the items of a list, over several lines"),
        pytest.param(f"{json.dumps(A)}\n{json.dumps(A)}\n", [A, A], id="lines"),
        pytest.param(
            f"{json.dumps(A)}\r\n\r\n{json.dumps(A)}", [A, A], id="lines in Windows, blank ones between"
        ),
        pytest.param(f"\ufeff{json.dumps(A)}\n{json.dumps(A)}", [A, A], id="behind a byte order mark"),
        pytest.param(f"{json.dumps(A)}{json.dumps(A)}", [A, A], id="nothing between"),
        pytest.param(
            f"{json.dumps(A, indent=1)}\n{json.dumps(A, indent=1)}", [A, A], id="one after the other"
        ),
        pytest.param(f"{json.dumps([1])}\n{json.dumps([2])}", [[1], [2]], id="lists as lines"),
        pytest.param(json.dumps(LONG), [LONG], id="longer than the head"),
        pytest.param(
            f"{json.dumps(LONG)}\n{json.dumps(A)}\n", [LONG, A], id="a first line longer than the head"
        ),
        pytest.param(json.dumps(LONG, indent=1), [LONG], id="longer than the head, over several lines"),
        pytest.param(json.dumps([LONG, A]), [LONG, A], id="a list longer than the head"),
        pytest.param(f"{json.dumps(A)}\n" * 9_000, [A] * 9_000, id="many lines"),
    ],
)
def test_values_are_read_however_they_stand(tmp_path: Path, text: str, wanted: list[Any]) -> None:
    assert values(tmp_path, text) == wanted


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param('{"a": 1}\n{"a": \n{"a": 3}\n', [dict, str, dict], id="a broken line"),
        pytest.param('{"a": "cut\n{"a": 2}\n{"a": 3}', [str, dict, dict], id="a first line that is cut"),
        pytest.param(b'{"a": 1}\n{"a": "\xff"}\n{"a": 3}\n', [dict, str, dict], id="a line that is no UTF-8"),
        pytest.param('{"a": 1}\n' + "[" * 9_999 + '\n{"a": 3}\n', [dict, str, dict], id="a line too deep"),
        pytest.param('[{"a": 1}, {"a"', [str], id="a list that is cut"),
    ],
)
def test_a_broken_value_is_told_and_the_next_is_read(
    tmp_path: Path, text: str | bytes, kinds: list[type]
) -> None:
    assert [type(one) for one in values(tmp_path, text)] == kinds


def test_a_line_above_the_limit_is_told_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WHOLE", 1 << 20)
    long = json.dumps({"a": "x" * (2 << 20)})
    assert values(tmp_path, f"{json.dumps(A)}\n{long}\n{json.dumps(A)}") == [A, "a line longer than 1 MiB", A]
    assert values(tmp_path, f"{long}\n{json.dumps(A)}") == ["a line longer than 1 MiB", A]


def test_a_number_that_python_refuses_is_told_without_its_advice(tmp_path: Path) -> None:
    assert values(tmp_path, f'{{"a": 1}}\n{{"a": {"9" * 5_000}}}\n{{"a": 3}}') == [
        {"a": 1},
        "JSON with a number of more than 4,300 digits",
        {"a": 3},
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        pytest.param("", None, id="nothing"),
        pytest.param("text", None, id="no JSON"),
        pytest.param('{"a": 1}', {"a": 1}, id="whole"),
        pytest.param('{"a": {"b": 1, "c": [2, "' + "x" * HEAD, {"a": {"b": 1, "c": [2]}}, id="cut in a text"),
        pytest.param('{"a": [' + "1," * HEAD, {"a": [1] * ((HEAD - 7) // 2)}, id="cut in a list"),
        pytest.param('{"a": "b\\"], {", "c": "' + "x" * HEAD, {"a": 'b"], {'}, id="brackets in texts"),
        pytest.param('{"a": ]' + " " * HEAD, None, id="brackets that don't match"),
        pytest.param("[" * 2 * HEAD, None, id="too deep"),
    ],
)
def test_a_head_shows_of_its_first_value_what_is_whole(text: str, seen: Any) -> None:
    assert head_of(text.encode()).json == seen


@given(st.binary(max_size=300), st.sampled_from([b"", b"{", b"[", b'{"a": ', b"\xef\xbb\xbf"]))
def test_a_head_can_be_made_of_any_bytes(data: bytes, before: bytes) -> None:
    head = head_of(before + data)
    assert isinstance(head.item, dict)
    assert list(head.items) is not None


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_the_beginning_of_a_long_value_is_a_part_of_it(value: Any) -> None:
    whole = {"a": value, "b": "x" * 2 * HEAD}
    assert head_of(json.dumps(whole).encode()).json in ({"a": value}, {})
