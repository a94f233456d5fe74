"""The OpenAI SDK and this wire read a regular stream alike."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.types import Turn

from .answers import answers, assemble, events


@settings(deadline=None, max_examples=40)  # the SDK's import and pydantic's first model are slow
@given(answers, st.integers(0, 2**32).map(random.Random))
def test_the_sdks_stream_accumulator_agrees(turns: tuple[Turn, ...], chance: random.Random) -> None:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    datas = events(turns, chance)
    state: Any = ChatCompletionStreamState()
    for data in datas[:-1]:
        state.handle_chunk(ChatCompletionChunk.model_validate(json.loads(data)))
    choices = sorted(state.current_completion_snapshot.choices, key=lambda choice: choice.index)
    ours = assemble(datas)
    assert len(choices) == len(ours)
    for theirs, turn in zip(choices, ours, strict=True):
        assert theirs.message.content == (turn.text or "")
        assert (theirs.message.refusal or "") == turn.refusal
        assert theirs.finish_reason == turn.finish_reason
        calls = [(c.id, c.function.name, c.function.arguments) for c in theirs.message.tool_calls or ()]
        assert calls == [(call.id, call.name, call.arguments) for call in turn.calls]
