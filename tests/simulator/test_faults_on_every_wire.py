"""The faults as bytes, on every wire: what an SDK reads over must have been there to be read over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator
from conformance.types import WIRES, WireName

from .asking import post, received
from .support import SCRIPTS

EVERY = pytest.mark.parametrize("wire", WIRES)
OF_EVENTS = pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "ollama"])
CLEAN = "reference"
Read = Callable[[str, WireName, bool], httpx.Response]


@pytest.fixture
def read(client: httpx.Client, simulator: Simulator) -> Read:
    return lambda fault, wire, stream: received(client, simulator, fault, wire, stream)


def documents(response: httpx.Response) -> list[Any]:
    """The JSON documents of a stream's events, or lines, and its ``[DONE]`` as it is."""
    said = [line.removeprefix(b"data: ") for line in response.content.split(b"\n")]
    found = [line for line in said if line.startswith((b"{", b"[DONE]"))]
    return [json.loads(line) if line.startswith(b"{") else line.decode() for line in found]


# ------------------------------------------------------------------------------------------ refusals

WORDED: dict[WireName, Any] = {
    "openai-chat": {"message", "type", "param", "code"},
    "openai-responses": {"message", "type", "param", "code"},
    "anthropic-messages": {"type", "message"},
    "gemini": {"code", "message", "status"},
    "ollama": None,
}
"""The members of the error object of each wire; Ollama's error is a text."""


def in_words_of(wire: WireName, document: Any) -> bool:
    error = document["error"]
    members = WORDED[wire]
    return isinstance(error, str) if members is None else error.keys() - {"details"} == members


@EVERY
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("rate-limited", 429),
        ("rate-limited-bare", 429),
        ("server-error", 500),
        ("overloaded", 503),
        ("error-body-200", 200),
    ],
)
def test_a_refusal_is_worded_as_the_wire_words_it(
    read: Read, wire: WireName, fault: str, status: int
) -> None:
    response = read(fault, wire, False)
    assert response.status_code == status
    assert in_words_of(wire, response.json())


@EVERY
def test_a_limit_says_when_to_come_back_or_does_not(read: Read, wire: WireName) -> None:
    limited, bare = read("rate-limited", wire, False), read("rate-limited-bare", wire, False)
    assert limited.headers["retry-after"] == "1"
    assert "retry-after" not in bare.headers
    assert ("retryDelay" in limited.text) is (wire == "gemini")
    assert "retryDelay" not in bare.text


@EVERY
def test_an_error_comes_in_an_array(read: Read, wire: WireName) -> None:
    response = read("error-array", wire, False)
    (document,) = response.json()
    assert response.status_code == 400
    assert in_words_of(wire, document)


# ------------------------------------------------------------------------------------------- streams


@EVERY
def test_an_error_in_mid_stream_is_the_last_that_is_said(read: Read, wire: WireName) -> None:
    response = read("error-mid-stream", wire, True)
    *before, last = documents(response)
    assert response.status_code == 200
    assert before
    if wire == "openai-responses":
        assert last["type"] == "error"
        assert last["message"]
        assert last["sequence_number"] == before[-1]["sequence_number"] + 1
    else:
        assert in_words_of(wire, last)


def ends(document: Any) -> bool:
    """Whether a document says that the answer is over, and why."""
    return bool(
        re.search(
            r'"finish_reason": "|"finishReason"|"done": true|"stop_reason": "|response\.completed',
            json.dumps(document),
        )
    )


@EVERY
def test_a_stream_without_finish_ends_in_good_order(read: Read, wire: WireName) -> None:
    assert any(map(ends, documents(read(CLEAN, wire, True))))
    response = read("no-finish", wire, True)
    assert documents(response)
    assert not any(map(ends, documents(response)))


@EVERY
def test_an_endless_stream_says_the_same_again_and_again(
    client: httpx.Client, simulator: Simulator, wire: WireName
) -> None:
    with post(client, simulator, "endless-stream", wire, True) as response:
        said = b""
        for data in response.iter_raw():
            said += data
            if len(said) > 20_000:
                break
    most = max(said.count(line) for line in set(said.split(b"\n")) if line)
    assert most > 20


def counts(document: Any) -> bool:
    """Whether a document has the final usage."""
    if not isinstance(document, dict):
        return False
    response = document.get("response") or {}
    return bool(
        (document.get("usage") or {}).get("output_tokens")
        or (document.get("usage") or {}).get("total_tokens")
        or document.get("usageMetadata")
        or document.get("eval_count")
        or response.get("usage")
    )


@EVERY
def test_late_usage_comes_behind_the_end(read: Read, wire: WireName) -> None:
    clean, late = documents(read(CLEAN, wire, True)), documents(read("usage-late", wire, True))
    told = [number for number, document in enumerate(late) if counts(document)]
    assert told[-1] == len(late) - 1
    assert sum(map(counts, late)) == sum(map(counts, clean))
    if wire in ("openai-chat", "anthropic-messages"):
        assert late[-2] == "[DONE]" or late[-2]["type"] == "message_stop"
    else:
        assert ends(late[-2])


@EVERY
def test_usage_that_is_said_twice_is_the_same(read: Read, wire: WireName) -> None:
    clean, twice = documents(read(CLEAN, wire, True)), documents(read("usage-twice", wire, True))
    assert len(twice) == len(clean) + 1
    assert sum(map(counts, twice)) == sum(map(counts, clean)) + 1


# -------------------------------------------------------------------------------- server-sent events


@OF_EVENTS
def test_data_has_no_space(read: Read, wire: WireName) -> None:
    body = read("data-without-space", wire, True).content
    assert body.count(b"data:{") > 1
    assert b"data: " not in body


@EVERY
def test_lines_end_with_cr_and_lf(read: Read, wire: WireName) -> None:
    body = read("crlf", wire, True).content
    assert body.count(b"\r\n") > 1
    assert body.count(b"\n") == body.count(b"\r\n")


@OF_EVENTS
def test_comments_stand_between_the_events(read: Read, wire: WireName) -> None:
    body = read("keep-alive-comments", wire, True).content
    assert body.count(b": keep-alive\n\n") == len(documents(read(CLEAN, wire, True)))


def test_lines_of_json_have_no_comments(read: Read) -> None:
    assert b"keep-alive" not in read("keep-alive-comments", "ollama", True).content


# --------------------------------------------------------------------------------------------- bytes


@EVERY
@pytest.mark.parametrize("stream", [False, True])
def test_the_content_type_is_wrong(read: Read, wire: WireName, stream: bool) -> None:
    response = read("wrong-content-type", wire, stream)
    assert response.headers["content-type"] == "text/plain"
    assert response.status_code == 200


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@EVERY
@pytest.mark.parametrize("stream", [False, True])
def test_characters_are_split_over_two_writes(
    client: httpx.Client, simulator: Simulator, wire: WireName, stream: bool
) -> None:
    with post(client, simulator, "split-utf8", wire, stream) as response:
        pieces = list(response.iter_raw())
    assert any(not is_text(piece) for piece in pieces)
    assert is_text(b"".join(pieces))


@EVERY
@pytest.mark.parametrize("stream", [False, True])
def test_a_slow_answer_comes_in_drops(
    client: httpx.Client, simulator: Simulator, wire: WireName, stream: bool
) -> None:
    with post(client, simulator, "slow-drip", wire, stream) as response:
        pieces = list(response.iter_raw())
    assert max(map(len, pieces)) <= 16
    assert len(pieces) > 10


@EVERY
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["broken-chunks", "stream-cut", "stream-close"])
def test_an_answer_that_breaks_has_begun(
    client: httpx.Client, simulator: Simulator, wire: WireName, stream: bool, fault: str
) -> None:
    begun = bytearray()
    with post(client, simulator, fault, wire, stream) as response, pytest.raises(httpx.TransportError):
        read_into(begun, response)
    assert response.status_code == 200
    assert begun


def read_into(received_so_far: bytearray, response: httpx.Response) -> None:
    for data in response.iter_raw():
        received_so_far += data


@EVERY
def test_what_is_about_streams_leaves_whole_answers_alone(read: Read, wire: WireName) -> None:
    for fault in ("error-mid-stream", "no-finish", "usage-late", "crlf", "data-without-space"):
        response = read(fault, wire, False)
        assert response.status_code == 200
        assert SCRIPTS["plain"].text in json.dumps(response.json(), ensure_ascii=False).replace(
            "\\u2028", "\u2028"
        )
