"""Two tools of one name: refused, or which of them the model is shown."""

from __future__ import annotations

import json

from conformance.policies.answers import SAME_TOKENS, Answer
from conformance.policies.policy import Answers, CannotTell, Policy, Reference, Seen, needed, not_answered
from conformance.types import ToolCall

_FIRST, _SECOND = ("KESTREL", "city"), ("HERON", "town")
"""A word of each definition's description, and its one parameter."""


def _see(aspect: str, answers: Answers) -> Seen:
    twice = needed(answers, aspect)
    if refused := not_answered(twice):
        alone = needed(answers, "first")
        if alone.state != "answered":
            raise CannotTell(f"a single tool is not answered either: {alone.said}")
        return refused
    if aspect == "identical":
        return _identical(needed(answers, "first"), twice)
    return _different(needed(answers, "first"), needed(answers, "second"), twice)


def _identical(once: Answer, twice: Answer) -> Seen:
    single, double = _tokens(once, twice)
    if double - single > SAME_TOKENS:
        return Seen("both-visible", twice, f"the prompt costs {double} tokens, with one of them {single}")
    return Seen("merged", twice, f"the prompt costs {double} tokens, as with one of them ({single})")


def _different(first: Answer, second: Answer, twice: Answer) -> Seen:
    shown = [name for name, signs in (("first", _FIRST), ("last", _SECOND)) if _shows(twice, *signs)]
    if len(shown) == 2:
        return Seen("both-visible", twice, "the model names what either definition alone says")
    try:
        one, other, both = _tokens(first, second, twice)
    except CannotTell:
        if not shown:
            raise
        return Seen(f"{shown[0]}-wins", twice, f"the model names what the {shown[0]} definition alone says")
    told = f"the prompt costs {both} tokens, with the first alone {one}, with the last alone {other}"
    if abs(one - other) <= 2 * SAME_TOKENS:
        raise CannotTell(told)
    if abs(both - one) <= SAME_TOKENS:
        return Seen("first-wins", twice, told)
    if abs(both - other) <= SAME_TOKENS:
        return Seen("last-wins", twice, told)
    if both > max(one, other):
        return Seen("both-visible", twice, told)
    raise CannotTell(told)


def _tokens(*answers: Answer) -> list[int]:
    counts = [answer.prompt_tokens for answer in answers if answer.state == "answered"]
    known = [count for count in counts if count is not None]
    if len(known) < len(answers):
        raise CannotTell("no token counts, and the answer names no definition")
    return known


def _shows(answer: Answer, word: str, parameter: str) -> bool:
    return word in answer.words or any(parameter in _given(call) for call in answer.turn.calls)


def _given(call: ToolCall) -> tuple[str, ...]:
    """The members of a call's arguments; none where they are no object."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ()
    return tuple(arguments) if isinstance(arguments, dict) else ()


DUPLICATES = Policy(
    id="duplicate-tool-names",
    title="Two tools of one name in a request",
    evidence=(
        "A request with each definition alone and with both: what the prompt costs in tokens, and what the "
        "model says and calls that only one definition has."
    ),
    aspects={
        "identical": "one definition twice, as a cached list that was extended twice has it",
        "different": "two definitions that differ in description and parameters",
    },
    own_outcomes={
        "first-wins": "the model is shown the first definition alone",
        "last-wins": "the model is shown the last definition alone",
        "both-visible": "the model is shown both",
        "merged": "the model is shown one of two that are the same",
    },
    reference=(
        Reference(
            "openai-chat",
            "OpenAI",
            {"identical": "both-visible", "different": "both-visible"},
            "accepted: NousResearch/hermes-agent PR 10511; which of them the model sees is written nowhere",
        ),
        Reference(
            "openai-responses",
            "OpenAI",
            {"identical": "both-visible", "different": "both-visible"},
            "as Chat Completions; nothing in the schema of tools forbids it",
        ),
        Reference(
            "anthropic-messages",
            "Anthropic",
            {"identical": "refused", "different": "refused"},
            "400 tools: Tool names must be unique: docker/docker-agent issue 2251, "
            "microsoft/vscode issue 276110",
        ),
        Reference(
            "gemini",
            "Google",
            {"identical": "refused", "different": "refused"},
            "400 Duplicate function declaration found: sriram-mk1/ambient-agent "
            "DUPLICATE_TOOLS_FIX_SUMMARY.md",
        ),
        Reference(
            "ollama",
            "Ollama",
            {"identical": "both-visible", "different": "both-visible"},
            "ollama/ollama server/routes.go hands all tools to the model's template",
        ),
    ),
    observer=_see,
)
