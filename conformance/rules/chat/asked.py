"""What a chat request asked for, as far as rules care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import lookup


@dataclass(frozen=True)
class Asked:
    """The JSON of a chat request, tolerantly read: what is not of the expected type is as if left out.

    No slots: what is asked of it once per call is kept.
    """

    body: Mapping[str, Any]

    @property
    def stream(self) -> bool:
        """``stream`` is true."""
        return self.body.get("stream") is True

    @property
    def include_usage(self) -> bool:
        """``stream_options.include_usage`` is true."""
        return lookup(self.body, ("stream_options", "include_usage")) is True

    @property
    def n(self) -> int:
        """How many choices: 1 unless said."""
        n = self.body.get("n")
        return n if type(n) is int and n > 0 else 1

    @property
    def offers_tools(self) -> bool:
        """Whether any tool or legacy function was offered."""
        return bool(self.body.get("tools") or self.body.get("functions"))

    @cached_property
    def functions(self) -> dict[str, Mapping[str, Any]]:
        """The function definitions by name; the first of a name counts."""
        tools = self.body.get("tools")
        found: dict[str, Mapping[str, Any]] = {}
        for tool in tools if isinstance(tools, list) else ():
            function = lookup(tool, ("function",))
            name = lookup(function, ("name",))
            if isinstance(name, str) and isinstance(function, dict):
                found.setdefault(name, function)
        return found

    @property
    def forced(self) -> str | None:
        """The function that a named ``tool_choice`` forces."""
        name = lookup(self.body.get("tool_choice"), ("function", "name"))
        return name if isinstance(name, str) else None

    @property
    def tool_choice(self) -> str | None:
        """``none``, ``auto`` or ``required``, where said."""
        choice = self.body.get("tool_choice")
        return choice if isinstance(choice, str) else None

    @property
    def format(self) -> str | None:
        """The type of ``response_format``: ``json_schema``, ``json_object``, ``text``."""
        kind = lookup(self.body, ("response_format", "type"))
        return kind if isinstance(kind, str) else None

    @property
    def strict_schema(self) -> Any:
        """The schema of a strict ``response_format``; ``None`` where there is none."""
        wanted = lookup(self.body, ("response_format", "json_schema"))
        return wanted.get("schema") if isinstance(wanted, dict) and wanted.get("strict") is True else None

    @property
    def loose_schema(self) -> Any:
        """The schema of a ``response_format`` that is not strict; ``None`` where there is none."""
        wanted = lookup(self.body, ("response_format", "json_schema"))
        return wanted.get("schema") if isinstance(wanted, dict) and wanted.get("strict") is not True else None

    @property
    def cap(self) -> int | None:
        """The most tokens that a choice may have; the smaller where both names were sent."""
        caps = [self.body.get(name) for name in ("max_completion_tokens", "max_tokens")]
        return min((cap for cap in caps if type(cap) is int and cap > 0), default=None)

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop sequences, those that are empty aside."""
        stop = self.body.get("stop")
        texts = stop if isinstance(stop, list) else [stop]
        return tuple(text for text in texts if isinstance(text, str) and text)

    @property
    def logprobs(self) -> bool:
        """``logprobs`` is true."""
        return self.body.get("logprobs") is True

    @cached_property
    def allowed(self) -> frozenset[str] | None:
        """The names that ``allowed_tools`` lists; ``None`` where the request has no such choice."""
        listed = lookup(self.body, ("tool_choice", "allowed_tools", "tools"))
        if not isinstance(listed, list):
            return None
        names = (lookup(tool, (kind, "name")) for tool in listed for kind in ("function", "custom"))
        return frozenset(name for name in names if isinstance(name, str))

    @cached_property
    def call_ids(self) -> frozenset[str]:
        """The ids of the calls in the history."""
        found: set[str] = set()
        messages = self.body.get("messages")
        for message in messages if isinstance(messages, list) else ():
            calls = lookup(message, ("tool_calls",))
            ids = [lookup(call, ("id",)) for call in calls] if isinstance(calls, list) else []
            found.update(given for given in ids if isinstance(given, str) and given)
        return frozenset(found)

    def says(self, text: str) -> bool:
        """Whether a text occurs anywhere in the request: then its echo is no wonder."""
        return json.dumps(text, ensure_ascii=False)[1:-1] in self._text

    @cached_property
    def _text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


def asked_in(reading: Reading) -> Asked | None:
    """The chat request of an exchange; ``None`` where its body is not a JSON object."""
    return Asked(reading.asked) if isinstance(reading.asked, dict) else None


def is_chat(reading: Reading) -> bool:
    """Whether an exchange is a chat completion: by its path, or by what its body has."""
    exchange = reading.exchange
    if exchange.wire != "openai-chat" or exchange.request.method.upper() != "POST":
        return False
    return reading.path.endswith("/chat/completions") or lookup(reading.asked, ("messages",)) is not ABSENT
