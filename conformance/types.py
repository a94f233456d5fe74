"""The vocabulary: every value that crosses a seam, frozen, importing nothing of ours.

Data flows one way: configuration -> scenario -> wire -> exchange -> rules -> verdict -> matrix ->
report. The words are defined in ``ARCHITECTURE.md``; each has one meaning everywhere.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"

# ------------------------------------------------------------------------------ closed vocabularies

WireName = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini", "ollama"]
WIRES: tuple[WireName, ...] = get_args(WireName)

Level = Literal["MUST", "SHOULD", "MAY"]
Basis = Literal["schema", "prose", "spec", "sdk", "derived", "convention"]
Mode = Literal["strict", "adapted"]
Rulebook = Literal["default", "literal"]
VerdictName = Literal[
    "conforms",
    "warns",
    "quirk",
    "violates",
    "refused",
    "inconclusive",
    "unsupported",
    "not-run",
    "error",
]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
JUDGED: frozenset[VerdictName] = frozenset({"conforms", "warns", "quirk", "violates", "refused"})
"""The verdicts that say something about the endpoint; the others say why nothing could be said."""
Flag = Literal["stale", "flaky", "simulated", "old", "known"]
Ending = Literal["complete", "cut", "stalled", "closed-by-us", "too-large"]
FailureKind = Literal["connect", "tls", "timeout", "protocol", "no-cassette", "older-scenario", "request-cap"]
Expect = Literal["answer", "refusal", "either"]
Auth = Literal["own", "wrong", "none"]
Role = Literal["system", "developer", "user", "assistant", "tool"]

# ------------------------------------------------------------------------------------- canonical form


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


# ------------------------------------------------------------------------------------------ exchange


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request as sent. Header names keep their spelling; order and repetition survive."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came back, after content decoding.

    ``parts`` are ``(milliseconds since the request began, size in bytes)`` per network read; the
    sizes sum to ``len(body)``.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    parts: tuple[tuple[float, int], ...] = ()
    http_version: str = "HTTP/1.1"

    def header(self, name: str) -> str | None:
        """The first header of that name (any case), or ``None``."""
        wanted = name.lower()
        return next((v for k, v in self.headers if k.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why no response came; ``message`` is one line a person can act on."""

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, as bytes, with arrival times and how it ended.

    ``response`` is ``None`` exactly when ``failure`` is set (nothing usable came back).
    ``probe`` names what the step was for (``"unknown-model"``); probe rules look for it.
    ``expect`` is what a conforming endpoint does with the request: answer, refuse, or either.
    """

    request: HttpRequest
    response: HttpResponse | None
    ending: Ending
    wire: WireName
    failure: Failure | None = None
    started: float = 0.0
    elapsed_ms: float = 0.0
    probe: str | None = None
    expect: Expect = "answer"


# ------------------------------------------------------------------------------------------ scenario


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a canonical request over the endpoint's wire.

    ``model`` replaces the endpoint's; ``auth`` chooses the credentials: the endpoint's own, a wrong
    key, or none.
    """

    request: Request
    probe: str | None = None
    expect: Expect = "answer"
    model: str | None = None
    auth: Auth = "own"


@dataclass(frozen=True, slots=True)
class Raw:
    """Send bytes as they are.

    ``path`` is relative to the base URL (``/nope``), or begins with the wire's own: ``@chat``,
    ``@models``, ``@models/{{model}}``. ``{{model}}`` stands for the endpoint's model: in ``path``
    as one URL-encoded segment, in ``body`` as the inside of a JSON string.
    """

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    probe: str | None = None
    expect: Expect = "either"
    auth: Auth = "own"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ask, and close the connection after ``after_events`` events of the stream."""

    ask: Ask
    after_events: int


@dataclass(frozen=True, slots=True)
class Together:
    """Ask several at once; the replies come back in this order."""

    asks: tuple[Ask, ...]


Step: TypeAlias = Ask | Raw | Cancel | Together


@dataclass(frozen=True, slots=True)
class Reply:
    """What a step brought: the exchange and, where it could be decoded, the turn."""

    exchange: Exchange
    turn: Turn | None

    @property
    def ok(self) -> bool:
        """True when there is a 2xx answer that decoded to a turn."""
        response = self.exchange.response
        return response is not None and response.status < 300 and self.turn is not None


Script: TypeAlias = Generator[Step, "Reply | tuple[Reply, ...]", None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One whole run of a scenario's script.

    ``outcome``: ``done`` (the script ran to its end), ``model-did-not`` (``reason`` says what the
    scenario needed of the model), ``stuck`` (a step brought no turn to go on with).
    """

    exchanges: tuple[Exchange, ...]
    outcome: Literal["done", "model-did-not", "stuck"] = "done"
    reason: str = ""


# ------------------------------------------------------------------------------------------- verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold, and the proof.

    ``path`` is a JSON Pointer from ``/exchanges/N/...`` (N is 0-based in the cell). ``wanted`` and
    ``got`` are short, printable texts. ``event`` and ``ms`` locate it in a stream. ``more`` counts the
    findings of the same rule in the same exchange that are not told one by one. ``consequence`` says
    what breaks at clients; empty where nothing is known to.
    """

    rule: str
    level: Level
    basis: Basis
    path: str
    message: str
    wanted: str
    got: str
    event: int | None = None
    ms: float | None = None
    more: int = 0
    quirk: str | None = None
    known: str | None = None
    consequence: str = ""

    def at(self, prefix: str) -> Finding:
        """The same finding with ``prefix`` before its path."""
        return replace(self, path=prefix + self.path)


@dataclass(frozen=True, slots=True)
class Cell:
    """One endpoint x scenario x mode. ``reason`` says in a line why the verdict is what it is.

    ``evidence`` holds one redacted, capped view per exchange of the attempt that decided (number
    ``decided_by``, 0-based, of ``attempts``): enough for a page to show the exchange.
    """

    endpoint: str
    scenario: str
    mode: Mode
    verdict: VerdictName
    flags: tuple[Flag, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    evidence: tuple[Mapping[str, Any], ...] = ()
    attempts: int = 1
    decided_by: int = 0
    requests: int = 0
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint as the matrix shows it. ``status``: ``run`` or ``not-run`` (then ``reason`` says why)."""

    name: str
    wire: WireName
    model: str
    base_url: str
    source: Literal["live", "cassette", "simulator", "none"]
    status: Literal["run", "not-run"] = "run"
    reason: str = ""
    server: str | None = None
    recorded: str | None = None
    quirks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """A scenario as the matrix shows it."""

    id: str
    title: str
    chapter: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Everything a report needs, and nothing else."""

    suite: Mapping[str, Any]
    endpoints: tuple[EndpointRow, ...]
    scenarios: tuple[ScenarioRow, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
