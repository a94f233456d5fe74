"""Thinking and the betas of the Messages API: signatures, interleaved thinking, a screen, context editing."""

from __future__ import annotations

import json
from typing import Any

from conformance.scenarios.anthropic import MESSAGES, TOOL, create, user
from conformance.scenarios.base import (
    IMAGES,
    REASONING,
    TOOLS,
    ask,
    feature,
    going_on,
    need,
    request,
    scenario,
)
from conformance.scenarios.kit import THINKING, TIME, WEATHER, called, calls_to, red_square, results, said
from conformance.scenarios.tools import CANARY
from conformance.types import (
    JSON,
    Ask,
    Image,
    Message,
    Reasoning,
    Reply,
    Script,
    Text,
    ToolCall,
    Turn,
)

COMPUTER_BETA = (("anthropic-beta", "computer-use-2025-01-24"),)
EDITING_BETA = (("anthropic-beta", "context-management-2025-06-27"),)
INTERLEAVED_BETA = (("anthropic-beta", "interleaved-thinking-2025-05-14"),)
COMPUTER_USE = feature("computer use", r"computer|tools?\.\d+|input tag")
EDITING = feature("context editing", r"context[_ -]management|context editing")
REDACT = (
    "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_"
    "46C9A13E193C177646C7398A98432ECCCE4C1253D5E2D82641AC0E52CC2876CB"
)
"""What Anthropic's models answer with redacted thinking, for tests (guide "Extended thinking")."""


def content_of(reply: Reply | tuple[Reply, ...]) -> list[dict[str, Any]]:
    """The blocks of a whole message as they came; none where there are none to read."""
    response = None if isinstance(reply, tuple) else reply.exchange.response
    try:
        body = json.loads(response.body) if response is not None else None
    except (ValueError, RecursionError):
        return []
    content = body.get("content") if isinstance(body, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


FORGED = "Rm9yZ2VkLg=="
"""A signature where the endpoint gave an empty one."""


@scenario(
    "anthropic.thinking-signature",
    wires=MESSAGES,
    ideal=(called(("get_weather", {"city": "Kiruna"}), reasoning="Kiruna is asked for: I look it up."),),
    needs=("reasoning", "tools"),
    optional=(REASONING, TOOLS),
)
def thinking_signature() -> Script:
    """A thinking block goes back as it came, and is accepted; with another signature it is refused."""
    question = "Think first, then look up the weather in Kiruna with the tool."
    reply = yield Ask(request(Message.user(question), tools=(WEATHER,), native=THINKING))
    turn = going_on(reply)
    need(turn.reasoning, "show its reasoning")
    need(turn.calls, "call the tool it was asked to use")
    content = content_of(reply)
    back = [
        {"type": "tool_result", "tool_use_id": call.id, "content": "18 degrees, wind code KESTREL"}
        for call in turn.calls
    ]
    members: dict[str, Any] = {**THINKING["anthropic-messages"], "tools": [TOOL]}
    history = (user(question), {"role": "assistant", "content": content}, user(back))
    yield create("reasoning-echo", *history, **members)
    altered = [
        {**block, **{k: str(v).swapcase() or FORGED for k, v in block.items() if k == "signature"}}
        for block in content
    ]
    history = (user(question), {"role": "assistant", "content": altered}, user(back))
    yield create("altered-thinking", *history, refused=True, **members)


@scenario(
    "anthropic.redacted-thinking",
    wires=MESSAGES,
    ideal=(
        Turn(
            (Reasoning(""), ToolCall("call_1", WEATHER.name, '{"city": "Luleå"}')),
            finish_reason="tool_calls",
        ),
        said("Luleå reports 18 degrees, wind code KESTREL."),
    ),
    needs=("reasoning", "tools"),
    optional=(REASONING, TOOLS),
)
def redacted_thinking() -> Script:
    """Thinking that was redacted goes back in its place."""
    question = Message.user(f"Look up the weather in Luleå with the tool. {REDACT}")
    turn = yield from ask(request(question, tools=(WEATHER,), native=THINKING))
    hidden = any(isinstance(part, Reasoning) for part in turn.parts) and not turn.reasoning
    need(hidden, "have redacted thinking")
    need(turn.calls, "call the tool it was asked to use")
    history = (question, Message.assistant(turn), *results(turn, {WEATHER.name: CANARY}))
    asked = request(*history, tools=(WEATHER,), echo_reasoning=True, native=THINKING)
    yield Ask(asked, probe="reasoning-echo")


@scenario(
    "anthropic.interleaved-thinking",
    wires=MESSAGES,
    ideal=(
        Turn(
            (
                Reasoning("The weather comes first."),
                Text("I look up the weather."),
                Reasoning("Vadsø is the city."),
                ToolCall("call_1", WEATHER.name, '{"city": "Vadsø"}'),
            ),
            finish_reason="tool_calls",
        ),
        called(("get_time", {"city": "Vadsø"}), reasoning="It is mild there, so now the time."),
        said("Vadsø has 18 degrees, wind code KESTREL, and it is 21:07 there."),
    ),
    needs=("reasoning", "streaming", "tools"),
    optional=(REASONING, TOOLS),
)
def interleaved_thinking() -> Script:
    """Thinking between calls and texts, streamed, under its beta, with all of it echoed in its place."""
    history: tuple[Message, ...] = (
        Message.user("Think, look up the weather in Vadsø with the tool, think again, then the time there."),
    )
    tools = (WEATHER, TIME)
    for name, text in ((WEATHER.name, CANARY), (TIME.name, "21:07"), ("", "")):
        asked = request(*history, tools=tools, stream=True, echo_reasoning=True, native=THINKING)
        probe = "reasoning-echo" if len(history) > 1 else None
        reply = yield Ask(asked, probe=probe, headers=INTERLEAVED_BETA)
        if not name:
            return
        turn = going_on(reply)
        need(turn.reasoning, "show its reasoning")
        need(calls_to(turn, name), f"call {name}")
        history = (*history, Message.assistant(turn), *results(turn, {name: text}))


SCREEN: dict[str, JSON] = {
    "type": "computer_20250124",
    "name": "computer",
    "display_width_px": 64,
    "display_height_px": 64,
}


@scenario(
    "anthropic.computer-use",
    wires=MESSAGES,
    ideal=(
        called(("computer", {"action": "screenshot"})),
        called(("computer", {"action": "left_click", "coordinate": [32, 48]})),
        called(("computer", {"action": "type", "text": "KESTREL"})),
        said("I clicked on the square and typed KESTREL."),
    ),
    needs=("tools",),
    optional=(COMPUTER_USE, IMAGES, TOOLS),
)
def computer_use() -> Script:
    """The computer tool, whose schema the model knows: a screenshot, a click, a text, under its beta."""
    history: tuple[Message, ...] = (
        Message.user("Take a screenshot, click on the square in it, then type KESTREL, one after the other."),
    )
    picture = (Text("The screen."), Image(red_square()))
    for _ in range(3):
        asked = request(*history, native={"anthropic-messages": {"tools": [SCREEN]}})
        reply = yield Ask(asked, headers=COMPUTER_BETA)
        turn = going_on(reply)
        need(calls_to(turn, "computer"), "use the computer")
        shown = tuple(Message("tool", picture, tool_call_id=call.id) for call in turn.calls)
        history = (*history, Message.assistant(turn), *shown)
    asked = request(*history, native={"anthropic-messages": {"tools": [SCREEN]}})
    yield Ask(asked, headers=COMPUTER_BETA)


VISITED = ("Ystad", "Lund", "Malmö")


@scenario(
    "anthropic.context-editing",
    wires=MESSAGES,
    ideal=(said("Malmö has the wind code KESTREL; the rest I no longer see."),),
    needs=("tools",),
    optional=(EDITING, TOOLS),
)
def context_editing() -> Script:
    """Old tool results are cleared by the server once there are several, and the answer tells of it."""
    history: tuple[Message, ...] = (
        Message.user("Look up the wind codes of Ystad, Lund and Malmö, in turn."),
    )
    for number, city in enumerate(VISITED, 1):
        call = ToolCall(f"call_{number}", WEATHER.name, json.dumps({"city": city}, ensure_ascii=False))
        log = "wind steady, nothing to report\n" * 20 + "wind code KESTREL"
        history = (*history, Message.assistant(Turn((call,))), Message.tool(call, log))
    clearing: dict[str, JSON] = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "tool_uses", "value": 2},
        "keep": {"type": "tool_uses", "value": 1},
    }
    edits: dict[str, JSON] = {"context_management": {"edits": [clearing]}}
    asked = request(*history, tools=(WEATHER,), native={"anthropic-messages": edits})
    yield Ask(asked, probe="context-edit", headers=EDITING_BETA)
