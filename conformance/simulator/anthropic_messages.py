"""The conversation of a Messages request, held to Anthropic's rules about roles, content and tool results.

Source: the types and docstrings of anthropic-sdk-python 2.14.0 (``MessageCreateParams.messages``); the
guides "Handle tool calls" (results adjacent, complete and first) and "Mid-conversation system messages" (a
system message follows a user message, and precedes an assistant message or ends the array); recordings of
the API for empty content; "Migrating to API version 2026-10-21" for documents and citations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Literal

from conformance.simulator.answer import Refused, refusal
from conformance.simulator.anthropic_blocks import ASSISTANT, USER, Block, read_block, text_block
from conformance.simulator.fields import Fields, missing, wrong_type
from conformance.simulator.messages import PastMessage

_MOST = 100_000
_KINDS = {"user": USER, "assistant": ASSISTANT, "system": ("text",)}


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One turn of the conversation: neighbours of one role are one."""

    role: str
    path: str
    blocks: tuple[Block, ...]

    def of(self, *kinds: str) -> tuple[Block, ...]:
        """The blocks of these kinds."""
        return tuple(block for block in self.blocks if block.kind in kinds)


def read_system(body: Fields) -> tuple[Block, ...]:
    """The system prompt.

    Raises:
        Refused: Anthropic would refuse it with 400.
    """
    system = body.raw("system")
    if system is None or system == "":
        return ()
    if isinstance(system, str):
        return (text_block(system, "system"),)
    if not isinstance(system, list):
        raise wrong_type("system", "a string or an array of text blocks", system)
    return tuple(read_block(item, ("text",)) for item in body.objects("system", 0, _MOST) or ())


def read_conversation(body: Fields, old: bool) -> tuple[PromptMessage, ...]:
    """The conversation, neighbours of one role merged; ``old`` is an API version before 2026-10-21.

    Raises:
        Refused: Anthropic would refuse it with 400.
    """
    items = body.objects("messages", 0, _MOST)
    if items is None:
        raise missing("messages")
    if not items:
        raise refusal("at least one message is required", param="messages")
    read = [_message(item, old, last=i == len(items) - 1) for i, item in enumerate(items)]
    merged = tuple(_merged(read))
    _check_roles(merged)
    _check_results(merged)
    return merged


def _message(item: Fields, old: bool, last: bool) -> PromptMessage:
    item.closed(("role", "content"))
    role = item.choice("role", tuple(_KINDS))
    if role is None:
        raise missing(item.param("role"))
    path = item.param("role").removesuffix(".role")
    content = item.raw("content")
    if content is None:
        raise missing(item.param("content"))
    if not isinstance(content, (str, list)):
        raise wrong_type(item.param("content"), "a string or an array of content blocks", content)
    if not content and not (last and role == "assistant"):
        message = "all messages must have non-empty content except for the optional final assistant message"
        raise refusal(message, param=path)
    blocks = _text(item, content) if isinstance(content, str) else _blocks(item, role, old)
    if role != "assistant":
        _check_not_blank(blocks)
    return PromptMessage(role, path, blocks)


def _text(item: Fields, content: str) -> tuple[Block, ...]:
    return (text_block(content, item.param("content")),) if content else ()


def _blocks(item: Fields, role: str, old: bool) -> tuple[Block, ...]:
    given = item.objects("content", 0, _MOST) or ()
    if not old and role == "user":
        _check_uncited(given)
    kinds = (*_KINDS[role], "document") if old and role == "assistant" else _KINDS[role]
    return tuple(read_block(block, kinds) for block in given)


def _check_not_blank(blocks: Sequence[Block]) -> None:
    """A model may say nothing but spaces, as recordings show; nobody else may."""
    blank = next((block for block in blocks if block.kind == "text" and block.text.isspace()), None)
    if blank is not None:
        raise refusal("text content blocks must contain non-whitespace text", param=blank.path)


def _check_uncited(blocks: Sequence[Fields]) -> None:
    for block in blocks:
        if block.raw("type") == "text" and block.raw("citations"):
            message = "citations are not permitted on text blocks in user messages"
            raise refusal(message, param=block.param("citations"))


def _merged(messages: Iterable[PromptMessage]) -> Iterable[PromptMessage]:
    for _, neighbours in groupby(messages, key=lambda message: message.role):
        run = list(neighbours)
        yield replace(run[0], blocks=tuple(block for message in run for block in message.blocks))


def _check_roles(messages: Sequence[PromptMessage]) -> None:
    if messages[0].role == "assistant":
        raise refusal('first message must use the "user" role', param="messages")
    before: str | None = None
    for message, after in zip(messages, [*(m.role for m in messages[1:]), None], strict=True):
        if message.role == "system" and before != "user":
            raise _misplaced(message, "follow a 'user' message")
        if message.role == "system" and after == "user":
            raise _misplaced(message, "precede an 'assistant' message or end the array")
        before = message.role
    last = messages[-1]
    if last.role != "assistant" or not last.blocks:
        return
    if last.blocks[-1].kind == "text" and last.blocks[-1].text[-1:].isspace():
        raise refusal("final assistant content cannot end with trailing whitespace", param="messages")
    if last.blocks[-1].kind in ("thinking", "redacted_thinking"):
        message_ = f"The final block in an assistant message cannot be `{last.blocks[-1].kind}`."
        raise refusal(message_, param=last.path)


def _misplaced(message: PromptMessage, where: str) -> Refused:
    return refusal(f"role 'system' must {where}", param=message.path, why="400 misplaced-system-message")


def _check_results(messages: Sequence[PromptMessage]) -> None:
    """Every call is answered once, in the next message, before anything else in it."""
    used: set[str] = set()
    for before, message in pairwise((PromptMessage("user", "", ()), *messages)):
        called = [block.call.id for block in before.blocks if block.call]
        results = message.of("tool_result")
        _check_known(results, set(called))
        leading = {block.call_id for block in message.blocks[: len(results)] if block.kind == "tool_result"}
        _check_answered([i for i in called if i not in leading], before)
        for block in message.of("tool_use"):
            assert block.call is not None
            if block.call.id in used:
                raise refusal("`tool_use` ids must be unique", param=block.path)
            used.add(block.call.id)
    _check_answered([block.call.id for block in messages[-1].blocks if block.call], messages[-1])


def _check_known(results: Sequence[Block], called: set[str]) -> None:
    times = Counter(block.call_id for block in results)
    for block in results:
        if block.call_id not in called:
            message = (
                f"unexpected `tool_use_id` found in `tool_result` blocks: {block.call_id[:100]}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
            raise refusal(message, param=block.path, why="400 orphan-tool-result")
        if times[block.call_id] > 1:
            message = (
                "each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {block.call_id[:100]}"
            )
            raise refusal(message, param=block.path, why="400 duplicate-tool-result")


def _check_answered(missing_ids: Sequence[str], calling: PromptMessage) -> None:
    if missing_ids:
        message = (
            "`tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(i[:100] for i in missing_ids[:20])}. "
            "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
        raise refusal(message, param=calling.path, why="400 missing-tool-result")


def past_messages(system: Sequence[Block], conversation: Sequence[PromptMessage]) -> tuple[PastMessage, ...]:
    """The conversation as the model reads it: each tool result a message of its own."""
    past = [PastMessage("system", _joined(system))] if system else []
    for message in conversation:
        results = message.of("tool_result")
        past += [
            PastMessage("tool", block.text, tool_call_id=block.call_id, images=block.images)
            for block in results
        ]
        if len(results) < len(message.blocks) or not message.blocks:
            past.append(_past(message))
    return tuple(past)


def _past(message: PromptMessage) -> PastMessage:
    spoken = message.of("text", "image", "document", "search_result")
    thought = message.of("thinking", "redacted_thinking")
    return PastMessage(
        role=message.role,
        text=_joined(spoken),
        calls=tuple(block.call for block in message.blocks if block.call),
        images=sum(block.images for block in spoken),
        members=frozenset(("reasoning_content",) if thought else ()),
    )


def _joined(blocks: Iterable[Block]) -> str:
    return "".join(block.text for block in blocks)


def ending(conversation: Sequence[PromptMessage]) -> Literal["question", "results", "prefill"]:
    """What the answer comes after."""
    last = next(message for message in reversed(conversation) if message.role != "system")
    if last.role == "assistant":
        return "prefill"
    return "results" if last.of("tool_result") else "question"
