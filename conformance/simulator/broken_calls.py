"""Calls of Chat Completions, told in ways that break their readers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conformance.simulator.answer import Action, Actions, Event, Respond


def arguments_as_objects(actions: Actions) -> Actions:
    """Arguments are JSON objects in place of text; the pieces of a stream are empty ones."""
    return _on_calls(actions, _as_object)


def without(member: str) -> Callable[[Actions], Actions]:
    """The calls lack a member."""
    return lambda actions: _on_calls(actions, lambda call: call.pop(member, None))


def _on_calls(actions: Actions, change: Callable[[dict[str, Any]], object]) -> Iterator[Action]:
    """``change`` applied to every call in the answer's documents."""

    def changed(document: Any) -> Any:
        document = copy.deepcopy(document)
        for choice in document.get("choices", ()) if isinstance(document, dict) else ():
            for call in (choice.get("message") or choice.get("delta") or {}).get("tool_calls", ()):
                change(call)
        return document

    for action in actions:
        if isinstance(action, Event):
            yield replace(action, data=changed(action.data))
        elif isinstance(action, Respond):
            yield replace(action, body=changed(action.body))
        else:
            yield action


def _as_object(call: dict[str, Any]) -> None:
    try:
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    except ValueError:
        call["function"]["arguments"] = {}
