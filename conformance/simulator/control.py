"""The control API under ``/__conformance``: tests in any language read the journal, choose what comes next.

It answers only those who call it by a loopback name, so that a web page can't reach it under its own name
(DNS rebinding), and no page of another origin at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from conformance import __version__
from conformance.quirks import catalogue
from conformance.simulator.addresses import CONTROL, Address
from conformance.simulator.answer import JSON_TYPE, Actions, Headers, Refused, Respond
from conformance.simulator.behaviour import Persona
from conformance.simulator.faults import FAULTS_BY_NAME
from conformance.simulator.fields import Fields, missing, parse
from conformance.simulator.http import header
from conformance.simulator.journal import JournalEntry
from conformance.simulator.runs import DEFAULT, NextFault, Runs, named
from conformance.types import WIRES, HttpRequest, WireName

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEADERS: Headers = (*JSON_TYPE, ("cache-control", "no-store"), ("x-content-type-options", "nosniff"))
_Handler: TypeAlias = Callable[[HttpRequest, str], Any]
"""Answers a request in the run of that name."""
_TIMES = 1_000
_PENDING = 1_000
_ENTRIES = 10_000


class BaseUrl(Protocol):
    """Gives the base URL of a persona over a wire, in a run."""

    def __call__(self, persona: str, wire: WireName, run: str | None = None) -> str: ...


class Control:
    """What lies under ``/__conformance``: every answer is JSON, a refusal an ``error`` with a ``message``."""

    def __init__(self, personas: Mapping[str, Persona], runs: Runs, base_url: BaseUrl) -> None:
        self._personas = personas
        self._runs = runs
        self._base_url = base_url
        self._routes: Mapping[str, Mapping[str, _Handler]] = {
            "/health": {"GET": self._health},
            "/personas": {"GET": self._personas_listed},
            "/quirks": {"GET": self._quirks_listed},
            "/journal": {"GET": self._journal},
            "/reset": {"POST": self._reset, "DELETE": self._reset},
            "/faults": {"GET": self._faults, "POST": self._add_fault, "DELETE": self._clear_faults},
        }

    def answer(self, request: HttpRequest, to: Address) -> Actions:
        """The answer to a request of the control API."""
        try:
            _check_caller(request)
            document = self._handler(request, to)(request, named(request.headers, to.run))
        except Refused as refused:
            return [Respond(refused.status, _HEADERS + refused.headers, refused.document)]
        return [Respond(200, _HEADERS, document)]

    def _handler(self, request: HttpRequest, to: Address) -> _Handler:
        methods = self._routes.get(to.path.removeprefix(CONTROL).rstrip("/"))
        if methods is None:
            known = ", ".join(CONTROL + path for path in self._routes)
            raise _refused(404, f"Nothing is at {to.path[:200]}. There are {known}.")
        method = methods.get(request.method)
        if method is None:
            allowed = ", ".join(methods)
            raise _refused(405, f"{request.method} is not allowed here: {allowed}.", (("allow", allowed),))
        return method

    # ---------------------------------------------------------------------------------------- answers

    def _health(self, _request: HttpRequest, _run: str) -> Any:
        return {"status": "ok", "version": __version__, "personas": len(self._personas)}

    def _personas_listed(self, _request: HttpRequest, run: str) -> Any:
        within = None if run == DEFAULT else run
        return {
            "personas": [
                {
                    "name": persona.name,
                    "simulated": True,
                    "model": persona.model,
                    "models": list(persona.models),
                    "key": persona.key,
                    "quirks": list(persona.quirks),
                    "base_urls": {wire: self._base_url(persona.name, wire, within) for wire in WIRES},
                }
                for persona in self._personas.values()
            ]
        }

    def _quirks_listed(self, _request: HttpRequest, _run: str) -> Any:
        return {
            "quirks": [
                {
                    "id": quirk.id,
                    "title": quirk.title,
                    "wire": quirk.wire,
                    "providers": list(quirk.providers),
                    "simulated": quirk.simulated,
                    "personas": [p.name for p in self._personas.values() if quirk.id in p.quirks],
                }
                for quirk in catalogue().values()
            ]
        }

    def _journal(self, request: HttpRequest, run: str) -> Any:
        wanted = _query(request, ("persona", "wire", "action", "quirk", "after", "limit"))
        limit = _number(wanted, "limit", 1, _ENTRIES, _ENTRIES)
        entries = self._runs.get(run).journal.entries()
        found = [entry for entry in entries if _matches(entry, wanted)]
        return {"run": run, "entries": [entry.document() for entry in found[-limit:]]}

    def _reset(self, _request: HttpRequest, run: str) -> Any:
        self._runs.reset(run)
        return {"run": run}

    def _faults(self, _request: HttpRequest, run: str) -> Any:
        pending = self._runs.get(run).faults
        faults = [{"fault": f.fault.name, "times": f.times, "persona": f.persona} for f in pending]
        return {"run": run, "faults": faults, "known": list(FAULTS_BY_NAME)}

    def _clear_faults(self, request: HttpRequest, run: str) -> Any:
        self._runs.get(run).clear_faults()
        return self._faults(request, run)

    def _add_fault(self, request: HttpRequest, run: str) -> Any:
        fields = Fields(parse(request.body))
        fields.closed(("fault", "times", "persona"))
        fault = fields.choice("fault", list(FAULTS_BY_NAME))
        if fault is None:
            raise missing("fault")
        persona = fields.choice("persona", list(self._personas))
        times = fields.integer("times", 1, _TIMES) or 1
        state = self._runs.get(run)
        if len(state.faults) >= _PENDING:
            raise _refused(409, f"{_PENDING} faults are waiting already; DELETE {CONTROL}/faults drops them.")
        state.add_fault(NextFault(FAULTS_BY_NAME[fault], times, persona))
        return self._faults(request, run)


# ------------------------------------------------------------------------------------------- callers


def _check_caller(request: HttpRequest) -> None:
    """Let in who calls us by a loopback name and is no page of another origin.

    Source: Fetch standard (``Origin``), Fetch Metadata Request Headers (``Sec-Fetch-Site``).
    """
    host = header(request.headers, "host") or ""
    if _hostname(host) not in _LOOPBACK:
        raise _refused(403, f"The control API is called at 127.0.0.1 or localhost, not at {host[:100]!r}.")
    origin = header(request.headers, "origin")
    if origin is not None and origin != f"http://{host}":
        raise _refused(403, "The control API answers no pages of another origin.")
    if header(request.headers, "sec-fetch-site") not in (None, "none", "same-origin"):
        raise _refused(403, "The control API answers no pages of another site.")


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


# ----------------------------------------------------------------------------------------- questions


def _query(request: HttpRequest, known: tuple[str, ...]) -> dict[str, str]:
    try:
        given = dict(parse_qsl(request.url.partition("?")[2], keep_blank_values=True, max_num_fields=20))
    except ValueError:
        raise _refused(400, "The query has too many parameters.") from None
    for name in given:
        if name not in known:
            raise _refused(400, f"{name[:100]!r} is unknown: give {', '.join(known)}.")
    return given


def _number(query: Mapping[str, str], name: str, least: int, most: int, otherwise: int) -> int:
    given = query.get(name)
    if given is None:
        return otherwise
    if not given.isascii() or not given.isdigit() or len(given) > 9 or not least <= int(given) <= most:
        raise _refused(400, f"{name} is a whole number from {least} to {most}.")
    return int(given)


def _matches(entry: JournalEntry, wanted: Mapping[str, str]) -> bool:
    return (
        wanted.get("persona") in (None, entry.persona)
        and wanted.get("wire") in (None, entry.wire)
        and entry.action.startswith(wanted.get("action", ""))
        and ("quirk" not in wanted or wanted["quirk"] in entry.quirks)
        and entry.number > _number(wanted, "after", 0, 999_999_999, 0)
    )


def _refused(status: int, message: str, headers: Headers = ()) -> Refused:
    return Refused(status, {"error": {"message": message}}, message, headers)
