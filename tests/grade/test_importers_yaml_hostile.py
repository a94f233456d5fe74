"""YAML that means harm is refused with the reason, and nothing in it is executed."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.importers import (
    Importer,
    go_vcr,
    httpmock,
    ruby_vcr,
    vcr_lists,
    vcrpy,
    wiremock,
    yamls,
)
from conformance.grade.source import Source, Unreadable, head_of

# --------------------------------------------------------------------------------------------- hostile

LAUGHS = "a: {x0: &x0 [lol, lol], " + ", ".join(f"x{i}: &x{i} [*x{i - 1}, *x{i - 1}]" for i in range(1, 99))
DEEP = "[" * 10_000


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        pytest.param(LAUGHS + "}", "aliases make it more than", id="billion laughs"),
        pytest.param(f"a: {{x: &x '{'a' * 99_999}', y: [{'*x, ' * 99_999}]}}", "aliases", id="a long alias"),
        pytest.param("a: {x: &x [*x]}", "an alias to nothing", id="an alias in itself"),
        pytest.param("a: {x: *x}", "not YAML|an alias to nothing", id="an alias to nothing"),
        pytest.param(f"a: {DEEP}", "nest", id="10,000 lists"),
        pytest.param(f"a: {'{a: ' * 10_000}", "nest", id="10,000 mappings"),
        pytest.param(f"a: {'[' * 300}{']' * 300}", "nested deeper than", id="300 lists, closed"),
        pytest.param("a: \x07", "not YAML", id="a control character"),
        pytest.param("a: [", "not YAML", id="cut"),
    ],
)
def test_hostile_yaml_is_refused_with_the_reason(member: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        list(yamls.entries(source_of(f"{member}\ninteractions: []\n".encode())))


def test_an_entry_of_too_many_values_is_refused_and_a_list_of_many_entries_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(yamls, "MAX_EVENTS", 1000)
    values = ("1," * 1001).encode()
    assert len(list(yamls.entries(source_of(b"a: [" + values + b"]")))) == 1001
    with pytest.raises(Unreadable, match="1,000 nodes"):
        list(yamls.entries(source_of(b"a: {b: [" + values + b"]}")))


def test_aliases_of_aliases_are_counted_by_their_depth() -> None:
    levels = [f"x{i}: &x{i} {'[' * 90}{f'*x{i - 1}' if i else ''}{']' * 90}" for i in range(9)]
    with pytest.raises(Unreadable, match="nested deeper than"):
        list(yamls.entries(source_of(("a: {" + ", ".join(levels) + "}").encode())))


def test_directives_that_take_quadratic_time_are_refused() -> None:
    directives = "".join(f"%TAG !a{i}! x\n" for i in range(1000))
    with pytest.raises(Unreadable, match="%TAG"):
        list(yamls.entries(source_of(directives.encode())))


def test_no_tag_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    tags = (
        f"a: !!python/object/apply:os.system ['touch {mark}']\n"
        f"b: !!python/object/new:os.system {{args: ['touch {mark}']}}\n"
        f"c: !!python/name:os.system ''\n"
        f"d: !ruby/object:Gem::Installer {{i: x}}\n"
    )
    found = {entry.key: entry.value for entry in yamls.entries(source_of(tags.encode()))}
    assert found == {"a": f"touch {mark}", "b": {"args": [f"touch {mark}"]}, "c": "", "d": {"i": "x"}}
    assert not mark.exists()


def test_merge_keys_multiply_nothing() -> None:
    text = b"a: {x: &x {y: z}, b: {<<: *x}}"
    (found,) = yamls.entries(source_of(text))
    assert found.value["b"] == {"<<": {"y": "z"}}


def source_of(data: bytes) -> Source:
    """A source that lies nowhere; longer than a head, it is cut into pieces as a file would be."""
    return _Memory("f", Path("f"), head_of(data), data)


class _Memory(Source):
    __slots__ = ("content",)

    def __init__(self, file: str, path: Path, head: Any, content: bytes) -> None:
        super().__init__(file, path, head)
        object.__setattr__(self, "content", content)

    def chunks(self) -> Any:
        data: bytes = self.content  # type: ignore[attr-defined]
        return (data[at : at + 65_536] for at in range(0, len(data), 65_536))


IMPORTERS: tuple[Importer, ...] = (go_vcr, httpmock, ruby_vcr, vcr_lists, vcrpy, wiremock)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        *(
            "request",
            "response",
            "when",
            "then",
            "method",
            "uri",
            "url",
            "path",
            "query_param",
            "name",
            "value",
        ),
        *("headers", "header", "status", "code", "status_code", "body", "content", "parsed_body", "string"),
        *("base64_string", "raw_gzip", "body_encoding", "bodyPatterns", "equalTo", "jsonBody", "base64Body"),
        "conformance",
    ]
)
SIDES = st.recursive(VALUES, lambda inner: st.dictionaries(NAMES, inner), max_leaves=12)


def consume(importer: Importer, data: bytes) -> None:
    source = source_of(data)
    importer.looks_like(source.head)
    with suppress(Unreadable):
        list(importer.read(source))


@given(st.binary())
def test_no_bytes_raise_anything_but_unreadable(data: bytes) -> None:
    for importer in IMPORTERS:
        consume(importer, data)
        consume(importer, b"interactions:\n- request: {url: a}\n  response: " + data)


@given(SIDES, SIDES, st.sampled_from(["interactions", "http_interactions", "mappings"]))
def test_no_values_raise_anything_but_unreadable(asked: Any, got: Any, key: str) -> None:
    pair = {"request": asked, "response": got}
    for document in (
        {key: [pair]},
        {"requests": [asked], "responses": [got]},
        {"when": asked, "then": got},
        {"request": asked, "response": got},
    ):
        texts = yaml.safe_dump(document).encode(), json.dumps(document, default=str).encode()
        for importer in IMPORTERS:
            for text in texts:
                consume(importer, text)
