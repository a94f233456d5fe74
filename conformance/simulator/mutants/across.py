"""Mutants that answer otherwise over one wire than over another."""

from __future__ import annotations

from conformance.simulator.mutants.edits import Edit, body, put, rewrite
from conformance.simulator.mutants.mutant import Mutant

BLOCK = ("content", 0)


def _over_anthropic(rule: str, scenario: str, edit: Edit) -> Mutant:
    return Mutant(rule, scenario, body(edit), wire="anthropic-messages", beside="openai-chat")


ACROSS = (
    _over_anthropic("across.calls", "tools.choice-required", put(*BLOCK, "name", value="get_time")),
    _over_anthropic("across.arguments", "tools.single-call", put(*BLOCK, "input", "city", value="Lyon")),
    _over_anthropic("across.text", "chat.plain", put(*BLOCK, "text", value="Good day.")),
    _over_anthropic("across.finish", "chat.plain", put("stop_reason", value="refusal")),
    _over_anthropic("across.usage", "chat.plain", rewrite("usage", "output_tokens", by=lambda n: n + 5)),
)
