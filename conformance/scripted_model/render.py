"""Canonical turns as the text a Hermes-style model would write."""

from __future__ import annotations

import json

from conformance.types import Part, Reasoning, Text, ToolCall, Turn


def render_hermes(turn: Turn) -> str:
    """``turn`` as Hermes text, parts in order, non-ASCII characters raw, arguments as they are.

    llama.cpp b11549 reads exactly the same turn back, streamed or not (``lab/llamacpp/lab.py smoke``): no
    newline stands before ``</think>`` or ``<tool_call>``, since its parser would keep it as text. Its limits:
    whitespace at the start of the content is dropped; only leading reasoning counts as reasoning; and while
    tools are offered, a grammar admits nothing but further calls after a call, and at most one space where
    JSON allows whitespace. A script against that grammar derails.

    Raises ``ValueError`` for a part the text has no form for (refusal, image) and for arguments that are no
    JSON object.
    """
    text = ""
    previous: Part | None = None
    for part in turn.parts:
        if isinstance(part, Reasoning):
            text += f"<think>\n{part.text}</think>\n\n"
        elif isinstance(part, Text):
            text += part.text
        elif isinstance(part, ToolCall):
            name = json.dumps(part.name, ensure_ascii=False)
            separator = "\n" if isinstance(previous, ToolCall) else ""
            text += f'{separator}<tool_call>\n{{"name": {name}, "arguments": {_object(part)}}}\n</tool_call>'
        else:
            raise ValueError(f"Hermes text has no form for a {type(part).__name__} part")
        previous = part
    return text


def _object(call: ToolCall) -> str:
    try:
        value = json.loads(call.arguments)
    except ValueError as error:
        raise ValueError(f"arguments of {call.name!r} are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"arguments of {call.name!r} are not a JSON object: {call.arguments[:40]!r}")
    return call.arguments
