"""OpenAI's SDK and the simulator understand each other over the Responses wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.simulator import Simulator
from conformance.types import Reasoning, Refusal, Text, ToolCall, Turn

from .responses_support import TOOLS
from .support import SCRIPTS


@pytest.fixture(scope="module")
def sdk(simulator: Simulator) -> Iterator[Any]:
    openai = pytest.importorskip("openai")
    url = simulator.base_url("reference", "openai-responses")
    with openai.OpenAI(base_url=url, api_key="sk-reference", max_retries=0) as client:
        yield client.responses


def asked(prompt: Any, **members: Any) -> dict[str, Any]:
    return {
        "model": "reference",
        "input": prompt,
        "tools": TOOLS,
        "reasoning": {"summary": "auto"},
        **members,
    }


def answered(sdk: Any, stream: bool, **members: Any) -> Any:
    if not stream:
        return sdk.create(**members)
    with sdk.stream(**members) as events:
        return events.get_final_response()


def said(response: Any) -> list[tuple[Any, ...]]:
    """The parts of a response, calls as values."""
    spoken: list[tuple[Any, ...]] = []
    for item in response.output:
        match item.type:
            case "message":
                spoken += [(part.type, getattr(part, "text", None) or part.refusal) for part in item.content]
            case "reasoning":
                spoken.append(("reasoning", "".join(part.text for part in item.summary)))
            case "function_call":
                spoken.append(("call", item.name, json.loads(item.arguments)))
    return spoken


def scripted(turn: Turn) -> list[tuple[Any, ...]]:
    """The parts of a turn, in the same form."""
    spoken: list[tuple[Any, ...]] = []
    for part in turn.parts:
        match part:
            case Text(words):
                spoken.append(("output_text", words))
            case Refusal(words):
                spoken.append(("refusal", words))
            case Reasoning(words):
                spoken.append(("reasoning", words))
            case ToolCall(_, name, arguments):
                spoken.append(("call", name, json.loads(arguments)))
    return spoken


WHOLE_AND_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@WHOLE_AND_STREAM
@pytest.mark.parametrize("name", ["plain", "call", "parallel", "mixed", "thinking", "interleaved", "refusal"])
def test_a_response_is_the_scripted_turn(sdk: Any, name: str, stream: bool) -> None:
    response = answered(sdk, stream, **asked(f"[[{name}]]"))
    assert said(response) == scripted(SCRIPTS[name])
    assert (response.status, response.output_text) == ("completed", SCRIPTS[name].text)
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


@WHOLE_AND_STREAM
@pytest.mark.parametrize("store", [True, False], ids=["stored", "stateless"])
def test_a_conversation_goes_on_with_what_the_sdk_sends_back(sdk: Any, stream: bool, store: bool) -> None:
    include = ["reasoning.encrypted_content"]
    first = answered(sdk, stream, **asked("[[interleaved]]", store=store, include=include))
    outputs = [
        {"type": "function_call_output", "call_id": item.call_id, "output": "[[done/1]]"}
        for item in first.output
        if item.type == "function_call"
    ]
    given = [{"role": "user", "content": "Hi"}, *first.output, *outputs]
    assert sdk.create(**asked(given, store=store)).output_text == "It is sunny."
    if store:
        second = sdk.create(**asked(outputs, previous_response_id=first.id))
        assert second.output_text == "It is sunny."


@WHOLE_AND_STREAM
def test_structured_output_is_parsed(sdk: Any, stream: bool) -> None:
    pydantic = pytest.importorskip("pydantic")
    answer = pydantic.create_model("Answer", city=(str, ...), days=(int, ...))
    members = {**asked("Hi"), "tools": [], "text_format": answer}
    response = answered(sdk, True, **members) if stream else sdk.parse(**members)
    assert isinstance(response.output_parsed, answer)


def test_the_sdks_own_function_tools_are_accepted(sdk: Any) -> None:
    openai = pytest.importorskip("openai")
    pydantic = pytest.importorskip("pydantic")
    tool = openai.pydantic_function_tool(pydantic.create_model("get_weather", city=(str, ...)))
    response = sdk.parse(**{**asked("[[call]]"), "tools": [tool]})
    assert response.output[-1].parsed_arguments.city == "Malmö"


def test_logprobs_are_understood(sdk: Any) -> None:
    members = asked("[[plain]]", include=["message.output_text.logprobs"], top_logprobs=2)
    part = answered(sdk, True, **members).output[0].content[0]
    assert "".join(entry.token for entry in part.logprobs) == part.text


ERRORS: list[tuple[dict[str, Any], str, str | None]] = [
    ({"temperature": 9}, "BadRequestError", "above_max_value"),
    ({"model": "nope"}, "BadRequestError", "model_not_found"),
    ({"previous_response_id": "resp_1"}, "BadRequestError", "previous_response_not_found"),
    ({"extra_headers": {"authorization": "Bearer sk-wrong"}}, "AuthenticationError", "invalid_api_key"),
    ({"input": [{"type": "item_reference", "id": "msg_nowhere"}]}, "NotFoundError", None),
]


@pytest.mark.parametrize(("members", "error", "code"), ERRORS)
@WHOLE_AND_STREAM
def test_errors_are_of_their_class(
    sdk: Any, members: dict[str, Any], error: str, code: str | None, stream: bool
) -> None:
    import openai

    with pytest.raises(getattr(openai, error)) as raised:
        answered(sdk, stream, **{**asked("Hi"), **members})
    assert raised.value.code == code
    assert raised.value.request_id


def test_the_raw_events_are_all_known_to_the_sdk(sdk: Any) -> None:
    with sdk.create(**asked("[[interleaved]]"), stream=True) as events:
        kinds = [(type(event).__name__, event.type) for event in events]
    assert all(name.startswith("Response") and name.endswith("Event") for name, _ in kinds)
    assert kinds[-1] == ("ResponseCompletedEvent", "response.completed")


def test_the_sdks_helper_has_no_final_response_of_an_incomplete_one(sdk: Any) -> None:
    """A fault of openai-python 3.57.0: the response is there, in the event ``response.incomplete``."""
    with sdk.stream(**asked("word " * 100, max_output_tokens=16)) as events:
        last = list(events)[-1]
        assert (last.type, last.response.status) == ("response.incomplete", "incomplete")
        with pytest.raises(RuntimeError, match=r"response\.completed"):
            events.get_final_response()
