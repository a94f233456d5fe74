"""The OpenAI SDK reads what this wire writes, and this wire reads what the SDK sends."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.types import (
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
)

from .answers import sse
from .responses_answers import NAME, WIRE, answer, call, datas, events, message, own, read, reasoning, turns

chances = st.integers(0, 2**32).map(random.Random)


def as_the_sdk_sees(output: list[Any]) -> list[tuple[str, ...]]:
    """The SDK's items in the words of ``as_we_do``."""
    seen: list[tuple[str, ...]] = []
    for item in output:
        if item.type == "message":
            seen += [(c.type, c.refusal if c.type == "refusal" else c.text) for c in item.content]
        elif item.type == "function_call":
            seen.append(("call", item.call_id, item.name, item.arguments))
        elif item.type == "custom_tool_call":
            seen.append(("call", item.call_id, item.name, item.input))
        else:
            seen.append((item.type, *(part.text for part in item.content or item.summary)))
    return seen


def as_we_do(parts: tuple[Part, ...]) -> list[tuple[str, ...]]:
    words: dict[type, str] = {Text: "output_text", Refusal: "refusal", Reasoning: "reasoning"}
    return [
        ("call", part.id, part.name, part.arguments)
        if isinstance(part, ToolCall)
        else (words[type(part)], part.text)  # type: ignore[union-attr]
        for part in parts
    ]


@settings(deadline=None, max_examples=40)  # the SDK's import and pydantic's first model are slow
@given(turns())
def test_the_sdks_types_accept_an_answer_and_say_the_same(turn: Turn) -> None:
    from openai.types.responses import Response

    response = Response.model_validate(WIRE.encode_turns([turn], model="m", losses=[]), strict=True)
    assert as_the_sdk_sees(response.output) == as_we_do(turn.parts)
    assert response.output_text == turn.text


@settings(deadline=None, max_examples=40)
@given(turns(), chances)
def test_the_sdks_stream_accumulator_agrees(turn: Turn, chance: random.Random) -> None:
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent
    from pydantic import TypeAdapter

    body = WIRE.encode_turns([turn], model="m", losses=[]) | {"status": "completed", "error": None}
    adapter: Any = TypeAdapter(ResponseStreamEvent)
    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in events(body, chance):
        state.handle_event(adapter.validate_python(event))
    assert as_the_sdk_sees(state._completed_response.output) == as_we_do(read(body).parts)


# ---------------------------------------------------------------------------------- over a loopback socket


class Loopback(HTTPServer):
    """Keeps the bodies it gets, and answers with ``answers`` in turn."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[Any] = []
        self.paths: list[str] = []
        self.answers: list[tuple[str, bytes]] = []


class Handler(BaseHTTPRequestHandler):
    server: Loopback

    def do_POST(self) -> None:
        self.server.paths.append(self.path)
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        kind, body = self.server.answers.pop(0)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def client(server: Loopback) -> Any:
    from openai import OpenAI

    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    return OpenAI(api_key="k", base_url=url, max_retries=0)


def as_json(*output: Any) -> tuple[str, bytes]:
    full = WIRE.encode_turns([], model="m", losses=[])
    return "application/json", json.dumps(full | answer(*output)).encode()


SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
HI = Message.user("hi")
SENT: list[tuple[dict[str, Any], Request]] = [
    ({"input": "hi"}, Request((HI,))),
    (
        {
            "input": "hi",
            "instructions": "be brief",
            "store": False,
            "include": ["reasoning.encrypted_content"],
        },
        Request(
            (Message.system("be brief"), HI),
            native={NAME: {"store": False, "include": ["reasoning.encrypted_content"]}},
        ),
    ),
    (
        {
            "input": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}],
            "tool_choice": {"type": "function", "name": "f"},
            "parallel_tool_calls": False,
            "max_output_tokens": 64,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "out", "schema": SCHEMA, "strict": True}},
        },
        Request(
            (HI,),
            tools=(Tool("f", "", SCHEMA, True),),
            tool_choice=NamedChoice("f"),
            parallel_tool_calls=False,
            max_tokens=64,
            response_format=JsonSchemaFormat("out", SCHEMA, True),
            extra={"reasoning_effort": "low"},
            native={NAME: {"reasoning": {"summary": "auto"}}},
        ),
    ),
]


@pytest.mark.parametrize(("arguments", "request_"), SENT, ids=["string", "stateless", "tools"])
def test_what_the_sdk_sends_decodes(loopback: Loopback, arguments: Any, request_: Request) -> None:
    loopback.answers = [as_json(message("hello"))]
    assert client(loopback).responses.create(model="m", **arguments).output_text == "hello"
    assert loopback.paths == ["/v1" + WIRE.path("m", stream=False)]
    assert WIRE.decode_request(loopback.bodies[0]) == request_


def test_output_that_the_sdk_feeds_back_is_the_turn_that_we_read(loopback: Loopback) -> None:
    output = [reasoning("why", encrypted_content="gAAA=="), message("a", phase="commentary"), call()]
    loopback.answers = [as_json(*output), as_json(message("done"))]
    speaking = client(loopback)
    first = speaking.responses.create(model="m", input="hi")
    result = {"type": "function_call_output", "call_id": "call_1", "output": "1"}
    speaking.responses.create(model="m", input=[*first.output, result])
    turn = read(answer(*output))
    asked = WIRE.decode_request(loopback.bodies[1])
    assert asked.messages == (Message.assistant(turn), Message.tool(turn.calls[0], "1"))
    assert asked.echo_reasoning
    assert turn.parts[0].opaque == own(item=output[0])


def test_the_sdks_stream_over_the_wire_says_what_ours_does(loopback: Loopback) -> None:
    body = json.loads(as_json(message("hello"), call(arguments='{"a": 1}'))[1])
    stream = sse(datas(events(body, random.Random(1))))
    loopback.answers = [("text/event-stream", stream)]
    with client(loopback).responses.stream(model="m", input="hi") as told:
        final = told.get_final_response()
    assert as_the_sdk_sees(final.output) == as_we_do(read(body).parts)
    assert WIRE.decode_request(loopback.bodies[0]).stream
