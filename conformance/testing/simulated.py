"""One run of a simulator, as a test sees it: where it is, what it was asked, what it shall do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from conformance.config import did_you_mean
from conformance.quirks.paths import places
from conformance.simulator import JournalEntry, Simulator
from conformance.simulator.addresses import CONTROL
from conformance.simulator.answer import Refused
from conformance.simulator.faults import FAULTS_BY_NAME
from conformance.simulator.runs import HEADER, NextFault, named
from conformance.types import WireName

_ANY: Final = object()
_TOOL_NAMES = (
    "/tools/*/function/name",
    "/tools/*/name",
    "/tools/*/functionDeclarations/*/name",
    "/tools/*/function_declarations/*/name",
)
"""Where the wires have the names of tools."""


class Simulated:
    """A simulator that remembers only what it was asked in this run. Safe to use from any thread.

    Patterns are JSON Pointers in which ``*`` stands for every item: ``/messages/*/reasoning_content``,
    ``/messages/*[role=tool]/tool_call_id``.

    Raises:
        ValueError: ``run`` is no name for a run.
    """

    def __init__(self, hosted: Simulator, run: str) -> None:
        try:
            self.run: Final = named(((HEADER, run),))
        except Refused as refused:
            raise ValueError(refused.document["error"]["message"]) from None
        self._hosted = hosted

    # -------------------------------------------------------------------------------------- addresses

    def base_url(self, persona: str = "reference", wire: WireName = "openai-chat") -> str:
        """What an SDK of the wire is given as its base URL; the run is in it.

        Raises:
            KeyError: there is no such persona, or no such wire.
        """
        return self._hosted.base_url(persona, wire, self.run)

    @property
    def control_url(self) -> str:
        """The base of the control API; calls need the `headers`."""
        return self._hosted.origin + CONTROL

    @property
    def headers(self) -> dict[str, str]:
        """The header that names the run, for clients that are not given its base URL."""
        return {HEADER: self.run}

    def key(self, persona: str = "reference") -> str:
        """The key that the persona wants."""
        return self._hosted.personas[persona].key

    def model(self, persona: str = "reference") -> str:
        """The model that the persona serves whatever else it serves."""
        return self._hosted.personas[persona].model

    # ------------------------------------------------------------------------------------------ state

    def journal(self, persona: str | None = None) -> tuple[JournalEntry, ...]:
        """What was asked (of this persona), the oldest first."""
        entries = self._hosted.run(self.run).journal.entries()
        return tuple(entry for entry in entries if persona in (None, entry.persona))

    def requests(self, persona: str | None = None) -> tuple[Mapping[str, Any], ...]:
        """The JSON bodies of what was asked (of this persona), the oldest first."""
        return tuple(entry.body for entry in self.journal(persona) if entry.body is not None)

    def told(self) -> str:
        """The journal for reading, a line each."""
        return "\n".join(
            f"{e.number}. {e.method} {e.path} -> {e.status or 'no status'}, {e.action}"
            + (f" ({', '.join(e.quirks)})" if e.quirks else "")
            for e in self.journal()
        )

    def next_fault(self, fault: str, times: int = 1, persona: str | None = None) -> None:
        """Let the next ``times`` requests that ask the model (of this persona) meet a fault.

        Raises:
            ValueError: there is no fault of that name, or ``times`` is not positive.
            KeyError: there is no such persona.
        """
        if fault not in FAULTS_BY_NAME:
            hint = did_you_mean(fault, list(FAULTS_BY_NAME))
            raise ValueError(f"no fault {fault!r}{hint}; there are {', '.join(FAULTS_BY_NAME)}")
        if times < 1:
            raise ValueError(f"times: {times} is not positive")
        if persona is not None and persona not in self._hosted.personas:
            raise KeyError(persona)
        self._hosted.run(self.run).add_fault(NextFault(FAULTS_BY_NAME[fault], times, persona))

    def reset(self) -> None:
        """Forget the journal, stored responses, the prompt cache, the place in the script, faults to come."""
        self._hosted.reset(self.run)

    # ------------------------------------------------------------------------------------- assertions

    def assert_no_refusals(self, persona: str | None = None) -> None:
        """No request was refused."""
        refused = [entry for entry in self.journal(persona) if entry.action.startswith("refused")]
        self._hold(not refused, f"{len(refused)} of the requests were refused")

    def assert_refused(self, why: str, persona: str | None = None) -> None:
        """A request was refused because of ``why``, a quirk's id as a rule."""
        actions = [entry.action for entry in self.journal(persona)]
        self._hold(f"refused: {why}" in actions, f"no request was refused because of {why}")

    def assert_asked(self, times: int, persona: str | None = None) -> None:
        """So many requests asked the model, refused ones and those that met a fault included."""
        asked = [entry for entry in self.journal(persona) if entry.asks]
        self._hold(len(asked) == times, f"{times} requests were expected, {len(asked)} came")

    def assert_sent(self, pattern: str, value: Any = _ANY, persona: str | None = None) -> None:
        """A request has something (equal to ``value``, if given) at a place of the pattern.

        Raises:
            ValueError: the pattern can't be read.
        """
        found = self._found(pattern, persona)
        if value is _ANY:
            self._hold(bool(found), f"nothing was sent at {pattern}")
        else:
            self._hold(value in found, f"{value!r} was not sent at {pattern}: {_shown(found)}")

    def assert_not_sent(self, pattern: str, persona: str | None = None) -> None:
        """No request has anything at a place of the pattern.

        Raises:
            ValueError: the pattern can't be read.
        """
        found = self._found(pattern, persona)
        self._hold(not found, f"something was sent at {pattern}: {_shown(found)}")

    def assert_tool_names_unique(self, persona: str | None = None) -> None:
        """No request offers two tools of one name."""
        for body in self.requests(persona):
            names = Counter(
                place.value
                for pattern in _TOOL_NAMES
                for place in places(body, pattern)
                if isinstance(place.value, str)
            )
            twice = [name for name, count in names.items() if count > 1]
            self._hold(not twice, f"a request offers several tools of the name {', '.join(twice)}")

    def _found(self, pattern: str, persona: str | None) -> list[Any]:
        return [place.value for body in self.requests(persona) for place in places(body, pattern)]

    def _hold(self, holds: bool, otherwise: str) -> None:
        __tracebackhide__ = True
        if not holds:
            raise AssertionError(f"{otherwise}\nthe simulator saw:\n{self.told() or 'nothing'}")


def _shown(found: list[Any]) -> str:
    text = ", ".join(repr(value)[:100] for value in found[:5])
    return f"{text}, …" if len(found) > 5 else text or "nothing"
