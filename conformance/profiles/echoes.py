"""Reasoning that goes back: under which name, or not at all."""

from __future__ import annotations

from dataclasses import replace

from conformance.profiles.messages import changed, without_empty
from conformance.types import Message, Part, Reasoning, Request, Text

PAD = " "
"""Stands in for reasoning that was lost: an empty string is refused where one space passes."""


def never(request: Request) -> Request:
    """No reasoning goes back."""
    messages = tuple(_without(m) if m.role == "assistant" else m for m in request.messages)
    return replace(request, messages=messages, echo_reasoning=False)


def as_it_came(request: Request) -> Request:
    """Reasoning goes back under the name it came under."""
    return replace(request, echo_reasoning=True)


def as_reasoning_content(request: Request, *, pad: bool) -> Request:
    """Reasoning goes back as ``reasoning_content``, on every assistant turn; ``pad`` where it was lost.

    With ``pad``, a turn that says nothing at all is left out: it would be reasoning alone.
    """

    def message(old: Message) -> Message:
        if old.role != "assistant":
            return old
        parts = [
            replace(p, spelling="reasoning_content") if isinstance(p, Reasoning) else p for p in old.parts
        ]
        if pad and not any(isinstance(p, Reasoning) and p.text.strip() for p in parts):
            parts = [Reasoning(PAD), *(p for p in parts if not isinstance(p, Reasoning))]
        return replace(old, parts=tuple(parts))

    history = changed(request, without_empty).messages if pad else request.messages
    return replace(request, messages=tuple(message(m) for m in history), echo_reasoning=True)


def as_think_text(request: Request) -> Request:
    """Reasoning goes back as ``<think>`` text in front of the content."""

    def part(old: Part) -> Part:
        return Text(f"<think>{old.text}</think>") if isinstance(old, Reasoning) else old

    messages = tuple(
        replace(m, parts=tuple(map(part, m.parts))) if m.role == "assistant" else m for m in request.messages
    )
    return replace(request, messages=messages, echo_reasoning=False)


def _without(message: Message) -> Message:
    return replace(message, parts=tuple(p for p in message.parts if not isinstance(p, Reasoning)))
