"""The fixtures with which the mock plays the scenarios' ideal turns."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.lab.data.aimock.serve import fixtures
from conformance.scenarios.base import scripts
from conformance.types import Reasoning, Text, ToolCall, Turn

CALL = ToolCall("call_1", "get_time", '{"city":"Oslo"}')
CALLED = {"name": "get_time", "arguments": '{"city":"Oslo"}'}


@pytest.mark.parametrize(
    ("turn", "response"),
    [
        (Turn((Text("Hello."),)), {"content": "Hello."}),
        (Turn((CALL,)), {"toolCalls": [CALLED]}),
        (Turn((Text("So."), CALL)), {"content": "So.", "toolCalls": [CALLED]}),
        (Turn((Reasoning("Hm."), Text("Yes."))), {"reasoning": "Hm.", "content": "Yes."}),
        (
            Turn((CALL, Text("Done."))),
            {"blocks": [{"type": "toolCall", **CALLED}, {"type": "text", "text": "Done."}]},
        ),
    ],
)
def test_a_turn_is_said_part_by_part(turn: Turn, response: dict[str, Any]) -> None:
    assert fixtures({"a.b/0": turn})[0]["response"] == response


def test_a_tools_result_is_looked_at_before_the_users_text() -> None:
    matches = [fixture["match"] for fixture in fixtures({"a.b/0": Turn((Text("Hello."),))})]
    assert matches == [{"toolResultContains": "[[a.b/0]]"}, {"userMessage": "[[a.b/0]]"}, {}]


def test_every_scripted_turn_can_be_played_by_its_marker() -> None:
    made = fixtures(scripts())
    assert {fixture["match"].get("userMessage") for fixture in made} >= {f"[[{name}]]" for name in scripts()}
    assert all(fixture["response"] for fixture in made)
