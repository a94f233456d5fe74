"""A rule's examples as a person reads them."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from conformance.rules.reading import read_json
from conformance.rules.registry import Rule
from conformance.rules.views import Run, clip
from conformance.types import Exchange

MAX_BODY = 1500
SHOWN_HEADERS = ("content-type", "retry-after")
USUAL = ("messages", "tools", "model")
"""Members of every request: the ones that an example is about are shown before them."""


def examples_text(rule: Rule) -> tuple[str, str]:
    """The violating and the conforming example: what was asked, the status line, the body, and the proof.

    Printable text of a few lines each; the violating one ends with where the rule does not hold.
    """
    proof = next(iter(rule.violations(Run.read(rule.violating))))
    lines = [f"at {proof.path}", f"   wanted {proof.wanted}", f"   got    {proof.got}"]
    return "\n".join([_text(rule.violating), *lines]), _text(rule.conforming)


def _text(exchanges: tuple[Exchange, ...]) -> str:
    return "\n\n".join(_one(exchange) for exchange in exchanges)


def _one(exchange: Exchange) -> str:
    request, response = exchange.request, exchange.response
    lines = [f"> {request.method} {_path(request.url)} {_asked(request.body)}".rstrip()]
    if response is not None:
        lines.append(f"< HTTP {response.status}")
        lines += [f"< {name}: {value}" for name, value in response.headers if name.lower() in SHOWN_HEADERS]
        lines += _body_lines(response.body)
    if exchange.ending != "complete":
        lines.append(f"({exchange.ending})")
    return "\n".join(lines)


def _path(url: str) -> str:
    """The path and query below the base URL."""
    where = urlsplit(url)
    return (where.path.removeprefix("/v1") or "/") + (f"?{where.query}" if where.query else "")


def _asked(body: bytes) -> str:
    value = read_json(body).value
    if not isinstance(value, dict):
        return clip(body.decode(errors="backslashreplace"))
    telling = {name: member for name, member in value.items() if name not in USUAL}
    usual = {name: value[name] for name in USUAL if name in value}
    return clip(json.dumps(telling | usual, ensure_ascii=False, separators=(",", ":")))


def _body_lines(body: bytes) -> list[str]:
    text = body.decode(errors="backslashreplace").rstrip("\n")
    shown: list[str] = []
    for line in text.split("\n"):
        if sum(map(len, shown)) + len(line) > MAX_BODY:
            return [*shown, "…"]
        shown.append("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line))
    return shown
