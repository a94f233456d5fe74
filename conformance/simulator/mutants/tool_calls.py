"""Mutants of tool calls in whole answers, and of what a request said about calling."""

from __future__ import annotations

import json
from typing import Any

from conformance.simulator.mutants.edits import (
    ARGUMENTS,
    CALL,
    CALLS,
    MESSAGE,
    body,
    both,
    drop,
    put,
    rewrite,
)
from conformance.simulator.mutants.mutant import Mutant
from conformance.simulator.mutants.response import A_CALL

ONE = "tools.single-call"
UNDECLARED = ("chat.response.tool-call-name-declared",)
MISFIT = ("chat.response.tool-call-arguments-schema",)


def _and_another(calls: list[Any]) -> list[Any]:
    return [*calls, calls[0] | {"id": "call_2"}]


def _custom(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call["id"], "type": "custom", "custom": {"name": "get_weather"}}


TOOL_CALLS = (
    Mutant("chat.response.custom-tool-call-shape", ONE, body(rewrite(*CALL, by=_custom))),
    Mutant("chat.response.tool-call-id", ONE, body(put(*CALL, "id", value=""))),
    Mutant(
        "chat.response.tool-call-id-unique",
        ONE,
        body(rewrite(*CALLS, by=lambda calls: calls * 2)),
    ),
    Mutant("chat.response.tool-call-type", ONE, body(drop(*CALL, "type"))),
    Mutant("chat.response.tool-call-function-object", ONE, body(drop(*ARGUMENTS))),
    Mutant(
        "chat.response.tool-call-name-nonempty",
        ONE,
        body(put(*CALL, "function", "name", value="")),
        also=UNDECLARED,
        because="no function is declared without a name",
    ),
    Mutant(
        "chat.response.tool-call-name-declared",
        ONE,
        body(rewrite(*CALL, "function", "name", by=lambda name: f"functions.{name}")),
    ),
    Mutant(
        "chat.response.tool-call-name-no-tokens",
        ONE,
        body(rewrite(*CALL, "function", "name", by=lambda name: f"{name}<|channel|>commentary")),
        also=UNDECLARED,
        because="no function is offered under a name that has a token in it",
    ),
    Mutant("chat.response.tool-call-arguments-string", ONE, body(rewrite(*ARGUMENTS, by=json.loads))),
    Mutant("chat.response.tool-call-arguments-json", ONE, body(put(*ARGUMENTS, value='{"city": Paris}'))),
    Mutant(
        "chat.response.tool-call-arguments-object",
        ONE,
        body(put(*ARGUMENTS, value='["Paris"]')),
        also=MISFIT,
        because="a function's schema is an object's",
    ),
    Mutant(
        "chat.response.tool-call-arguments-empty-object",
        "tools.no-arguments",
        body(put(*ARGUMENTS, value="")),
    ),
    Mutant(
        "chat.response.tool-call-arguments-not-double-encoded",
        ONE,
        body(rewrite(*ARGUMENTS, by=json.dumps)),
        also=MISFIT,
        because="a function's schema is an object's, and this is a string",
    ),
    Mutant("chat.response.tool-call-arguments-schema", ONE, body(put(*ARGUMENTS, value='{"town": "Paris"}'))),
)

TOOL_CHOICE = (
    Mutant(
        "chat.response.parallel-false-single", "tools.parallel-false", body(rewrite(*CALLS, by=_and_another))
    ),
    Mutant(
        "chat.response.tool-choice-allowed-tools",
        "tools.allowed-tools",
        body(put(*CALL, "function", "name", value="get_weather")),
    ),
    Mutant(
        "chat.response.tool-choice-none",
        "tools.choice-none",
        body(
            both(
                put(*MESSAGE, "content", value=None),
                put(*MESSAGE, "tool_calls", value=[A_CALL]),
                put("choices", 0, "finish_reason", value="tool_calls"),
            )
        ),
    ),
    Mutant(
        "chat.response.tool-choice-required",
        "tools.choice-required",
        body(
            both(
                put(*MESSAGE, "content", value="Never."),
                drop(*MESSAGE, "tool_calls"),
                put("choices", 0, "finish_reason", value="stop"),
            )
        ),
    ),
    Mutant(
        "chat.response.tool-choice-named",
        "tools.choice-named",
        body(put(*CALL, "function", "name", value="get_weather")),
    ),
)
