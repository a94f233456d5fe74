"""What rules look at: typed views of the exchanges of a run.

A view is a JSON value (or a response, or a stream) with its place. ``view.found(...)`` turns an
observation into a violation whose path, event and value are already right. A view type says with ``of``
which of its kind a run holds; a new wire brings view types of its own and nothing here changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

from conformance.rules.errortext import error_text
from conformance.rules.reading import ABSENT, DONE, JsonText, Reading, read
from conformance.transport import sse
from conformance.types import Exchange, WireName

MAX_SHOWN = 200

TRANSIENT = frozenset({429, 502, 503, 504, 529})
"""Statuses that say nothing about the endpoint's contract: quota, load, and the proxies in front."""

NOT_OURS = TRANSIENT | {401, 403}
"""Statuses with which a valid request may be turned down without a word on its validity."""


OPENAI_WIRES: tuple[WireName, ...] = ("openai-chat", "openai-responses")
SSE_WIRES: tuple[WireName, ...] = (*OPENAI_WIRES, "anthropic-messages", "gemini")
"""The wires that stream server-sent events."""

UNDEFINED = frozenset({"unknown-route", "wrong-method"})
"""Probes that ask for a path or method which the published API does not define."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Where a rule does not hold: a JSON Pointer from ``/exchanges/N``, what was wanted, what was got.

    ``times``: in how many events, itself and those folded into it.
    """

    exchange: int
    path: str
    wanted: str
    got: str
    event: int | None = None
    times: int = 1


V = TypeVar("V", bound="Viewable")


class Viewable(Protocol):
    """What a rule's first parameter may be annotated with."""

    @classmethod
    def of(cls, run: Run) -> Iterable[Self]:
        """All of this kind in a run."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """All exchanges of a scenario attempt, a conversation or a recording, each read once."""

    readings: tuple[Reading, ...]
    _views: dict[type[Any], tuple[Any, ...]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, exchanges: Sequence[Exchange]) -> Run:
        """Read the exchanges, in order."""
        return cls(tuple(read(index, exchange) for index, exchange in enumerate(exchanges)))

    @classmethod
    def of(cls, run: Run) -> Iterable[Run]:
        """The run itself."""
        return (run,)

    def views(self, kind: type[V]) -> tuple[V, ...]:
        """All views of a kind, built once."""
        if kind not in self._views:
            self._views[kind] = tuple(kind.of(self))
        return cast("tuple[V, ...]", self._views[kind])


@dataclass(frozen=True, slots=True)
class View:
    """A JSON value of one exchange and its place, ``at``; ``event`` where that is in a stream.

    The kinds that rules may ask for are its subclasses with ``of``, which finds them in a run.
    """

    reading: Reading
    at: str
    value: Any = ABSENT
    event: int | None = None

    def get(self, *path: str | int) -> Any:
        """The value at a path below this one; ``ABSENT`` where there is none."""
        return lookup(self.value, path)

    def string(self, *path: str | int) -> str:
        """The string at a path; empty where there is none."""
        value = self.get(*path)
        return value if isinstance(value, str) else ""

    def array(self, *path: str | int) -> list[Any]:
        """The array at a path; empty where there is none."""
        value = self.get(*path)
        return value if isinstance(value, list) else []

    def found(self, *path: str | int, wanted: str, saw: str | None = None) -> Violation:
        """A violation at ``path`` below this view: what is there, or what ``saw`` says in words."""
        got = show(self.get(*path)) if saw is None else clip(saw)
        return Violation(
            self.reading.index, self.at + pointer(path), clip(wanted), got, self.event, self.times
        )

    @property
    def times(self) -> int:
        """How many events this stands for; more than 1 only for views of single events."""
        return 1

    @property
    def http(self) -> Answered:
        """The response that this stands in: its status and headers."""
        return _answered(self.reading)

    def labelled_json(self) -> Iterator[Violation]:
        """Nothing where the response that this stands in has media type application/json."""
        if self.reading.media_type != "application/json":
            yield self.http.found("headers", "content-type", wanted="application/json")


@dataclass(frozen=True, slots=True)
class Sent(View):
    """Every request, as JSON."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            yield cls(reading, f"/exchanges/{reading.index}/request/body", reading.asked)


@dataclass(frozen=True, slots=True)
class Answered(View):
    """Every response: ``status`` and ``headers`` (names in lower case, the first of each)."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            if reading.exchange.response and cls.covers(reading):
                head = _answered(reading)
                yield cls(reading, head.at, head.value)

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        """Whether this kind of view has a say on the exchange."""
        return reading.exchange.response is not None

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.reading.status

    def found(self, *path: str | int, wanted: str, saw: str | None = None) -> Violation:
        """A violation; where it is the status of a refusal, with what the refusal says."""
        response = self.reading.exchange.response
        if path == ("status",) and saw is None and response is not None and self.status >= 300:
            saw = f"{self.status}: {error_text(response.body)}".rstrip(": ")
        return View.found(self, *path, wanted=wanted, saw=saw)

    @property
    def turned_down(self) -> bool:
        """True when the request was refused for what it says: not for quota, load or credentials."""
        return self.status >= 300 and self.status not in NOT_OURS

    def accepted(self) -> Iterator[Violation]:
        """Nothing where the request was answered, or nothing can be told."""
        if self.turned_down:
            yield self.found("status", wanted="2xx")

    def as_asked(self, stream: bool) -> Iterator[Violation]:
        """Nothing where a successful answer is an event stream just when ``stream`` was asked for."""
        streamed = self.reading.stream is not None
        if not self.reading.succeeded or streamed == stream:
            return
        if stream:
            yield self.found("body", wanted="an event stream", saw="a body that is no event stream")
        else:
            yield self.found("body", wanted="one JSON object", saw="an event stream")

    def header(self, name: str) -> str | None:
        """A header by its name in lower case."""
        value = self.get("headers", name)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Probe(Answered):
    """The response to a step that had a purpose (``Exchange.probe``)."""

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return reading.exchange.probe is not None

    def survived(self) -> Iterator[Violation]:
        """Nothing where the request was answered or refused as the client's fault, or nothing can be told."""
        if self.status >= 500 and self.turned_down:
            yield self.found("status", wanted="2xx, or 400 where the request is refused")

    def refused_with(self, *statuses: int) -> Iterator[Violation]:
        """Nothing where the request was refused with one of these statuses, or nothing can be told."""
        if self.status not in statuses and self.status not in NOT_OURS:
            yield self.found("status", wanted=" or ".join(map(str, statuses)))


@dataclass(frozen=True, slots=True)
class ErrorAnswer(View):
    """The body of an answer with status 400 or above, of the endpoint's own making (not ``TRANSIENT``).

    On any wire: the rule says on which.

    Answers to what the published API does not define are left out: it says nothing of their bodies.
    """

    # 429 is the endpoint's own word and has a body; the others come from whatever stands in front.
    not_its_own: ClassVar[frozenset[int]] = TRANSIENT - {429}

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            if (
                reading.status >= 400
                and reading.status not in cls.not_its_own
                and reading.exchange.ending == "complete"
                and reading.exchange.probe not in UNDEFINED
                and reading.exchange.request.method.upper() != "HEAD"
            ):
                yield cls(reading, reading.body_at, reading.body.value)

    @property
    def error(self) -> dict[str, Any] | None:
        """The ``error`` object, if it is one."""
        error = self.get("error")
        return error if isinstance(error, dict) else None


@dataclass(frozen=True, slots=True)
class EventStream(View):
    """A 2xx answer framed as server-sent events, on any wire."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            if reading.stream is not None:
                yield cls(reading, reading.body_at)

    @property
    def stream(self) -> sse.Stream:
        """The events and what is odd about them."""
        assert self.reading.stream is not None
        return self.reading.stream

    @property
    def ended(self) -> bool:
        """True when the server ended the body: no cut, no stall, nothing of our doing."""
        return self.reading.exchange.ending == "complete"

    def odd(self, *names: sse.AnomalyName, wanted: str) -> Iterator[Violation]:
        """A violation per anomaly of these names."""
        for anomaly in self.stream.anomalies:
            if anomaly.name in names:
                detail = f" ({anomaly.detail})" if anomaly.detail else ""
                yield self.found(wanted=wanted, saw=f"{anomaly.name} at byte {anomaly.offset}{detail}")


@dataclass(frozen=True, slots=True)
class StreamEvent(View):
    """One event of an ``EventStream`` and those folded into it; ``value`` is its data as JSON."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            yield from cls.within(reading)

    @classmethod
    def within(cls, reading: Reading) -> Iterator[Self]:
        """The events of one exchange."""
        for index, payload in reading.payloads.items():
            yield cls(reading, event_at(reading, index), payload.value, index)

    @property
    def times(self) -> int:
        return times(self)

    @property
    def raw(self) -> sse.Event:
        """The event as parsed."""
        assert self.reading.stream is not None
        assert self.event is not None
        return self.reading.stream.events[self.event]

    @property
    def payload(self) -> JsonText:
        """Its data as JSON, with what is wrong about that."""
        assert self.event is not None
        return self.reading.payloads[self.event]

    @property
    def is_done(self) -> bool:
        """True for the end marker, even one that is misspelt with space around it."""
        return self.raw.data.strip() == DONE


def whole_answers(run: Run, is_ours: Callable[[Reading], bool]) -> Iterator[Reading]:
    """The 2xx answers to requests of a kind that are no event streams, and that we did not cut."""
    for reading in run.readings:
        ended = reading.exchange.ending in ("complete", "cut")
        if reading.succeeded and reading.stream is None and ended and is_ours(reading):
            yield reading


def times(view: View) -> int:
    """How many events the view's event stands for: itself and those folded into it."""
    fold = view.reading.folds.get(view.event) if view.event is not None else None
    return 1 if fold is None else 1 + len(fold.events)


def event_at(reading: Reading, event: int) -> str:
    """The path of an event's data."""
    return f"/exchanges/{reading.index}/response/events/{event}/data"


def lookup(value: Any, path: Iterable[str | int]) -> Any:
    """The value at a path; ``ABSENT`` where any step is missing or of another type."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def pointer(path: Iterable[str | int]) -> str:
    """A JSON Pointer (RFC 6901), relative."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def show(value: Any) -> str:
    """A value as short printable text: JSON, or ``nothing`` where it is absent."""
    if value is ABSENT:
        return "nothing"
    if isinstance(value, str):
        value = value[: MAX_SHOWN + 1]
    try:
        return clip(json.dumps(value, ensure_ascii=False))
    except (ValueError, TypeError, RecursionError):
        return f"a {type(value).__name__} too large to show"


def clip(text: str) -> str:
    """At most ``MAX_SHOWN`` printable characters; control characters and surrogates are escaped."""
    cut = text[: MAX_SHOWN + 1]
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    return plain if len(plain) <= MAX_SHOWN else plain[: MAX_SHOWN - 1] + "…"


def _answered(reading: Reading) -> Answered:
    response = reading.exchange.response
    headers: dict[str, str] = {}
    for name, value in response.headers if response else ():
        headers.setdefault(name.lower(), value)
    return Answered(
        reading, f"/exchanges/{reading.index}/response", {"status": reading.status, "headers": headers}
    )
