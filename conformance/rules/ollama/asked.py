"""What a request to ``/api/chat`` asked for, as far as rules care."""

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
    """The JSON of a request, tolerantly read: what is not of the expected type is as if left out.

    No slots: what is asked of it once per call is kept.
    """

    body: Mapping[str, Any]

    @property
    def known(self) -> bool:
        """Whether there is a request to go by: some recordings have none."""
        return bool(self.body)

    @property
    def streams(self) -> bool:
        """``stream``, which is true unless it is false."""
        return self.body.get("stream") is not False

    @property
    def leaves_stream_out(self) -> bool:
        """Whether nothing is said of streaming."""
        return self.known and self.body.get("stream") is None

    @cached_property
    def functions(self) -> dict[str, Any]:
        """The definitions of the offered functions, by name."""
        tools = self.body.get("tools")
        found = [lookup(tool, ("function",)) for tool in tools] if isinstance(tools, list) else []
        named = ((lookup(one, ("name",)), one) for one in found)
        return {name: one for name, one in named if isinstance(name, str)}

    @property
    def cap(self) -> int | None:
        """``options.num_predict``, where it caps."""
        cap = lookup(self.body, ("options", "num_predict"))
        return cap if type(cap) is int and cap > 0 else None

    @property
    def stop(self) -> tuple[str, ...]:
        """``options.stop``."""
        stop = lookup(self.body, ("options", "stop"))
        texts = [stop] if isinstance(stop, str) else stop
        return tuple(t for t in texts if isinstance(t, str) and t) if isinstance(texts, list) else ()

    @property
    def thinks_not(self) -> bool:
        """``think`` is false."""
        return self.body.get("think") is False

    @property
    def wants_json(self) -> bool:
        """Whether ``format`` asks for JSON, by word or by schema."""
        return self.body.get("format") == "json" or self.schema is not None

    @property
    def schema(self) -> dict[str, Any] | None:
        """The schema in ``format``, if it is one."""
        given = self.body.get("format")
        return given if isinstance(given, dict) else None

    @property
    def logprobs(self) -> bool:
        """``logprobs`` is true."""
        return self.body.get("logprobs") is True

    @property
    def messages(self) -> list[Any]:
        """The conversation."""
        messages = self.body.get("messages")
        return messages if isinstance(messages, list) else []

    @property
    def has_pictures(self) -> bool:
        """Whether a message has any."""
        return any(lookup(one, ("images",)) not in (ABSENT, None, []) for one in self.messages)

    @cached_property
    def text(self) -> str:
        """The whole conversation as a text, in which anything can be looked for."""
        return json.dumps(self.messages, ensure_ascii=False, default=str)


NOTHING = Asked({})
"""A request that says nothing."""


def asked_in(reading: Reading) -> Asked:
    """The request of an exchange; an empty one where its body is not a JSON object."""
    return Asked(reading.asked) if isinstance(reading.asked, dict) else NOTHING


def is_chat(reading: Reading) -> bool:
    """Whether an exchange is a chat, by its path."""
    exchange = reading.exchange
    posted = exchange.wire == "ollama" and exchange.request.method.upper() == "POST"
    return posted and reading.path.endswith("/api/chat")
