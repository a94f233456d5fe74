"""What endpoints of every policy do, and what must be observed of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from conformance.policies.echo import CODE_WORD
from conformance.types import WireName
from tests.policies.endpoints import SEAL, Act, Asked, Does, Refuses, Says

Expected = Mapping[str, str]

# ------------------------------------------------------------------------------------ duplicate names


def _counting(shown: Callable[[list[str]], list[str]]) -> Act:
    """An endpoint whose model is shown what ``shown`` leaves of the tools, and that counts that."""

    def act(asked: Asked) -> Does:
        left = shown([json.dumps(tool) for tool in asked.tools])
        return Says(tokens=50 + sum(map(len, left)))

    return act


def _naming(shown: Callable[[list[str]], list[str]]) -> Act:
    """An endpoint that counts nothing and whose model names what it is shown."""

    def act(asked: Asked) -> Does:
        left = " ".join(shown([json.dumps(tool) for tool in asked.tools]))
        return Says(" and ".join(word for word in ("KESTREL", "HERON") if word in left) or "None.")

    return act


def _calling_last(asked: Asked) -> Does:
    return Says("", "get_weather", {"town" if "HERON" in asked.text else "city": "Narvik"})


DUPLICATES: Mapping[str, tuple[Act, Expected]] = {
    "refuses": (
        lambda asked: Refuses() if len(asked.tools) > 1 else Says(),
        {"identical": "refused", "different": "refused"},
    ),
    "refuses-in-200": (
        lambda asked: Refuses(200) if len(asked.tools) > 1 else Says(),
        {"identical": "refused", "different": "refused"},
    ),
    "refuses-tools": (lambda _: Refuses(), {"identical": "inconclusive", "different": "inconclusive"}),
    "shows-first": (_counting(lambda t: t[:1]), {"identical": "merged", "different": "first-wins"}),
    "shows-last": (_counting(lambda t: t[-1:]), {"identical": "merged", "different": "last-wins"}),
    "shows-both": (_counting(lambda t: t), {"identical": "both-visible", "different": "both-visible"}),
    "shows-none": (
        _counting(lambda t: t if len(t) == 1 else []),
        {"identical": "merged", "different": "inconclusive"},
    ),
    "names-first": (_naming(lambda t: t[:1]), {"identical": "inconclusive", "different": "first-wins"}),
    "names-last": (_naming(lambda t: t[-1:]), {"identical": "inconclusive", "different": "last-wins"}),
    "names-both": (_naming(lambda t: t), {"identical": "inconclusive", "different": "both-visible"}),
    "calls-last": (_calling_last, {"identical": "inconclusive", "different": "last-wins"}),
    "says-nothing": (lambda _: Says(), {"identical": "inconclusive", "different": "inconclusive"}),
}

# ---------------------------------------------------------------------------------------- tool_choice

ALL = ("none", "auto", "required", "named", "allowed")
WRITTEN = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'


def _free(asked: Asked) -> Says:
    return Says("", "get_weather") if asked.wants_tool else Says("Good day.")


def _obeying(asked: Asked) -> Does:
    match asked.choice:
        case "none":
            return Says("I may not.")
        case "required" | "named":
            return Says("", "get_time")
        case "allowed":
            return Says("I may not do that.")
        case _:
            return _free(asked)


def _softening(asked: Asked) -> Does:
    match asked.choice:
        case "none" | "required":
            return Says(WRITTEN)
        case "named":
            return Says("", "get_weather")
        case _:
            return _free(asked)


CHOICE: Mapping[str, tuple[Act, Expected]] = {
    "obeys": (_obeying, dict.fromkeys(ALL, "honoured")),
    "softens": (_softening, {"none": "softened", "required": "softened", "named": "softened"}),
    "overlooks": (
        lambda asked: _told(_free(asked)),
        {**dict.fromkeys(ALL, "ignored"), "auto": "honoured"},
    ),
    "refuses": (lambda asked: Refuses() if asked.choice else _free(asked), dict.fromkeys(ALL, "refused")),
    "refuses-tools": (lambda _: Refuses(), dict.fromkeys(ALL, "inconclusive")),
    "never-calls": (
        lambda _: Says(told_choice="required"),
        {"none": "inconclusive", "allowed": "inconclusive", "required": "ignored"},
    ),
    "always-calls": (
        lambda _: Says("", "get_time"),
        {"required": "inconclusive", "named": "inconclusive", "allowed": "inconclusive"},
    ),
}


def _told(says: Says) -> Says:
    """The answer of an endpoint that repeats the choice as it came."""
    return Says(says.text, says.call, told_choice="required")


# ------------------------------------------------------------------------------------------ histories

KINDS = {
    "orphan-result": "refused",
    "missing-result": "refused",
    "wrong-id": "refused",
    "broken-arguments": "refused",
    "consecutive-users": "accepted",
    "assistant-first": "accepted",
    "empty-assistant": "accepted",
}


def _strict(asked: Asked) -> Does:
    """Refuses whatever has not one call and its result, unless there are neither."""
    said = asked.text
    calls = sum(
        said.count(word)
        for word in ('"tool_calls"', '"type": "function_call"', '"functionCall"', '"tool_use"')
    )
    results = sum(
        said.count(word) for word in ('"role": "tool"', "_call_output", '"functionResponse"', '"tool_result"')
    )
    bad = "nobody" in said or '\\"Nar"' in said
    return Refuses(message="They do not pair.") if bad or (calls, results) not in ((0, 0), (1, 1)) else Says()


HISTORIES: Mapping[str, tuple[Act, Expected]] = {
    "strict": (_strict, KINDS),
    "lenient": (lambda _: Says(), dict.fromkeys(KINDS, "accepted")),
    "breaks": (
        lambda asked: Refuses(500, "boom") if "nobody" in asked.text else Says(),
        {"wrong-id": "refused", "orphan-result": "accepted"},
    ),
    "refuses-tools": (lambda _: Refuses(), dict.fromkeys(KINDS, "inconclusive")),
}
HANGING: tuple[Act, Expected] = (
    lambda asked: None if "nobody" in asked.text else Says(),
    {"duplicate-result": "accepted", "wrong-id": "hang", "broken-arguments": "accepted"},
)
"""An endpoint that hangs in the midst of a scenario; what comes after it is asked all the same."""

CONTENT: Mapping[str, tuple[Act, Expected]] = {
    "lenient": (lambda _: Says(), {"user-null": "accepted", "result-list": "accepted"}),
    "no-null": (
        lambda asked: Refuses() if None in asked.history[-1].values() else Says(),
        {
            "user-null": "refused",
            "user-empty": "accepted",
            "user-absent": "accepted",
            "user-list": "accepted",
        },
    ),
    "no-lists": (
        lambda asked: Refuses() if [] in asked.history[-1].values() else Says(),
        {"user-list": "refused", "user-null": "accepted", "user-empty": "accepted"},
    ),
}

# --------------------------------------------------------------------------------------- reasoning echo

_OWN = "I thought of the word CURLEW before I called."


def reasoning(act: Act) -> Act:
    """An endpoint that reasons and calls before there is a result, and then acts."""

    def both(asked: Asked) -> Does:
        first = asked.wire not in ("openai-chat", "ollama") and "KESTREL" not in asked.text
        return Says("", "get_weather", thought=_OWN) if first else act(asked)

    return both


def _sent(asked: Asked) -> bool:
    return CODE_WORD in asked.text or SEAL in asked.text


AS_IT_CAME: Mapping[WireName, str] = {
    "openai-chat": "reasoning_content",
    "ollama": "thinking",
    "openai-responses": "reasoning-item",
    "anthropic-messages": "thinking-block",
    "gemini": "thought-signature",
}
"""The aspect of reasoning that goes back where it came from."""

ECHO: Mapping[str, tuple[Act, str]] = {
    "counts": (lambda asked: Says(tokens=len(asked.text)), "used"),
    "repeats": (lambda asked: Says(f"It was {CODE_WORD}." if _sent(asked) else "None."), "used"),
    "drops": (lambda _: Says(tokens=80), "ignored"),
    "wants": (lambda asked: Says() if _sent(asked) else Refuses(message="Where is it?"), "required"),
    "refuses": (lambda asked: Refuses() if _sent(asked) else Says(), "refused"),
    "refuses-both": (lambda _: Refuses(), "ignored"),
    "does-not-tell": (lambda _: Says(), "inconclusive"),
}
