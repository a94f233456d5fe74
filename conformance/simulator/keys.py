"""Keys as they come in headers."""

from __future__ import annotations

import hmac

from conformance.simulator.answer import Headers, refusal
from conformance.simulator.http import header
from conformance.types import HttpRequest


def bearer(request: HttpRequest, wanted: str) -> None:
    """Refuse a request that does not carry ``wanted`` as a bearer token; where that is empty, let all in.

    Raises:
        Refused: 401, as OpenAI words it.
    """
    if not wanted:
        return
    given = header(request.headers, "authorization")
    challenge = (("www-authenticate", "Bearer"),)
    if not given:
        message = "No API key was given. Send it in the header 'Authorization: Bearer KEY'."
        raise refusal(message, status=401, why="401 no-api-key", headers=challenge)
    scheme, _, key = given.partition(" ")
    check(key.strip() if scheme.lower() == "bearer" else None, wanted, challenge)


def check(given: str | None, wanted: str, headers: Headers = ()) -> None:
    """Refuse another key than ``wanted``, and never repeat it: error bodies end up in logs.

    Where ``wanted`` is empty, any key and none will do.

    Raises:
        Refused: 401.
    """
    if wanted and (given is None or not hmac.compare_digest(given.encode(), wanted.encode())):
        raise refusal("The API key is not correct.", status=401, code="invalid_api_key", headers=headers)
