"""Policies of histories: what is wrong with them, messages without content, reasoning sent back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.scenarios.base import REASONING, TOOLS, going_on, need, request, scenario
from conformance.scenarios.kit import THINKING, WEATHER, called, results, said
from conformance.scenarios.policies import measured
from conformance.scenarios.verbatim import CALL_ID, CITY, FORMS, RESULT, Words, native
from conformance.types import (
    JSON,
    Ask,
    Message,
    Part,
    Raw,
    Reasoning,
    Reply,
    Request,
    Script,
    Turn,
    WireName,
)

OFFERED: JSON = {
    "type": "function",
    "function": {"name": WEATHER.name, "parameters": dict(WEATHER.parameters)},
}
LOOK_UP = "Look up the wind code of Narvik with the tool, then tell it in one short sentence."
CUT = '{"city": "Nar'

Tell = Callable[[Words], Sequence[dict[str, Any]]]


def _control(say: Words) -> Sequence[dict[str, Any]]:
    return say.user(LOOK_UP), say.call(CITY), say.result(RESULT, CALL_ID)


BROKEN: Mapping[str, Tell] = {
    "orphan-result": lambda say: (say.user(LOOK_UP), say.result(RESULT, CALL_ID)),
    "missing-result": lambda say: (say.user(LOOK_UP), say.call(CITY), say.user("Well?")),
    "duplicate-result": lambda say: (*_control(say), say.result(RESULT, CALL_ID)),
    "result-before-call": lambda say: (say.user(LOOK_UP), say.result(RESULT, CALL_ID), say.call(CITY)),
    "wrong-id": lambda say: (say.user(LOOK_UP), say.call(CITY), say.result(RESULT, "call_nobody_made")),
    "broken-arguments": lambda say: (say.user(LOOK_UP), say.call(CUT), say.result(RESULT, CALL_ID)),
    "consecutive-users": lambda say: (say.user("My name is Ada."), say.user("Greet me.")),
    "assistant-first": lambda say: (say.assistant("Good day, I am here."), say.user("Who are you?")),
    "empty-assistant": lambda say: (say.user("Are you there?"), say.assistant(""), say.user("Say so.")),
}
"""Histories that are not as they should be, in the words of a wire."""


def _told(policy: str, kinds: Mapping[str, Tell]) -> Script:
    """A history as it should be, then one of each kind; with reasoning in them where none goes without it.

    The second control is raw: ideal turns belong to canonical requests by number, which it must not shift.
    """
    asked = request(tools=(WEATHER,), native=native(_control))
    control = yield measured(policy, "control", asked, control=True)
    reasoned = False
    if isinstance(control, Reply) and control.exchange.wire == "openai-chat" and not control.ok:
        body = {**_reasoned(asked).native["openai-chat"], "tools": [OFFERED], "model": "{{model}}"}
        again = yield Raw("POST", "@chat", json.dumps(body).encode(), probe=f"policy:{policy}/control")
        reasoned = isinstance(again, Reply) and again.ok
    for step, tell in kinds.items():
        asked = request(tools=(WEATHER,), native=native(tell))
        yield measured(policy, step, _reasoned(asked) if reasoned else asked)


def _reasoned(asked: Request) -> Request:
    """The request with reasoning in all of the assistant's messages, where it can be made up."""
    body = asked.native["openai-chat"]
    messages: Any = body["messages"]
    thought = [{**m, "reasoning_content": THOUGHT} if m["role"] == "assistant" else m for m in messages]
    return replace(asked, native={**asked.native, "openai-chat": {**body, "messages": thought}})


@scenario(
    "policies.malformed-histories",
    policy="malformed-histories",
    ideal=(
        said("Narvik has the code KESTREL."),
        *(said(f"I make nothing of the {kind}.") for kind in BROKEN),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def malformed_histories() -> Script:
    """Histories that are not as they should be, each as the wire's own words have it, beside one that is.

    A client gets there when it cuts, merges or restores a conversation.
    """
    yield from _told("malformed-histories", BROKEN)


def _empty(speaker: str, form: Any) -> Tell:
    match speaker:
        case "assistant":
            return lambda say: (say.user(LOOK_UP), *say.empty_assistant(form))
        case "result":
            return lambda say: (say.user(LOOK_UP), say.call(CITY), say.empty_result(form))
        case _:
            return lambda say: (say.user("Hello."), say.assistant("Good day."), say.empty_user(form))


EMPTY = {
    f"{speaker}-{form}": _empty(speaker, form)
    for speaker in ("assistant", "result", "user")
    for form in FORMS
}
"""Messages without content, in the words of a wire."""


@scenario(
    "policies.empty-content",
    policy="empty-content",
    ideal=(
        said("The code of Narvik is KESTREL."),
        *(said(f"Nothing was said: {kind}, and I take it so.") for kind in EMPTY),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def empty_content() -> Script:
    """Content that is null, an empty text, absent, or an empty list, of everyone who speaks."""
    yield from _told("empty-content", EMPTY)


MEMBER_WIRES: tuple[WireName, ...] = ("openai-chat", "ollama")
BLOCK_WIRES: tuple[WireName, ...] = ("openai-responses", "anthropic-messages", "gemini")
THOUGHT = (
    "The user wants me to choose a code word before I call the tool, and to tell it with the answer. I "
    "choose the word CURLEW, since nobody would guess it, keep it in mind, and call the tool for Narvik now."
)
"""Reasoning made up here; the word in it stands nowhere else."""
CHOOSE = (
    "Choose a code word in your thoughts, and do not write it. Then look up the wind code of Narvik with the "
    "tool. In the end tell me your own code word, or say that you know none."
)
FIELDS: Mapping[str, Mapping[str, JSON]] = {
    "without": {},
    "reasoning_content": {"reasoning_content": THOUGHT},
    "reasoning": {"reasoning": THOUGHT},
    "reasoning_details": {"reasoning_details": [{"type": "reasoning.text", "text": THOUGHT, "index": 0}]},
    "thinking": {"thinking": THOUGHT},
    "thinking-part": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]},
    "think-markup": {"content": f"<think>\n{THOUGHT}\n</think>\n"},
}
"""The message's members that hold the reasoning, by step."""


@scenario(
    "policies.reasoning-fields",
    policy="reasoning-echo",
    wires=MEMBER_WIRES,
    ideal=tuple(said(f"The wind code is KESTREL. I know no word of mine ({step}).") for step in FIELDS),
    needs=("reasoning", "tools"),
    optional=(REASONING, TOOLS),
)
def reasoning_fields() -> Script:
    """Reasoning sent back in every member that one provider or another has for it, and not at all.

    It is made up here and holds a word that stands nowhere else.
    """
    for step, members in FIELDS.items():

        def told(say: Words, members: Mapping[str, JSON] = members) -> Sequence[dict[str, Any]]:
            return say.user(CHOOSE), {**say.call(CITY), **members}, say.result(RESULT, CALL_ID)

        histories = native(told)
        asked = {wire: {**histories[wire], **THINKING[wire]} for wire in MEMBER_WIRES}
        yield measured("reasoning-echo", step, request(tools=(WEATHER,), native=asked))


SEALS = ("signature", "thoughtSignature", "encrypted_content", "data")
"""The members by which providers know their own reasoning again."""


def resealed(turn: Turn, change: Callable[[str], str | None]) -> Turn:
    """The turn with every seal changed; where ``change`` says ``None``, without it."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(item) for item in value]
        if not isinstance(value, dict):
            return value
        made = {k: change(v) if k in SEALS and isinstance(v, str) else changed(v) for k, v in value.items()}
        return {k: v for k, v in made.items() if v is not None or value[k] is None}

    return replace(
        turn,
        parts=tuple(replace(p, opaque=changed(p.opaque)) if p.opaque else p for p in turn.parts),
    )


def altered(seal: str) -> str:
    """The seal with another character in its midst."""
    middle = len(seal) // 2
    other = "A" if seal[middle : middle + 1] != "A" else "B"
    return seal[:middle] + other + seal[middle + 1 :]


def without_reasoning(turn: Turn) -> Turn:
    """The turn with nothing of what was thought, and nothing that only its provider understands."""
    kept: list[Part] = [replace(p, opaque=None) if p.opaque else p for p in turn.parts]
    return replace(turn, parts=tuple(p for p in kept if not isinstance(p, Reasoning)))


BACK: Mapping[str, Callable[[Turn], Turn]] = {
    "without": without_reasoning,
    "as-it-came": lambda turn: turn,
    "unsealed": lambda turn: resealed(turn, lambda _: None),
    "altered": lambda turn: resealed(turn, altered),
}
"""How the turn goes back, by step."""


@scenario(
    "policies.reasoning-blocks",
    policy="reasoning-echo",
    wires=BLOCK_WIRES,
    ideal=(
        called(("get_weather", {"city": "Narvik"}), reasoning=THOUGHT),
        *(said(f"The wind code is KESTREL, and I have no word of my own: {step}.") for step in BACK),
    ),
    needs=("reasoning", "tools"),
    optional=(REASONING, TOOLS),
)
def reasoning_blocks() -> Script:
    """The endpoint's own reasoning before a call goes back: as it came, unsealed, altered, and not at all.

    A seal is what the provider knows its reasoning by: a signature, or encrypted content.
    """
    question = Message.user(CHOOSE)
    turn = going_on((yield Ask(_thinking(question), probe="policy:reasoning-echo/asked")))
    need(turn.calls, "call the tool it was asked to use")
    need(turn.reasoning or any(part.opaque for part in turn.parts), "show or seal its reasoning")
    answers = results(turn, {WEATHER.name: RESULT})
    for step, change in BACK.items():
        asked = _thinking(question, Message.assistant(change(turn)), *answers)
        yield measured("reasoning-echo", step, asked)


def _thinking(*messages: Message) -> Request:
    return request(*messages, tools=(WEATHER,), echo_reasoning=True, native=THINKING)
