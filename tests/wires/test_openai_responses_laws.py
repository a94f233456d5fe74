"""What holds for every request, answer, stream and body of the Responses wire."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.transport.sse import Decoder
from conformance.types import (
    File,
    Image,
    JsonSchemaFormat,
    Loss,
    Message,
    NamedChoice,
    Reasoning,
    Request,
    Text,
    Tool,
    Turn,
)
from conformance.wires.openai_responses_stream import Assembler

from .answers import SSE_TYPE, response, sse
from .responses_answers import (
    WIRE,
    assemble,
    datas,
    events,
    read,
    reasoning,
    spoken,
    turns,
    without_facts,
    words,
)

chances = st.integers(0, 2**32).map(random.Random)
images = st.builds(Image, st.sampled_from(["https://a/b.png", "data:image/png;base64,AA=="]))
documents = st.builds(
    File,
    st.sampled_from(["https://a/b.pdf", "data:application/pdf;base64,AA=="]),
    st.sampled_from(["", "b.pdf"]),
)
shown = st.lists(st.one_of(st.builds(Text, words), images, documents), max_size=3).map(tuple)
roles = st.sampled_from(["system", "developer", "user"])
others = st.one_of(
    st.builds(Message, roles, shown),
    st.builds(Message, st.just("tool"), shown, st.sampled_from(["call_0", "call_1", "x" * 64])),
)
schemas = st.dictionaries(words, st.one_of(words, st.integers(), st.booleans()), max_size=3)
tools = st.lists(st.builds(Tool, words, st.text(max_size=5), schemas, st.booleans()), max_size=2).map(tuple)
extras = st.fixed_dictionaries(
    {},
    optional={
        "top_p": st.floats(0, 1),
        "reasoning_effort": st.sampled_from(["low", "high"]),
        "verbosity": st.just("low"),
        "logprobs": st.just(True),
        "top_logprobs": st.integers(0, 20),
        "metadata": st.just({"a": "b"}),
        "user": words,
        "stream_options": st.just({"include_obfuscation": False}),
    },
)
natives: st.SearchStrategy[Any] = st.sampled_from(
    [
        {},
        {"openai-responses": {"store": False, "include": ["reasoning.encrypted_content"]}},
        {"openai-responses": {"previous_response_id": "resp_0", "reasoning": {"summary": "auto"}}},
        {"openai-responses": {"conversation": {"id": "conv_1"}, "truncation": "auto"}},
    ]
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()) and not (messages and messages[-1].role == "assistant"):
            parts = draw(spoken())
            if parts:
                messages.append(Message("assistant", parts))
        else:
            messages.append(draw(others))
    return tuple(messages)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    messages = draw(conversations())
    extra, native = draw(extras), draw(natives)
    fmt = draw(st.sampled_from([None, JsonSchemaFormat("out", {"type": "object"}, False)]))
    if fmt is None and draw(st.booleans()):
        extra["response_format"] = {"type": draw(st.sampled_from(["json_object", "text"]))}
    return Request(
        messages=messages,
        tools=draw(tools),
        tool_choice=draw(st.sampled_from([None, "none", "auto", "required", NamedChoice("f")])),
        parallel_tool_calls=draw(st.sampled_from([None, True, False])),
        response_format=fmt,
        stream=draw(st.booleans()),
        max_tokens=draw(st.one_of(st.none(), st.integers(16, 2**60))),
        temperature=draw(st.one_of(st.none(), st.floats(0, 2))),
        echo_reasoning=any(isinstance(p, Reasoning) for m in messages for p in m.parts),
        extra=extra,
        native=native,
    )


@given(requests())
def test_a_request_of_the_canonical_subset_comes_back_the_same_without_a_loss(request: Request) -> None:
    losses: list[Loss] = []
    body = WIRE.encode(request, model="m", losses=losses)
    assert losses == []
    assert WIRE.decode_request(body) == request
    assert WIRE.decode_request(json.loads(json.dumps(body))) == request


@given(requests())
def test_encoding_and_decoding_leave_what_they_were_given_alone(request: Request) -> None:
    body = WIRE.encode(request, model="m", losses=[])
    before = json.dumps(body)
    again = WIRE.encode(WIRE.decode_request(body), model="m", losses=[])
    assert json.dumps(body) == before == json.dumps(again)


@given(turns())
def test_a_turn_of_the_canonical_subset_comes_back_the_same_without_a_loss(turn: Turn) -> None:
    losses: list[Loss] = []
    body = WIRE.encode_turns([turn], model="other", losses=losses)
    assert losses == []
    assert without_facts(read(body)) == turn


@given(turns(), chances)
def test_a_stream_gives_the_same_turn_as_the_whole_answer(turn: Turn, chance: random.Random) -> None:
    turn = replace(turn, finish_reason=turn.finish_reason or "length", native_finish_reason=None)
    body = WIRE.encode_turns([turn], model="m", losses=[])
    assert assemble(events(body, chance)) == read(body)


@given(turns(), chances)
def test_opaque_reasoning_and_what_follows_it_come_back_byte_for_byte(
    turn: Turn, chance: random.Random
) -> None:
    body: dict[str, Any] = WIRE.encode_turns([turn], model="m", losses=[])
    signed = reasoning("thought", encrypted_content="gAAA==", status=None)
    body["output"] = [signed, *[item | {"id": f"x{i}"} for i, item in enumerate(body["output"])]]
    streamed = assemble(events(body | {"status": "completed"}, chance))
    asked = Request((Message("assistant", streamed.parts),), echo_reasoning=True)
    echoed: Any = WIRE.encode(asked, model="m", losses=[])["input"]
    for item in body["output"]:
        for part in item.get("content", []) if item["type"] == "message" else ():
            part.pop("logprobs", None)  # none here; nothing to send back
    assert echoed == body["output"]


@given(turns(), chances)
def test_any_split_of_the_bytes_gives_the_same_turn(turn: Turn, chance: random.Random) -> None:
    turn = replace(turn, finish_reason=turn.finish_reason or "length", native_finish_reason=None)
    body = sse(datas(events(WIRE.encode_turns([turn], model="m", losses=[]), chance)))
    decoder, assembler, at = Decoder(), Assembler(), 0
    while at < len(body):
        size = chance.randint(1, 200)
        for event in decoder.feed(body[at : at + size]):
            assembler.feed(event.data)
        at += size
    assert assembler.turns() == WIRE.decode(response(body))


@given(turns(), chances, st.data())
def test_a_stream_cut_anywhere_still_decodes_and_never_finishes(
    turn: Turn, chance: random.Random, data: st.DataObject
) -> None:
    turn = replace(turn, finish_reason=turn.finish_reason or "length", native_finish_reason=None)
    body = sse(datas(events(WIRE.encode_turns([turn], model="m", losses=[]), chance)))
    cut = body[: data.draw(st.integers(0, len(body) - 1))]
    for soon in WIRE.decode(response(cut, headers=SSE_TYPE)):
        assert soon.finish_reason is None
        assert turn.text.startswith(soon.text)
        assert not soon.facts


@given(turns(), chances)
def test_reading_a_stream_at_any_event_does_not_disturb_the_rest(turn: Turn, chance: random.Random) -> None:
    assembler = Assembler()
    told = datas(events(WIRE.encode_turns([turn], model="m", losses=[]) | {"status": "completed"}, chance))
    for data in told:
        assembler.feed(data)
        assembler.turns()
    assert assembler.turns() == (assemble(told),)


_ITEM_KEYS = (
    "type id role content summary call_id name arguments input output status phase result text refusal"
)
_EVENT_KEYS = (
    "response item part delta output_index content_index summary_index item_id annotation error code"
)
_BODY_KEYS = (
    "object usage input_tokens input_tokens_details incomplete_details reason tools text format include"
)
_KEYS = st.sampled_from(f"{_ITEM_KEYS} {_EVENT_KEYS} {_BODY_KEYS}".split())
_VALUES = (
    "message reasoning function_call custom_tool_call function_call_output image_generation_call output_text "
    "refusal input_file input_audio summary_text assistant user completed incomplete failed response.created "
    "response.output_item.added response.output_item.done response.content_part.added "
    "response.content_part.done "
    "response.output_text.delta response.output_text.done response.function_call_arguments.delta error "
    "response.reasoning_summary_text.delta response.reasoning.delta response.completed response.failed"
)
odd_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.floats(),
        st.sampled_from(["", "a", *_VALUES.split()]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=30,
)
odd_events = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from([value for value in _VALUES.split() if value.startswith("response.")]),
    st.dictionaries(_KEYS, odd_json, max_size=8),
)


@given(st.binary(), st.sampled_from([200, 400]), st.booleans())
def test_no_bytes_make_a_decoder_raise(body: bytes, status: int, stream: bool) -> None:
    answered = response(body, status, SSE_TYPE if stream else ())
    assert isinstance(WIRE.decode(answered), tuple)
    assert (WIRE.error_of(answered) is not None) or status == 200


@given(st.lists(odd_json), st.dictionaries(_KEYS, odd_json))
def test_no_output_makes_a_decoder_raise(output: list[Any], rest: dict[str, Any]) -> None:
    body = json.dumps({**rest, "object": "response", "output": output})
    for turn in WIRE.decode(response(body)):
        json.dumps(WIRE.encode_turns([turn], model="m", losses=[]))
        WIRE.encode(Request((Message.assistant(turn),), echo_reasoning=True), model="m", losses=[])
    WIRE.error_of(response(body))


@given(st.lists(st.one_of(odd_events, odd_json), max_size=8))
def test_no_events_make_an_assembler_raise(odd: list[Any]) -> None:
    assembler = Assembler()
    for event in odd:
        assembler.feed(json.dumps(event))
        assembler.turns()
    WIRE.error_of(response(sse(json.dumps(event) for event in odd), headers=SSE_TYPE))


@given(st.dictionaries(_KEYS, odd_json), st.one_of(odd_json, st.lists(odd_json)))
def test_an_odd_request_decodes_or_is_refused_with_a_value_error(body: dict[str, Any], given: Any) -> None:
    try:
        request = WIRE.decode_request({**body, "input": given})
    except ValueError:
        return
    json.dumps(WIRE.encode(request, model="m", losses=[]))
