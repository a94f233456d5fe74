"""google-genai and this wire read the same answers alike, and this wire reads what google-genai sends."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.types import (
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
from conformance.wires.gemini_names import to_gemini

from . import gemini_kit as kit
from .gemini_kit import PNG, STREAM_PATH, WIRE, answer, call, chunks, response, sse
from .loopback import Loopback, loopback

slow = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as state:
        yield state


@pytest.fixture
def client(server: Loopback) -> Any:
    from google import genai

    # The SDK's own default is v1 (3.6.1); the API reference is of v1beta.
    return genai.Client(api_key="k", http_options={"base_url": server.url, "api_version": "v1beta"})


def said_by(candidate: Any) -> list[tuple[Any, ...]]:
    """What the SDK read of a candidate: texts in a row joined, and calls."""
    out: list[tuple[Any, ...]] = []
    for part in candidate.content.parts or ():
        if part.function_call is not None:
            out.append((part.function_call.name, part.function_call.args, part.thought_signature))
        elif part.text is not None:
            out.append((part.text, part.thought or False, part.thought_signature))
    return out


def said_in(turn: Turn) -> list[tuple[Any, ...]]:
    out: list[tuple[Any, ...]] = []
    for part in turn.parts:
        signed = ((part.opaque or {}).get("gemini") or {}).get("thoughtSignature")
        signature = None if signed is None else base64.b64decode(signed)
        if isinstance(part, ToolCall):
            out.append((to_gemini(part.name), json.loads(part.arguments), signature))
        elif isinstance(part, Text | Reasoning) and (part.text or signature):
            out.append((part.text, isinstance(part, Reasoning), signature))
    return out


@slow
@given(kit.turns())
def test_the_sdk_reads_every_answer_of_ours_as_we_do(turns: tuple[Turn, ...]) -> None:
    from google.genai import types

    body = WIRE.encode_turns(turns, model="m", losses=[])
    theirs = types.GenerateContentResponse.model_validate(body)
    assert [said_by(candidate) for candidate in theirs.candidates or ()] == [said_in(turn) for turn in turns]
    usage = turns[0].usage
    if usage is not None:
        counts = theirs.usage_metadata
        assert counts is not None
        answered = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
        assert (counts.prompt_token_count, answered) == (usage.prompt_tokens, usage.completion_tokens)


@slow
@given(kit.turns(), st.integers(0, 2**32).map(random.Random))
def test_the_sdk_gets_from_a_stream_of_ours_what_we_get(
    server: Loopback, client: Any, turns: tuple[Turn, ...], chance: random.Random
) -> None:
    body = WIRE.encode_turns(turns[:1], model="m", losses=[])
    stream = sse(json.dumps(chunk) for chunk in chunks(body, chance))
    server.answer(stream, "text/event-stream")
    said: list[tuple[Any, ...]] = []
    for chunk in client.models.generate_content_stream(model="m", contents="hi"):
        for candidate in chunk.candidates or ():
            said += said_by(candidate)
    (ours,) = WIRE.decode(response(stream, headers=kit.SSE))
    assert joined(said) == joined(said_in(ours))


def joined(said: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Unsigned texts in a row as one; the SDK leaves that to its user."""
    out: list[tuple[Any, ...]] = []
    for item in said:
        plain = isinstance(item[1], bool) and item[2] is None
        if plain and not item[0]:
            continue
        if plain and out and isinstance(out[-1][1], bool) and out[-1][1:] == item[1:]:
            out[-1] = (out[-1][0] + item[0], *item[1:])
        else:
            out.append(item)
    return out


# ----------------------------------------------------------------------------------------------- requests

CONTENTS: list[Any] = [
    {
        "role": "user",
        "parts": [{"text": "hi"}, {"inline_data": {"mime_type": "image/png", "data": base64.b64decode(PNG)}}],
    },
    {
        "role": "model",
        "parts": [
            {"text": "t", "thought": True},
            {"function_call": {"id": "c1", "name": "f", "args": {"a": 1}}, "thought_signature": b"sig"},
        ],
    },
    {
        "role": "user",
        "parts": [{"function_response": {"id": "c1", "name": "f", "response": {"output": "ok"}}}],
    },
]


def test_what_the_sdk_sends_is_read(server: Loopback, client: Any) -> None:
    from google.genai import types

    server.answer(answer({"text": "a"}))
    config = types.GenerateContentConfig(
        system_instruction="be kind",
        temperature=0.5,
        top_p=0.25,
        top_k=3,
        max_output_tokens=5,
        stop_sequences=["x"],
        candidate_count=1,
        seed=7,
        response_mime_type="application/json",
        response_json_schema={"type": "object"},
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
        safety_settings=[
            types.SafetySetting(
                category=types.HarmCategory.HARM_CATEGORY_HARASSMENT,
                threshold=types.HarmBlockThreshold.OFF,
            )
        ],
        tools=[
            types.Tool(
                function_declarations=[
                    types.FunctionDeclaration(
                        name="f", description="Does it.", parameters_json_schema={"type": "object"}
                    ),
                    types.FunctionDeclaration(
                        name="g",
                        parameters=types.Schema(
                            type=types.Type.OBJECT, properties={"a": types.Schema(type=types.Type.STRING)}
                        ),
                    ),
                ]
            )
        ],
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(
                mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=["f"]
            )
        ),
    )
    client.models.generate_content(model="m", contents=CONTENTS, config=config)
    path, headers, body = server.sent[-1]
    assert (path, headers["x-goog-api-key"]) == (WIRE.path("m", False), "k")
    signed: Any = {"gemini": {"thoughtSignature": "c2ln"}}
    assert WIRE.decode_request(body, path=path) == Request(
        (
            Message.system("be kind"),
            Message("user", (Text("hi"), Image(f"data:image/png;base64,{PNG}"))),
            Message("assistant", (Reasoning("t", "thought"), ToolCall("c1", "f", '{"a":1}', signed))),
            Message("tool", (Text("ok"),), "c1"),
        ),
        tools=(
            Tool("f", "Does it.", {"type": "object"}),
            Tool("g", "", {"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        tool_choice=NamedChoice("f"),
        response_format=JsonSchemaFormat("response", {"type": "object"}, False),
        max_tokens=5,
        temperature=0.5,
        stop=("x",),
        n=1,
        echo_reasoning=True,
        extra={"top_p": 0.25, "seed": 7, "reasoning_effort": "low"},
        native={
            "gemini": {
                "generationConfig": {"topK": 3},
                "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
            }
        },
    )


def test_a_stream_is_asked_for_at_the_path_that_the_sdk_uses(server: Loopback, client: Any) -> None:
    server.answer(sse([json.dumps(answer({"text": "a"}))]), "text/event-stream")
    list(client.models.generate_content_stream(model="m", contents="hi"))
    path, _, body = server.sent[-1]
    assert path == STREAM_PATH
    assert WIRE.decode_request(body, path=path) == Request((Message.user("hi"),), stream=True)


def test_what_we_send_is_what_the_sdk_would_send(server: Loopback, client: Any) -> None:
    from google.genai import types

    server.answer(answer({"text": "a"}))
    tool = Tool("f", "Does it.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    request = Request(
        (Message.system("s"), Message.user("hi")), tools=(tool,), tool_choice="required", max_tokens=5
    )
    body: dict[str, Any] = WIRE.encode(request, model="m", losses=[])
    client.models.generate_content(
        model="m",
        contents=[types.Content.model_validate(content) for content in body["contents"]],
        config=types.GenerateContentConfig(
            system_instruction=types.Content.model_validate(body["systemInstruction"]),
            tools=[types.Tool.model_validate(body["tools"][0])],
            tool_config=types.ToolConfig.model_validate(body["toolConfig"]),
            max_output_tokens=5,
        ),
    )
    assert WIRE.decode_request(server.sent[-1][2]) == request


@pytest.mark.parametrize("status", [400, 429, 503])
def test_an_error_is_read_as_the_sdk_reads_it(server: Loopback, client: Any, status: int) -> None:
    from google.genai import errors

    body = {"error": {"code": status, "message": "no", "status": "UNAVAILABLE"}}
    server.answer(body, status=status)
    with pytest.raises(errors.APIError) as caught:
        client.models.generate_content(model="m", contents="hi")
    found = WIRE.error_of(response(body, status))
    assert found is not None
    assert (found.code, found.message, found.type) == (
        caught.value.code,
        caught.value.message,
        caught.value.status,
    )


def test_the_sdk_accepts_calls_with_arguments_in_pieces_which_its_user_must_put_together() -> None:
    from google.genai import types

    part = call("f", willContinue=True, partialArgs=[{"jsonPath": "$.a", "stringValue": "x"}])
    theirs: Any = types.GenerateContentResponse.model_validate(answer(part))
    theirs = theirs.candidates[0].content.parts[0]
    assert (theirs.function_call.args, len(theirs.function_call.partial_args)) == (None, 1)
    (ours,) = kit.read(part).calls
    assert ours.arguments == '{"a":"x"}'
