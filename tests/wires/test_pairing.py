"""Arguments, media, and the pairing of calls with results: what several wires share."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.types import Audio, File, Image, Loss, Message, Text, ToolCall
from conformance.wires.arguments import object_of, strict, text_of
from conformance.wires.body import parse
from conformance.wires.media import data_url, inline, kind_by_name, medium, picture_kind
from conformance.wires.pairing import Ids, minted, placed

from .gemini_kit import json_values, objects

# ---------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("arguments", "value", "weight"),
    [
        ("{}", {}, None),
        ('{"a":1}', {"a": 1}, None),
        ('{"a":"é😀\\n"}', {"a": "é😀\n"}, None),
        ('{"a":9007199254740993}', {"a": 9007199254740993}, None),
        ('{"a":0.1}', {"a": 0.1}, None),
        ('{"a":"\\ud800"}', {"a": "\ud800"}, None),
        ("", {}, "form"),
        ("null", {}, "form"),
        ('{ "a": 1 }', {"a": 1}, "form"),
        ('{"a":"\\u00e9"}', {"a": "é"}, "form"),
        ('{"a":1.10}', {"a": 1.1}, "form"),
        ('{"a":0.10000000000000000001}', {"a": 0.1}, "meaning"),
        ('{"a":1e-400}', {"a": 0.0}, "meaning"),
        ("[]", {"__raw": "[]"}, "meaning"),
        ('"x"', {"__raw": '"x"'}, "meaning"),
        ("{", {"__raw": "{"}, "meaning"),
        ('{"a":1,"a":2}', {"__raw": '{"a":1,"a":2}'}, "meaning"),
        ('{"a":NaN}', {"__raw": '{"a":NaN}'}, "meaning"),
        ('{"a":1e400}', {"__raw": '{"a":1e400}'}, "meaning"),
        ('{"a":1e-99999999999999999999}', {"a": 0.0}, "meaning"),
    ],
)
def test_arguments_become_an_object_or_say_why_not(arguments: str, value: Any, weight: str | None) -> None:
    losses: list[Loss] = []
    assert object_of(arguments, "/p", losses) == value
    assert [(loss.path, loss.weight) for loss in losses] == (
        [] if weight is None else [("/p/arguments", weight)]
    )


@pytest.mark.parametrize("text", ["[" * 5000, '{"a":' * 190 + "1" + "}" * 190, '{"a":' + "9" * 5000 + "}"])
def test_arguments_too_deep_or_too_large_are_sent_as_a_string(text: str) -> None:
    losses: list[Loss] = []
    assert object_of(text, "", losses) == {"__raw": text}
    assert [loss.weight for loss in losses] == ["meaning"]


def test_arguments_of_the_greatest_depth_fit_into_a_body() -> None:
    text = '{"a":' * 180 + "1" + "}" * 180
    losses: list[Loss] = []
    value = object_of(text, "", losses)
    assert losses == []
    assert parse(json.dumps([[[[[[[[value]]]]]]]]))


@given(objects)
def test_an_object_survives_its_text(value: dict[str, Any]) -> None:
    losses: list[Loss] = []
    assert object_of(text_of(value), "", losses) == value
    assert losses == []


@given(json_values)
def test_any_text_of_ours_is_strict_and_can_be_sent(value: Any) -> None:
    assert strict(text_of(value)) == value
    text_of(value).encode()


@given(st.text())
def test_strict_reading_never_raises(text: str) -> None:
    strict(text)


# -------------------------------------------------------------------------------------------------- media


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("data:image/png;base64,AA==", ("image/png", "AA==")),
        ("data:text/plain;charset=utf-8;base64,AA==", ("text/plain;charset=utf-8", "AA==")),
        ("data:;base64,AA==", ("", "AA==")),
        ("data:text/html,a%20b", ("text/html", "YSBi")),
        ("data:,a", ("text/plain", "YQ==")),
        ("data:image/png;BASE64,AA==", ("image/png", "AA==")),
        ("data:,\ud800", ("text/plain", "7aCA")),
        ("data:image/png", None),
        ("https://x.is/a.png", None),
        ("", None),
    ],
)
def test_a_data_url_is_a_media_type_and_base64(url: str, found: tuple[str, str] | None) -> None:
    assert inline(url) == found


@given(st.sampled_from(["image/png", "a/b;c=d", ""]), st.text("ABab01+/="))
def test_a_data_url_says_what_it_was_made_of(kind: str, data: str) -> None:
    assert inline(data_url(kind, data)) == (kind, data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ("iVBORw0KGgoAAA", "image/png"),
        ("/9j/4AAQ", "image/jpeg"),
        ("R0lGODlh", "image/gif"),
        ("UklGRh4AAABXRUJQ", "image/webp"),
        ("AAAA", ""),
        ("", ""),
    ],
)
def test_the_first_bytes_tell_the_kind_of_a_picture(data: str, kind: str) -> None:
    assert picture_kind(data) == kind


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://x.is/a.PNG?b=c.gif", "image/png"),
        ("gs://b/a.mp4#t", "video/mp4"),
        ("https://x.is/a", ""),
        ("https://x.is/png", ""),
    ],
)
def test_the_extension_tells_the_kind_of_a_file(url: str, kind: str) -> None:
    assert kind_by_name(url) == kind


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("image/png", Image("data:image/png;base64,AA")),
        ("audio/wav", Audio("AA", "wav")),
        ("application/pdf", File("data:application/pdf;base64,AA")),
        ("", File("data:;base64,AA")),
    ],
)
def test_the_media_type_tells_what_a_part_is(kind: str, part: Any) -> None:
    assert medium(kind, "AA") == part


# ------------------------------------------------------------------------------------------------ pairing


def test_a_minted_id_depends_on_all_that_is_given_and_on_nothing_else() -> None:
    assert minted("a", "b") == minted("a", "b")
    assert len({minted("a", "b"), minted("ab"), minted("a", "c"), minted("\ud800")}) == 4


def test_results_find_their_calls_by_id_else_by_name_and_order() -> None:
    ids = Ids({"x"})
    assert [ids.call(given, name) for given, name in (("", "f"), ("x", "g"), ("", "f"))] == [
        "call_0",
        "x",
        "call_1",
    ]
    assert [ids.result(*said) for said in (("call_1", "f"), ("", "f"), ("", ""), ("", "f"), ("y", "f"))] == [
        "call_1", "call_0", "x", "call_2", "y",
    ]  # fmt: skip


def test_a_new_turn_forgets_the_calls_of_the_last() -> None:
    ids = Ids()
    ids.call("", "f")
    ids.begin()
    assert (ids.call("", "f"), ids.result("", "f")) == ("call_1", "call_1")


def test_an_id_may_come_again_in_a_later_turn() -> None:
    ids = Ids({"a"})
    for _ in range(2):
        ids.begin()
        assert (ids.call("a", "f"), ids.result("", "f")) == ("a", "a")


def calls(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(name, "f", "{}") for name in ids))


def result(id: str, text: str = "") -> Message:
    return Message("tool", (Text(text),), id)


@pytest.mark.parametrize(
    ("messages", "order", "numbers"),
    [
        ([calls("a", "b"), result("b"), result("a")], [0, 2, 1], [-1, 0, 1]),
        ([calls("a"), result("x"), result("a")], [0, 2, 1], [-1, 0, -1]),
        ([calls("a"), calls("a"), result("a")], [0, 1, 2], [-1, -1, 1]),
        ([calls("a", "a"), result("a"), result("a"), result("a")], [0, 1, 2, 3], [-1, 0, 1, 1]),
        ([calls("a"), result("a"), Message.user("u"), result("a")], [0, 1, 2, 3], [-1, 0, -1, 0]),
        ([result("")], [0], [-1]),
    ],
)
def test_results_in_a_row_stand_in_the_order_of_their_calls(
    messages: list[Message], order: list[int], numbers: list[int]
) -> None:
    found = placed(messages)
    assert [item.index for item in found] == order
    assert [item.number for item in found] == numbers
    assert [item.moved for item in found] == [index != i for i, index in enumerate(order)]
