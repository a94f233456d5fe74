"""Mutants whose parser takes a quotation for a call, or drops it."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import MESSAGE, body, only, put, to
from conformance.simulator.mutants.mutant import Mutant
from conformance.types import WireName

QUOTED = "parser.quoted-markup"


def _called(document: Any) -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Turin"}'}
    call = {"id": "call_mutant", "type": "function", "function": function}
    document["choices"][0]["message"] |= {"content": None, "tool_calls": [call]}
    document["choices"][0]["finish_reason"] = "tool_calls"


MARKUP = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
NO_CALLS = "tools.choice-none"


def _leak(rule: str, wire: WireName, *path: str | int) -> Mutant:
    return Mutant(rule, NO_CALLS, body(put(*path, value=MARKUP)), wire=wire)


PARSING = (
    _leak("resp.response.no-call-markup-leak", "openai-responses", "output", 0, "content", 0, "text"),
    _leak("anth.response.no-call-markup-leak", "anthropic-messages", "content", 0, "text"),
    Mutant("parser.quoted-markup-kept", QUOTED, only(to(f"{QUOTED}/0"), body(_called))),
    Mutant(
        "parser.quoted-markup-kept",
        QUOTED,
        only(to(f"{QUOTED}/0"), body(put(*MESSAGE, "content", value="I made none."))),
        variant="dropped",
    ),
)
