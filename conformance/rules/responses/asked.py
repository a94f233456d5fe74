"""What a Responses request asked for, as far as rules care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import lookup

CALLS = ("function_call", "custom_tool_call")
"""The types of items that call a tool of the client's."""


@dataclass(frozen=True)
class Asked:
    """The JSON of a Responses request, tolerantly read: what is not of the expected type is as if left out.

    No slots: what is asked of it once per item is kept.
    """

    body: Mapping[str, Any]

    @property
    def stream(self) -> bool:
        """``stream`` is true."""
        return self.body.get("stream") is True

    @property
    def background(self) -> bool:
        """``background`` is true: the answer comes before the model is done."""
        return self.body.get("background") is True

    @property
    def obfuscation_off(self) -> bool:
        """``stream_options.include_obfuscation`` is false."""
        return lookup(self.body, ("stream_options", "include_obfuscation")) is False

    @property
    def offers_tools(self) -> bool:
        """Whether any tool was offered."""
        return bool(self.body.get("tools"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the offered function and custom tools, in order."""
        tools = self.body.get("tools")
        found = (lookup(tool, ("name",)) for tool in tools if isinstance(tools, list)) if tools else ()
        return tuple(name for name in found if isinstance(name, str))

    @property
    def tool_choice(self) -> str | None:
        """``none``, ``auto`` or ``required``, where said."""
        choice = self.body.get("tool_choice")
        return choice if isinstance(choice, str) else None

    @property
    def forced(self) -> str | None:
        """The offered tool that a named ``tool_choice`` forces."""
        choice = self.body.get("tool_choice")
        if lookup(choice, ("type",)) not in ("function", "custom"):
            return None
        name = lookup(choice, ("name",))
        return name if isinstance(name, str) and name in self.names else None

    @cached_property
    def allowed(self) -> frozenset[str] | None:
        """The names that ``allowed_tools`` lists; ``None`` where the request has no such choice."""
        choice = self.body.get("tool_choice")
        listed = lookup(choice, ("tools",))
        if lookup(choice, ("type",)) != "allowed_tools" or not isinstance(listed, list):
            return None
        names = (lookup(tool, ("name",)) for tool in listed)
        return frozenset(name for name in names if isinstance(name, str))

    @property
    def cap(self) -> int | None:
        """``max_output_tokens``."""
        cap = self.body.get("max_output_tokens")
        return cap if type(cap) is int and cap > 0 else None

    def includes(self, what: str) -> bool:
        """Whether ``include`` lists it."""
        listed = self.body.get("include")
        return isinstance(listed, list) and what in listed

    @property
    def items(self) -> list[Any]:
        """The items of ``input``; none where that is a text."""
        items = self.body.get("input")
        return items if isinstance(items, list) else []

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The texts of the tool results that were sent, by ``call_id``."""
        found = {}
        for item in self.items:
            call_id, output = lookup(item, ("call_id",)), lookup(item, ("output",))
            result = lookup(item, ("type",)) == "function_call_output"
            if result and isinstance(call_id, str) and isinstance(output, str):
                found[call_id] = output
        return found

    @cached_property
    def calls(self) -> dict[str, Any]:
        """The calls in the history that was sent, by ``call_id``."""
        found = {}
        for item in self.items:
            call_id = lookup(item, ("call_id",))
            if lookup(item, ("type",)) in CALLS and isinstance(call_id, str):
                found[call_id] = item
        return found

    @cached_property
    def question(self) -> str:
        """The text of the last user message; empty where there is none."""
        if isinstance(self.body.get("input"), str):
            return str(self.body["input"])
        users = [item for item in self.items if lookup(item, ("role",)) == "user"]
        content = lookup(users[-1], ("content",)) if users else ABSENT
        return content if isinstance(content, str) else json.dumps(content, default=str, ensure_ascii=False)


def asked_in(reading: Reading) -> Asked | None:
    """The Responses request of an exchange; ``None`` where its body is not a JSON object."""
    return Asked(reading.asked) if isinstance(reading.asked, dict) else None


def is_responses(reading: Reading) -> bool:
    """Whether an exchange creates a response: by its path, or by what its body has."""
    exchange = reading.exchange
    if exchange.wire != "openai-responses" or exchange.request.method.upper() != "POST":
        return False
    return reading.path.endswith("/responses") or lookup(reading.asked, ("input",)) is not ABSENT
