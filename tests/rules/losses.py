"""What recorders lose of an exchange, acted out: one function per aspect, each as lossy as recorders are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.rules.reading import is_event_stream
from conformance.transport import sse
from conformance.types import Aspect, Exchange

Loss = Callable[[Exchange], Exchange]

_IDS = re.compile(r"(?i)(?:^|_)id$|^responseId$|^model|^created|^completed_at$|^createTime$|fingerprint$")
"""Members whose values a recorder rewrites that wants its recordings to be the same each time."""
# fmt: off
_OFTEN_NULL = [
    "refusal", "tool_calls", "function_call", "logprobs", "usage", "audio", "annotations",
    "content", "service_tier", "system_fingerprint", "finish_reason", "role", "index", "type",
    "delta", "error", "stop_sequence", "reasoning_content", "id", "name",
]
# fmt: on
"""Members that client libraries fill with null where they are absent."""
_WORTH = re.compile(r"(?i)^content-|^cache-control$|ratelimit|^retry-after|should-retry")
"""Headers that the suite's rules look into, and recorders keep."""
_EVENT = re.compile(rb"(?m)^(data: ?)(\S.*?)(?=\r?$)")


def _walk(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if isinstance(value, dict):
        return change({name: _walk(member, change) for name, member in value.items()})
    return [_walk(item, change) for item in value] if isinstance(value, list) else value


def _is_stream(exchange: Exchange) -> bool:
    response = exchange.response
    kind = (response.header("content-type") or "").partition(";")[0].lower() if response else ""
    return response is not None and response.status < 300 and is_event_stream(response.body, kind)


def _anew(text: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """JSON changed and written anew; what is none stays."""
    try:
        return json.dumps(_walk(json.loads(text), change), sort_keys=True).encode()
    except (ValueError, RecursionError):
        return text


def _in_bodies(exchange: Exchange, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Exchange:
    request, response = exchange.request, exchange.response
    if response is not None:
        if _is_stream(exchange):
            body = _EVENT.sub(lambda event: event[1] + _anew(event[2], change), response.body)
        else:
            whole = _anew(response.body, change)
            lines = (_anew(line, change) for line in response.body.split(b"\n"))
            body = whole if whole != response.body else b"\n".join(lines)
        response = replace(response, body=body, parts=())
    return replace(exchange, request=replace(request, body=_anew(request.body, change)), response=response)


def _scrubbed(members: dict[str, Any]) -> dict[str, Any]:
    def scrub(name: str, value: Any) -> Any:
        if not _IDS.search(name):
            return value
        return "REDACTED" if isinstance(value, str) else 0 if type(value) in (int, float) else value

    return {name: scrub(name, value) for name, value in members.items()}


def _reframed(exchange: Exchange) -> Exchange:
    """Each event's data on a line of its own: no names, no comments, no end marker."""
    response = exchange.response
    if response is None or not _is_stream(exchange):
        return exchange
    events = [event.data.replace("\n", " ") for event in sse.parse(response.body).events]
    body = "".join(f"data: {data}\n\n" for data in events if data != "[DONE]")
    return replace(exchange, response=replace(response, body=body.encode("utf-8", "replace"), parts=()))


def _response(**changes: Any) -> Loss:
    def lose(exchange: Exchange) -> Exchange:
        response = exchange.response
        return replace(exchange, response=response and replace(response, **changes))

    return lose


def _filled(members: dict[str, Any]) -> dict[str, Any]:
    return {**dict.fromkeys(_OFTEN_NULL), **members}


def _bare(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _thinned(exchange: Exchange) -> Exchange:
    """With the headers alone that a recorder finds worth keeping."""
    response = exchange.response
    return _response(
        headers=tuple((name, value) for name, value in response.headers if _WORTH.search(name))
        if response
        else ()
    )(exchange)


LOSSES: Mapping[Aspect, tuple[Loss, ...]] = {
    "request": (lambda one: replace(one, request=replace(one.request, body=b"")),),
    "status": (_response(status=200),),
    "headers": (_response(headers=()),),
    "all-headers": (_thinned,),
    "framing": (_reframed,),
    "spelling": (lambda one: _in_bodies(one, dict),),
    "presence": (lambda one: _in_bodies(one, _filled), lambda one: _in_bodies(one, _bare)),
    "values": (lambda one: _in_bodies(one, _scrubbed),),
    "arrival": (_response(parts=()),),
    "purpose": (lambda one: replace(one, probe=None, expect="either"),),
}
"""By aspect, how it gets lost."""

GOES_WITH: Mapping[Aspect, frozenset[Aspect]] = {
    "headers": frozenset({"all-headers"}),
    "framing": frozenset({"arrival"}),
    "spelling": frozenset({"arrival"}),
    "presence": frozenset({"arrival", "spelling"}),
    "values": frozenset({"arrival", "spelling"}),
}
"""What else is lost on the way: who writes JSON anew keeps neither its spelling nor when it came."""
