"""Messy histories over every wire: the shape that a wire demands of its messages; nothing is lost on the way.

The numbers are those of the conversion catalogue (section 11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.types import Message, Text, ToolCall

from . import canonical
from .trips import (
    SPOKEN,
    asking,
    every_wire,
    ids_of,
    over,
    some,
    text_of,
)

MESSY = st.lists(
    st.one_of(
        canonical.texts.map(Message.user),
        canonical.texts.map(Message.system),
        canonical.texts.map(lambda text: Message("assistant", (Text(text),))),
        st.just(None),
    ),
    max_size=6,
)


@st.composite
def messy(draw: st.DrawFn) -> tuple[Message, ...]:
    """Neighbours of one role, system messages anywhere; calls answered, perhaps in another order."""
    out: list[Message] = []
    count = 0
    for message in draw(MESSY):
        if message is not None:
            out.append(message)
            continue
        calls = tuple(
            ToolCall(f"call_{count + i}", "get_weather", "{}") for i in range(draw(st.integers(1, 3)))
        )
        count += len(calls)
        out.append(Message("assistant", calls))
        out += [Message.tool(call, draw(canonical.texts)) for call in draw(st.permutations(calls))]
    return (Message.user("hi"), *out)


@some
@given(messy())
def test_5_anthropics_roles_alternate_and_results_stand_first_in_the_next_message(
    messages: tuple[Message, ...],
) -> None:
    body: Any = SPOKEN["anthropic-messages"].encode(asking(*messages), model="m", losses=[])
    roles = [message["role"] for message in body["messages"]]
    assert roles[0] == "user"
    assert all(a != b for a, b in pairwise(roles))
    blocks = [_blocks(message["content"]) for message in body["messages"]]
    for here, following in zip(blocks, [*blocks[1:], []], strict=True):
        calls = [block["id"] for block in here if block["type"] == "tool_use"]
        results = [block.get("tool_use_id") for block in following[: len(calls)]]
        assert sorted(results) == sorted(calls)


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@some
@given(messy())
def test_6_geminis_calls_and_responses_agree_turn_by_turn(messages: tuple[Message, ...]) -> None:
    body: Any = SPOKEN["gemini"].encode(asking(*messages), model="m", losses=[])
    contents = [content["parts"] for content in body["contents"]]
    for here, following in zip(contents, [*contents[1:], []], strict=True):
        calls = [part["functionCall"]["name"] for part in here if "functionCall" in part]
        results = [part["functionResponse"]["name"] for part in following if "functionResponse" in part]
        assert results == calls


@every_wire
@some
@given(messy())
def test_1_a_messy_history_keeps_every_call_and_every_result(
    name: str, messages: tuple[Message, ...]
) -> None:
    there, _ = over(name, asking(*messages))
    assert _pairs(there.messages) == _pairs(messages)


def _pairs(messages: Sequence[Message]) -> Counter[tuple[int | None, str]]:
    numbers = {call_id: i for i, call_id in enumerate(ids_of(messages))}
    return Counter(
        (numbers.get(m.tool_call_id or ""), text_of(m.parts)) for m in messages if m.role == "tool"
    )
