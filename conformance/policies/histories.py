"""Histories that are not as they should be, and messages with nothing in them: what comes of them."""

from __future__ import annotations

from conformance.policies.policy import Answers, CannotTell, Policy, Reference, Seen, needed, not_answered


def _see(aspect: str, answers: Answers) -> Seen:
    control = needed(answers, "control")
    if control.state != "answered":
        raise CannotTell(f"a history as it should be is not answered either: {control.said}")
    answer = needed(answers, aspect)
    return not_answered(answer) or Seen("accepted", answer, answer.said)


_ACCEPTED = {"accepted": "it is answered as if nothing were wrong"}
_EVIDENCE = "Beside it a history as it should be, which must be answered: the status, and the error in words."

_BROKEN = {
    "orphan-result": "a result, and no call at all",
    "missing-result": "a call, and a user's message instead of its result",
    "duplicate-result": "a call with two results",
    "result-before-call": "a result, then its call",
    "wrong-id": "a call, and a result with an id that no call has",
    "broken-arguments": "a call whose arguments are cut short (a text where the wire has an object)",
    "consecutive-users": "two messages of the user in a row",
    "assistant-first": "the assistant speaks first",
    "empty-assistant": "a message of the assistant with nothing in it",
}


def _broken(accepted: str = "") -> dict[str, str]:
    """``accepted`` for the named kinds, ``refused`` for the others."""
    return {name: "accepted" if name in accepted.split() else "refused" for name in _BROKEN}


HISTORIES = Policy(
    id="malformed-histories",
    title="Histories that are not as they should be",
    evidence=_EVIDENCE,
    aspects=_BROKEN,
    own_outcomes=_ACCEPTED,
    reference=(
        Reference(
            "openai-chat",
            "OpenAI",
            _broken("broken-arguments consecutive-users assistant-first empty-assistant"),
            "OpenAI guide Function calling (400 for calls and results that do not pair); arguments are any "
            "string, and roles in any order: openai/openai-openapi CreateChatCompletionRequest",
        ),
        Reference(
            "openai-responses",
            "OpenAI",
            _broken("broken-arguments consecutive-users assistant-first empty-assistant"),
            "continuedev/continue issue 10092 (No tool call found for function call output); the answers No "
            "tool output found for function call and its kin; items otherwise in any order",
        ),
        Reference(
            "anthropic-messages",
            "Anthropic",
            _broken("consecutive-users"),
            "Anthropic API reference, Messages (neighbours of one role are one turn, the first is the "
            "user's) and guide Handle tool calls",
        ),
        Reference(
            "gemini",
            "Google",
            _broken("wrong-id consecutive-users assistant-first"),
            "google-gemini/gemini-cli issues 3814 and 17208, microsoft/vscode issue 299295; ids are "
            "optional, and responses are told apart by name",
        ),
        Reference(
            "ollama",
            "Ollama",
            {**dict.fromkeys(_BROKEN, "accepted"), "broken-arguments": "refused"},
            "ollama/ollama api/types.go (types are checked, and no order: the template takes what it gets)",
        ),
    ),
    observer=_see,
)

_SPEAKERS = {
    "assistant": "the assistant's message beside its calls (a turn by itself where calls are content)",
    "result": "a tool's result",
    "user": "the user's message",
}
_FORMS = {"null": "null", "empty": '""', "absent": "no such member", "list": "an empty list (or object)"}


def _contents(accepted: str, unknown: str = "") -> dict[str, str]:
    """``accepted`` for the named ones, ``refused`` for the others; of the unknown nothing is said."""
    names = [f"{speaker}-{form}" for speaker in _SPEAKERS for form in _FORMS]
    taken = accepted.split()
    return {name: "accepted" if name in taken else "refused" for name in names if name != unknown}


CONTENT = Policy(
    id="empty-content",
    title="Messages without content",
    evidence=_EVIDENCE,
    aspects={
        f"{speaker}-{form}": f"{who}: {what}"
        for speaker, who in _SPEAKERS.items()
        for form, what in _FORMS.items()
    },
    own_outcomes=_ACCEPTED,
    reference=(
        Reference(
            "openai-chat",
            "OpenAI",
            _contents("assistant-null assistant-empty assistant-absent result-empty user-empty"),
            "openai/openai-openapi: content of assistant messages is nullable and optional beside "
            "tool_calls, of others required; lists have at least one part",
        ),
        Reference(
            "openai-responses",
            "OpenAI",
            _contents("assistant-empty assistant-list result-empty result-list user-empty user-list"),
            "openai/openai-openapi EasyInputMessage and FunctionCallOutputItemParam: content and output are "
            "required, a string or a list, of any length",
        ),
        Reference(
            "anthropic-messages",
            "Anthropic",
            _contents("result-empty result-absent result-list", unknown="result-null"),
            "Anthropic API: all messages must have non-empty content except for the optional final assistant "
            "message; content of a tool_result is optional, and of null nothing is said",
        ),
        Reference(
            "gemini",
            "Google",
            _contents("assistant-empty result-empty result-list user-empty"),
            "Gemini API: contents.parts must not be empty; null in proto3 JSON is as good as absent",
        ),
        Reference(
            "ollama",
            "Ollama",
            _contents(
                "assistant-null assistant-empty assistant-absent result-null result-empty result-absent "
                "user-null user-empty user-absent"
            ),
            "ollama/ollama api/types.go Message.Content is a Go string: null and absent are empty, and a "
            "list is none",
        ),
    ),
    observer=_see,
)
