"""A question in the forms a client with a profile needs: as it was asked, and prepared.

A canonical request is encoded anew. Bytes that say a request of the wire stay what they are, but for
the members that preparing changes; bytes that say none are sent as they stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import unquote

from conformance.engine.drive import Question, Target, encoded
from conformance.profiles import Asked, Profile
from conformance.types import Ask, HttpRequest, Request
from conformance.wires.body import compact, parse

Change = Callable[[dict[str, Any]], dict[str, Any]]

_MODEL_IN_PATH = re.compile(r"/models/([^/:?]+):")


class Form(Protocol):
    """How a request is written."""

    @property
    def request(self) -> Request:
        """What is asked, in canonical form."""

    @property
    def model(self) -> str:
        """The model that is asked."""

    def plain(self, request: Request) -> HttpRequest:
        """A request as a client without a profile writes it."""

    def prepared(self, request: Request, asked: Asked, profile: Profile) -> HttpRequest:
        """A request as the profile wants it."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """A canonical request."""

    request: Request
    ask: Ask
    target: Target

    @property
    def model(self) -> str:
        return self.ask.model or self.target.model

    def plain(self, request: Request) -> HttpRequest:
        return encoded(request, self.ask, self.target)

    def prepared(self, request: Request, asked: Asked, profile: Profile) -> HttpRequest:
        def change(body: dict[str, Any]) -> dict[str, Any]:
            return profile.prepare_body(body, asked)

        ready = profile.prepare(request, asked)
        return encoded(ready, self.ask, self.target, model=asked.model, change=change)


@dataclass(frozen=True, slots=True)
class Bytes:
    """A request in a wire's own bytes; ``body`` is their JSON."""

    request: Request
    http: HttpRequest
    body: dict[str, Any]
    target: Target

    @property
    def model(self) -> str:
        named = _MODEL_IN_PATH.search(self.http.url)
        if named is not None:
            return unquote(named[1])
        given = self.body.get("model")
        return given if isinstance(given, str) else self.target.model

    def plain(self, request: Request) -> HttpRequest:
        return self._with(self._changed(request))

    def prepared(self, request: Request, asked: Asked, profile: Profile) -> HttpRequest:
        body = self._changed(profile.prepare(request, asked))
        if "model" in body and asked.model != self.model:
            body = {**body, "model": asked.model}
        return self._with(profile.prepare_body(body, asked))

    def _changed(self, request: Request) -> dict[str, Any]:
        """The body with the members that say something else in another request."""
        before, after = self._encoded(self.request), self._encoded(request)
        body = {k: v for k, v in self.body.items() if k in after or k not in before}
        return body | {k: v for k, v in after.items() if k not in before or v != before[k]}

    def _encoded(self, request: Request) -> dict[str, Any]:
        return self.target.wire.encode(request, model=self.model, losses=[])

    def _with(self, body: dict[str, Any]) -> HttpRequest:
        if body == self.body:
            return self.http
        try:
            data = compact(body).encode()
        except UnicodeEncodeError:
            data = json.dumps(body).encode()
        return replace(self.http, body=data)


def _paths(path: str, target: Target) -> tuple[str, ...]:
    """Where the model that a path names would be asked."""
    named = _MODEL_IN_PATH.search(path)
    if named is None:
        return ()
    return tuple(target.wire.path(unquote(named[1]), stream).partition("?")[0] for stream in (False, True))


def form_of(question: Question, target: Target) -> Form | None:
    """The form of a question that is to be prepared; ``None`` for one that is sent as it stands.

    That is a request sent in order to be refused, and bytes that say no request of the wire.
    """
    if question.expect == "refusal":
        return None
    if question.ask is not None and question.canonical is not None:
        return Canonical(question.canonical, question.ask, target)
    if question.expect != "answer" or question.http.method != "POST":
        return None
    wire, path = target.wire, question.http.url.removeprefix(target.base_url)
    if path.partition("?")[0] not in (wire.path(target.model, False), *_paths(path, target)):
        return None
    try:
        body = parse(question.http.body.decode())
        if not isinstance(body, dict):
            return None
        request = wire.decode_request(dict(body), path=path)
    except (ValueError, UnicodeDecodeError):
        return None
    if wire.name == "openai-chat":
        # Word for word, so that what has no canonical form stays.
        extra = {**request.extra, "messages": body["messages"]}
        request = replace(request, messages=(), extra=extra, echo_reasoning=False)
    return Bytes(request, question.http, body, target)
