"""Recordings of the reference endpoints that others published: the material of the calibration.

Only what the corpus's manifest calls wire fidelity: bodies as the client saw them. Content is data and
never executed: YAML goes through libyaml's safe loader, with Python's tags read as the plain nodes beneath.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from conformance.types import WIRES, Exchange, HttpRequest, HttpResponse, WireName

Headers = tuple[tuple[str, str], ...]
ManifestRow = Mapping[str, Any]
"""A line of ``manifest.jsonl``: what is known of one exchange."""

MAX_BODY = 64 * 1024 * 1024
"""A packed body is unpacked up to here, in bytes."""

REFERENCES: Mapping[WireName, re.Pattern[str]] = {
    "openai-chat": re.compile(r"api\.openai\.com"),
    "openai-responses": re.compile(r"api\.openai\.com"),
    "anthropic-messages": re.compile(r"api\.anthropic\.com"),
    "gemini": re.compile(r"(generativelanguage|([a-z0-9-]+-)?aiplatform)\.googleapis\.com"),
}
"""The hosts at which whoever published a wire answers. Ollama runs anywhere: there the manifest names it."""


def readable(corpus: Path, fits: Callable[[ManifestRow], bool]) -> Iterator[tuple[ManifestRow, Exchange]]:
    """The exchanges whose rows of the manifest fit, in its order, with those rows.

    Left out are bodies that are not as the client saw them, formats without a loader and bodies that the
    recorder left empty. Raises ``OSError`` where the corpus is not there, and ``ValueError`` or ``KeyError``
    where a file is not what the manifest says.
    """
    files: dict[str, list[Exchange]] = {}
    for line in (corpus / "manifest.jsonl").read_text("utf-8").splitlines():
        row: ManifestRow = json.loads(line)
        # A consumer that broke off before the first byte leaves an empty body: nothing to grade.
        graded = row["fidelity"] == "wire" and "body.empty" not in row["anomalies"]
        if graded and row["format"] in LOADERS and fits(row):
            file = row["file"]
            if file not in files:
                files[file] = LOADERS[row["format"]]((corpus / file).read_bytes())
            yield row, replace(files[file][row["position"]], wire=row["wire"])


def is_reference(row: ManifestRow) -> bool:
    """Whether an exchange is with the reference endpoint of its wire, by its row of the manifest."""
    if row["wire"] == "ollama":
        return bool(row["provider"] == "ollama")
    host = REFERENCES.get(row["wire"])
    return host is not None and host.fullmatch(row["host"]) is not None


def reference_recordings(corpus: Path) -> dict[WireName, dict[str, tuple[Exchange, ...]]]:
    """The reference endpoints' exchanges by wire and file, in the manifest's order.

    Raises as ``readable``.
    """
    found: dict[WireName, dict[str, tuple[Exchange, ...]]] = {wire: {} for wire in WIRES}
    for row, exchange in readable(corpus, is_reference):
        of_wire = found[exchange.wire]
        of_wire[row["file"]] = (*of_wire.get(row["file"], ()), exchange)
    return found


def _exchange(asked: tuple[str, str, Headers, bytes], got: tuple[int, Headers, bytes]) -> Exchange:
    return Exchange(HttpRequest(*asked), HttpResponse(*got), "complete", "openai-chat", expect="either")


# -------------------------------------------------------------------------------------------- formats


def _vcrpy(data: bytes) -> list[Exchange]:
    return [
        _exchange(
            (asked["method"], asked["uri"], _headers(asked["headers"]), _body(asked.get("body"))),
            (
                got["status"]["code"] if "status" in got else got["status_code"],
                _headers(got["headers"]),
                _body(got.get("body", got.get("content"))),
            ),
        )
        for asked, got in _pairs(_yaml(data)["interactions"])
    ]


def _ruby_vcr(data: bytes) -> list[Exchange]:
    return [
        _exchange(
            (asked["method"].upper(), asked["uri"], _headers(asked["headers"]), _body(asked.get("body"))),
            (got["status"]["code"], _headers(got["headers"]), _body(got.get("body"))),
        )
        for asked, got in _pairs(_yaml(data)["http_interactions"])
    ]


def _go_vcr(data: bytes) -> list[Exchange]:
    return [
        _exchange(
            (asked["method"], asked["url"], _headers(asked.get("headers", {})), _body(asked.get("body"))),
            (got["code"], _headers(got.get("headers", {})), _body(got["body"])),
        )
        for asked, got in _pairs(_yaml(data)["interactions"])
    ]


def _har(data: bytes) -> list[Exchange]:
    def headers(side: Mapping[str, Any]) -> Headers:
        return tuple((header["name"], header["value"]) for header in side["headers"])

    def body(content: Mapping[str, Any]) -> bytes:
        text = content.get("text", "")
        if content.get("encoding") != "base64":
            return _body(text)
        pieces = json.loads(text) if text.startswith("[") else [text]
        return _body(b"".join(_piece(piece) for piece in pieces))

    return [
        _exchange(
            (
                asked["method"],
                asked["url"],
                headers(asked),
                asked.get("postData", {}).get("text", "").encode(),
            ),
            (got["status"], headers(got), body(got["content"])),
        )
        for asked, got in _pairs(json.loads(data)["log"]["entries"])
    ]


def _httprr(data: bytes) -> list[Exchange]:
    """A line ``httprr trace v1``; then the sizes of a request and its response on a line, and both."""
    _, _, rest = data.partition(b"\n")
    found = []
    while rest:
        sizes, _, rest = rest.partition(b"\n")
        asked, got = map(int, sizes.split())
        first, request_headers, sent = _message(rest[:asked])
        status, response_headers, body = _message(rest[asked : asked + got])
        method, url, _ = first.split()
        request = (method, url, request_headers, sent)
        found.append(_exchange(request, (int(status.split()[1]), response_headers, _body(body))))
        rest = rest[asked + got :]
    return found


LOADERS: Mapping[str, Callable[[bytes], list[Exchange]]] = {
    "vcr-yaml": _vcrpy,
    "vcr-ruby-yaml": _ruby_vcr,
    "go-vcr-yaml": _go_vcr,
    "har": _har,
    "httprr": _httprr,
}
"""How each of the manifest's formats is read."""

# --------------------------------------------------------------------------------------------- pieces


def _pairs(interactions: Iterable[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    return [(one["request"], one["response"]) for one in interactions]


def _message(text: bytes) -> tuple[str, Headers, bytes]:
    """An HTTP/1.1 message: its first line, its headers, its body."""
    head, _, body = text.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = [line.partition(":") for line in lines]
    headers = tuple((name, value.strip()) for name, _, value in fields)
    chunked = any(name.lower() == "transfer-encoding" and value == "chunked" for name, value in headers)
    return first, headers, _dechunked(body) if chunked else body


def _dechunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.partition(b";")[0], 16)
        if not length:
            break
        whole, body = whole + body[:length], body[length + 2 :]
    return whole


def _piece(text: str) -> bytes:
    """A piece of a compressed body: hex in some recordings, Base64 in others."""
    try:
        return binascii.unhexlify(text)
    except ValueError:
        return base64.b64decode(text)


def _body(body: Any) -> bytes:
    """A body as recorders write it: text, bytes, or in a table; unpacked where it is still packed."""
    if isinstance(body, Mapping):
        coded = body.get("base64_string")
        body = base64.b64decode(coded) if coded else body.get("string")
    data = body.encode() if isinstance(body, str) else bytes(body or b"")
    if not data.startswith(b"\x1f\x8b"):
        return data
    with gzip.open(io.BytesIO(data)) as packed:
        return packed.read(MAX_BODY)


def _headers(table: Mapping[Any, Any]) -> Headers:
    return tuple(
        (str(name[0] if isinstance(name, list | tuple) else name), str(value))
        for name, values in table.items()
        for value in (values if isinstance(values, list) else [values])
    )


class _Loader(yaml.CSafeLoader):
    """libyaml's safe loader, to which any tag of Python's is the plain node beneath it."""


def _plain(loader: yaml.CSafeLoader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return tuple(loader.construct_sequence(node, deep=True))  # may be the key of a mapping
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


def _binary(loader: yaml.CSafeLoader, node: yaml.Node) -> bytes:
    """Ruby's tag for what YAML calls ``!!binary``."""
    assert isinstance(node, yaml.ScalarNode)
    return base64.b64decode(loader.construct_scalar(node))


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _plain)
_Loader.add_constructor("!binary", _binary)


def _yaml(data: bytes) -> Any:
    return yaml.load(data, Loader=_Loader)  # noqa: S506 (a safe loader)
