"""What holds for every Messages body."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.types import (
    File,
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Part,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
)
from conformance.wires.anthropic_parameters import BUDGETS, FORMAT_NAME

from .anthropic_answers import (
    WIRE,
    A,
    calls,
    cited,
    contents,
    encode,
    inputs,
    names,
    redacted,
    searches,
    texts,
    thoughts,
    words,
)

schemas = st.dictionaries(words, st.one_of(words, st.booleans()), min_size=1, max_size=3)
tools = st.builds(Tool, names, st.text(max_size=5), schemas, st.sampled_from([None, True, False]))
medias = st.one_of(
    st.builds(Image, st.sampled_from(["https://x/y.png", "data:image/png;base64,AA=="])),
    st.builds(
        File, st.sampled_from(["https://x/y", "data:application/pdf;base64,AA=="]), st.text(max_size=5)
    ),
    st.builds(lambda i: Image("", {A: {"source": {"type": "file", "file_id": i}}}), words),
)
asked = st.lists(st.one_of(texts, cited, medias), min_size=1, max_size=3).map(tuple)
answered = st.one_of(st.just(()), st.lists(st.one_of(texts, medias), min_size=1, max_size=2).map(tuple))
ids = st.text(min_size=1, max_size=8)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """System text, then users and assistants by turns, every call answered at once."""
    out: list[Message] = []
    if draw(st.booleans()):
        out.append(Message("system", draw(st.lists(texts, min_size=1, max_size=2).map(tuple))))
    out.append(Message("user", draw(asked)))
    number = 0
    for _ in range(draw(st.integers(0, 3))):
        parts: list[Part] = []
        for part in draw(
            st.lists(st.one_of(texts, thoughts, redacted, searches, calls), min_size=1, max_size=4)
        ):
            number += 1
            if isinstance(part, ToolCall):
                part = replace(part, id=f"{number}{draw(ids)}")
            parts.append(part)
        out.append(Message("assistant", tuple(parts)))
        results = [
            Message("tool", draw(answered), part.id, draw(st.booleans()))
            for part in parts
            if isinstance(part, ToolCall)
        ]
        out += draw(st.permutations(results))
        if not results or draw(st.booleans()):
            out.append(Message("user", draw(asked)))
    return tuple(out)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """A request of the wire's canonical subset."""
    messages = draw(histories())
    choice: Any = draw(
        st.one_of(st.sampled_from([None, "none", "auto", "required"]), st.builds(NamedChoice, names))
    )
    extra: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "top_p": st.floats(0, 1),
                "user": words,
                "service_tier": st.sampled_from(["auto", "default"]),
            },
        )
    )
    if not any(isinstance(p, ToolCall) for m in messages for p in m.parts) and draw(st.booleans()):
        extra["reasoning_effort"] = draw(st.sampled_from(["none", *BUDGETS]))
    thinks = extra.get("reasoning_effort", "none") != "none"
    if thinks:  # the API takes neither a forced call nor sampling then
        choice = choice if choice in ("none", "auto") else None
        extra.pop("top_p", None)
    return Request(
        messages=messages,
        tools=tuple(draw(st.lists(tools, max_size=2))),
        tool_choice=choice,
        parallel_tool_calls=None if choice in (None, "none") else draw(st.sampled_from([None, True, False])),
        response_format=draw(
            st.one_of(st.none(), st.builds(JsonSchemaFormat, st.just(FORMAT_NAME), schemas, st.just(False)))
        ),
        stream=draw(st.booleans()),
        max_tokens=draw(st.integers(40_000, 10**6)),
        temperature=draw(st.sampled_from([None, 1]) if thinks else st.one_of(st.none(), st.floats(0, 1))),
        stop=draw(st.one_of(st.none(), st.lists(words, max_size=2).map(tuple))),
        echo_reasoning=any(isinstance(p, Reasoning) for m in messages for p in m.parts),
        extra=extra,
        native=draw(st.sampled_from([{}, {A: {"top_k": 3, "context_management": {"edits": []}}}])),
    )


@given(requests())
def test_decoding_an_encoded_request_is_the_identity(request: Request) -> None:
    body, losses = encode(request)
    assert WIRE.decode_request(body) == request
    assert {loss.what[:6] for loss in losses} <= {"the id"}


@given(requests())
def test_an_encoded_history_follows_the_wires_rules(request: Request) -> None:
    """Roles alternate from the user on, and results stand first right after their calls."""
    messages = encode(request)[0]["messages"]
    assert [m["role"] for m in messages] == (["user", "assistant"] * len(messages))[: len(messages)]
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        if message["role"] == "assistant":
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        else:
            head = [block["tool_use_id"] for block in blocks[: len(waiting)]]
            assert sorted(head) == sorted(waiting)
            assert all(block["type"] != "tool_result" for block in blocks[len(waiting) :])


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), contents()), max_size=6))
def test_any_history_is_encoded_so_that_encoding_it_again_changes_nothing(
    entries: list[tuple[Any, tuple[Part, ...]]],
) -> None:
    history = tuple(Message(role, parts, "c" if role == "tool" else None) for role, parts in entries)
    once, _ = encode(Request(history, max_tokens=1))
    twice, losses = encode(WIRE.decode_request(once))
    assert twice == once
    assert {loss.weight for loss in losses} <= {"form"}


foreign = st.sampled_from(["openai-chat", "openai-responses", "gemini", "ollama"])


@given(foreign, st.one_of(texts, calls, st.builds(Reasoning, words)), st.booleans())
def test_slots_of_other_wires_never_cross(other: Any, part: Any, echo: bool) -> None:
    bound = replace(part, opaque={other: {"secret": "5EC2E7"}})
    body, losses = encode(
        Request((Message("assistant", (Text("x"), bound)),), max_tokens=1, echo_reasoning=echo)
    )
    assert "5EC2E7" not in json.dumps(body)
    assert losses or (isinstance(part, Reasoning) and not echo)


@given(inputs)
def test_arguments_survive_as_values(value: dict[str, Any]) -> None:
    call = ToolCall("t", "f", json.dumps(value))
    body, _ = encode(Request((Message("assistant", (call,)),), max_tokens=1))
    *_, message = WIRE.decode_request(body).messages
    assert isinstance(message.parts[0], ToolCall)
    assert json.loads(message.parts[0].arguments) == value
