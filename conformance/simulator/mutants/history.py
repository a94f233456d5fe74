"""Mutants of endpoints that do not take a history as it is, or take one they should not."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import MESSAGE, accepted, body, crashed, only, put, refused, to
from conformance.simulator.mutants.mutant import Answer, Change, Mutant

LOOP = "tools.result-round-trip"
RESULTS = "history.tool-results"
CONTENT = "history.tool-content"
LARGE = "limits.large-tool-result"
PAIRING = "history.broken-pairing"
ASSISTANT = "history.assistant-messages"
USERS = "history.user-messages"
WITHOUT = "history.without-tools"
FORMS = "history.content-parts"
FUNCTION = "history.function-role"


def _refused(scenario: str, number: int) -> Change:
    return only(to(f"{scenario}/{number}"), refused)


def _accepted(scenario: str, number: int) -> Change:
    return only(to(f"{scenario}/{number}"), accepted)


def _crashed(scenario: str, number: int) -> Change:
    return only(to(f"{scenario}/{number}"), crashed)


def _again(answer: Answer, changes: dict[str, Any]) -> None:
    """The first call of the history once more, with changes."""
    call = next(m["tool_calls"][0] for m in answer.asked["messages"] if m.get("tool_calls"))
    choice = answer.body["choices"][0]
    choice["message"] |= {"content": None, "tool_calls": [call | changes]}
    choice["finish_reason"] = "tool_calls"


def _garbled(answer: Answer) -> None:
    message = answer.body["choices"][0]["message"]
    message["content"] = message["content"].encode().decode("latin-1")


ELSEWHERE = {"function": {"name": "get_weather", "arguments": '{"city": "Bergen"}'}}

HISTORY = (
    Mutant("mt.echo-own-message", "chat.multi-turn", _refused("chat.multi-turn", 1)),
    Mutant("mt.tool-result-accepted", "tools.result-round-trip", _refused("tools.result-round-trip", 1)),
    Mutant("mt.tool-result-missing-400", PAIRING, _accepted(PAIRING, 0)),
    Mutant("mt.tool-result-orphan-400", "errors.orphan-tool-result", accepted),
    Mutant("mt.tool-result-duplicate", PAIRING, _accepted(PAIRING, 1)),
    Mutant("mt.tool-id-required", PAIRING, _accepted(PAIRING, 2)),
    Mutant(
        "mt.tool-result-any-order",
        RESULTS,
        only(to(f"{RESULTS}/1"), body(put(*MESSAGE, "content", value="Rome has HERON."))),
    ),
    Mutant("mt.tool-results-consecutive", RESULTS, _refused(RESULTS, 0)),
    Mutant("mt.tool-content-string", CONTENT, _refused(CONTENT, 0)),
    Mutant("mt.tool-large-result", LARGE, _refused(LARGE, 1)),
    Mutant("mt.unicode-round-trip", CONTENT, only(to(f"{CONTENT}/2"), _garbled)),
    Mutant("mt.no-call-loop", LOOP, only(to(f"{LOOP}/1"), lambda answer: _again(answer, {"id": "call_new"}))),
    Mutant(
        "chat.response.tool-call-id-unique-conversation",
        LOOP,
        only(to(f"{LOOP}/1"), lambda answer: _again(answer, ELSEWHERE)),
    ),
    Mutant("mt.tool-content-parts", FORMS, _refused(FORMS, 0)),
    Mutant("mt.assistant-null-content", ASSISTANT, _refused(ASSISTANT, 0)),
    Mutant("mt.assistant-content-and-calls", ASSISTANT, _refused(ASSISTANT, 3)),
    Mutant("mt.assistant-empty", ASSISTANT, _crashed(ASSISTANT, 4)),
    Mutant("mt.assistant-empty-tool-calls", ASSISTANT, _crashed(ASSISTANT, 5)),
    Mutant("mt.arguments-string-required", "history.arguments", _crashed("history.arguments", 0)),
    Mutant("mt.arguments-invalid-json-in-history", "history.arguments", _crashed("history.arguments", 1)),
    Mutant("mt.foreign-ids-accepted", "history.foreign-ids", _refused("history.foreign-ids", 1)),
    Mutant("mt.reasoning-echo-accepted", "reasoning.echo", _refused("reasoning.echo", 2)),
    Mutant("mt.reasoning-echo-required", "history.reasoning", _refused("history.reasoning", 0)),
    Mutant("mt.reasoning-empty-accepted", "history.reasoning", _refused("history.reasoning", 1)),
    Mutant(
        "mt.system-and-developer-roles", "history.instruction-roles", _refused("history.instruction-roles", 1)
    ),
    Mutant("mt.consecutive-same-role", USERS, _refused(USERS, 0)),
    Mutant("mt.name-field-accepted", FORMS, _refused(FORMS, 1)),
    Mutant("mt.content-parts-text", FORMS, _refused(FORMS, 2)),
    Mutant("mt.tools-omitted-with-history", WITHOUT, _crashed(WITHOUT, 0)),
    Mutant("mt.legacy-function-role", FUNCTION, _crashed(FUNCTION, 0)),
)
