"""Anthropic's SDK understands what the simulator writes, and the simulator what it sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.simulator import Simulator
from conformance.types import Reasoning, Text, ToolCall, Turn

from .anthropic_support import COMPUTER, THINKING, TIME, WEATHER, user
from .support import SCRIPTS

TOOLS = [WEATHER, TIME]
REASONS = {None: "end_turn", "stop": "end_turn", "tool_calls": "tool_use", "content_filter": "refusal"}


@pytest.fixture(scope="module")
def sdk(simulator: Simulator) -> Iterator[Any]:
    anthropic = pytest.importorskip("anthropic")
    url = simulator.base_url("reference", "anthropic-messages")
    with anthropic.Anthropic(base_url=url, api_key="sk-reference", max_retries=0) as client:
        yield client


def asked(prompt: str, **members: Any) -> dict[str, Any]:
    return {"model": "reference", "max_tokens": 4096, "messages": [user(prompt)], **members}


def streamed(sdk: Any, **members: Any) -> Any:
    with sdk.messages.stream(**members) as stream:
        return stream.get_final_message()


def said(message: Any) -> list[tuple[Any, ...]]:
    """The blocks of a message, calls as values."""
    spoken: list[tuple[Any, ...]] = []
    for block in message.content:
        match block.type:
            case "tool_use":
                spoken.append(("call", block.name, block.input))
            case kind:
                spoken.append((kind, getattr(block, kind)))
    return spoken


def scripted(turn: Turn) -> list[tuple[Any, ...]]:
    """The parts of a turn, in the same form."""
    spoken: list[tuple[Any, ...]] = []
    for part in turn.parts:
        match part:
            case ToolCall(_, name, arguments):
                spoken.append(("call", name, json.loads(arguments)))
            case Reasoning(words):
                spoken.append(("thinking", words))
            case Text(words):
                spoken.append(("text", words))
            case _:
                raise AssertionError(part)
    return spoken


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    "name", ["plain", "call", "parallel", "mixed", "thinking", "interleaved", "filtered"]
)
def test_a_message_is_the_scripted_turn(sdk: Any, name: str, stream: bool) -> None:
    turn = SCRIPTS[name]
    members = asked(f"[[{name}]]", tools=TOOLS, thinking={"type": "adaptive"})
    message = streamed(sdk, **members) if stream else sdk.messages.create(**members)
    assert said(message) == scripted(turn)
    reason = REASONS["tool_calls" if turn.calls else turn.finish_reason]
    assert message.stop_reason == reason
    assert message.usage.output_tokens > 0


def test_whole_and_stream_cost_the_same(sdk: Any) -> None:
    members = asked("[[interleaved]]", tools=TOOLS, thinking=THINKING)
    assert streamed(sdk, **members).usage == sdk.messages.create(**members).usage


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_conversation_goes_on_with_what_the_sdk_sends_back(sdk: Any, stream: bool) -> None:
    members = asked("[[interleaved]]", tools=TOOLS, thinking=THINKING)
    first = streamed(sdk, **members) if stream else sdk.messages.create(**members)
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": f"{block.name} [[done/1]]"}
        for block in first.content
        if block.type == "tool_use"
    ]
    members["messages"] += [first.to_param(), {"role": "user", "content": results}]
    assert said(sdk.messages.create(**members)) == [("text", "It is sunny.")]


def test_structured_output_is_parsed(sdk: Any) -> None:
    pydantic = pytest.importorskip("pydantic")
    answer = pydantic.create_model("Answer", city=(str, ...), days=(int, ...))
    message = sdk.messages.parse(**asked("Hi"), output_format=answer)
    assert isinstance(message.parsed_output, answer)


def test_a_computer_is_used_under_its_beta(sdk: Any) -> None:
    message = sdk.beta.messages.create(
        **asked("[[screenshot]]", tools=[COMPUTER]),
        betas=["computer-use-2025-01-24", "context-management-2025-06-27"],
        context_management={"edits": [{"type": "clear_tool_uses_20250919"}]},
    )
    assert said(message) == [("call", "computer", {"action": "screenshot"})]
    assert message.context_management.applied_edits == []


def test_the_models(sdk: Any) -> None:
    assert [model.id for model in sdk.models.list()] == ["reference"]
    entry = sdk.models.retrieve("reference")
    assert (entry.type, entry.lifecycle, entry.capabilities.thinking.supported) == ("model", "active", True)


ERRORS: list[tuple[dict[str, Any], str, str]] = [
    ({"max_tokens": -1}, "BadRequestError", "invalid_request_error"),
    ({"model": "nope"}, "NotFoundError", "not_found_error"),
    ({"extra_headers": {"x-api-key": "sk-wrong"}}, "AuthenticationError", "authentication_error"),
]


@pytest.mark.parametrize(("members", "error", "kind"), ERRORS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_errors_are_of_their_class(
    sdk: Any, members: dict[str, Any], error: str, kind: str, stream: bool
) -> None:
    import anthropic

    with pytest.raises(getattr(anthropic, error)) as raised:
        sdk.messages.create(**{**asked("Hi"), **members}, stream=stream)
    assert raised.value.body["error"]["type"] == kind
    assert raised.value.request_id == raised.value.body["request_id"]


@pytest.mark.parametrize("helper", [False, True])
def test_the_sdk_keeps_pings_to_itself(sdk: Any, helper: bool) -> None:
    if helper:
        with sdk.messages.stream(**asked("[[plain]]")) as stream:
            kinds = {event.type for event in stream}
    else:
        with sdk.messages.create(**asked("[[plain]]"), stream=True) as events:
            kinds = {event.type for event in events}
    assert "message_stop" in kinds
    assert "ping" not in kinds
