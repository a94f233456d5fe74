"""ollama-python and this wire read the same answers alike, and this wire reads what ollama-python sends."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.types import (
    Image,
    JsonSchemaFormat,
    Message,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
)

from . import ollama_kit as kit
from .gemini_kit import PNG
from .loopback import Loopback, loopback
from .ollama_kit import NDJSON, SPELLING, WIRE, last, line, ndjson, response

without_pictures = kit.turns().map(
    lambda turn: replace(turn, parts=tuple(part for part in turn.parts if not isinstance(part, Image)))
)
slow = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as state:
        yield state


@pytest.fixture
def client(server: Loopback) -> Any:
    import ollama

    return ollama.Client(host=server.url)


def said_by(messages: list[Any]) -> tuple[str, str, list[tuple[str, Any]]]:
    calls = [call.function for message in messages for call in message.tool_calls or ()]
    return (
        "".join(message.thinking or "" for message in messages),
        "".join(message.content or "" for message in messages),
        [(function.name, function.arguments) for function in calls],
    )


def said_in(turn: Turn) -> tuple[str, str, list[tuple[str, Any]]]:
    return turn.reasoning, turn.text, [(call.name, json.loads(call.arguments)) for call in turn.calls]


@slow
@given(without_pictures)
def test_the_sdk_reads_every_answer_of_ours_as_we_do(turn: Turn) -> None:
    from ollama import ChatResponse

    theirs = ChatResponse.model_validate(WIRE.encode_turns([turn], model="m", losses=[]))
    assert said_by([theirs.message]) == said_in(turn)
    assert theirs.done is (turn.finish_reason is not None)


@slow
@given(without_pictures, st.integers(0, 2**32).map(random.Random))
def test_the_sdk_gets_from_a_stream_of_ours_what_we_get(
    server: Loopback, client: Any, turn: Turn, chance: random.Random
) -> None:
    stream = ndjson(kit.lines(WIRE.encode_turns([turn], model="m", losses=[]), chance))
    server.answer(stream, "application/x-ndjson")
    theirs = [part.message for part in client.chat(model="m", messages=[], stream=True)]
    (ours,) = WIRE.decode(response(stream, headers=NDJSON))
    assert said_by(theirs) == said_in(ours)


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_what_the_sdk_sends_is_read(server: Loopback, client: Any) -> None:
    server.answer(last())
    client.chat(
        model="m",
        messages=[
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "hi", "images": [PNG]},
            {
                "role": "assistant",
                "content": "",
                "thinking": "t",
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "ok"},
        ],
        tools=[
            {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": SCHEMA}}
        ],
        think="low",
        format=SCHEMA,
        logprobs=True,
        top_logprobs=2,
        options={"temperature": 0.5, "num_predict": 5, "seed": 7, "num_ctx": 4096},
        keep_alive="5m",
    )
    path, _, body = server.sent[-1]
    assert path == WIRE.path("m", False)
    assert WIRE.decode_request(body) == Request(
        (
            Message.system("be kind"),
            Message("user", (Text("hi"), Image(f"data:image/png;base64,{PNG}"))),
            Message("assistant", (Reasoning("t", SPELLING), ToolCall("call_0", "f", '{"a":1}'))),
            Message("tool", (Text("ok"),), "call_0"),
        ),
        tools=(Tool("f", "Does it.", SCHEMA),),
        response_format=JsonSchemaFormat("response", SCHEMA, False),
        max_tokens=5,
        temperature=0.5,
        echo_reasoning=True,
        extra={"seed": 7, "logprobs": True, "top_logprobs": 2, "reasoning_effort": "low"},
        native={"ollama": {"keep_alive": "5m", "options": {"num_ctx": 4096}}},
    )


def test_what_we_send_is_what_the_sdk_would_send(server: Loopback, client: Any) -> None:
    server.answer(last())
    call = ToolCall("call_0", "f", '{"a":"x"}')
    messages = (Message.user("hi"), Message("assistant", (call,)), Message.tool(call, "ok"))
    request = Request(messages, tools=(Tool("f", "Does it.", SCHEMA),), max_tokens=5)
    body: dict[str, Any] = WIRE.encode(request, model="m", losses=[])
    client.chat(**body)
    del body["messages"][1]["content"]
    assert server.sent[-1][2] == body, "the SDK leaves out an empty content, which the schema requires"


def test_the_sdk_drops_the_ids_of_calls(server: Loopback, client: Any) -> None:
    body = line({"tool_calls": [kit.call("f", {}, id="c1")]}, done=True, done_reason="stop")
    server.answer(body)
    (theirs,) = client.chat(model="m", messages=[]).message.tool_calls
    assert not hasattr(theirs, "id")
    assert WIRE.decode(response(body))[0].calls[0].id == "c1"


def test_the_sdk_refuses_the_pictures_that_an_answer_may_hold() -> None:
    from ollama import ChatResponse
    from pydantic import ValidationError

    body = line({"images": [PNG]}, done=True, done_reason="stop")
    with pytest.raises(ValidationError, match="images"):
        ChatResponse.model_validate(body)
    assert WIRE.decode(response(body))[0].parts == (Image(f"data:image/png;base64,{PNG}"),)


def test_an_error_line_is_read_as_the_sdk_reads_it(server: Loopback, client: Any) -> None:
    import ollama

    stream = ndjson([line({"content": "a"}), {"error": "boom"}])
    server.answer(stream, "application/x-ndjson")
    with pytest.raises(ollama.ResponseError) as caught:
        list(client.chat(model="m", messages=[], stream=True))
    found = WIRE.error_of(response(stream, headers=NDJSON))
    assert found is not None
    assert found.message == caught.value.error
