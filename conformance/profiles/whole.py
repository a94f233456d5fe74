"""Streams that brought no usable call, asked for again as whole answers."""

from __future__ import annotations

from dataclasses import replace

from conformance.profiles import tools
from conformance.profiles.profile import Again, Asked
from conformance.types import Turn
from conformance.wires.body import parse

NO_CALL = "no call was made though one was asked for"


def called_for(asked: Asked) -> Again:
    """A call that did not come asked for in words; the second time the client is told that it can't
    be forced.
    """
    if tools.is_forced(asked.request):
        return Again(tools.softened(asked.request), "asked for the call in words")
    return Again(asked.request, "no call can be forced here", concedes=True)


def broken_calls(turn: Turn, asked: Asked) -> str | None:
    """Why a turn's calls can't be used: no name, arguments that are no JSON, or in a stream none where some
    are required.

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
            given = parse(call.arguments or "{}")
        except ValueError:
            return f"the arguments of {call.name} are no JSON"
        if given == {} and asked.request.stream and _required(call.name, asked):
            return f"the arguments of {call.name} never came"
    return None


def _required(name: str, asked: Asked) -> bool:
    return any(tool.parameters.get("required") for tool in asked.offered if tool.name == name)


def asked_whole(asked: Asked) -> Again | None:
    """The same, not streamed, where a stream was asked for."""
    if not asked.request.stream:
        return None
    return Again(replace(asked.request, stream=False, include_usage=None), "whole, not as a stream")
