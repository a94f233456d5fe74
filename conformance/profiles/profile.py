"""What a profile is: hooks around the plain reference behaviour, all of them optional.

A hook says in its docstring which quirks of the catalogue it works around (``Works around quirk `id`.``);
``Profile.works_around`` declares the same ids for whoever reads profiles as data. Hooks are pure: they take
values, return new ones and never change what they were given. Preparing twice is preparing once, and an
answer that conforms is repaired into itself, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from conformance.profiles.repairs import Plain, Repairer
from conformance.types import Message, Part, Request, Tool, Turn, WireName
from conformance.wires import wire

Headers = tuple[tuple[str, str], ...]
Body = dict[str, Any]
"""The JSON of a request, its own copy."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client behind a profile asks: the request before anything was prepared.

    ``model`` is the one the request goes to, ``wire`` the one it is written in. ``probing``: a refusal is as
    good as an answer, so what is wrong with the request is not mended. ``at``: when, in seconds since 1970.
    """

    request: Request
    wire: WireName = "openai-chat"
    model: str = ""
    probing: bool = False
    at: int = 0

    @property
    def offered(self) -> tuple[Tool, ...]:
        """The tools that may be called, those of a list in Chat's own words among them."""
        given = self.request.extra.get("tools")
        functions = [item.get("function") for item in given if isinstance(item, dict)] if given else []
        more = (
            Tool(one["name"], "", one["parameters"] if isinstance(one.get("parameters"), dict) else {})
            for one in functions
            if isinstance(one, dict) and isinstance(one.get("name"), str)
        )
        return (*self.request.tools, *more)

    @property
    def seed(self) -> str:
        """What ids of this answer are minted from: the place of the answer in its conversation."""
        return f"{len(self.request.messages)}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an endpoint refused with: the HTTP status and the error in its own words."""

    status: int
    text: str
    document: Any = None


@dataclass(frozen=True, slots=True)
class Again:
    """Another way to ask the same. ``concedes``: the client is told that it can't have it all.

    With ``concedes`` the new request takes the place of what was asked; otherwise the answer must still be
    one to what was asked (a whole answer is told as a stream where a stream was asked for).
    """

    request: Request
    why: str
    concedes: bool = False


Echo = Literal["as-asked", "never", "as-it-came", "reasoning_content"]


class Profile:
    """Plain reference behaviour: what OpenAI's own documentation asks of a client, and nothing else."""

    name: ClassVar[str] = "reference"
    providers: ClassVar[tuple[str, ...]] = ()
    """The providers of the catalogue that it is for."""
    works_around: ClassVar[tuple[str, ...]] = ()
    """Ids of the quirks that its hooks work around."""

    # ------------------------------------------------------------------------------------- requests

    def prepare_tools(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Change the tools, on every path they come in on; the caller's own are never touched."""
        return request

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Change which tool must or may be called."""
        return request

    def prepare_messages(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Change the history."""
        return request

    def prepare_ids(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Change the ids that pair calls with results; by default they are opaque and stay as they are."""
        return request

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Say which reasoning goes back, and under which name."""
        return request

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Change everything else that a canonical request says."""
        return request

    def prepare_body(self, body: Body, asked: Asked) -> Body:  # noqa: ARG002
        """Change the body in its wire's own words."""
        return body

    def headers(self, headers: Headers, asked_wire: WireName) -> Headers:  # noqa: ARG002
        """Change the headers, of any request."""
        return headers

    def prepare(self, request: Request, asked: Asked) -> Request:
        """The request with all canonical hooks applied, in their order.

        A history in Chat's own words (``extra``) is prepared like any; it stays word for word what it was
        where no hook changes it.
        """
        said = in_canonical_form(request) if asked.wire == "openai-chat" else request
        prepared = self._prepared(said, asked)
        if said is request or prepared.messages != said.messages:
            return prepared
        extra = {**prepared.extra, "messages": request.extra["messages"]}
        return replace(
            prepared, messages=request.messages, extra=extra, echo_reasoning=request.echo_reasoning
        )

    def _prepared(self, request: Request, asked: Asked) -> Request:
        for hook in (
            self.prepare_tools,
            self.prepare_choice,
            self.prepare_messages,
            self.prepare_ids,
            self.prepare_reasoning,
            self.prepare_parameters,
        ):
            request = hook(request, asked)
        return request

    # ------------------------------------------------------------------------------------- answers

    def repair_document(self, document: Any, asked: Asked) -> Any:  # noqa: ARG002
        """Repair a whole answer, as JSON."""
        return document

    def repair_stream(self, asked: Asked) -> Repairer:  # noqa: ARG002
        """A repairer of one stream, event by event."""
        return Plain()

    def repair_text(self, text: str, asked: Asked) -> tuple[Part, ...] | None:  # noqa: ARG002
        """What the visible text of an answer really holds (reasoning, calls); ``None``: just that text."""
        return None

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:  # noqa: ARG002
        """Repair an error: its status and its body as JSON, whole or in an event of a stream (then 200)."""
        return status, document

    # ---------------------------------------------------------------------------- the reference client

    def unusable(self, turn: Turn, asked: Asked) -> str | None:  # noqa: ARG002
        """Why an answer is none though nothing says it failed; it is asked for again then."""
        return None

    def again(self, failure: Refusal | str, asked: Asked) -> Again | None:  # noqa: ARG002
        """Another way to ask, after a refusal or an answer that is unusable (why); ``None``: there is
        none.
        """
        return None


def verbatim_messages(request: Request) -> tuple[Message, ...] | None:
    """The history that a request gives in Chat's own words, in canonical form; ``None`` where it
    gives none.
    """
    given = request.extra.get("messages")
    if not isinstance(given, list):
        return None
    try:
        return wire("openai-chat").decode_request({"messages": given}).messages
    except ValueError:
        return None


def in_canonical_form(request: Request) -> Request:
    """The request with a history in Chat's own words as messages, where it gives one that can be read."""
    verbatim = verbatim_messages(request)
    if verbatim is None:
        return request
    extra = {key: value for key, value in request.extra.items() if key != "messages"}
    return replace(request, messages=verbatim, extra=extra)
