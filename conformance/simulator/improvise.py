"""What the model says to a prompt that nobody wrote an answer for, always the same; any agent loop ends.

With tools to choose from freely, a user's message that plainly names some is answered by calling them, with
arguments that fit their schemas; results of calls are answered with a text that tells them, so a loop ends.
Everything else is answered by repeating what was said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.simulator import schemas
from conformance.simulator.messages import PastMessage
from conformance.simulator.request import ChatRequest
from conformance.types import Text, Tool, ToolCall, Turn

_ECHO_CHARACTERS = 4000
_PROMPT_CHARACTERS = 20_000
_CALLS = 8
_TELLING = 4
_NAME = 3
"""Letters: shorter words, and shorter names, are in too many prompts to name a tool."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def improvised(request: ChatRequest) -> Turn:
    """The turn that answers ``request``."""
    if request.choice == "auto" and request.messages and request.messages[-1].role == "user":
        calls = tuple(_calls(request, request.messages[-1].text[:_PROMPT_CHARACTERS]))
        if calls:
            return Turn(calls)
    return Turn((Text(echo(request.messages)),))


def call_of(tool: Tool) -> ToolCall:
    """A call of ``tool`` with arguments that fit its schema.

    Raises:
        Unsatisfiable: no such arguments were found.
    """
    arguments = schemas.conforming({"type": "object", **tool.parameters})
    return ToolCall("", tool.name, compact(arguments))


def compact(value: Any) -> str:
    """``value`` as JSON without white space, as models write arguments."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def echo(messages: Sequence[PastMessage]) -> str:
    """What the last user said, or what each call of the last turn returned."""
    results = {}
    for message in reversed(messages):
        if message.role != "tool":
            break
        results[message.tool_call_id] = message.text
    if results:
        calls = messages[-len(results) - 1].calls
        lines = [f"{call.name}({call.arguments}) returned: {results[call.id]}" for call in calls]
        return "\n".join(lines)[:_ECHO_CHARACTERS]
    said = next((message.text for message in reversed(messages) if message.role == "user"), "")
    return f"You wrote: {said[:_ECHO_CHARACTERS]}" if said else "You wrote nothing."


def _calls(request: ChatRequest, prompt: str) -> Iterator[ToolCall]:
    """Calls of the tools that ``prompt`` names, those whose arguments can't be made up left out."""
    offered = {tool.name: tool for tool in request.tools if tool.name in request.allowed}
    for tool in _named(tuple(offered.values()), prompt)[: _CALLS if request.parallel else 1]:
        try:
            yield call_of(tool)
        except schemas.Unsatisfiable:
            continue


def _named(tools: Sequence[Tool], prompt: str) -> list[Tool]:
    """The tools named in full, in the order of ``prompt``; failing these, the one most of whose words it has.

    The first of several words of a name is left out of the latter: it is a verb such as *write*, which says
    nothing about the tool.
    """
    said = _words(prompt)
    spoken = f" {' '.join(said)} "
    names = {tool.name: _words(tool.name) for tool in tools}
    places = {
        name: spoken.find(f" {' '.join(words)} ") if len(name) >= _NAME and words else -1
        for name, words in names.items()
    }
    full = sorted((tool for tool in tools if places[tool.name] >= 0), key=lambda tool: places[tool.name])
    if full:
        return full
    telling = {word for word in said if len(word) >= _TELLING}
    scores = {name: len(telling.intersection(words[1:])) for name, words in names.items()}
    best = max(tools, key=lambda tool: scores[tool.name], default=None)
    return [best] if best is not None and scores[best.name] else []


def _words(text: str) -> list[str]:
    """Its words in lower case, also of ``camelCase`` and ``snake_case``, without the ``s`` of a plural."""
    found = (word.lower() for word in _WORD.findall(text))
    return [word[:-1] if len(word) > _TELLING and word.endswith("s") else word for word in found]
