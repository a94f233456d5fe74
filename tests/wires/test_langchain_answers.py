"""LangChain's ``ai`` messages as answers, and what holds for every conversation and every answer."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, messages_from_dict, messages_to_dict
from langchain_core.messages.utils import convert_to_openai_messages

from conformance.types import Loss, Message, Request, Text, ToolCall, Turn, Usage
from conformance.wires import langchain

from . import canonical

CALL = ToolCall("c", "f", '{"a":1}')
CALL_JSON: Any = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}


# -------------------------------------------------------------------------------------------- answers


def test_a_turn_is_an_ai_message_with_its_metadata() -> None:
    turn = Turn((Text("a"), CALL), "tool_calls", Usage(9, 5, 14, 4, 3, 2), "id", "m")
    losses: list[Loss] = []
    (written,) = langchain.encode_turns([turn], losses)
    (theirs,) = messages_from_dict([written])  # type: ignore[list-item]
    assert theirs == AIMessage(
        "a",
        id="id",
        tool_calls=[CALL_JSON],
        response_metadata={"finish_reason": "tool_calls", "model_name": "m"},
        usage_metadata={
            "input_tokens": 9,
            "output_tokens": 5,
            "total_tokens": 14,
            "input_token_details": {"cache_read": 4, "cache_creation": 3},
            "output_token_details": {"reasoning": 2},
        },
    )
    assert losses == []
    assert langchain.decode_turns(written, losses) == (turn,)


@pytest.mark.parametrize(
    ("metadata", "calls", "reason", "native"),
    [
        ({"finish_reason": "stop"}, False, "stop", None),
        ({"finish_reason": "stop"}, True, "tool_calls", None),
        ({"finish_reason": "length"}, True, "length", None),
        ({"stop_reason": "end_turn"}, False, "stop", "end_turn"),
        ({"stop_reason": "tool_use"}, True, "tool_calls", "tool_use"),
        ({"stop_reason": "refusal"}, False, "content_filter", "refusal"),
        ({"finish_reason": "MAX_TOKENS"}, False, "length", "MAX_TOKENS"),
        ({"done_reason": "stop"}, False, "stop", None),
        ({"finish_reason": "stop", "native_finish_reason": "pause_turn"}, False, "stop", "pause_turn"),
        ({}, False, None, None),
    ],
)
def test_the_finish_reason_is_read_in_any_providers_words(
    metadata: dict[str, Any], calls: bool, reason: str | None, native: str | None
) -> None:
    message = AIMessage("", tool_calls=[CALL_JSON] if calls else [], response_metadata=metadata)
    (turn,) = langchain.decode_turns(messages_to_dict([message])[0], [])
    assert (turn.finish_reason, turn.native_finish_reason) == (reason, native)


def test_counts_without_both_totals_are_lost() -> None:
    losses: list[Loss] = []
    langchain.encode_turns([Turn((), "stop", Usage(completion_tokens=5))], losses)
    assert losses == [Loss("/turns/0/usage", "counts without both totals")]


def test_a_message_that_is_not_the_models_is_no_answer() -> None:
    with pytest.raises(ValueError, match="not an ai message"):
        langchain.decode_turns(messages_to_dict([HumanMessage("hi")])[0], [])


# ----------------------------------------------------------------------------------------------- laws


@given(canonical.histories())
def test_reading_what_was_written_gives_the_same_messages_and_nothing_is_lost(
    messages: tuple[Message, ...],
) -> None:
    losses: list[Loss] = []
    written = langchain.encode_request(Request(messages), losses)
    assert losses == []
    assert langchain.decode_request(written, losses).messages == messages
    assert losses == []


@settings(deadline=None, max_examples=40)  # the first pydantic model is slow
@given(canonical.histories())
def test_langchain_loads_what_was_written_and_dumps_it_the_same(messages: tuple[Message, ...]) -> None:
    written: Any = langchain.encode_request(Request(messages), [])
    assert messages_to_dict(messages_from_dict(written)) == [
        {"type": entry["type"], "data": entry["data"]} for entry in written
    ]


@settings(deadline=None, max_examples=40)
@given(canonical.histories())
def test_langchain_sends_the_same_calls_to_openai(messages: tuple[Message, ...]) -> None:
    written: Any = langchain.encode_request(Request(messages), [])
    sent: Any = convert_to_openai_messages(messages_from_dict(written))
    assert [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for message in sent
        for call in message.get("tool_calls", ())
    ] == [
        (part.id, part.name, json.loads(part.arguments))
        for message in messages
        for part in message.parts
        if isinstance(part, ToolCall)
    ]
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == [
        m.tool_call_id for m in messages if m.role == "tool"
    ]


@given(canonical.turns())
def test_reading_a_written_turn_gives_the_same_turn(turn: Turn) -> None:
    losses: list[Loss] = []
    (written,) = langchain.encode_turns([turn], losses)
    assert langchain.decode_turns(json.loads(json.dumps(written)), losses) == (turn,)
    assert losses == []


_LISTS = "content tool_calls invalid_tool_calls"
_OBJECTS = "data additional_kwargs response_metadata extras source function function_call usage_metadata"
_SCALARS = "type id name args text reasoning signature arguments status"
_keys = st.sampled_from(f"{_LISTS} {_OBJECTS} {_SCALARS}".split())
_odd: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(),
              st.sampled_from(["", "a", "ai", "human", "tool", "text", "image", "tool_call", "reasoning"])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_keys, inner, max_size=6)),
    max_leaves=30,
)  # fmt: skip


@given(st.builds(lambda data, kind: {"type": kind, "data": data},
                 st.dictionaries(_keys, _odd).map(lambda d: {"content": "", **d}),
                 st.sampled_from(["ai", "human", "tool", "system", "chat", "x"])))  # fmt: skip
def test_odd_messages_are_read_or_refused_with_a_value_error(message: dict[str, Any]) -> None:
    for read in (langchain.decode_request, langchain.decode_turns):
        with contextlib.suppress(ValueError):
            read([message], [])  # type: ignore[operator]
