"""Context editing: old tool results and old thinking leave the prompt before the model reads it.

Source: Anthropic's guide "Context editing" (defaults: over 100,000 input tokens, the last three tool uses
stay; thinking comes first in ``edits``) and the ``BetaClear...EditParam`` types of anthropic-sdk-python
2.14.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.simulator.answer import encode, refusal
from conformance.simulator.anthropic_blocks import Block
from conformance.simulator.anthropic_messages import PromptMessage
from conformance.simulator.fields import Fields, missing, wrong_type
from conformance.simulator.tokens import estimate

BETA = "context-management-2025-06-27"
_CLEAR_TOOLS = "clear_tool_uses_20250919"
_CLEAR_THINKING = "clear_thinking_20251015"
_PLACEHOLDER = "[Old tool result cleared]"
_TRIGGER_TOKENS = 100_000
_KEPT_USES = 3
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Edited:
    """A conversation after its edits, and what is told of them (``None`` where none were asked for)."""

    conversation: tuple[PromptMessage, ...]
    applied: tuple[dict[str, Any], ...] | None = None


def edit(body: Fields, conversation: tuple[PromptMessage, ...], tokens: int, thinks: bool) -> Edited:
    """The conversation of a prompt of ``tokens`` tokens, edited as the request asks.

    Raises:
        Refused: Anthropic would refuse the edits with 400.
    """
    given = body.object("context_management")
    if given is None:
        return Edited(conversation)
    given.closed(("edits",))
    applied: list[dict[str, Any]] = []
    for i, item in enumerate(given.objects("edits", 0, 10) or ()):
        kind = item.choice("type", (_CLEAR_TOOLS, _CLEAR_THINKING))
        if kind is None:
            raise missing(item.param("type"))
        if kind == _CLEAR_THINKING:
            if i:
                raise refusal(f"`{kind}` must be the first edit", param=item.param("type"))
            if not thinks:
                raise refusal(f"`{kind}` needs `thinking` to be enabled", param=item.param("type"))
            conversation, told = _without_thinking(item, conversation)
        else:
            conversation, told = _without_results(item, conversation, tokens)
        if told is not None:
            tokens -= told["cleared_input_tokens"]
            applied.append({"type": kind, **told})
    return Edited(conversation, tuple(applied))


def _amount(item: Fields, name: str, kinds: Sequence[str], least: int) -> tuple[str, int] | None:
    given = item.object(name)
    if given is None:
        return None
    given.closed(("type", "value"))
    kind = given.choice("type", kinds)
    value = given.integer("value", least, _MOST)
    if kind is None or value is None:
        raise missing(given.param("type" if kind is None else "value"))
    return kind, value


# ------------------------------------------------------------------------------------------ thinking


def _without_thinking(
    item: Fields, conversation: tuple[PromptMessage, ...]
) -> tuple[tuple[PromptMessage, ...], dict[str, Any] | None]:
    item.closed(("type", "keep"))
    if item.raw("keep") == "all" or item.raw("keep") == {"type": "all"}:
        return conversation, None
    _, kept = _amount(item, "keep", ("thinking_turns",), 1) or ("", 1)
    thinking = [i for i, message in enumerate(conversation) if _thoughts(message)]
    old = set(thinking[:-kept])
    if not old:
        return conversation, None
    cleared = sum(block.tokens for i in old for block in _thoughts(conversation[i]))
    edited = tuple(_thoughtless(message) if i in old else message for i, message in enumerate(conversation))
    return edited, {"cleared_thinking_turns": len(old), "cleared_input_tokens": cleared}


def _thoughts(message: PromptMessage) -> tuple[Block, ...]:
    return message.of("thinking", "redacted_thinking")


def _thoughtless(message: PromptMessage) -> PromptMessage:
    return replace(message, blocks=message.of("text", "tool_use"))


# ------------------------------------------------------------------------------------- tool results


def _without_results(
    item: Fields, conversation: tuple[PromptMessage, ...], tokens: int
) -> tuple[tuple[PromptMessage, ...], dict[str, Any] | None]:
    item.closed(("type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs"))
    default = ("input_tokens", _TRIGGER_TOKENS)
    what, limit = _amount(item, "trigger", ("input_tokens", "tool_uses"), 1) or default
    _, kept = _amount(item, "keep", ("tool_uses",), 0) or ("", _KEPT_USES)
    _, least = _amount(item, "clear_at_least", ("input_tokens",), 0) or ("", 0)
    excluded = _names(item, "exclude_tools")
    inputs_of = _inputs_cleared(item)
    uses = [block.call for message in conversation for block in message.blocks if block.call]
    if (tokens if what == "input_tokens" else len(uses)) <= limit:
        return conversation, None
    old = {call.id: call.name for call in uses[: max(len(uses) - kept, 0)] if call.name not in excluded}

    def cleared(block: Block) -> Block:
        if block.kind == "tool_result" and block.call_id in old:
            raw = encode([block.call_id, _PLACEHOLDER])
            return replace(block, text=_PLACEHOLDER, images=0, tokens=estimate(_PLACEHOLDER), raw=raw)
        if block.call and block.call.id in old and inputs_of(block.call.name):
            emptied = replace(block.call, arguments="{}")
            return replace(block, call=emptied, tokens=estimate(emptied.name + "{}"), raw=encode(emptied.id))
        return block

    edited = tuple(replace(m, blocks=tuple(cleared(block) for block in m.blocks)) for m in conversation)
    saved = max(_size(conversation) - _size(edited), 0)
    if not old or saved < least:
        return conversation, None
    return edited, {"cleared_tool_uses": len(old), "cleared_input_tokens": saved}


def _size(conversation: Sequence[PromptMessage]) -> int:
    return sum(block.tokens for message in conversation for block in message.blocks)


def _names(item: Fields, name: str) -> frozenset[str]:
    value = item.raw(name)
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise wrong_type(item.param(name), "an array of strings", value)
    return frozenset(value)


def _inputs_cleared(item: Fields) -> Callable[[str], bool]:
    value = item.raw("clear_tool_inputs")
    if value is None or isinstance(value, bool):
        return lambda _: bool(value)
    return _names(item, "clear_tool_inputs").__contains__
