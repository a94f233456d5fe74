"""A cassette's YAML: how it is written, what is read of it, and what must be where."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_NODES = 1_000_000
"""The most YAML events that ``load`` takes, about ten seconds of work; a part of a body is four."""

OURS = "conformance"
"""The key under ``response`` for what vcrpy's format has no place for."""

NO_STATUS = 0
"""The status where no response came: a code that no server sends, and stock vcrpy takes."""

_SURELY_SMALL = 1 << 20  # characters: not worth counting


class Flow(list[Any]):
    """A list to be written in one line."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes for readers: members in our order, texts of several lines as such, no aliases."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads what anybody may have written: nothing executes, and no merge key multiplies itself."""

    def flatten_mapping(self, node: Any) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.YAMLError("merge keys don't belong in a cassette")


_SPECIAL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]")  # libyaml takes some for line ends


def _write_str(dumper: Any, text: str) -> Any:
    style = None
    if _SPECIAL.search(text):
        style = '"'
    elif "\n" in text:
        style = '"' if text[0] in " \n" or " \n" in text or text[-1] == " " else "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _write_flow(dumper: Any, data: Flow) -> Any:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)


_Dumper.add_representer(str, _write_str)
_Dumper.add_representer(Flow, _write_flow)


@dataclass(frozen=True, slots=True)
class Parts:
    """A body's parts, of which there may be 100 000: a YAML node for each would take seconds.

    ``name`` stands for them until ``fill_in``; it is equal to nothing that anybody sends.
    """

    parts: Sequence[tuple[float, int]]
    name: str = field(default_factory=lambda: f"parts-{secrets.token_hex(16)}")


def _write_parts(dumper: Any, parts: Parts) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", parts.name)


_Dumper.add_representer(Parts, _write_parts)


def dump(cassette: Any) -> str:
    """The cassette as YAML. vcrpy's own serializer folds texts and sorts members."""
    text: str = yaml.dump(cassette, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30)
    return text


def _dump_part(part: tuple[float, int]) -> str:
    ms, size = part
    number = repr(ms)
    if "." in number and type(size) is int:
        return f"[{number}, {size}]"
    text: str = yaml.dump(Flow(part), Dumper=_Dumper, width=1 << 30)
    return text.rstrip()


def fill_in(text: str, stand_ins: Sequence[Parts]) -> str:
    """The dumped text with the parts where they belong."""
    for stand_in in stand_ins:
        before, found, after = text.partition(f" {stand_in.name}\n")
        indent = before[before.rfind("\n") + 1 :].partition("p")[0] if found else ""
        text = before + "".join(f"\n{indent}- {_dump_part(part)}" for part in stand_in.parts) + "\n" + after
    return text


def load(text: str) -> Any:
    """What the YAML says. Raises ``yaml.YAMLError``; ``ValueError`` for what can't be a cassette."""
    if len(text) > _SURELY_SMALL:
        for count, event in enumerate(yaml.parse(text, Loader=_Loader)):
            if count == 2 and not isinstance(event, yaml.MappingStartEvent):
                raise ValueError("a mapping is wanted at the top")
            if count > MAX_NODES:
                raise ValueError(f"more than {MAX_NODES} YAML nodes")
    return yaml.load(text, Loader=_Loader)  # noqa: S506  # a subclass of the safe loader


# ------------------------------------------------------------------------------------------- structure


def check(data: Any) -> None:
    """Raises ``ValueError``, naming interaction and key, where the structure isn't a cassette's."""
    _want("the top", data, dict)
    interactions = _member("the top", data, "interactions", list)
    for number, interaction in enumerate(interactions):
        at = f"interaction {number}"
        _want(at, interaction, dict)
        _check_request(f"{at}: request", _member(at, interaction, "request", dict))
        _check_response(f"{at}: response", _member(at, interaction, "response", dict))


def _check_request(at: str, request: Mapping[Any, Any]) -> None:
    for key in ("method", "uri"):
        _member(at, request, key, str)
    _member(at, request, "body", str, bytes, type(None))
    _check_headers(f"{at}.headers", _member(at, request, "headers", dict))
    odd = [key for key in request if key not in ("method", "uri", "body", "headers")]
    if odd:
        raise ValueError(f"{at} has an unknown key: {odd[0]!r:.60}")


def _check_response(at: str, response: Mapping[Any, Any]) -> None:
    if "status_code" in response and OURS not in response:
        _check_status(f"{at}.status_code", response["status_code"])
        _member(at, response, "content", str, bytes, type(None))
    else:
        status = _member(at, response, "status", dict)
        _check_status(f"{at}.status.code", status.get("code"), failed=_has_failure(response))
        body = _member(at, response, "body", dict)
        _member(f"{at}.body", body, "string", str, bytes, type(None))
    _check_headers(f"{at}.headers", _member(at, response, "headers", dict))
    if OURS in response:
        at = f"{at}.{OURS}"
        ours = _want(at, response[OURS], dict)
        for key in ("wire", "ending", "expect", "http_version"):
            _member(at, ours, key, str)
        _member(at, ours, "probe", str, type(None))
        if _has_failure(response):
            failure = _member(at, ours, "failure", dict)
            for key in ("kind", "message"):
                _member(f"{at}.failure", failure, key, str)
        for key in ("started", "elapsed_ms"):
            _member(at, ours, key, int, float)
        for key in ("request_headers", "raw_headers"):
            for pair in _pairs(f"{at}.{key}", _member(at, ours, key, list)):
                _want(f"{at}.{key}", pair[0], str)
                _want(f"{at}.{key}", pair[1], str)
        for ms, size in _pairs(f"{at}.parts", _member(at, ours, "parts", list)):
            _want(f"{at}.parts", ms, int, float)
            _want(f"{at}.parts", size, int)


def _check_headers(at: str, headers: Mapping[Any, Any]) -> None:
    for name, values in headers.items():
        _want(f"{at}: a name", name, str)
        for value in values if isinstance(values, list) else [values]:
            _want(f"{at}.{name:.60}", value, str)


def _has_failure(response: Mapping[Any, Any]) -> bool:
    ours = response.get(OURS)
    return type(ours) is dict and "failure" in ours


def _check_status(at: str, status: Any, *, failed: bool = False) -> None:
    if failed and (type(status) is not int or status != NO_STATUS):
        raise ValueError(f"{at}: {NO_STATUS} is wanted beside a failure")
    if not failed and (type(status) is not int or not 100 <= status <= 999):
        shown = (
            status if isinstance(status, int | float | str) else _KINDS.get(type(status), "something else")
        )
        raise ValueError(f"{at}: three digits are wanted, from 100 on, not {shown!s:.40}")


def _pairs(at: str, pairs: list[Any]) -> Iterator[list[Any]]:
    for pair in pairs:
        if len(_want(at, pair, list)) != 2:
            raise ValueError(f"{at}: lists of two are wanted, not of {len(pair)}")
        yield pair


def _member(at: str, mapping: Mapping[Any, Any], key: str, *kinds: type) -> Any:
    if key not in mapping:
        raise ValueError(f"{at} has no {key}")
    return _want(key if at == "the top" else f"{at}.{key}", mapping[key], *kinds)


def _want(at: str, value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        wanted = " or ".join(dict.fromkeys(_KINDS[kind] for kind in kinds))
        raise ValueError(f"{at}: {wanted} is wanted, not {_KINDS.get(type(value), 'something else')}")
    return value


_KINDS: Mapping[type, str] = {
    dict: "a mapping",
    list: "a list",
    str: "a text",
    bytes: "bytes",
    int: "a number",
    float: "a number",
    bool: "a truth value",
    type(None): "nothing",
}
