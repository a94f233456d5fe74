"""The lies, as a client meets them."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from .support import WEATHER, Talk, assistant, deltas, tool


@pytest.mark.parametrize(
    ("fault", "status", "content_type"),
    [
        ("html-200", 200, "text/html; charset=utf-8"),
        ("html-502", 502, "text/html; charset=utf-8"),
        ("empty-body", 200, "application/json"),
        ("error-body-200", 200, "application/json"),
        ("rate-limited", 429, "application/json"),
        ("server-error", 500, "application/json"),
    ],
)
def test_whole_answers(talk: Callable[[str], Talk], fault: str, status: int, content_type: str) -> None:
    response = talk(fault).ask("[[plain]]")
    assert response.status_code == status
    assert response.headers["content-type"] == content_type


def test_their_bodies(talk: Callable[[str], Talk]) -> None:
    assert talk("html-200").ask("Hi").text.startswith("<!doctype html>")
    assert talk("empty-body").ask("Hi").content == b""
    assert talk("error-body-200").ask("Hi").json()["error"]["message"]
    assert talk("rate-limited").ask("Hi").headers["retry-after"] == "1"


def test_garbage_is_not_http(talk: Callable[[str], Talk]) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        talk("garbage").ask("Hi")


def test_a_short_body_ends_before_its_length(talk: Callable[[str], Talk]) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="received 6 bytes, expected 1000"):
        talk("short-body").ask("Hi")


def test_hang_says_nothing(talk: Callable[[str], Talk]) -> None:
    where = urlsplit(talk("hang").base)
    with socket.create_connection((where.hostname or "", where.port or 0)) as raw:
        raw.sendall(f"GET {where.path}/models HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        raw.settimeout(0.2)
        with pytest.raises(TimeoutError):
            raw.recv(1)


def read_into(received: bytearray, response: httpx.Response) -> None:
    for data in response.iter_raw():
        received += data


@pytest.mark.parametrize(
    ("fault", "error"), [("stream-cut", httpx.ReadError), ("stream-close", httpx.RemoteProtocolError)]
)
def test_a_cut_stream_breaks_after_its_events(
    talk: Callable[[str], Talk], client: httpx.Client, fault: str, error: type[Exception]
) -> None:
    cut = talk(fault)
    body = {"model": "reference", "stream": True, "messages": [{"role": "user", "content": "[[plain]]"}]}
    received = bytearray()
    with (
        client.stream("POST", cut.base + "/chat/completions", json=body, headers=cut.headers) as response,
        pytest.raises(error),
    ):
        read_into(received, response)
    assert received.count(b"\n\n") == 3
    assert b"[DONE]" not in received


def test_an_endless_stream_goes_on_until_the_client_leaves(
    talk: Callable[[str], Talk], client: httpx.Client
) -> None:
    endless = talk("endless-stream")
    body = {"model": "reference", "stream": True, "messages": [{"role": "user", "content": "[[done/1]]"}]}
    with client.stream(
        "POST", endless.base + "/chat/completions", json=body, headers=endless.headers
    ) as response:
        received = b""
        for data in response.iter_raw():
            received += data
            if received.count(b"\n\n") > 100:
                break
    assert talk("reference").ask("Hi").status_code == 200


def test_no_done_ends_without_the_sentinel(talk: Callable[[str], Talk]) -> None:
    response = talk("no-done").ask("[[plain]]", stream=True)
    assert b"[DONE]" not in response.content
    assert b'"finish_reason":"stop"' in response.content


@pytest.mark.parametrize("stream", [False, True])
def test_wrong_content_type(talk: Callable[[str], Talk], stream: bool) -> None:
    response = talk("wrong-content-type").ask("[[plain]]", stream=stream)
    assert response.headers["content-type"] == "text/plain"


def calls(talking: Talk) -> tuple[list[Any], list[Any]]:
    """The calls of the whole answer, and those of the stream."""
    whole = talking.choice("[[call]]", tools=[WEATHER])["message"]["tool_calls"]
    found = deltas(talking.events("[[call]]", tools=[WEATHER]))
    return whole, [call for delta in found for call in delta.get("tool_calls", ())]


def test_arguments_as_an_object(talk: Callable[[str], Talk]) -> None:
    whole, streamed = calls(talk("arguments-object"))
    assert whole[0]["function"]["arguments"] == {"city": "Malmö", "days": 3}
    assert all(not isinstance(call["function"]["arguments"], str) for call in streamed)


def test_missing_ids(talk: Callable[[str], Talk]) -> None:
    whole, streamed = calls(talk("missing-ids"))
    assert not any("id" in call for call in (*whole, *streamed))


def test_missing_index(talk: Callable[[str], Talk]) -> None:
    _, streamed = calls(talk("missing-index"))
    assert streamed
    assert not any("index" in call for call in streamed)


def test_slow_is_right_in_the_end(talk: Callable[[str], Talk]) -> None:
    response = talk("slow").ask("[[plain]]")
    assert response.status_code == 200
    assert response.elapsed.total_seconds() >= 0.5


def test_one_behaviour_alone_keeps_the_rest_honest(talk: Callable[[str], Talk]) -> None:
    dropping = talk("missing-index")
    assert dropping.ask("Hi", assistant("c1"), tool("c1"), tools=[WEATHER]).status_code == 200
    assert json.loads(dropping.ask("Hi", temperature=9).content)["error"]["param"] == "temperature"
