"""Who may ask, and where: credentials, paths and methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from conformance.rules.examples import Exchanges, conversation, error, exchange
from conformance.rules.reading import Reading
from conformance.rules.registry import rule
from conformance.rules.sources import docs
from conformance.rules.views import OPENAI_WIRES, TRANSIENT, Probe, Run, Violation

CODES = docs("guides/error-codes")


@dataclass(frozen=True, slots=True)
class KeyProbe(Probe):
    """A probe of the credentials; ``protected``: a wrong key was refused with 401 in the same run."""

    protected: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        protected = any(_is_protected(reading) for reading in run.readings)
        for probe in run.views(Probe):
            yield cls(probe.reading, probe.at, probe.value, protected=protected)


def _is_protected(reading: Reading) -> bool:
    return reading.exchange.probe == "wrong-key" and reading.status == 401


def _keyless(second: Exchanges) -> Exchanges:
    return conversation(error(401, probe="wrong-key"), second)


@rule(
    "err.auth-missing-401",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="MUST",
    basis="prose",
    source=f"{CODES} 401",
    probe="no-key",
    violating=_keyless(error(403, probe="no-key")),
    conforming=_keyless(error(401, probe="no-key")),
    consequence="openai-python raises PermissionDeniedError: the user looks for a right and lacks a key",
)
def no_key(probe: KeyProbe) -> Iterator[Violation]:
    """A request without credentials to a protected server gets 401.

    A server that answers is protected where it refused a wrong key in the same run.
    """
    open_door = probe.reading.succeeded and probe.protected
    if open_door or probe.status == 403 or probe.turned_down:
        yield probe.found("status", wanted="401")


@rule(
    "err.auth-before-validation",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="SHOULD",
    basis="convention",
    source=CODES,
    probe="wrong-key-bad-body",
    violating=_keyless(error(400, probe="wrong-key-bad-body")),
    conforming=_keyless(error(401, probe="wrong-key-bad-body")),
    consequence="whoever finds the endpoint can make it parse what they like",
)
def auth_first(probe: KeyProbe) -> Iterator[Violation]:
    """Authentication is checked before body validation.

    Judged where the same run shows that the server asks for a key.
    """
    if probe.protected and probe.status not in TRANSIENT and probe.status != 401:
        yield probe.found("status", wanted="401")


def _elsewhere(method: str, path: str, status: int, probe: str, **headers: str) -> Exchanges:
    return exchange(
        method=method,
        path=path,
        request=None,
        body=b"<h1>Nothing here.</h1>",
        status=status,
        headers={"content-type": "text/html", **headers},
        probe=probe,
        expect="refusal",
    )


@rule(
    "err.unknown-route-404",
    wires=(*OPENAI_WIRES, "anthropic-messages", "gemini", "ollama"),
    level="SHOULD",
    basis="spec",
    source="RFC 9110 section 15.5.5",
    probe="unknown-route",
    violating=_elsewhere("GET", "/nope", 200, "unknown-route"),
    conforming=_elsewhere("GET", "/nope", 404, "unknown-route"),
    consequence="a wrong base URL looks like a working one that talks HTML",
)
def unknown_route(probe: Probe) -> Iterator[Violation]:
    """An unknown path gets 404.

    401 and 403 are fine: who may not enter need not learn what is there. Corrected: RFC 9110 demands no JSON
    body, and the published schema covers its own paths only, so the body is not judged.
    """
    yield from probe.refused_with(404)


@rule(
    "err.wrong-method-405",
    wires=(*OPENAI_WIRES, "anthropic-messages", "gemini", "ollama"),
    level="SHOULD",
    basis="spec",
    needs=("headers",),
    source="RFC 9110 section 15.5.6",
    probe="wrong-method",
    violating=_elsewhere("PUT", "/chat/completions", 500, "wrong-method"),
    conforming=_elsewhere("PUT", "/chat/completions", 405, "wrong-method", allow="POST"),
    consequence="a client with the wrong method retries a 5xx, or is not told which method is right",
)
def wrong_method(probe: Probe) -> Iterator[Violation]:
    """A wrong method gets 405 with Allow.

    404 is tolerated. Corrected in what is asked: GET on the chat path lists stored completions in the
    published document, so PUT is sent.
    """
    yield from probe.refused_with(405, 404)
    if probe.status == 405 and not probe.header("allow"):
        yield probe.found("headers", "allow", wanted="the methods that are allowed")
