"""Histories, changed for who can't take them as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from conformance.types import Message, Part, Reasoning, Request, Role, Text, ToolCall

BRIDGE = "I have the result."
"""What an assistant says between a tool's result and a user, where nothing may stand there without it."""

NO_RESULT = "(No result: the call was not carried out.)"
ORPHAN = "Result of an earlier tool call: "
INSTRUCTION = "Instruction: "
GO_ON = "Go on."
"""What a user says where an assistant's word must not be the last."""
MAX_CALLS = 128

_SYSTEM = ("system", "developer")


def changed(request: Request, change: Callable[[Sequence[Message]], Iterable[Message]]) -> Request:
    """The request with another history; an empty one stays as it was."""
    return replace(request, messages=tuple(change(request.messages)) or request.messages)


def with_user(request: Request, text: str) -> Request:
    """The request with a further word of the user, in a history in Chat's own words too."""
    verbatim = request.extra.get("messages")
    if isinstance(verbatim, list):
        more = {"role": "user", "content": text}
        return replace(request, extra={**request.extra, "messages": [*verbatim, more]})
    return replace(request, messages=(*request.messages, Message.user(text)))


def says_nothing(message: Message) -> bool:
    """Whether a message has neither words, media nor calls; reasoning alone counts as nothing."""
    return all(isinstance(p, Reasoning) or (isinstance(p, Text) and not _said(p)) for p in message.parts)


def _said(part: Text) -> bool:
    return bool(part.text.strip() or part.opaque)


def without_reasoning_only(messages: Sequence[Message]) -> Iterable[Message]:
    """No assistant message that holds reasoning and nothing else."""
    return (
        m
        for m in messages
        if not (m.role == "assistant" and says_nothing(m) and any(isinstance(p, Reasoning) for p in m.parts))
    )


def without_empty(messages: Sequence[Message], roles: Sequence[Role] = ("assistant",)) -> Iterable[Message]:
    """No message of these roles that says nothing."""
    return (m for m in messages if not (m.role in roles and says_nothing(m)))


def developer_as_system(messages: Sequence[Message]) -> Iterable[Message]:
    """``developer`` said as ``system``."""
    return (replace(m, role="system") if m.role == "developer" else m for m in messages)


def merged_system(messages: Sequence[Message]) -> Iterable[Message]:
    """The leading system messages as one, a blank line between them."""
    count = next((i for i, m in enumerate(messages) if m.role not in _SYSTEM), len(messages))
    return [*_joined(messages[:count]), *messages[count:]] if count > 1 else messages


def hoisted_system(messages: Sequence[Message]) -> Iterable[Message]:
    """All system messages as one at the beginning."""
    system = [m for m in messages if m.role in _SYSTEM]
    return [*_joined(system), *(m for m in messages if m.role not in _SYSTEM)]


def _joined(messages: Sequence[Message]) -> list[Message]:
    if len(messages) < 2:
        return list(messages)
    return [replace(messages[0], parts=_with_gaps([m.parts for m in messages]))]


def _with_gaps(runs: Sequence[tuple[Part, ...]]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for run in filter(None, runs):
        parts += [Text("\n\n")] if parts else []
        parts += run
    return tuple(parts)


def system_as_user(messages: Sequence[Message]) -> Iterable[Message]:
    """No system message: the leading ones begin the first user's, later ones are said by a user."""
    leading, rest = _split(messages)
    folded = [_as_user(m) for m in rest]
    if not leading:
        return folded
    parts = _with_gaps([m.parts for m in leading])
    if folded and folded[0].role == "user":
        return [replace(folded[0], parts=_with_gaps([parts, folded[0].parts])), *folded[1:]]
    return [Message("user", parts), *folded]


def later_system_as_user(messages: Sequence[Message]) -> Iterable[Message]:
    """System messages after the first words, where they stand, said by a user."""
    leading, rest = _split(messages)
    return [*leading, *(_as_user(m) for m in rest)]


def trailing_system_as_user(messages: Sequence[Message]) -> Iterable[Message]:
    """A system message at the end, said by a user."""
    last = len(messages)
    while last > 1 and messages[last - 1].role in _SYSTEM:
        last -= 1
    return [*messages[:last], *(_as_user(m) for m in messages[last:])]


def some_user(messages: Sequence[Message]) -> Iterable[Message]:
    """Where no user says anything, the last of the system's messages is said by one."""
    if not messages or any(m.role == "user" for m in messages):
        return messages
    last = max((i for i, m in enumerate(messages) if m.role in _SYSTEM), default=-1)
    return [replace(m, role="user") if i == last else m for i, m in enumerate(messages)]


def user_last(messages: Sequence[Message]) -> Iterable[Message]:
    """A user's word after an assistant's last one, where that would end the conversation."""
    if messages and messages[-1].role == "assistant":
        return [*messages, Message.user(GO_ON)]
    return messages


def _split(messages: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    count = next((i for i, m in enumerate(messages) if m.role not in _SYSTEM), len(messages))
    return messages[:count], messages[count:]


def _as_user(message: Message) -> Message:
    if message.role not in _SYSTEM:
        return message
    return replace(message, role="user", parts=(Text(INSTRUCTION), *message.parts))


def alternating(messages: Sequence[Message]) -> Iterable[Message]:
    """After the system messages, neighbours of one role (user or assistant) are one message.

    An assistant's calls are never joined with what it says later: their results belong in between.
    """
    out: list[Message] = []
    for message in messages:
        calls = out and any(isinstance(part, ToolCall) for part in out[-1].parts)
        if out and not calls and message.role == out[-1].role and message.role in ("user", "assistant"):
            out[-1] = replace(out[-1], parts=_with_gaps([out[-1].parts, message.parts]))
        else:
            out.append(message)
    return out


def paired(messages: Sequence[Message]) -> Iterable[Message]:
    """Every call with one result, next after it, and no result without its call.

    A result whose call is gone is told by a user; a call that nobody answered gets a result that says so. A
    user who speaks between a call and its result speaks after it.
    """
    out: list[Message] = []
    open_calls: list[str] = []
    held: list[Message] = []

    def close() -> None:
        for call in open_calls:
            out.append(Message("tool", (Text(NO_RESULT),), tool_call_id=call))
        out.extend(held)
        open_calls.clear()
        held.clear()

    for message in messages:
        if message.role == "tool":
            if message.tool_call_id in open_calls:
                open_calls.remove(message.tool_call_id)
                out.append(message)
            else:
                told = Message("user", (Text(ORPHAN), *message.parts))
                (held if open_calls else out).append(told)
            if not open_calls:
                close()
            continue
        if message.role == "assistant":
            close()
            open_calls.extend(p.id for p in message.parts if isinstance(p, ToolCall))
            out.append(message)
        else:
            (held if open_calls else out).append(message)
    close()
    return out


def few_calls(messages: Sequence[Message], most: int = MAX_CALLS) -> Iterable[Message]:
    """No assistant message with more calls than ``most``: it becomes several, each with its own results."""
    out: list[Message] = []
    position = 0
    while position < len(messages):
        message, position = messages[position], position + 1
        calls = [p for p in message.parts if isinstance(p, ToolCall)]
        if len(calls) <= most:
            out.append(message)
            continue
        results: dict[str | None, Message] = {}
        while position < len(messages) and messages[position].role == "tool":
            results.setdefault(messages[position].tool_call_id, messages[position])
            position += 1
        lead = tuple(p for p in message.parts if not isinstance(p, ToolCall))
        for start in range(0, len(calls), most):
            some = calls[start : start + most]
            out.append(replace(message, parts=(*lead, *some)))
            out += [results[call.id] for call in some if call.id in results]
            lead = ()
    return out
