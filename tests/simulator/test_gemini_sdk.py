"""The official Google SDK against the simulator: it parses what is sent, and what it sends is taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.simulator import Simulator
from conformance.types import Reasoning, Text, ToolCall

from .gemini_support import TIME, WEATHER
from .support import SCRIPTS

FUNCTIONS = [{"function_declarations": [WEATHER, TIME]}]
THOUGHTS = {"thinking_config": {"include_thoughts": True}}
TOOLS: dict[str, Any] = {"tools": FUNCTIONS, "automatic_function_calling": {"disable": True}, **THOUGHTS}


@pytest.fixture(scope="module")
def sdk(simulator: Simulator) -> Iterator[Any]:
    with_key = client(simulator)
    yield with_key.models
    with_key.close()


def client(simulator: Simulator, key: str = "sk-reference") -> Any:
    from google import genai

    options: Any = {"base_url": simulator.base_url("reference", "gemini")}
    return genai.Client(api_key=key, vertexai=False, http_options=options)


def ask(sdk: Any, contents: Any, streamed: bool = False, **config: Any) -> list[Any]:
    """The responses: one, or one a chunk."""
    asked = {"model": "reference", "contents": contents, "config": config}
    return list(sdk.generate_content_stream(**asked)) if streamed else [sdk.generate_content(**asked)]


def said(responses: list[Any]) -> list[tuple[str, Any]]:
    """What the SDK makes of the parts, fragments of one kind joined."""
    found: list[tuple[str, Any]] = []
    for part in (part for r in responses for part in r.candidates[0].content.parts or ()):
        if part.function_call:
            found.append(("call", (part.function_call.name, part.function_call.args)))
            continue
        kind = "thought" if part.thought else "text"
        if found and found[-1][0] == kind:
            found[-1] = (kind, found[-1][1] + part.text)
        else:
            found.append((kind, part.text))
    return found


def scripted(script: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for part in SCRIPTS[script].parts:
        match part:
            case Reasoning(text):
                found.append(("thought", text))
            case Text(text):
                found.append(("text", text))
            case ToolCall(_, name, arguments):
                found.append(("call", (name, json.loads(arguments))))
    return found


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("script", ["plain", "call", "parallel", "mixed", "thinking", "interleaved"])
def test_the_sdk_reads_the_scripted_turn(sdk: Any, script: str, streamed: bool) -> None:
    responses = ask(sdk, f"[[{script}]]", streamed, **TOOLS)
    assert said(responses) == scripted(script)
    assert responses[-1].candidates[0].finish_reason.name == "STOP"
    usage = responses[-1].usage_metadata
    spent = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    assert usage.total_token_count == usage.prompt_token_count + spent


@pytest.mark.parametrize("streamed", [False, True])
def test_a_conversation_of_the_sdk_s_own_contents_is_taken(sdk: Any, streamed: bool) -> None:
    from google.genai import types

    asked = types.UserContent("[[parallel]]")
    responses = ask(sdk, [asked], streamed, **TOOLS)
    parts = [part for r in responses for part in r.candidates[0].content.parts]
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=part.function_call.id, name=part.function_call.name, response={"output": "[[done/1]]"}
            )
        )
        for part in parts
    ]
    history = [asked, types.ModelContent(parts), types.UserContent(results)]
    assert ask(sdk, history, streamed, **TOOLS)[0].candidates[0].content.parts[0].text.startswith("It")


def test_automatic_function_calling_goes_round(sdk: Any) -> None:
    asked: list[str] = []

    def get_weather(city: str, days: int) -> str:
        """The weather in a city."""
        asked.append(f"{city}/{days}")
        return "[[done/1]]"

    (response,) = ask(sdk, "[[call]]", tools=[get_weather])
    assert asked == ["Malmö/3"]
    assert response.text == "It is sunny."


def test_a_chat_session_streams(simulator: Simulator) -> None:
    with_key = client(simulator)
    chat = with_key.chats.create(model="reference")
    first = "".join(chunk.text for chunk in chat.send_message_stream("[[plain]]"))
    assert first == SCRIPTS["plain"].text
    assert chat.send_message("[[done/1]]").text == "It is sunny."
    with_key.close()


def test_a_response_schema_is_parsed(sdk: Any) -> None:
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str
        days: list[int]

    config: dict[str, Any] = {"response_mime_type": "application/json", "response_schema": Place}
    (response,) = ask(sdk, "Hi", **config)
    assert isinstance(response.parsed, Place)


def test_many_settings_are_taken_as_the_sdk_sends_them(sdk: Any) -> None:
    (response,) = ask(
        sdk,
        "[[plain]]",
        system_instruction="Be brief.",
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        seed=7,
        candidate_count=2,
        max_output_tokens=5,
        stop_sequences=["zebra"],
        presence_penalty=0.1,
        frequency_penalty=0.1,
        response_logprobs=True,
        logprobs=2,
        safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        tools=FUNCTIONS,
        tool_config={"function_calling_config": {"mode": "NONE"}},
    )
    assert [candidate.finish_reason.name for candidate in response.candidates] == ["MAX_TOKENS"] * 2
    assert len(response.candidates[0].logprobs_result.chosen_candidates) == 5


def test_media_and_media_in_results_are_taken(sdk: Any) -> None:
    from google.genai import types

    picture = types.Part.from_bytes(data=b"hi", mime_type="image/png")
    blob = types.FunctionResponsePart.from_bytes(data=b"hi", mime_type="image/png")
    result = types.Part.from_function_response(name="look", response={"output": "seen"}, parts=[blob])
    history = [
        types.UserContent(["Look", picture]),
        types.ModelContent(types.Part.from_function_call(name="look", args={})),
        types.UserContent(result),
    ]
    assert ask(sdk, history)[0].text == "look({}) returned: seen"


def test_the_models_are_listed_and_found(sdk: Any) -> None:
    assert [entry.name for entry in sdk.list()] == ["models/reference"]
    entry = sdk.get(model="reference")
    assert entry.supported_actions == ["generateContent", "streamGenerateContent"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("model", "key", "config", "code", "status"),
    [
        ("reference", "sk-reference", {"temperature": 9}, 400, "INVALID_ARGUMENT"),
        ("reference", "sk-wrong", {}, 400, "INVALID_ARGUMENT"),
        ("nope", "sk-reference", {}, 404, "NOT_FOUND"),
    ],
)
def test_errors_are_of_their_class(
    simulator: Simulator, model: str, key: str, config: Any, code: int, status: str, streamed: bool
) -> None:
    from google.genai import errors

    refused = client(simulator, key)
    method = refused.models.generate_content_stream if streamed else refused.models.generate_content
    with pytest.raises(errors.ClientError) as raised:
        list(method(model=model, contents="Hi", config=config))
    assert (raised.value.code, raised.value.status) == (code, status)
    refused.close()
