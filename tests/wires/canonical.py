"""Canonical requests and turns that every wire should be able to carry, for laws over wires.

Portable: texts are not empty and not only white space, calls have unique ids in the charset of all wires
(Anthropic's) and compact JSON objects, every call has its result next, in order, and conversations begin
with the user.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from conformance.types import (
    Audio,
    File,
    Image,
    Message,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    Turn,
    Usage,
)

MARKERS = [
    "<tool_call>",
    "</think>",
    "[TOOL_CALLS]",
    "Action:",
    "<|im_end|>",
    '{"output": 1}',
    "data: [DONE]",
]

texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip),
    st.sampled_from([*MARKERS, "🙂👩‍👩‍👧", "é", "漢字", "שלום", "a\nb"]),
)
names = st.sampled_from(["get_weather", "f", "get_time", "Look-up_2"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.sampled_from([2**53 + 1, 0.5, -1.25]),
    texts,
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(names, texts), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.one_of(names, texts), values, max_size=3)
arguments = objects.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")))
counts = st.integers(0, 10**6)


@st.composite
def parts(draw: st.DrawFn, first_id: int = 0) -> tuple[Part, ...]:
    """Text, then calls; not neither."""
    text = [Text(draw(texts))] if draw(st.booleans()) else []
    some = draw(st.lists(st.tuples(names, arguments), min_size=0 if text else 1, max_size=3))
    calls = [ToolCall(f"call_{first_id + i}", name, args) for i, (name, args) in enumerate(some)]
    return (*text, *calls)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """A regular answer: totals that add up, details within them, a finish reason that fits."""
    said = draw(parts())
    calls = any(isinstance(part, ToolCall) for part in said)
    reason = draw(st.sampled_from(["tool_calls" if calls else "stop", "length"]))
    usage = draw(st.one_of(st.none(), usages()))
    return Turn(said, reason, usage, "id-1", "m")


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    prompt, completion = draw(counts), draw(counts)
    cached = draw(st.one_of(st.none(), st.integers(0, prompt)))
    written = draw(st.one_of(st.none(), st.integers(0, prompt - (cached or 0))))
    reasoning = draw(st.one_of(st.none(), st.integers(0, completion)))
    return Usage(prompt, completion, prompt + completion, cached, written, reasoning)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """A conversation: perhaps a system message, then user messages, turns of the model, results."""
    out: list[Message] = [Message.system(draw(texts))] if draw(st.booleans()) else []
    count = 0
    for _ in range(draw(st.integers(1, 3))):
        out.append(Message.user(draw(texts)))
        said = draw(parts(count))
        out.append(Message("assistant", said))
        calls = [part for part in said if isinstance(part, ToolCall)]
        count += len(calls)
        out += [Message.tool(call, draw(texts)) for call in calls]
    if out[-1].role == "assistant":
        out.append(Message.user(draw(texts)))
    return tuple(out)


PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0="
media = st.sampled_from(
    [Image(PNG), Image("https://x/a.png"), Audio("UklGRg==", "wav"), File(PDF, "a.pdf"), File(PDF)]
)


@st.composite
def rich_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Conversations with what not every wire can say: media, failed tools, parts in any order, refusals."""
    out: list[Message] = []
    count = 0
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            out.append(Message(draw(st.sampled_from(["system", "developer"])), (Text(draw(texts)),)))
        shown = draw(st.lists(media, max_size=2))
        out.append(Message("user", (Text(draw(texts)), *shown)))
        words: list[Part] = draw(
            st.lists(
                st.one_of(texts.map(Text), texts.map(Refusal), texts.map(Reasoning)), min_size=1, max_size=3
            )
        )
        calls = [ToolCall(f"call_{count + i}", "f", "{}") for i in range(draw(st.integers(0, 2)))]
        count += len(calls)
        out.append(Message("assistant", tuple(draw(st.permutations([*words, *calls])))))
        for call in draw(st.permutations(calls)):
            shown = draw(st.lists(media, max_size=1))
            out.append(Message("tool", (Text(draw(texts)), *shown), call.id, is_error=draw(st.booleans())))
    out.append(Message.user(draw(texts)))
    return tuple(out)
