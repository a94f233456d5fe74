"""What scenarios are made of: steps, replies, attempts."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from conformance.types.canonical import Request, Turn
from conformance.types.exchange import Exchange
from conformance.types.vocabulary import Auth, Expect


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a canonical request over the endpoint's wire.

    ``model`` replaces the endpoint's; ``auth`` chooses the credentials: the endpoint's own, a wrong
    key, or none. ``headers`` are sent beside the wire's own, or in their place where the name is the same.
    """

    request: Request
    probe: str | None = None
    expect: Expect = "answer"
    model: str | None = None
    auth: Auth = "own"
    headers: tuple[tuple[str, str], ...] = ()


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
    scenario needed of the model), ``stuck`` (a step brought no turn to go on with). ``behind``: in an adapted
    run, per exchange those that really went over the wire, every try of it; an exchange is then what the
    client behind the profile sees. ``twins``: what the same requests brought when they were asked the other
    way, streamed or whole (``Exchange.twin``), after the script's end.
    """

    exchanges: tuple[Exchange, ...]
    outcome: Literal["done", "model-did-not", "stuck"] = "done"
    reason: str = ""
    behind: tuple[tuple[Exchange, ...], ...] = ()
    twins: tuple[Exchange, ...] = ()

    @property
    def shown(self) -> tuple[Exchange, ...]:
        """What findings point into: the script's exchanges, then their twins."""
        return (*self.exchanges, *self.twins)

    @property
    def sent(self) -> tuple[Exchange, ...]:
        """Everything that went over the wire, in order."""
        return tuple(one for tries in self.behind for one in tries) if self.behind else self.shown
