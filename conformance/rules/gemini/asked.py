"""What a request to generate content asked for, as far as rules care."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from conformance.rules.gemini.schemas import plain_schema
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import lookup

WHOLE, STREAMED = ":generateContent", ":streamGenerateContent"
_CAPITAL = re.compile("([A-Z])")


def member(value: Any, *path: str) -> Any:
    """The value at a path of lowerCamelCase names, each perhaps spelt as the field is (ProtoJSON takes both).

    ``ABSENT`` where there is none.
    """
    for name in path:
        found = lookup(value, (name,))
        if found is ABSENT:
            found = lookup(value, (_CAPITAL.sub(lambda capital: "_" + capital[1].lower(), name),))
        value = found
    return value


@dataclass(frozen=True)
class Asked:
    """The JSON of a request, tolerantly read: what is not of the expected type is as if left out.

    ``streams``: by the method in the path; ``events``: with ``alt=sse``; ``numbered``: with enumerations as
    numbers. No slots: what is asked of it once per part is kept.
    """

    body: Mapping[str, Any]
    streams: bool = False
    events: bool = False
    numbered: bool = False

    @property
    def known(self) -> bool:
        """Whether there is a request to go by: some recordings have none."""
        return bool(self.body)

    def config(self, *path: str) -> Any:
        """What ``generationConfig`` has at a path."""
        return member(self.body, "generationConfig", *path)

    @cached_property
    def functions(self) -> dict[str, Any]:
        """The declarations of the offered functions, by name."""
        found: dict[str, Any] = {}
        for tool in _list(member(self.body, "tools")):
            for one in _list(member(tool, "functionDeclarations")):
                name = lookup(one, ("name",))
                if isinstance(name, str):
                    found[name] = one
        return found

    @property
    def cached(self) -> bool:
        """Whether content was cached for it, which may hold functions too."""
        return member(self.body, "cachedContent") is not ABSENT

    @property
    def mode(self) -> str | None:
        """The mode of function calling, in upper case, where said."""
        mode = member(self.body, "toolConfig", "functionCallingConfig", "mode")
        return mode.upper() if isinstance(mode, str) else None

    @cached_property
    def callable(self) -> frozenset[str]:
        """The names that may be called: the allowed ones, all declared ones where no list is given."""
        names = member(self.body, "toolConfig", "functionCallingConfig", "allowedFunctionNames")
        allowed = frozenset(name for name in _list(names) if isinstance(name, str))
        return allowed or frozenset(self.functions)

    @property
    def streams_arguments(self) -> bool:
        """Whether calls were asked for in pieces (Vertex AI)."""
        config = member(self.body, "toolConfig", "functionCallingConfig")
        return member(config, "streamFunctionCallArguments") is True

    @property
    def cap(self) -> int | None:
        """``maxOutputTokens``."""
        cap = self.config("maxOutputTokens")
        return cap if type(cap) is int and cap > 0 else None

    @property
    def n(self) -> int:
        """``candidateCount``; 1 where not said."""
        count = self.config("candidateCount")
        return count if type(count) is int and count > 0 else 1

    @property
    def stop(self) -> tuple[str, ...]:
        """``stopSequences``."""
        return tuple(one for one in _list(self.config("stopSequences")) if isinstance(one, str) and one)

    @property
    def shows_thoughts(self) -> bool:
        """``thinkingConfig.includeThoughts`` is true."""
        return self.config("thinkingConfig", "includeThoughts") is True

    @property
    def thinks_not(self) -> bool:
        """``thinkingConfig.thinkingBudget`` is 0."""
        return type(budget := self.config("thinkingConfig", "thinkingBudget")) is int and budget == 0

    @property
    def mime_type(self) -> str | None:
        """``responseMimeType``."""
        kind = self.config("responseMimeType")
        return kind if isinstance(kind, str) else None

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The schema of the answer as JSON Schema, whichever way it was given."""
        for name in ("responseJsonSchema", "responseSchema"):
            if isinstance(given := self.config(name), dict):
                return plain_schema(given) if name == "responseSchema" else given
        return None

    @property
    def logprobs(self) -> bool:
        """``responseLogprobs`` is true."""
        return self.config("responseLogprobs") is True

    @property
    def contents(self) -> list[Any]:
        """The conversation."""
        return _list(member(self.body, "contents"))

    def parts(self, kind: str) -> Iterator[Any]:
        """What all parts of the conversation have under a name."""
        for content in self.contents:
            for part in _list(member(content, "parts")):
                if (found := member(part, kind)) is not ABSENT:
                    yield found

    @cached_property
    def question(self) -> str:
        """The texts of the last user content; empty where there are none."""
        for content in reversed(self.contents):
            texts = [lookup(part, ("text",)) for part in _list(member(content, "parts"))]
            said = [text for text in texts if isinstance(text, str)]
            if said and lookup(content, ("role",)) != "model":
                return "\n".join(said)
        return ""


NOTHING = Asked({})
"""A request that says nothing."""


def asked_in(reading: Reading) -> Asked:
    """The request of an exchange; an empty one where its body is not a JSON object."""
    body = reading.asked if isinstance(reading.asked, dict) else {}
    query = _query(reading)
    formats = [value.partition(";")[0] for name in ("alt", "$alt") for value in query.get(name, ())]
    numbered = any("enum-encoding=int" in value for values in query.values() for value in values)
    return Asked(body, unquote(reading.path).endswith(STREAMED), "sse" in formats, numbered)


def is_generate(reading: Reading) -> bool:
    """Whether an exchange generates content, by its path."""
    exchange = reading.exchange
    posted = exchange.wire == "gemini" and exchange.request.method.upper() == "POST"
    return posted and unquote(reading.path).endswith((WHOLE, STREAMED))


def _query(reading: Reading) -> dict[str, list[str]]:
    try:
        # parse_qs takes a semicolon for a part of the value, as ``$alt=json;enum-encoding=int`` needs it.
        return parse_qs(urlsplit(reading.exchange.request.url).query, max_num_fields=100)
    except ValueError:
        return {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
