"""What a Messages request asked for, as far as rules care."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import lookup

INTERLEAVED = "interleaved-thinking-2025-05-14"
FINE_GRAINED = "fine-grained-tool-streaming-2025-05-14"
_CLIENT_SIDE = re.compile(r"custom$|(?:computer|bash|text_editor|memory)_2")
"""The types of tools that the client runs (anthropic-sdk-python, types/tool_union_param.py)."""


@dataclass(frozen=True)
class Asked:
    """The JSON of a Messages request, tolerantly read: what is not of the expected type is as if left out.

    ``betas`` are those that its ``anthropic-beta`` headers name. No slots: what is asked of it once per block
    is kept.
    """

    body: Mapping[str, Any]
    betas: frozenset[str] = field(default_factory=frozenset)

    @property
    def stream(self) -> bool:
        """``stream`` is true."""
        return self.body.get("stream") is True

    @property
    def cap(self) -> int | None:
        """``max_tokens``."""
        cap = self.body.get("max_tokens")
        return cap if type(cap) is int and cap > 0 else None

    @property
    def stop(self) -> tuple[str, ...]:
        """``stop_sequences``."""
        stop = self.body.get("stop_sequences")
        return tuple(text for text in stop if isinstance(text, str)) if isinstance(stop, list) else ()

    @cached_property
    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The offered tools by name; the first of a name counts."""
        found: dict[str, Mapping[str, Any]] = {}
        for tool in self._tools:
            name = lookup(tool, ("name",))
            if isinstance(name, str):
                found.setdefault(name, tool)
        return found

    @cached_property
    def offers_toolset(self) -> bool:
        """Whether a tool was offered that brings several names of its own."""
        kinds = [lookup(tool, ("type",)) for tool in self._tools]
        return any(isinstance(kind, str) and ("toolset" in kind or kind.startswith("mcp")) for kind in kinds)

    @cached_property
    def offers_server_tools(self) -> bool:
        """Whether a tool was offered that the server runs itself, or a server of tools."""
        kinds = [lookup(tool, ("type",)) for tool in self._tools]
        own = [kind for kind in kinds if isinstance(kind, str) and not _CLIENT_SIDE.match(kind)]
        return bool(own) or "mcp_servers" in self.body

    @cached_property
    def streams_eagerly(self) -> bool:
        """Whether the request accepts input that is not checked, and may be no JSON."""
        eager = [lookup(tool, ("eager_input_streaming",)) for tool in self._tools]
        return FINE_GRAINED in self.betas or any(one is True for one in eager)

    def is_computer(self, name: str) -> bool:
        """Whether that is the name of an offered tool which is a computer's screen."""
        kind = lookup(self.tools.get(name), ("type",))
        return isinstance(kind, str) and kind.startswith("computer_2")

    @cached_property
    def output_schema(self) -> Any:
        """The schema of ``output_config.format``; ``None`` where there is none."""
        wanted = lookup(self.body, ("output_config", "format"))
        return wanted.get("schema") if lookup(wanted, ("type",)) == "json_schema" else None

    @property
    def choice(self) -> str | None:
        """The ``type`` of ``tool_choice``: ``auto``, ``any``, ``tool`` or ``none``, where said."""
        kind = lookup(self.body, ("tool_choice", "type"))
        return kind if isinstance(kind, str) else None

    @property
    def forced(self) -> str | None:
        """The tool that ``tool_choice`` forces."""
        name = lookup(self.body, ("tool_choice", "name"))
        return name if self.choice == "tool" and isinstance(name, str) else None

    @property
    def single(self) -> bool:
        """``tool_choice.disable_parallel_tool_use`` is true."""
        return lookup(self.body, ("tool_choice", "disable_parallel_tool_use")) is True

    @property
    def thinks_first(self) -> bool:
        """Whether thinking is on and does not alternate with what it leads to."""
        return lookup(self.body, ("thinking", "type")) == "enabled" and INTERLEAVED not in self.betas

    @property
    def thinks_not(self) -> bool:
        """``thinking.type`` is disabled."""
        return bool(lookup(self.body, ("thinking", "type")) == "disabled")

    @property
    def edits(self) -> tuple[str, ...]:
        """The types of the edits in ``context_management``."""
        edits = lookup(self.body, ("context_management", "edits"))
        kinds = [lookup(edit, ("type",)) for edit in edits] if isinstance(edits, list) else []
        return tuple(kind for kind in kinds if isinstance(kind, str))

    @property
    def _tools(self) -> list[Any]:
        tools = self.body.get("tools")
        return tools if isinstance(tools, list) else []


def asked_in(reading: Reading) -> Asked | None:
    """The Messages request of an exchange; ``None`` where its body is not a JSON object."""
    if not isinstance(reading.asked, dict):
        return None
    headers = reading.exchange.request.headers
    lists = [value for name, value in headers if name.lower() == "anthropic-beta"]
    return Asked(reading.asked, frozenset(beta.strip() for names in lists for beta in names.split(",")))


def is_messages(reading: Reading) -> bool:
    """Whether an exchange creates a message: by its path, or by what its body has (as on Vertex)."""
    exchange = reading.exchange
    if exchange.wire != "anthropic-messages" or exchange.request.method.upper() != "POST":
        return False
    if reading.path.endswith("/messages"):
        return True
    return not reading.path.endswith("/count_tokens") and lookup(reading.asked, ("messages",)) is not ABSENT
