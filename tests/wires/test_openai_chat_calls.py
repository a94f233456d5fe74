"""Tool calls: how deltas are stitched, and which facts are stated where."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import ToolCall

from .answers import WIRE, answer_with, call, calls, read, response

F = ToolCall("c", "f", "{}")


@pytest.mark.parametrize(
    ("deltas", "parts", "facts"),
    [
        pytest.param([calls(call(0, "c", "f", "{}"))], [F], [], id="regular"),
        pytest.param(
            [calls(call(None, "c", "f", "{}"))], [F], [("missing-index", 0, "index")], id="missing-index"
        ),
        pytest.param(
            [calls(call(None, "c", "f", "{}"), call(None, "d", "g", "[]"))],
            [F, ToolCall("d", "g", "[]")],
            [("missing-index", 0, "index"), ("missing-index", 0, "index")],
            id="two-without-index",
        ),
        pytest.param(
            [calls(call(None, "c", "f", "{")), calls(call(None, arguments="}"))],
            [F],
            [("missing-index", 0, "index"), ("missing-index", 1, "index")],
            id="continued-without-index",
        ),
        pytest.param(
            [calls(call(None, "c", "f", "{")), calls(call(0, arguments="}"))],
            [F],
            [("missing-index", 0, "index")],
            id="index-from-the-second-delta",
        ),
        pytest.param(
            [calls(call("0", "c", "f", "{")), calls(call(0, arguments="}"))],
            [F],
            [("index-not-integer", 0, "index")],
            id="index-not-integer",
        ),
        pytest.param(
            [calls(call(-1, "c", "f", "{}"))], [F], [("negative-index", 0, "index")], id="negative-index"
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{")), calls(call(0, "c", arguments="}"))],
            [F],
            [("repeated-id", 1, "id")],
            id="repeated-id",
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{")), calls(call(0, "", arguments="}"))], [F], [], id="empty-id-later"
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{}")), calls(call(0, "d", "g", "[]"))],
            [F, ToolCall("d", "g", "[]")],
            [("new-id-on-index", 1, "id")],
            id="new-id-on-index",
        ),
        pytest.param(
            [
                calls(call(0, "c", "f", "{")),
                calls(call(0, "d", "g", "[]")),
                calls(call(0, "c", arguments="}")),
            ],
            [F, ToolCall("d", "g", "[]")],
            [("new-id-on-index", 1, "id"), ("repeated-id", 2, "id")],
            id="back-to-the-old-id",
        ),
        pytest.param(
            [calls(call(0, None, "f", "{")), calls(call(0, "c", arguments="}"))],
            [F],
            [("id-late", 1, "id")],
            id="id-late",
        ),
        pytest.param(
            [calls(call(0, "", "f", "{}"))],
            [ToolCall("", "f", "{}")],
            [("missing-id", 0, "id")],
            id="missing-id",
        ),
        pytest.param(
            [calls(call(0, 7, "f", "{}"))],
            [ToolCall("7", "f", "{}")],
            [("call-id-not-string", 0, "id")],
            id="call-id-not-string",
        ),
        pytest.param(
            [calls(call(0, "c", "get_", "")), calls(call(0, name="it"))],
            [ToolCall("c", "get_it", "")],
            [("name-in-pieces", 1, "function/name")],
            id="name-in-pieces",
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{")), calls(call(0, name="f", arguments="}"))],
            [F],
            [("repeated-name", 1, "function/name")],
            id="repeated-name",
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{")), calls({"index": 0, "function": {"name": "", "arguments": "}"}})],
            [F],
            [],
            id="empty-name-later",
        ),
        pytest.param(
            [calls(call(0, "c", arguments="{}", type="function")), calls(call(0, name="f"))],
            [F],
            [("name-late", 1, "function/name")],
            id="name-late",
        ),
        pytest.param(
            [calls(call(0, "c", arguments="{}", type="function"))],
            [ToolCall("c", "", "{}")],
            [("missing-name", 0, "function/name")],
            id="missing-name",
        ),
        pytest.param(
            [calls(call(0, "c", 7, "{}"))],
            [ToolCall("c", "", "{}")],
            [("name-not-string", 0, "function/name"), ("missing-name", 0, "function/name")],
            id="name-not-string",
        ),
        pytest.param(
            [calls(call(0, "c", "f", {"a": "é"}))],
            [ToolCall("c", "f", '{"a":"é"}')],
            [("arguments-object", 0, "function/arguments")],
            id="arguments-object",
        ),
        pytest.param(
            [calls(call(0, "c", "f", [1]))],
            [ToolCall("c", "f", "[1]")],
            [("arguments-not-string", 0, "function/arguments")],
            id="arguments-not-string",
        ),
        pytest.param(
            [
                calls(
                    {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": None}}
                )
            ],
            [ToolCall("c", "f", "")],
            [("arguments-null", 0, "function/arguments")],
            id="arguments-null",
        ),
        pytest.param(
            [calls(call(0, "c", "f"))],
            [ToolCall("c", "f", "")],
            [("missing-arguments", 0, "function/arguments")],
            id="missing-arguments",
        ),
        pytest.param(
            [calls({"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}})],
            [F],
            [("missing-type", 0, "type")],
            id="missing-type",
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{}") | {"type": None})], [F], [("type-null", 0, "type")], id="type-null"
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{}") | {"type": "tool"})],
            [F],
            [("type-unknown", 0, "type")],
            id="type-unknown",
        ),
        pytest.param(
            [calls(call(0, "c", "f", "{}")), calls({"index": 0})],
            [F],
            [("missing-function", 1, "function")],
            id="missing-function",
        ),
        pytest.param(
            [
                calls(call(0, "c", "f", "{")),
                calls(call(0, arguments='{"a":')),
                calls(call(0, arguments='{"a":1}')),
            ],
            [ToolCall("c", "f", '{{"a":{"a":1}')],
            [("snapshot-like", 2, "function/arguments")],
            id="snapshot-like",
        ),
    ],
)
def test_streamed_calls_are_stitched(deltas: Any, parts: Any, facts: Any) -> None:
    got, stated = read(*deltas)
    assert list(got) == parts
    base = "/events/{}/data/choices/0/delta/tool_calls/{}/{}"
    at = [path.rsplit("/tool_calls/", 1)[1].split("/", 1)[0] for _, path in stated]
    assert stated == [(n, base.format(event, i, p)) for (n, event, p), i in zip(facts, at, strict=True)]


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        ({"type": "function", "function": {"name": "f", "arguments": "{}"}}, "missing-id"),
        ({"id": "c", "type": "function", "function": {"name": "f"}}, "missing-arguments"),
        ({"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}}, "arguments-object"),
        ({"id": "c", "type": "function", "function": {"arguments": "{}"}}, "missing-name"),
        ({"id": "c", "function": {"name": "f", "arguments": "{}"}}, "missing-type"),
        ({"id": "c", "type": "custom", "custom": {"input": "{}"}}, "missing-name"),
    ],
)
def test_the_same_facts_are_stated_of_whole_calls(entry: dict[str, Any], fact: str) -> None:
    (turn,) = WIRE.decode(response(answer_with(calls(entry))))
    assert [f.name for f in turn.facts] == [fact]
    assert turn.facts[0].path.startswith("/body/choices/0/message/tool_calls/0/")


def test_the_calls_of_a_message_are_told_apart_by_position() -> None:
    whole = {"id": "c", "type": "function", "index": 0, "function": {"name": "f", "arguments": "{}"}}
    (turn,) = WIRE.decode(response(answer_with(calls(whole, whole))))
    assert (turn.calls, turn.facts) == ((F, F), ())


@pytest.mark.parametrize("custom", [{"input": "", "name": ""}, {}])
def test_an_empty_custom_call_beside_a_function_is_a_stub(custom: dict[str, str]) -> None:
    """Snowflake sends one in every call (recorded in pydantic-ai, test_snowflake_thinking)."""
    entry = {"id": "c", "type": "function", "custom": custom, "function": {"name": "f", "arguments": "{}"}}
    (turn,) = WIRE.decode(response(answer_with({"tool_calls": [entry]})))
    assert turn.calls == (F,)
