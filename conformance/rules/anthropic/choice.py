"""What a request's choice among its tools and its further options demand of the message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.anthropic.examples import WIRES, answer, stream, text, told, tool, tool_use
from conformance.rules.anthropic.views import Answer, Block, Message
from conformance.rules.leaks import LEAKED, QUOTED, register
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Violation

TWO = [tool(), tool("get_time")]
EDIT = "clear_tool_uses_20250919"
CLEARING: dict[str, Any] = {"context_management": {"edits": [{"type": EDIT}]}}
CLEARED = {"type": EDIT, "cleared_tool_uses": 2, "cleared_input_tokens": 90}
COUNTS = {
    EDIT: "cleared_tool_uses",
    "clear_thinking_20251015": "cleared_thinking_turns",
}
ACTIONS = frozenset(
    {
        "key",
        "type",
        "mouse_move",
        "left_click",
        "left_click_drag",
        "right_click",
        "middle_click",
        "double_click",
        "triple_click",
        "left_mouse_down",
        "left_mouse_up",
        "scroll",
        "hold_key",
        "wait",
        "screenshot",
        "cursor_position",
        "zoom",
    }
)
COMPUTER = {
    "type": "computer_20250124",
    "name": "computer",
    "display_width_px": 64,
    "display_height_px": 64,
}


def _choosing(type: str, **more: Any) -> dict[str, Any]:
    return {"tools": TWO, "tool_choice": {"type": type, **more}}


@rule(
    "anth.response.tool-choice-any",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=anthropic_sdk("types/tool_choice_any_param.py"),
    violating=answer(asked=_choosing("any")),
    conforming=answer(tool_use(), asked=_choosing("any")),
    consequence="a client that counts on a call has nothing to run",
)
def choice_any(message: Message) -> Iterator[Violation]:
    """tool_choice any yields at least one tool_use.

    A message that was cut, or refused, proves nothing.
    """
    asked = message.asked
    if asked is not None and asked.choice == "any" and message.settled and not message.calls:
        yield message.found("content", wanted="at least one tool_use")


@rule(
    "anth.response.tool-choice-tool",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=anthropic_sdk("types/tool_choice_tool_param.py"),
    violating=answer(tool_use(name="get_time"), asked=_choosing("tool", name="get_weather")),
    conforming=stream(told(tool_use()), asked=_choosing("tool", name="get_weather")),
    consequence="structured extraction by a forced tool gets another shape, or none",
)
def choice_tool(message: Message) -> Iterator[Violation]:
    """tool_choice tool yields the named tool."""
    forced = message.asked.forced if message.asked else None
    if forced is None:
        return
    if message.settled and not message.calls:
        yield message.found("content", wanted=f"a tool_use of {forced}")
    for block in message.calls:
        if block.get("name") != forced:
            yield block.found("name", wanted=f'"{forced}"')


@rule(
    "anth.response.tool-choice-none",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=anthropic_sdk("types/tool_choice_none_param.py"),
    violating=answer(tool_use(), asked=_choosing("none")),
    conforming=answer(text(), asked=_choosing("none")),
    consequence="a client that forbade calls gets one and has no text to show",
)
def choice_none(message: Message) -> Iterator[Violation]:
    """tool_choice none yields no tool_use."""
    if message.asked is not None and message.asked.choice == "none" and message.calls:
        yield message.calls[0].found(wanted="no tool_use")


@rule(
    "anth.response.disable-parallel",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=anthropic_sdk("types/tool_choice_auto_param.py"),
    violating=answer(
        tool_use(1), tool_use(2, name="get_time"), asked=_choosing("auto", disable_parallel_tool_use=True)
    ),
    conforming=answer(tool_use(), asked=_choosing("auto", disable_parallel_tool_use=True)),
    consequence="a client that runs one call at a time leaves the other unanswered, and its next request is "
    "refused",
)
def disable_parallel(message: Message) -> Iterator[Violation]:
    """disable_parallel_tool_use yields at most one tool_use.

    With any or tool exactly one: anth.response.tool-choice-any and -tool say that there is one.
    """
    if message.asked is not None and message.asked.single and len(message.calls) > 1:
        yield message.calls[1].found(wanted="one tool_use at most", saw=f"{len(message.calls)} of them")


@rule(
    "anth.response.computer-action",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=anthropic_docs("agents-and-tools/tool-use/computer-use-tool (available actions)"),
    subject="model",
    violating=answer(tool_use(name="computer", input={"key": "a"}), asked={"tools": [COMPUTER]}),
    conforming=answer(tool_use(name="computer", input={"action": "wait"}), asked={"tools": [COMPUTER]}),
    consequence="the client's screen driver knows no such action, and the turn is lost",
)
def computer_action(block: Block) -> Iterator[Violation]:
    """A call of the computer tool has one of its actions.

    The rule is this suite's own: the tool has no schema in the request, the model knows it.
    """
    if block.type != "tool_use" or block.asked is None or not block.settled:
        return
    name = block.get("name")
    if isinstance(name, str) and block.asked.is_computer(name):
        action = block.get("input", "action")
        if not (isinstance(action, str) and action in ACTIONS):
            yield block.found("input", "action", wanted="an action of the computer tool")


@rule(
    "anth.response.applied-edits",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/beta/beta_context_management_response.py"),
    violating=answer(asked=CLEARING, context_management={"applied_edits": [{"type": EDIT}]}),
    conforming=answer(asked=CLEARING, context_management={"applied_edits": [CLEARED]}),
    consequence="anthropic 2.14.0 gives None for the counts, and a client that adds them up raises TypeError",
)
def applied_edits(reply: Answer) -> Iterator[Violation]:
    """context_management has applied_edits, each with what and how many tokens it cleared.

    The rule is this suite's own: context editing is in the beta types alone. Types of edits that are not
    known are left alone.
    """
    told_of = reply.get("context_management")
    if told_of is None or told_of is ABSENT:
        return
    edits = reply.get("context_management", "applied_edits")
    if not isinstance(edits, list):
        yield reply.found("context_management", "applied_edits", wanted="an array")
        return
    for place, edit in enumerate(edits):
        kind = edit.get("type") if isinstance(edit, dict) else None
        if not isinstance(kind, str):
            yield reply.found("context_management", "applied_edits", place, wanted="an object with a type")
            continue
        for name in (COUNTS[kind], "cleared_input_tokens") if kind in COUNTS else ():
            if type(edit.get(name)) is not int:
                at = ("context_management", "applied_edits", place, name)
                yield reply.found(*at, wanted="an integer")


@rule(
    "anth.response.edits-applied",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=anthropic_docs("build-with-claude/context-editing"),
    probe="context-edit",
    violating=answer(asked=CLEARING, probe="context-edit"),
    conforming=answer(asked=CLEARING, context_management={"applied_edits": [CLEARED]}, probe="context-edit"),
    consequence="the prompt grows until it no longer fits, although the client asked for it to be kept small",
)
def edits_applied(reply: Answer) -> Iterator[Violation]:
    """An edit whose trigger is met is applied, and told of in applied_edits.

    The rule is this suite's own. Asked with a trigger far below what the history holds; a request that is
    refused for it is honest.
    """
    edits = reply.get("context_management", "applied_edits")
    kinds = [one.get("type") for one in edits if isinstance(one, dict)] if isinstance(edits, list) else []
    for kind in reply.asked.edits if reply.asked else ():
        if kind not in kinds:
            yield reply.found("context_management", "applied_edits", wanted=f"an edit {kind}")


no_call_markup = register(
    "anth.response.no-call-markup-leak",
    "anthropic-messages",
    "tool_use blocks",
    answer(text(LEAKED), asked={"tools": TWO}),
    answer(text(QUOTED), asked={"tools": TWO}),
    anthropic_sdk("types/tool_use_block.py"),
)
