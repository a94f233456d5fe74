"""Deviations that say what a member of an answer is, or that it is not there.

Places are paths of the catalogue (``conformance/quirks/paths.py``) in each document of an answer.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from conformance.quirks.declarations import filled
from conformance.quirks.paths import as_text, places, remove
from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.mutants.mutant import Answer, Change

_GOOGLES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
"""Google's names of HTTP statuses (google/rpc/code.proto)."""

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
"""The ``type`` of llama.cpp's errors (``format_error_response`` in its server), below 500."""


# --------------------------------------------------------------------------------------- good answers


def _with(values: Mapping[str, Any], holding: str | None = None) -> Change:
    """The members at these paths, of whatever holds them, are these; ``{was}`` stands for what they were.

    Perhaps only in documents in which the path ``holding`` leads to something.
    """

    def change(answer: Answer) -> None:
        for document in documents(answer):
            if holding is None or any(places(document, holding)):
                put(document, values)

    return change


def _without(at: Sequence[str], only: Sequence[Any] | None = None) -> Change:
    """The members at these paths are not there; ``only`` those with one of these values, if any are given."""

    def change(answer: Answer) -> None:
        for document in documents(answer):
            take(document, at, only)

    return change


def put(document: Any, values: Mapping[str, Any]) -> None:
    """Puts the values where the paths lead, in objects and lists that are there."""
    for path, value in values.items():
        holder, _, key = path.rpartition("/")
        for place in list(places(document, holder)):
            _put(place.value, key, value)


def take(document: Any, at: Iterable[str], only: Sequence[Any] | None = None) -> None:
    """Takes away what is at the paths, or only what has one of the values."""
    texts = None if only is None else {as_text(value) for value in only}
    for path in at:
        found = list(places(document, path))
        remove(document, (place for place in found if texts is None or as_text(place.value) in texts))


def _put(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        was = holder.get(key)
        if was is not None:
            holder[key] = filled(value, {"{was}": as_text(was)})
        elif "{was}" not in as_text(value):
            holder[key] = copy.deepcopy(value)


def _wrapped(member: str, beside: Mapping[str, Any] | None = None) -> Change:
    """A whole answer is a member of another object, which has more ``beside`` it."""

    def change(answer: Answer) -> None:
        if answer.status < 300 and answer.events is None and "choices" in (answer.body or ()):
            answer.body = {member: answer.body, **(beside or {})}

    return change


# ------------------------------------------------------------------------------------------ refusals


def _refusal(edit: Callable[[Answer], None], statuses: Sequence[int] | None = None) -> Change:
    def change(answer: Answer) -> None:
        if answer.status >= 400 and (statuses is None or answer.status in statuses):
            edit(answer)

    return change


def _refusal_with(values: Mapping[str, Any]) -> Change:
    """The members of refusals are these; see `_said_by` for words that stand for what it says."""

    def edit(answer: Answer) -> None:
        put(answer.body, {path: filled(value, _said_by(answer)) for path, value in values.items()})

    return _refusal(edit)


def _refusal_without(at: Sequence[str]) -> Change:
    """The members at these paths are not in refusals."""
    return _refusal(lambda answer: take(answer.body, at))


def _refusal_is(
    body: Any,
    statuses: Sequence[int] | None = None,
    codes: Sequence[str] | None = None,
    params: str | None = None,
) -> Change:
    """Refusals have this body, or for ``null`` none.

    Perhaps only those with such an ``error.code``, or an ``error.param`` that matches a pattern whole.
    """

    def edit(answer: Answer) -> None:
        words = _said_by(answer)
        if codes is not None and words["{code}"] not in codes:
            return
        if params is not None and not re.fullmatch(params, as_text(words["{param}"])):
            return
        answer.body = b"" if body is None else filled(body, words)
        if body is None:
            answer.headers.pop("content-type", None)

    return _refusal(edit, statuses)


def _said_by(answer: Answer) -> dict[str, Any]:
    """What a refusal says, by the words that stand for it; its status is a number.

    A list of one error, which another quirk made of it, says what that error says.
    """
    (body,) = answer.body if isinstance(answer.body, list) and len(answer.body) == 1 else (answer.body,)
    said = body.get("error") if isinstance(body, dict) else None
    error = said if isinstance(said, dict) else {"message": said}
    status = answer.status
    return {
        "{status}": status,
        "{google}": _GOOGLES.get(status, "UNKNOWN"),
        "{type}": "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error"),
        **{f"{{{member}}}": error.get(member) for member in ("message", "param", "code")},
    }


MEMBERS: Mapping[str, Maker] = dict(
    (
        deviation("answer-with", _with),
        deviation("answer-without", _without),
        deviation("answer-wrapped", _wrapped),
        deviation("refusal-with", _refusal_with),
        deviation("refusal-without", _refusal_without),
        deviation("refusal-is", _refusal_is),
    )
)
"""Makers by name."""
