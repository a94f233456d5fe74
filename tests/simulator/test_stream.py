"""The clean persona's streams."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from .support import SCRIPTS, TIME, WEATHER, Talk, deltas, exchange


def test_a_stream_is_sse_that_no_cache_keeps(reference: Talk) -> None:
    response = reference.ask("[[plain]]", stream=True)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["transfer-encoding"] == "chunked"
    assert response.headers["x-request-id"]


def test_every_chunk_has_the_same_envelope(reference: Talk) -> None:
    events = reference.events("[[plain]]")
    varying = ("choices", "obfuscation")
    envelopes = [{k: v for k, v in event.items() if k not in varying} for event in events]
    assert envelopes == [envelopes[0]] * len(events)
    assert envelopes[0]["object"] == "chat.completion.chunk"
    assert set(envelopes[0]) == {"id", "object", "created", "model", "service_tier", "system_fingerprint"}


def test_chunks_with_a_delta_are_padded_unless_the_request_says_otherwise(reference: Talk) -> None:
    *padded, last = reference.events("[[plain]]")
    assert all(isinstance(event["obfuscation"], str) and event["obfuscation"] for event in padded)
    assert "obfuscation" not in last
    plain = reference.events("[[plain]]", stream_options={"include_obfuscation": False})
    assert not [event for event in plain if "obfuscation" in event]


def test_text_comes_after_the_role_in_pieces_and_before_an_empty_last_delta(reference: Talk) -> None:
    found = deltas(reference.events("[[plain]]"))
    assert found[0] == {"role": "assistant", "content": "", "refusal": None}
    assert found[-1] == {}
    pieces = [delta["content"] for delta in found[1:-1]]
    assert len(pieces) > 3
    assert "".join(pieces) == SCRIPTS["plain"].text


def test_the_finish_reason_comes_once_at_the_end(reference: Talk) -> None:
    choices = [event["choices"][0] for event in reference.events("[[plain]]")]
    assert [c["finish_reason"] for c in choices] == [None] * (len(choices) - 1) + ["stop"]
    assert all(c["logprobs"] is None for c in choices)


def test_a_call_is_announced_once_and_its_arguments_follow_in_pieces(reference: Talk) -> None:
    found = deltas(reference.events("[[call]]", tools=[WEATHER]))
    assert found[0]["content"] is None
    calls = [delta["tool_calls"][0] for delta in found[1:-1]]
    first = calls[0]
    assert first["id"].startswith("call_")
    assert (first["type"], first["index"]) == ("function", 0)
    assert first["function"] == {"name": "get_weather", "arguments": ""}
    assert all(
        set(call) == {"index", "function"} and set(call["function"]) == {"arguments"} for call in calls[1:]
    )
    assert len(calls) > 3
    assert "".join(c["function"]["arguments"] for c in calls) == '{"city":"Malmö","days":3}'


def test_parallel_calls_follow_one_another_by_index(reference: Talk) -> None:
    events = reference.events("[[parallel]]", tools=[WEATHER, TIME])
    indexes = [c["index"] for delta in deltas(events) for c in delta.get("tool_calls", ())]
    assert indexes == sorted(indexes)
    assert set(indexes) == {0, 1}
    assert events[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_reasoning_comes_before_the_text(reference: Talk) -> None:
    found = [next(iter(delta)) for delta in deltas(reference.events("[[thinking]]"))[1:-1]]
    assert found == sorted(found, key=["reasoning_content", "content"].index)
    assert len(set(found)) == 2


def test_usage_comes_last_and_only_when_asked_for(reference: Talk) -> None:
    events = reference.events("[[plain]]", stream_options={"include_usage": True})
    assert [event["usage"] for event in events[:-1]] == [None] * (len(events) - 1)
    assert events[-1]["choices"] == []
    assert events[-1]["usage"] == reference.ask("[[plain]]").json()["usage"]


@pytest.mark.parametrize("prompt", ["[[plain]]", "[[call]]", "[[parallel]]", "[[mixed]]", "[[thinking]]"])
@pytest.mark.parametrize("members", [{}, {"max_tokens": 6}, {"stop": "l"}, {"n": 2}])
def test_a_stream_adds_up_to_the_answer_without_one(
    reference: Talk, prompt: str, members: dict[str, Any]
) -> None:
    members = {"tools": [WEATHER, TIME], **members}
    whole = reference.ask(prompt, **members).json()["choices"]
    events = reference.events(prompt, **members)
    for choice in whole:
        found = deltas(events, choice["index"])
        message = choice["message"]
        for name in ("content", "reasoning_content"):
            assert "".join(d.get(name) or "" for d in found) == (message.get(name) or "")
        arguments: dict[int, str] = {}
        for call in (c for d in found for c in d.get("tool_calls", ())):
            arguments[call["index"]] = arguments.get(call["index"], "") + call["function"]["arguments"]
        assert list(arguments.values()) == [c["function"]["arguments"] for c in message.get("tool_calls", ())]
        finishes = [c["finish_reason"] for e in events for c in e["choices"] if c["index"] == choice["index"]]
        assert [f for f in finishes if f] == [choice["finish_reason"]]


def test_logprobs_belong_to_the_delta_they_come_with(reference: Talk) -> None:
    for event in reference.events("[[plain]]", logprobs=True):
        choice = event["choices"][0]
        entries = (choice["logprobs"] or {"content": []})["content"]
        assert "".join(entry["token"] for entry in entries) == choice["delta"].get("content", "")


def test_an_invalid_request_is_refused_before_the_stream_begins(reference: Talk) -> None:
    response = reference.ask("Hi", stream=True, temperature=9)
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/json"
    assert json.loads(response.content)["error"]["param"] == "temperature"


def test_each_event_is_a_chunk_of_its_own(reference: Talk) -> None:
    body = b'{"model":"reference","stream":true,"messages":[{"role":"user","content":"[[plain]]"}]}'
    head = (
        f"POST {urlsplit(reference.base).path}/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Authorization: Bearer sk-reference\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    answer = exchange(reference.base, head.encode() + body).partition(b"\r\n\r\n")[2]
    chunks = []
    while answer:
        size, _, answer = answer.partition(b"\r\n")
        chunks.append(answer[: int(size, 16)])
        answer = answer[int(size, 16) + 2 :]
    assert chunks[-1] == b""
    assert all(c.startswith(b"data: ") and c.endswith(b"\n\n") and c.count(b"\n") == 2 for c in chunks[:-1])
