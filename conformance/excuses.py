"""What can't be held against an endpoint: quota, credentials, load, a broken connection, a wrong address."""

from __future__ import annotations

import re
from collections.abc import Mapping

from conformance.rules import error_text, refusal_text
from conformance.rules.reading import read_json
from conformance.scenarios import Scenario
from conformance.types import Exchange, HttpResponse, VerdictName, WireName
from conformance.wires.errors import error_of

_NOT_OURS_TO_JUDGE = {
    401: "the credentials were refused",
    402: "the account has no credit",
    403: "the credentials are not allowed to do this",
    404: "nothing answers there: wrong base URL, or a model the endpoint does not know",
    405: "nothing answers there: wrong base URL",
    407: "a proxy wants credentials",
    429: "the rate limit or quota is spent",
    502: "a gateway could not reach the server",
    503: "the endpoint is overloaded or down",
    504: "a gateway timed out",
    529: "the endpoint is overloaded",
}
"""Statuses that say nothing about the wire when an answer was expected: we could not tell."""

_TRANSIENT = frozenset({429, 502, 503, 504, 529})

_CREDENTIALS = frozenset({401, 402, 403, 407})

_KEY_PROBES = frozenset({"wrong-key", "no-key", "wrong-key-bad-body"})
"""Probes sent with other credentials than our own: only there a refusal of them is an answer."""

_FOREIGN_MODEL = frozenset({"unknown-model", "retrieve-unknown", "missing-model", "content-coding"})
"""Probes that name no model of ours."""

_NO_ROUTE = frozenset({"unknown-route", "wrong-method", *_FOREIGN_MODEL})
"""Probes to which 404 may be the answer."""

_UNKNOWN_MODEL = re.compile(
    r"model_not_found|\bmodels?\b[\s:/]*(?:with (?:id|name) )?['\"`]*[^\s'\"`]*['\"`]*,? "
    r"?(?:was |is )?(?:not found|(?:does not|doesn't) exist)"
    r"|\b(?:unknown|no such) model\b|not a valid model\b|\binvalid model:",
    re.IGNORECASE,
)
_UNKNOWN_PATH = re.compile(
    r"\b(?:unknown|invalid) (?:request )?URL\b|\bunknown_url\b|\b(?:route|page|path|endpoint) not found\b"
    r"|^(?:\w*error )*(?:file )?not found\.?(?: \w*error)*$",
    re.IGNORECASE,
)
"""How error objects say that a path is not there: OpenAI, Groq, frameworks, Anthropic, llama.cpp."""
_ABOUT_THE_REQUEST = re.compile(
    r"\bno endpoints found that support the provided\b|\bonly\b.{1,60}\bsupported\b"
    r"|\bresponse with id\b.{1,200}\bnot found\b",
    re.IGNORECASE,
)
"""A 404 that is about the request: OpenRouter's of a parameter that no host of the model takes
(zed-industries/zed issue 36094), mlx-lm's of a part that is no text (0.32.2), vLLM's of a response that it
did not keep (0.32.0)."""
_LOAD = re.compile(
    r"\boverloaded|\b(?:at|over|exceeds?|exceeded|out of|no|insufficient) capacity|capacity (?:is )?exceeded",
    re.IGNORECASE,
)
_TOO_OFTEN = re.compile(r"rate[ _]limit|too many requests|quota", re.IGNORECASE)
_UNREACHED = re.compile(
    r"\bfetch failed\b|\bother side closed\b|\bsocket hang up\b|\bECONN(?:REFUSED|RESET|ABORTED)\b"
    r"|\bconnection (?:error|refused|reset|aborted)\b|\bserver disconnected\b|\bcannot connect to host\b"
    r"|\bconnection closed\b|\ball connection attempts failed\b",
    re.IGNORECASE,
)
"""How gateways say with a 500 what 502 is for: Portkey 1.15.2 (undici), LiteLLM 1.106.12 (httpx, aiohttp)."""
_LATER = re.compile(
    r"(?:try|retry)(?: your request)? again (?:later|in\b|shortly|soon)|temporarily unavailable|\bbusy\b",
    re.IGNORECASE,
)
_DONE = re.compile(rb"^data: ?\[DONE\][ \t]*\r?\n\r?\n", re.MULTILINE)
"""The end marker, dispatched."""
_LAST: Mapping[WireName, re.Pattern[bytes]] = {
    "openai-chat": _DONE,
    "openai-responses": re.compile(rb'"type": ?"response\.(?:completed|incomplete|failed)"'),
    "anthropic-messages": re.compile(rb'"type": ?"message_stop"'),
    "gemini": re.compile(rb'"finishReason"'),
    "ollama": re.compile(rb'"done": ?true'),
}
"""What the last event of a stream holds."""

_WIRES_OWN = frozenset({"v1", "v1beta", "api", "chat", "completions", "responses", "messages"})
"""What paths are made of that the wires add to a base URL, or that SDKs of other wires want at its end."""

_PROVOKED = frozenset({"burst"})
"""Probes that provoke a transient status to see it: there it is the answer, and no excuse."""

_IN_WORDS: Mapping[int, re.Pattern[str]] = {
    # Gemini's wrong key (google-gemini/deprecated-generative-ai-python issue 481).
    401: re.compile(r"\bAPI_KEY_INVALID\b|\bAPI key (?:not valid|not found|expired)", re.IGNORECASE),
    # Anthropic's spent credit (anthropics/claude-code issue 4684).
    402: re.compile(r"\bcredit balance is too low\b", re.IGNORECASE),
}
"""What some say with a 400 and others with a status of its own."""


def _is_transient(exchange: Exchange, response: HttpResponse) -> bool:
    return exchange.probe not in _PROVOKED and (
        response.status in _TRANSIENT or bool(response.status == 500 and _means(exchange, response))
    )


def _means(exchange: Exchange, response: HttpResponse) -> int:
    """The status that says what a 500 says in words: 529 or 502; 0 where it says nothing of the kind.

    "Try again later" alone is no excuse where a request was bad.
    """
    text = refusal_text(response.body, exchange.request.body)
    if _LOAD.search(text) or (exchange.expect != "refusal" and _LATER.search(text)):
        return 529
    return 502 if _UNREACHED.search(text) else 0


def no_evidence(exchange: Exchange) -> str | None:
    """Why a recorded answer is no evidence of how the endpoint speaks; ``None`` where it is.

    Of quota, load and credentials often something else speaks, that stands in front of it. Other refusals
    count: nobody knows whether the request was good, but the refusal has a form.
    """
    response = exchange.response
    if response is None:
        return exchange.failure.message if exchange.failure else "no answer was recorded"
    status = response.status
    if status < 300:
        return None
    if status < 400:
        return f"HTTP {status}: a redirect, and no answer"
    if turned_away(exchange, response):
        told = status if status in _NOT_OURS_TO_JUDGE else _told(exchange, response)
        return f"HTTP {status}: {_NOT_OURS_TO_JUDGE[told or _means(exchange, response)]}"
    if exchange.probe is not None:
        return None  # sent to see just such an answer
    if status >= 500:
        return f"HTTP {status}: the server failed"
    if status in (404, 405) and _says_nothing_is_there(exchange, response):
        return f"HTTP {status}: nothing answers there"
    return None


def told_amid(exchange: Exchange) -> str | None:
    """What an answer of status 200 tells of quota, load or a server that was not reached; ``None`` else."""
    response = exchange.response
    error = error_of(response) if response is not None and response.status < 300 else None
    if error is None:
        return None
    said = f"{error.type} {error.message}"
    if _LOAD.search(said) or _LATER.search(said) or _TOO_OFTEN.search(said):
        return f"{_NOT_OURS_TO_JUDGE[529]}: {error.message[:160]}"
    return f"{_NOT_OURS_TO_JUDGE[502]}: {error.message[:160]}" if _UNREACHED.search(said) else None


def succeeded(exchange: Exchange) -> bool:
    return exchange.response is not None and exchange.response.status < 300


def _ended(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether all of a stream is here, its last event dispatched."""
    whole = exchange.wire == "openai-chat" or response.body.endswith((b"\n\n", b"\n\r\n", b"}\n", b"}\r\n"))
    return whole and bool(_LAST[exchange.wire].search(response.body))


def excuse(scenario: Scenario, exchange: Exchange) -> tuple[VerdictName, str] | None:
    """Why an exchange can't be held against the endpoint, if it can't."""
    response = exchange.response
    if response is None:
        assert exchange.failure is not None
        return "error", exchange.failure.message
    if exchange.ending in ("cut", "stalled", "too-large"):
        if exchange.ending == "stalled" and response.status < 300 and _ended(exchange, response):
            return None  # All of it is here; that the connection was kept open is for rules to mind.
        size = len(response.body)
        said = {
            "cut": f"the connection broke after {size} bytes of the answer",
            "stalled": f"the answer stalled after {size} bytes",
            "too-large": f"the answer did not end within {size} bytes or its time limit",
        }[exchange.ending]
        return "error", said
    if response.status < 300:
        return None
    why = _why_unjudged(exchange, response)
    # Its own words first: a request id in the text would make every cell's reason another one.
    shown = (refusal_text(response.body, exchange.request.body) or error_text(response.body))[:160]
    declined = why is None or response.status in (404, 405)
    if declined and not _unknown_model(exchange, response) and exchange.expect == "answer":
        text = refusal_text(response.body, exchange.request.body)
        for feature in scenario.optional if 400 <= response.status < 500 else ():
            if feature.named_by.search(text):
                return "refused", f"declines {feature.name}: HTTP {response.status} {shown}"
    if why is not None:
        return "error", f"HTTP {response.status}: {why}{': ' + shown if shown else ''}"
    return None


def _why_unjudged(exchange: Exchange, response: HttpResponse) -> str | None:
    """Why a status of 300 or above says nothing about the wire; ``None`` where it does."""
    status, probe = response.status, exchange.probe
    if status == 500 and _is_transient(exchange, response):
        return _NOT_OURS_TO_JUDGE[_means(exchange, response)]
    if turned_away(exchange, response):
        return _NOT_OURS_TO_JUDGE[status if status in _NOT_OURS_TO_JUDGE else _told(exchange, response)]
    if _unknown_model(exchange, response):
        return "the endpoint does not know the model"
    if exchange.request.method != "POST":
        return _wrong_address(exchange) if status in (404, 405) else None
    if status == 404 and _ABOUT_THE_REQUEST.search(refusal_text(response.body, exchange.request.body)):
        return None
    nowhere = status in (404, 405) and probe not in _NO_ROUTE and _says_nothing_is_there(exchange, response)
    if nowhere or exchange.expect == "answer":
        wrong = _wrong_address(exchange) if status in (404, 405) else None
        return wrong or _NOT_OURS_TO_JUDGE.get(status)
    return None


def _says_nothing_is_there(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether a 404 or 405 is about the path: a page, a framework's own words, or an error that says so."""
    if not _names_an_error(response.body):
        return True
    return bool(_UNKNOWN_PATH.search(refusal_text(response.body, exchange.request.body)))


def _wrong_address(exchange: Exchange) -> str | None:
    """What is wrong with the base URL, where its address shows it."""
    steps = exchange.request.url.partition("?")[0].split("/")
    for size in range(1, 4):
        for at in range(len(steps) - 2 * size + 1):
            again = steps[at : at + size]
            if again == steps[at + size : at + 2 * size] and _WIRES_OWN.issuperset(again):
                return (
                    f"nothing answers there: leave /{'/'.join(again)} out of the base URL, the wire adds it"
                )
    if steps[3:] in (["chat", "completions"], ["responses"]):
        return f"{_NOT_OURS_TO_JUDGE[404]} (is /v1 missing at the end of the base URL?)"
    return None


def _unknown_model(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether our own model is said not to be there."""
    if exchange.probe in _FOREIGN_MODEL or exchange.request.method != "POST":
        return False
    if response.status != 404 and not (response.status == 400 and exchange.expect == "answer"):
        return False
    return bool(_UNKNOWN_MODEL.search(refusal_text(response.body, exchange.request.body)))


def _names_an_error(body: bytes) -> bool:
    value = read_json(body).value
    if isinstance(value, list) and value:
        value = value[0]
    return isinstance(value, dict) and (bool(value.get("error")) or value.get("object") == "error")


def turned_away(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether nothing was answered for reasons of ours or of the moment: quota, load, credentials, credit."""
    if _is_transient(exchange, response):
        return True
    told = response.status in _CREDENTIALS or bool(_told(exchange, response))
    return told and exchange.probe not in _KEY_PROBES


def _told(exchange: Exchange, response: HttpResponse) -> int:
    """The status that says what a 400 says in words; 0 where its words say nothing of the kind."""
    if response.status != 400:
        return 0
    text = refusal_text(response.body, exchange.request.body)
    return next((status for status, said in _IN_WORDS.items() if said.search(text)), 0)
