"""Streams that brought no usable call, asked for again as whole answers."""

from __future__ import annotations

from dataclasses import replace

from conformance.profiles.profile import Again, Asked
from conformance.types import Turn
from conformance.wires.body import parse


def broken_calls(turn: Turn) -> str | None:
    """Why a turn's calls can't be used: one has no name, or arguments that are no JSON object.

    A call that the cap cut short is nobody's fault, and a custom tool's input is no JSON.
    """
    if turn.finish_reason == "length":
        return None
    if turn.finish_reason == "tool_calls" and not turn.calls and not turn.text.strip():
        return "a call was announced and none came"
    for call in turn.calls:
        if any("custom" in str(opaque.get("type")) for opaque in (call.opaque or {}).values()):
            continue
        if not call.name:
            return "a call has no name"
        try:
            parse(call.arguments or "{}")
        except ValueError:
            return f"the arguments of {call.name} are no JSON"
    return None


def asked_whole(asked: Asked) -> Again | None:
    """The same, not streamed, where a stream was asked for."""
    if not asked.request.stream:
        return None
    return Again(replace(asked.request, stream=False, include_usage=None), "whole, not as a stream")
