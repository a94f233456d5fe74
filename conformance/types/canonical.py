"""The canonical form of conversations: OpenAI Chat's vocabulary, ordered parts, opaque slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from conformance.types.vocabulary import Role


@dataclass(frozen=True, slots=True)
class Text:
    """A run of visible text."""

    text: str
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A run of reasoning text; ``spelling`` is the field or markup it was read from."""

    text: str
    spelling: str = "reasoning_content"
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call; ``arguments`` is the JSON *string* exactly as received, never re-encoded.

    ``id``, ``name`` are ``""`` when the endpoint sent none: the facts of the turn say so.
    """

    id: str
    name: str
    arguments: str
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal in OpenAI's sense: text beside, not in, the content."""

    text: str
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image by URL (``https:`` or ``data:``)."""

    url: str
    opaque: Mapping[str, Any] | None = None


Part: TypeAlias = Text | Reasoning | ToolCall | Refusal | Image


@dataclass(frozen=True, slots=True)
class Fact:
    """Something odd that a decoder met and survived, e.g. ``missing-index``; judged by rules, not here.

    ``path`` is a JSON Pointer into the response (``/body/...`` or ``/events/3/data/...``).
    """

    name: str
    path: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts; ``None`` where the endpoint sent no usable integer."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message in canonical form: ordered parts in OpenAI Chat's vocabulary."""

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    facts: tuple[Fact, ...] = ()

    @property
    def text(self) -> str:
        """All visible text, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Text))

    @property
    def reasoning(self) -> str:
        """All reasoning text, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Reasoning))

    @property
    def refusal(self) -> str:
        """All refusal text, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Refusal))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(p for p in self.parts if isinstance(p, ToolCall))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request."""

    role: Role
    parts: tuple[Part, ...]
    tool_call_id: str | None = None

    @classmethod
    def user(cls, text: str) -> Message:
        return cls("user", (Text(text),))

    @classmethod
    def system(cls, text: str) -> Message:
        return cls("system", (Text(text),))

    @classmethod
    def assistant(cls, turn: Turn) -> Message:
        return cls("assistant", turn.parts)

    @classmethod
    def tool(cls, call: ToolCall, text: str) -> Message:
        return cls("tool", (Text(text),), tool_call_id=call.id)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A ``tool_choice`` that forces one function."""

    name: str


@dataclass(frozen=True, slots=True)
class JsonSchemaFormat:
    """A ``response_format`` of type ``json_schema``."""

    name: str
    schema: Mapping[str, Any]
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """A canonical request. ``None`` means: leave the field out.

    ``echo_reasoning``: send reasoning parts of assistant messages back in the field they came in;
    OpenAI's schema knows no such field, so plain (strict) requests leave them out.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: JsonSchemaFormat | None = None
    stream: bool = False
    include_usage: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] | None = None
    n: int | None = None
    echo_reasoning: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
