"""Nothing that an endpoint or a client sends makes the Messages wire raise."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.types import Message, Request

from .anthropic_answers import WIRE, encode, response

_BLOCK_KEYS = "type id name input content text thinking signature data source url media_type title citations"
_EVENT_KEYS = "index delta partial_json citation message usage stop_reason stop_sequence content_block error"
_OTHER_KEYS = "input_tokens output_tokens output_tokens_details tool_use_id is_error role model messages"
_BODY_KEYS = "system tools tool_choice metadata user_id output_config format schema thinking stop_sequences"
_OUR_KEYS = "@block @message @tool_result @system_message"
_BLOCKS = "text thinking redacted_thinking tool_use tool_result image document base64 url any tool"
_EVENTS = "message message_start message_delta message_stop content_block_start content_block_delta error"
_DELTAS = "content_block_stop text_delta input_json_delta thinking_delta signature_delta citations_delta"
_KEYS = st.sampled_from(f"{_BLOCK_KEYS} {_EVENT_KEYS} {_OTHER_KEYS} {_BODY_KEYS} {_OUR_KEYS}".split())
_VALUES = st.sampled_from(f"{_BLOCKS} {_EVENTS} {_DELTAS} compaction_delta user assistant system".split())
odd_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(), _VALUES, st.just("\ud800")),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=30,
)
odd_objects = st.dictionaries(_KEYS, odd_json, max_size=8)
odd_blocks = st.builds(lambda kind, rest: {**rest, "type": kind}, _VALUES, odd_objects)


@settings(max_examples=40)
@given(st.lists(st.one_of(odd_blocks, odd_json), max_size=4), odd_objects)
def test_any_answer_is_survived_and_can_be_said_again(content: list[Any], rest: dict[str, Any]) -> None:
    for turn in WIRE.decode(response({**rest, "content": content})):
        WIRE.encode_turns([turn], model="m", losses=[])
        encode(Request((Message.assistant(turn),), echo_reasoning=True))


@settings(max_examples=40)
@given(st.lists(st.builds(lambda kind, rest: {**rest, "type": kind}, _VALUES, odd_objects), max_size=8))
def test_any_events_are_survived(some: list[dict[str, Any]]) -> None:
    assembler = WIRE.assembler()
    for event in some:
        assembler.feed(json.dumps(event))
        for turn in assembler.turns():
            WIRE.encode_turns([turn], model="m", losses=[])


@given(st.text(max_size=200))
def test_any_event_data_is_survived(data: str) -> None:
    assembler = WIRE.assembler()
    assembler.feed(data)
    assembler.turns()


@given(st.binary(max_size=300), st.sampled_from([b"", b"data: {", b"event: x\ndata: ", b'{"content":']))
def test_any_bytes_are_survived(data: bytes, head: bytes) -> None:
    WIRE.decode(response(head + data))
    WIRE.error_of(response(head + data))


@settings(max_examples=40)
@given(
    odd_objects,
    st.lists(st.one_of(odd_blocks, odd_json), max_size=4),
    st.sampled_from(["user", "assistant", "system"]),
)
def test_any_body_is_a_request_or_a_value_error(rest: dict[str, Any], content: list[Any], role: str) -> None:
    body = {**rest, "messages": [{"role": role, "content": content}]}
    try:
        request = WIRE.decode_request(body)
    except ValueError:
        return
    encode(request)
