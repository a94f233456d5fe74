"""The official Anthropic SDK and this wire read and write alike."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.types import (
    File,
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
)
from conformance.wires.anthropic_parameters import FORMAT_NAME

from .anthropic_answers import WIRE, A, answer, assemble, encode, events, sse, turns, whole

anthropic: Any = pytest.importorskip("anthropic", reason="the anthropic SDK is not installed")


class Loopback:
    """A server on 127.0.0.1 that keeps what it was sent and answers what it is told to."""

    def __init__(self) -> None:
        self.sent: dict[str, Any] = {}
        self.headers: dict[str, str] = {}
        self.answer: bytes = b""
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                loopback.sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                loopback.headers = {name.lower(): value for name, value in self.headers.items()}
                loopback.path = self.path
                self.send_response(200)
                kind = "text/event-stream" if loopback.sent.get("stream") else "application/json"
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(loopback.answer)))
                self.end_headers()
                self.wfile.write(loopback.answer)

            def log_message(self, *_: Any) -> None:
                pass

        self.path = ""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        base_url = f"http://127.0.0.1:{self.server.server_port}"
        self.client = anthropic.Anthropic(base_url=base_url, api_key="k", max_retries=0)

    def close(self) -> None:
        self.client.close()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    found = Loopback()
    yield found
    found.close()


def said_by(content: Any) -> list[Any]:
    """The SDK's blocks as comparable values; members it fills with null are left out."""
    return [{k: v for k, v in block.to_dict().items() if v is not None} for block in content]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
SIGNED = Reasoning("hm", "thinking", {A: {"signature": "EqQ="}})
CALL = ToolCall("toolu_1", "f", '{"a":1}')
REQUESTS: list[tuple[dict[str, Any], Request]] = [
    ({"messages": [{"role": "user", "content": "hi"}]}, Request((Message.user("hi"),))),
    (
        {
            "system": "s",
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True}],
            "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
            "stop_sequences": ["x"],
            "metadata": {"user_id": "u"},
            "service_tier": "standard_only",
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        },
        Request(
            (Message.system("s"), Message.user("hi")),
            tools=(Tool("f", "d", SCHEMA, True),),
            tool_choice=NamedChoice("f"),
            parallel_tool_calls=False,
            stop=("x",),
            response_format=JsonSchemaFormat(FORMAT_NAME, SCHEMA, False),
            extra={"user": "u", "service_tier": "default"},
        ),
    ),
    (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
                        {
                            "type": "document",
                            "source": {
                                "type": "base64",
                                "media_type": "application/pdf",
                                "data": "JVBERi0=",
                            },
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "EqQ="},
                        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_1",
                            "content": [{"type": "text", "text": "r"}],
                            "is_error": True,
                        },
                        {"type": "text", "text": "go on"},
                    ],
                },
            ],
            "thinking": {"type": "adaptive"},
        },
        Request(
            (
                Message(
                    "user",
                    (Text("see"), Image("https://x/y.png"), File("data:application/pdf;base64,JVBERi0=")),
                ),
                Message("assistant", (SIGNED, CALL)),
                Message("tool", (Text("r"),), "toolu_1", is_error=True),
                Message.user("go on"),
            ),
            echo_reasoning=True,
            native={A: {"thinking": {"type": "adaptive"}}},
        ),
    ),
]


@pytest.mark.parametrize(("arguments", "request_"), REQUESTS)
def test_what_the_sdk_sends_is_the_request_it_means(
    loopback: Loopback, arguments: dict[str, Any], request_: Request
) -> None:
    loopback.answer = json.dumps(answer({"type": "text", "text": "ok"})).encode()
    loopback.client.messages.create(model="m", max_tokens=10, **arguments)
    assert WIRE.decode_request(loopback.sent) == replace(request_, max_tokens=10)
    assert loopback.path == WIRE.path("m", False)


def test_the_sdk_sends_its_key_as_a_bearer_token_and_a_newer_version(loopback: Loopback) -> None:
    """SDK 2.14.0; its 1.x and the API reference say ``x-api-key`` and 2023-06-01, which is what we send."""
    loopback.answer = json.dumps(answer()).encode()
    loopback.client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "hi"}])
    assert loopback.headers["authorization"] == "Bearer k"
    assert "x-api-key" not in loopback.headers
    assert loopback.headers["anthropic-version"] > dict(WIRE.headers)["anthropic-version"]


def test_the_sdk_takes_what_an_answer_said_as_the_next_message(loopback: Loopback) -> None:
    turn = Turn((SIGNED, Text("t"), CALL), "tool_calls", id="msg_1", model="m")
    loopback.answer = json.dumps(WIRE.encode_turns([turn], model="m", losses=[])).encode()
    message = loopback.client.messages.create(
        model="m", max_tokens=10, messages=[{"role": "user", "content": "hi"}]
    )
    echo = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": message.content}]
    loopback.client.messages.create(model="m", max_tokens=10, messages=echo)
    ours = Request((Message.user("hi"), Message.assistant(turn)), max_tokens=10, echo_reasoning=True)
    assert WIRE.decode_request(loopback.sent) == ours
    assert encode(ours)[0]["messages"] == WIRE.encode(ours, model="m", losses=[])["messages"]


@settings(max_examples=60)
@given(turns())
def test_the_sdks_types_accept_every_answer_we_write(turn: Turn) -> None:
    body = WIRE.encode_turns([turn], model="m", losses=[])
    message = anthropic.types.Message.model_validate(body)
    assert said_by(message.content) == body["content"]
    assert message.stop_reason == body["stop_reason"]
    assert message.usage.input_tokens + (message.usage.cache_read_input_tokens or 0) + (
        message.usage.cache_creation_input_tokens or 0
    ) == (turn.usage.prompt_tokens if turn.usage else 0)


@settings(max_examples=60)
@given(turns(), st.integers(0, 2**32).map(random.Random))
def test_the_sdks_stream_accumulator_agrees(turn: Turn, chance: random.Random) -> None:
    from anthropic.lib.streaming._messages import accumulate_event

    streamed: list[Any] = events(whole(turn), chance)
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in streamed:
        if event["type"] != "ping":
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    ours = WIRE.encode_turns([assemble(streamed)], model="m", losses=[])
    assert said_by(snapshot.content) == ours["content"]
    assert (snapshot.id, snapshot.stop_reason, snapshot.stop_sequence) == (
        ours["id"],
        ours["stop_reason"],
        ours["stop_sequence"],
    )
    usage = {k: v for k, v in snapshot.usage.to_dict().items() if v is not None}
    assert usage == ours["usage"]


def test_the_sdk_streams_what_we_decode(loopback: Loopback) -> None:
    turn = Turn((SIGNED, Text("é \U0001f600"), CALL), "tool_calls", id="msg_1", model="m")
    loopback.answer = sse(events(WIRE.encode_turns([turn], model="m", losses=[]), random.Random(1)))
    with loopback.client.messages.stream(
        model="m", max_tokens=10, messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        theirs = stream.get_final_message()
    assert WIRE.decode_request(loopback.sent).stream is True
    assert said_by(theirs.content) == WIRE.encode_turns([turn], model="m", losses=[])["content"]


def test_the_sdk_takes_a_cut_input_for_whole_where_we_keep_the_text() -> None:
    """SDK 2.14.0 parses pieces in partial mode, so a call that max_tokens cut looks complete."""
    from anthropic.lib.streaming._messages import accumulate_event

    body = answer(stop_reason="max_tokens")
    start = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    cut: list[Any] = [
        {"type": "message_start", "message": answer(stop_reason=None)},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"a": 1, "b": '},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": body["stop_reason"]},
            "usage": {"output_tokens": 1},
        },
    ]
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in cut:
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    assert snapshot.content[0].input == {"a": 1}
    ours = assemble(cut)
    assert (ours.calls[0].arguments, ours.finish_reason) == ('{"a": 1, "b": ', "length")
    assert [fact.name for fact in ours.facts] == ["input-not-json"]
