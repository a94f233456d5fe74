"""Canonical messages as ``system`` and ``messages``.

- Leading system messages go to the top, joined by a blank line (Q1). A later one becomes user text between
  ``<system>`` tags, where it stands: role ``system`` among the messages is known to some models of the
  reference only, and not on Bedrock, Vertex or Foundry (Anthropic, "Mid-conversation system messages").
  One that came from there, or whose first part carries ``@system_message``, keeps that role.
- Neighbours of one role are merged by their blocks (Q3). The API wants a user first: ``OPENING`` stands there
  where an assistant would, or nobody.
- Results stand first in the user message after their calls, in the order given; ids pair them, so
  they are not sorted (K5). A call without a result is left for the endpoint to refuse (K7).
- Ids outside the wire's characters are written as ``anthropic_ids`` says (K4). Calls without one get
  ``call_1``, ``call_2`` ... over the conversation, and results without one take those in their order.
- Empty texts are left out, and so is an assistant message that has nothing to say (K13).
- Names of tools stay as they are: Chat allows the same characters (Q5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Any

from conformance.types import File, Image, Loss, Message, Part, Reasoning, Refusal, Text, ToolCall
from conformance.wires.anthropic_blocks import SYSTEM_MESSAGE, TOOL_RESULT, carried, encode_part
from conformance.wires.anthropic_ids import escape
from conformance.wires.anthropic_media import WIRE

Content = str | list[dict[str, Any]]

OPENING = "(The assistant begins.)"
"""What the user says where nobody spoke before the assistant."""


def encode_history(
    messages: Sequence[Message], losses: list[Loss], *, echo_reasoning: bool
) -> tuple[Content, list[dict[str, Any]]]:
    """The value of ``system`` (``""``: none) and the messages."""
    lead = next((i for i, m in enumerate(messages) if not _is_top_level(m)), len(messages))
    system = _encode_system(messages[:lead], losses)
    history = _History(messages, losses, echo_reasoning=echo_reasoning)
    for i in range(lead, len(messages)):
        history.add(i)
    return system, history.finish()


def _is_top_level(message: Message) -> bool:
    return message.role in ("system", "developer") and carried(message.parts, SYSTEM_MESSAGE) is None


def _content(blocks: list[dict[str, Any]]) -> Content:
    """One plain text is a string, which says the same as one text block."""
    if not blocks:
        return ""
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0].keys() == {"type", "text"} else blocks


def _encode_texts(message: Message, at: str, losses: list[Loss]) -> list[dict[str, Any]]:
    """The blocks of a system message, which takes text alone."""
    blocks: list[dict[str, Any]] = []
    for j, part in enumerate(message.parts):
        where = f"{at}/parts/{j}"
        block = encode_part(part, where, "", losses) if isinstance(part, Text) else None
        if not isinstance(part, Text):
            losses.append(Loss(where, "a part of a system message that is not text"))
        if block is not None:
            blocks.append(block)
    return blocks


def _encode_system(messages: Sequence[Message], losses: list[Loss]) -> Content:
    blocks: list[dict[str, Any]] = []
    for i, message in enumerate(messages):
        if message.role == "developer":
            losses.append(Loss(f"/messages/{i}/role", "developer told as system", "form"))
        if i:
            losses.append(Loss(f"/messages/{i}", "joined with the system message before it", "form"))
        blocks += _encode_texts(message, f"/messages/{i}", losses)
    if len(messages) > 1 and all(block.keys() == {"type", "text"} for block in blocks):
        return "\n\n".join(block["text"] for block in blocks)
    return _content(blocks)


class _History:
    """The messages so far, and the user message that is being put together."""

    def __init__(self, messages: Sequence[Message], losses: list[Loss], *, echo_reasoning: bool) -> None:
        self._messages = messages
        self._losses = losses
        self._echo = echo_reasoning
        self._out: list[dict[str, Any]] = []
        self._results: list[dict[str, Any]] = []
        self._said: list[dict[str, Any]] = []
        self._speakers: list[tuple[int, bool]] = []  # messages merged into the user message; whether empty
        taken = {m.tool_call_id for m in messages} | {
            p.id for m in messages for p in m.parts if isinstance(p, ToolCall)
        }
        self._mint = (name for name in map("call_{}".format, count(1)) if name not in taken)
        self._unpaired: deque[str] = deque()  # minted ids that wait for their results

    def add(self, i: int) -> None:
        """Take the message at position ``i``."""
        message = self._messages[i]
        if message.role == "tool":
            self._add_result(message, i)
        elif message.role == "assistant":
            self._add_assistant(message, i)
        elif message.role == "user":
            self._speak(i, self._encode(message, i))
        elif (members := carried(message.parts, SYSTEM_MESSAGE)) is not None:
            self._end_user()
            blocks = _encode_texts(message, f"/messages/{i}", self._losses)
            body = {"content": blocks} if blocks or not members else {}
            self._out.append({"role": "system", **body, **members})
        else:
            self._add_instruction(message, i)

    def finish(self) -> list[dict[str, Any]]:
        """All messages."""
        self._end_user()
        if self._messages and (not self._out or self._out[0]["role"] == "assistant"):
            self._losses.append(Loss("/messages", f"a user begins here: {OPENING!r} stands first", "form"))
            self._out.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
        for message in self._out:
            if "content" in message:
                message["content"] = _content(message["content"])
        return self._out

    def _encode(self, message: Message, i: int) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        for j, part in enumerate(message.parts):
            where, call_id = f"/messages/{i}/parts/{j}", ""
            if isinstance(part, Reasoning) and not self._echo and WIRE not in (part.opaque or {}):
                continue
            if isinstance(part, ToolCall):
                call_id = self._id(part.id, where)
            block = encode_part(part, where, call_id, self._losses)
            if block is not None:
                blocks.append(block)
        return blocks

    def _id(self, call_id: str, where: str) -> str:
        written = escape(call_id) or next(self._mint)
        if not call_id:
            self._unpaired.append(written)
            self._losses.append(Loss(where, f"a call without an id: it got {written}", "form"))
        elif written != call_id:
            self._losses.append(Loss(where, f"the id {call_id[:60]}, written as {written}", "form"))
        return written

    def _add_assistant(self, message: Message, i: int) -> None:
        self._unpaired.clear()
        blocks = self._encode(message, i)
        if not blocks:
            self._losses.append(Loss(f"/messages/{i}", "a message with nothing to say", "form"))
            return
        self._end_user()
        if self._out and self._out[-1]["role"] == "assistant":
            self._losses.append(Loss(f"/messages/{i}", "merged with the message before it", "form"))
            self._out[-1]["content"] += blocks
        else:
            self._out.append({"role": "assistant", "content": blocks})

    def _add_instruction(self, message: Message, i: int) -> None:
        blocks = _encode_texts(message, f"/messages/{i}", self._losses)
        text = "\n\n".join(block["text"] for block in blocks if block["type"] == "text")
        self._losses.append(
            Loss(f"/messages/{i}", "a system message in mid-conversation, told as user text", "form")
        )
        self._said += [{"type": "text", "text": f"<system>\n{text}\n</system>"}] if text else []
        self._speakers.append((i, False))

    def _speak(self, i: int, blocks: list[dict[str, Any]]) -> None:
        if self._speakers:
            self._losses.append(Loss(f"/messages/{i}", "merged with the message before it", "form"))
        self._said += blocks
        self._speakers.append((i, not blocks))

    def _add_result(self, message: Message, i: int) -> None:
        at = f"/messages/{i}"
        if self._speakers:
            self._losses.append(Loss(at, "moved before the user's words: results come first", "form"))
        content: list[dict[str, Any]] = []
        for j, part in enumerate(message.parts):
            block = self._in_result(part, f"{at}/parts/{j}")
            if block is not None:
                content.append(block)
        result: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": self._result_id(message.tool_call_id or "", at),
            "content": _content(content),
        }
        if message.is_error:
            result["is_error"] = True
        self._results.append(result | (carried(message.parts, TOOL_RESULT) or {}))

    def _in_result(self, part: Part, where: str) -> dict[str, Any] | None:
        if isinstance(part, Text | Image | File | Refusal):
            return encode_part(part, where, "", self._losses)
        self._losses.append(Loss(where, "a part that tool results don't take"))
        return None

    def _result_id(self, call_id: str, at: str) -> str:
        where = f"{at}/tool_call_id"
        if call_id:
            written = escape(call_id)
            if written != call_id:
                self._losses.append(Loss(where, f"the id {call_id[:60]}, written as {written}", "form"))
            return written
        written = self._unpaired.popleft() if self._unpaired else next(self._mint)
        self._losses.append(Loss(where, f"a result without an id: it got {written}", "form"))
        return written

    def _end_user(self) -> None:
        """Close the user message, if one has begun."""
        content = self._results + self._said
        if content or self._speakers:
            self._out.append({"role": "user", "content": content})
        if content:
            for i, empty in self._speakers:
                if empty:
                    self._losses.append(Loss(f"/messages/{i}", "a message with nothing to say", "form"))
        self._results, self._said, self._speakers = [], [], []
