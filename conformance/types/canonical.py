"""The canonical form of conversations: OpenAI Chat's vocabulary, ordered parts, opaque slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from conformance.types.vocabulary import JSON, Role, WireName

Opaque: TypeAlias = "Mapping[WireName, Mapping[str, Any]]"
"""What only one wire understands of a part (a signature, encrypted reasoning), by that wire's name.

Bound to its provider: it goes back byte for byte over the wire it came from, and over no other.
"""


@dataclass(frozen=True, slots=True)
class Text:
    """A run of visible text."""

    text: str
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A run of reasoning text; ``spelling`` is the field or markup it was read from."""

    text: str
    spelling: str = "reasoning_content"
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call; ``arguments`` is the JSON *string* exactly as received, never re-encoded.

    ``id``, ``name`` are ``""`` when the endpoint sent none: the facts of the turn say so.
    """

    id: str
    name: str
    arguments: str
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal in OpenAI's sense: text beside, not in, the content."""

    text: str
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image by URL (``https:`` or ``data:``)."""

    url: str
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class Audio:
    """A sound: base64 ``data`` in a ``format`` such as ``wav`` or ``mp3``."""

    data: str
    format: str
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A document by URL (``https:`` or ``data:``), perhaps with a file name."""

    url: str
    name: str = ""
    opaque: Opaque | None = None


Part: TypeAlias = Text | Reasoning | ToolCall | Refusal | Image | Audio | File


@dataclass(frozen=True, slots=True)
class Loss:
    """What a wire or dialect could not say. ``path`` is a JSON Pointer into the canonical form.

    ``weight``: ``meaning`` where something asked for or said is gone (``n``, a picture); ``form`` where only
    its form is (an id minted anew, message boundaries merged, an error flag told in words).
    """

    path: str
    what: str
    weight: Literal["meaning", "form"] = "meaning"


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
    """Token counts as OpenAI Chat counts; ``None`` where the endpoint sent no usable integer.

    ``prompt_tokens`` includes ``cached_tokens`` and ``cache_write_tokens``, ``completion_tokens`` includes
    ``reasoning_tokens``.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def whole_prompt(self) -> int | None:
        """What the prompt cost: the total tells it where ``prompt_tokens`` leave out what a cache had."""
        if self.prompt_tokens is None or self.total_tokens is None or self.completion_tokens is None:
            return self.prompt_tokens
        return max(self.prompt_tokens, self.total_tokens - self.completion_tokens)


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message in canonical form: ordered parts in OpenAI Chat's vocabulary.

    ``native_finish_reason`` is the wire's own word where that says more than ``finish_reason``.
    """

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    facts: tuple[Fact, ...] = ()
    native_finish_reason: str | None = None

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
    """One message of a request. ``is_error``: a tool message that tells of the tool's failure."""

    role: Role
    parts: tuple[Part, ...]
    tool_call_id: str | None = None
    is_error: bool = False

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
    ``extra`` holds further members in OpenAI Chat's words (``seed``, ``reasoning_effort``); the other wires
    translate those they have a word for. ``native`` holds members of one wire's own body, by that wire's
    name, merged into it last and object by object; no other wire sees them.
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
    native: Mapping[WireName, Mapping[str, JSON]] = field(default_factory=dict)
