"""``conformance check-request``: which providers would refuse or alter a request, told offline."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Never
from urllib.parse import urlsplit

import click

from conformance.cli.failing import clearly
from conformance.cli.inputs import InputError, name_of, read_input
from conformance.cli.outputs import as_json, one_line
from conformance.types import WIRES, WireName

_MAX_DEPTH = 200
_MAX_DIGITS = 4_000
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
    help="A provider to ask about, or a profile for its providers (conformance list profiles); repeatable.",
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

    Every objection names the place, the quirk, who, what comes back, the workaround and a source. "perhaps"
    is said where only some models, routes or versions do it. What comes back whatever is asked, such as a
    rate limit, is no objection to a request.

    \b
    Examples:
      conformance check-request request.json
      conformance check-request --profile deepseek --profile groq request.json
      echo '{"model": "m", "messages": [], "tools": []}' | conformance check-request

    \b
    Exit codes:
      0  nobody asked about refuses it for certain (some may perhaps, some may alter it)
      1  somebody refuses it
      2  the input is no request, or there is no such provider
    """
    from conformance.cli.objections import always, document, told
    from conformance.quirks import catalogue
    from conformance.quirks.requests import objections, wire_of

    asked = _providers(profiles)
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
    wanted = model or (named[1] if named and spoken == "gemini" else None)
    quirks = [quirk for quirk in catalogue().values() if asked & set(quirk.providers)]
    found = list(objections(quirks, spoken, body, wanted))
    click.echo(as_json(document(spoken, found, asked)) if in_json else told(spoken, body, found, asked))
    refused = (objection for objection in found if objection.effect == "refused")
    return 1 if any(always(objection, asked) for objection in refused) else 0


def _providers(names: Iterable[str]) -> frozenset[str]:
    """The providers of these names, or of the profiles of these names. Raises ``ConfigError``."""
    from conformance.config import ConfigError, did_you_mean
    from conformance.profiles import PROFILES
    from conformance.quirks import catalogue

    known = {provider for quirk in catalogue().values() for provider in quirk.providers}
    of_profile = {profile.name: known & set(profile.providers) for profile in PROFILES.values()}
    asked: set[str] = set()
    for name in names:
        if name == "all":
            asked |= known
        elif name in known:
            asked.add(name)
        elif of_profile.get(name):
            asked |= of_profile[name]
        else:
            hint = did_you_mean(name, [*known, *of_profile])
            raise ConfigError(
                f"--profile: nothing is known of {name}{hint}; known are {', '.join(sorted(known))}"
            )
    return frozenset(asked)


def _request_in(data: bytes, name: str) -> tuple[str, dict[str, Any]]:
    """The URL (empty where none is told) and the body. Raises ``InputError``."""
    document = _json_in(data, name)
    if isinstance(document, dict) and isinstance(document.get("request"), dict):
        document = document["request"]
    if not isinstance(document, dict):
        raise InputError(f"{name}: a JSON object is wanted, the body of a request")
    url = ""
    if "body" in document and not {"messages", "contents", "input"} & document.keys():
        url = document["url"] if isinstance(document.get("url"), str) else ""
        document = document["body"]
        if isinstance(document, str):
            document = _json_in(document.encode("utf-8", "surrogatepass"), f"{name}: body")
        if not isinstance(document, dict):
            raise InputError(f"{name}: body: a JSON object is wanted, the body of a request")
    return url, document


def _json_in(data: bytes, name: str) -> Any:
    try:
        document = json.loads(data, parse_constant=_no_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        several = error.msg == "Extra data"
        why = "more than one document: give one line of it" if several else str(error)
        raise InputError(f"{name}: not JSON: {why}") from None
    except ValueError as error:
        raise InputError(f"{name}: not JSON: {str(error)[:200]}") from None
    except RecursionError:
        raise _too_deep(name) from None
    level = [document]
    for _ in range(_MAX_DEPTH):
        level = [inner for one in level for inner in _within(one)]
        if not level:
            return document
    raise _too_deep(name)


def _too_deep(name: str) -> InputError:
    return InputError(f"{name}: nested over {_MAX_DEPTH} levels deep")


def _within(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no number of JSON's")


def _integer(text: str) -> int | float:
    """A whole number; beyond what Python reads as one, as near as a float comes."""
    return int(text) if len(text) <= _MAX_DIGITS else float(text)
