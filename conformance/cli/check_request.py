"""``conformance check-request``: which providers would refuse or alter a request, told offline."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from conformance.cli.failing import clearly
from conformance.cli.inputs import InputError, name_of, read_input
from conformance.cli.outputs import as_json, one_line
from conformance.types import WIRES, WireName

if TYPE_CHECKING:
    from conformance.quirks import Quirk
    from conformance.quirks.requests import Objection

_MAX_PLACES = 10
_MODEL = re.compile(r"/models/([^/:]+)")
_ENDS: tuple[tuple[str, WireName], ...] = (
    ("/chat/completions", "openai-chat"),
    ("/responses", "openai-responses"),
    ("/messages", "anthropic-messages"),
    (":generateContent", "gemini"),
    (":streamGenerateContent", "gemini"),
    ("/api/chat", "ollama"),
)


@click.command("check-request")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    default=("all",),
    show_default=True,
    metavar="NAME",
    help="A provider to ask about, as `conformance list quirks` names them; repeatable.",
)
@click.option("--wire", type=click.Choice(WIRES), help="The wire, where the request does not tell.")
@click.option("--model", help="The model asked for, where the request does not tell (Gemini).")
@click.option("--json", "in_json", is_flag=True, help="Write the objections as JSON.")
@click.argument("file", default="-")
@clearly
def check_request(
    profiles: tuple[str, ...], wire: WireName | None, model: str | None, in_json: bool, file: str
) -> int:
    """Say which providers would refuse or alter a request, before it is sent. Nothing is sent.

    FILE (standard input without one, or for -) holds the JSON body of a request of any wire, or the whole
    request as {"url": ..., "body": ...}, or a line of what `run --exchanges` and `serve --log` write.

    Every objection names the place, the quirk, what comes back, the workaround and the sources.

    \b
    Examples:
      conformance check-request request.json
      conformance check-request --profile deepseek --profile groq request.json
      echo '{"model": "m", "messages": [], "tools": []}' | conformance check-request

    \b
    Exit codes:
      0  nobody asked about refuses it (some may alter it)
      1  somebody refuses it
      2  the input is no request, or there is no such provider
    """
    from conformance.config import ConfigError, did_you_mean
    from conformance.quirks import catalogue
    from conformance.quirks.requests import objections, wire_of

    quirks = [quirk for quirk in catalogue().values() if quirk.refuses or quirk.alters]
    known = sorted({provider for quirk in quirks for provider in quirk.providers})
    for name in profiles:
        if name not in (*known, "all"):
            raise ConfigError(
                f"--profile: no quirk of {name} is about requests{did_you_mean(name, known)}; "
                f"known are {', '.join(known)}"
            )
    try:
        url, body = _request_in(read_input(file), name_of(file))
    except InputError as error:
        click.echo(one_line(f"error: {error}"), err=True)
        return 2
    path = urlsplit(url).path
    said = next((name for end, name in _ENDS if path.endswith(end)), None)
    spoken = wire or said or wire_of(body)
    if spoken is None:
        text = "no messages, no input, no contents: of no wire here; --wire says which it is"
        click.echo(one_line(f"error: {name_of(file)}: {text}"), err=True)
        return 2
    named = _MODEL.search(path)
    asked = model or (named[1] if named and spoken == "gemini" else None)
    wanted = [q for q in quirks if "all" in profiles or set(profiles) & set(q.providers)]
    found = list(objections(wanted, spoken, body, asked))
    asked_about = frozenset(known) if "all" in profiles else frozenset(profiles)
    if in_json:
        click.echo(as_json(_document(spoken, found, asked_about)))
    else:
        click.echo(_told(spoken, found, len(wanted)))
    return 1 if any(objection.effect == "refused" for objection in found) else 0


def _request_in(data: bytes, name: str) -> tuple[str, dict[str, Any]]:
    """The URL (empty where none is told) and the body. Raises ``InputError``."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON: {str(error)[:200]}") from None
    if isinstance(document, dict) and isinstance(document.get("request"), dict):
        document = document["request"]
    if not isinstance(document, dict):
        raise InputError(f"{name}: a JSON object is wanted, the body of a request")
    url = ""
    if "body" in document and not {"messages", "contents", "input"} & document.keys():
        url = document["url"] if isinstance(document.get("url"), str) else ""
        document = document["body"]
        if isinstance(document, str):
            return url, _request_in(document.encode(), f"{name}: body")[1]
        if not isinstance(document, dict):
            raise InputError(f"{name}: body: a JSON object is wanted, the body of a request")
    return url, document


def _told(wire: WireName, found: Sequence[Objection], asked: int) -> str:
    lines: list[str] = []
    for objection in found:
        quirk = objection.quirk
        lines.append(f"{objection.effect}: {quirk.id} ({', '.join(quirk.providers)})")
        lines.append(f"    {quirk.title}")
        shown = [place.pointer or "/" for place in objection.places[:_MAX_PLACES]]
        more = len(objection.places) - len(shown)
        lines.append(f"    at          {', '.join(shown)}{f' and {more} more' if more > 0 else ''}")
        lines.append(f"    comes back  {_comes_back(objection)}")
        lines.append(f"    workaround  {quirk.workaround}")
        lines += [f"    source      {source}" for source in quirk.sources]
        if quirk.note:
            lines.append(f"    note        {quirk.note}")
        if quirk.confidence == "unconfirmed":
            lines.append("    unconfirmed: the evidence is weak or contradicts itself")
        lines.append("")
    refused = sum(objection.effect == "refused" for objection in found)
    lines.append(
        f"{wire} request held against {asked} quirks: {refused} refuse it, {len(found) - refused} alter it"
    )
    return "\n".join(one_line(line) if line else "" for line in lines)


def _comes_back(objection: Objection) -> str:
    answer = objection.answer
    if answer is None:
        return objection.quirk.observed
    if answer.hangs:
        return "nothing, until the client gives up"
    body = answer.body_at(objection.places[0], "")
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return f"{answer.status} {text}" if body is not None else str(answer.status)


def _document(wire: WireName, found: Sequence[Objection], asked: frozenset[str]) -> dict[str, Any]:
    return {"wire": wire, "objections": [_entry(objection, asked) for objection in found]}


def _entry(objection: Objection, asked: frozenset[str]) -> dict[str, Any]:
    quirk: Quirk = objection.quirk
    return {
        "quirk": quirk.id,
        "title": quirk.title,
        "effect": objection.effect,
        "providers": [name for name in quirk.providers if name in asked],
        "places": [place.pointer for place in objection.places],
        "status": objection.answer.status if objection.answer and not objection.answer.hangs else None,
        "hangs": objection.answer.hangs if objection.answer else False,
        "observed": quirk.observed,
        "workaround": quirk.workaround,
        "confidence": quirk.confidence,
        "note": quirk.note,
        "sources": list(quirk.sources),
    }
