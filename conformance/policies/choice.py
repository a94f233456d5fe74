"""tool_choice: whether an endpoint keeps to it against what the model would do by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from conformance.policies.answers import Answer
from conformance.policies.policy import Answers, CannotTell, Policy, Reference, Seen, needed, not_answered

ALLOWED = "get_time"
"""The tool that a choice names or allows; the other one is what the model is after."""

_WRITTEN = re.compile(
    r"<tool_call|<function|\[TOOL_CALLS\]|<\|python_tag\|>|\"name\"\s{0,9}:\s{0,9}\"get_|get_(?:weather|time)\("
)
"""A call that was written as text."""
_TOLD = re.compile(r'"tool_choice"\s{0,9}:\s{0,9}"(auto|none|required)"')
"""How the Responses API repeats what it made of the choice."""


def _see(aspect: str, answers: Answers) -> Seen:
    bound = needed(answers, aspect)
    if refused := not_answered(bound):
        free = needed(answers, "unbound")
        if free.state != "answered":
            raise CannotTell(f"a request without tool_choice is not answered either: {free.said}")
        return refused
    return _JUDGES[aspect](bound, answers)


def _none(bound: Answer, answers: Answers) -> Seen:
    free = _unbound(answers)
    if bound.called:
        return Seen("ignored", bound, bound.said)
    if _WRITTEN.search(bound.turn.text):
        return Seen("softened", bound, f"the call is written in the text: {bound.said}")
    if not free.called:
        raise CannotTell("the model calls no tool even where it may")
    return Seen("honoured", bound, f"{bound.said}; without the choice it {free.said}")


def _required(bound: Answer, answers: Answers) -> Seen:
    free = _idle(answers)
    if bound.called:
        return Seen("honoured", bound, f"{bound.said}; without the choice it {free.said}")
    return _unforced(bound)


def _named(bound: Answer, answers: Answers) -> Seen:
    free = _idle(answers)
    if not bound.called:
        return _unforced(bound)
    if set(bound.called) == {ALLOWED}:
        return Seen("honoured", bound, f"{bound.said}; without the choice it {free.said}")
    return Seen("softened", bound, f"a call is forced, not that of {ALLOWED}: {bound.said}")


def _allowed(bound: Answer, answers: Answers) -> Seen:
    free = _unbound(answers)
    if set(bound.called) - {ALLOWED}:
        return Seen("ignored", bound, f"{bound.said}, allowed is {ALLOWED}")
    if not set(free.called) - {ALLOWED}:
        raise CannotTell("the model does not call the other tool even where it may")
    return Seen("honoured", bound, f"{bound.said}; without the choice it {free.said}")


def _unforced(bound: Answer) -> Seen:
    """A forced call that was not made: the choice was weakened where that shows, else not seen at all."""
    if _WRITTEN.search(bound.turn.text):
        return Seen("softened", bound, f"the call is written in the text: {bound.said}")
    told = _told(bound)
    if told is not None:
        return Seen("softened", bound, f"the answer tells tool_choice as {told}; {bound.said}")
    if bound.capped:
        raise CannotTell(f"the answer reached its cap before any call: {bound.said}")
    return Seen("ignored", bound, bound.said)


def _told(bound: Answer) -> str | None:
    response = bound.exchange.response
    if response is None or bound.exchange.wire != "openai-responses":
        return None
    found = _TOLD.search(response.body.decode("utf-8", "replace"))
    return found.group(1) if found and found.group(1) != "required" else None


def _unbound(answers: Answers) -> Answer:
    """The answer to the question that wants the other tool, where nothing binds the model."""
    free = needed(answers, "unbound")
    if free.state != "answered":
        raise CannotTell(f"a request without tool_choice is not answered: {free.said}")
    return free


def _idle(answers: Answers) -> Answer:
    """The answer to the question that wants no tool, where nothing binds the model."""
    free = needed(answers, "idle")
    if free.state != "answered":
        raise CannotTell(f"a request without tool_choice is not answered: {free.said}")
    if free.called:
        raise CannotTell("the model calls a tool even where nothing asks for it")
    return free


_JUDGES: Mapping[str, Callable[[Answer, Answers], Seen]] = {
    "none": _none,
    "auto": lambda bound, _: Seen("honoured", bound, bound.said),
    "required": _required,
    "named": _named,
    "allowed": _allowed,
}
_HONOURED = dict.fromkeys(_JUDGES, "honoured")

CHOICE = Policy(
    id="tool-choice",
    title="tool_choice, against what the model would do by itself",
    evidence=(
        "Two questions, one that wants a tool and one that wants none, each also asked without tool_choice: "
        "what the choice changed."
    ),
    aspects={
        "none": "no call, where the question wants one",
        "auto": "the default, said aloud",
        "required": "a call, where the question wants none",
        "named": "a call of one tool, where the question wants none",
        "allowed": "one of two tools, where the question wants the other",
    },
    own_outcomes={
        "honoured": "the answer keeps to it",
        "softened": "it is kept in part: another tool, a call written as text, or told as auto",
        "ignored": "the answer is the one that comes without it",
    },
    reference=(
        Reference("openai-chat", "OpenAI", _HONOURED, "OpenAI guide Function calling, tool_choice"),
        Reference("openai-responses", "OpenAI", _HONOURED, "OpenAI guide Function calling, tool_choice"),
        Reference(
            "anthropic-messages",
            "Anthropic",
            {**_HONOURED, "allowed": "refused"},
            "Anthropic guide Implement tool use, Forcing tool use (auto, any, tool, none: nothing else)",
        ),
        Reference(
            "gemini",
            "Google",
            _HONOURED,
            "Gemini API guide Function calling, modes AUTO, ANY, NONE and allowedFunctionNames",
        ),
        Reference(
            "ollama",
            "Ollama",
            {**dict.fromkeys(_JUDGES, "ignored"), "auto": "honoured"},
            "ollama/ollama api/types.go ChatRequest has no such member, and unknown members are dropped",
        ),
    ),
    observer=_see,
)
