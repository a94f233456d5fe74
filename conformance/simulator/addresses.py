"""Whom a request is for: ``/p/PERSONA/...``, in a run of its own ``/r/RUN/p/PERSONA/...``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import unquote

from conformance.simulator.answer import Refused, refusal
from conformance.simulator.front import Front, Route
from conformance.types import HttpRequest

CONTROL = "/__conformance"


@dataclass(frozen=True, slots=True)
class Address:
    """A request's path, decoded: the ``path`` from the persona on, and its parts.

    ``persona`` and ``rest`` are empty where the path is none of a persona, ``run`` is ``None`` where it names
    none.
    """

    path: str
    persona: str
    rest: str
    run: str | None = None

    @property
    def is_control(self) -> bool:
        """Whether it is the control API that is addressed."""
        return self.path == CONTROL or self.path.startswith(CONTROL + "/")


def address(request: HttpRequest) -> Address:
    """Where ``request`` goes."""
    target = request.url
    if target.startswith("http://"):
        target = "/" + target.removeprefix("http://").partition("/")[2]
    path = unquote(target.partition("?")[0])
    run = None
    if path.startswith("/r/"):
        run, slash, rest = path.removeprefix("/r/").partition("/")
        path = slash + rest
    parts = path.split("/", 3)
    if len(parts) != 4 or parts[0] or parts[1] != "p":
        return Address(path, "", "", run)
    return Address(path, parts[2], "/" + parts[3], run)


def routed(front: Front, request: HttpRequest, to: Address) -> Route:
    """What the request is for.

    Raises:
        Refused: 404, nothing is there; 405, not with this method.
    """
    route = front.route(to.rest)
    if route is None:
        raise not_found(request, to)
    if request.method != route.method:
        message = f"The method {request.method} is not allowed here; {route.method} is."
        allow = (("allow", route.method),)
        raise refusal(message, status=405, code="method_not_supported", headers=allow)
    return replace(route, request=request)


def not_found(request: HttpRequest, to: Address) -> Refused:
    """Nothing is there."""
    return refusal(f"Unknown URL: {request.method} {to.path[:200]}", status=404, code="unknown_url")
