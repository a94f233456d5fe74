"""The official SDK understands what the simulator writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from conformance.simulator import Simulator

from .support import SCRIPTS, TIME, WEATHER


def run(simulator: Simulator, work: Callable[[Any], Awaitable[Any]], key: str = "sk-reference") -> Any:
    import openai

    async def main() -> Any:
        base_url = simulator.base_url("reference")
        async with openai.AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
            return await work(client)

    return asyncio.run(main())


def ask(text: str, **members: Any) -> Callable[[Any], Awaitable[Any]]:
    async def work(client: Any) -> Any:
        messages = [{"role": "user", "content": text}]
        return await client.chat.completions.create(model="reference", messages=messages, **members)

    return work


def stream(text: str, **members: Any) -> Callable[[Any], Awaitable[Any]]:
    """The SDK's own accumulator: it fails on chunks that do not add up."""

    async def work(client: Any) -> Any:
        messages = [{"role": "user", "content": text}]
        asked = client.chat.completions.stream(model="reference", messages=messages, **members)
        async with asked as events:
            async for _ in events:
                pass
            return await events.get_final_completion()

    return work


def test_text(simulator: Simulator) -> None:
    assert run(simulator, ask("[[plain]]")).choices[0].message.content == SCRIPTS["plain"].text


def test_parallel_calls(simulator: Simulator) -> None:
    completion = run(simulator, ask("[[parallel]]", tools=[WEATHER, TIME]))
    calls = completion.choices[0].message.tool_calls
    assert [call.function.name for call in calls] == ["get_weather", "get_time"]


def test_a_text_stream(simulator: Simulator) -> None:
    completion = run(simulator, stream("[[plain]]", stream_options={"include_usage": True}))
    assert completion.choices[0].message.content == SCRIPTS["plain"].text
    assert completion.usage.total_tokens > 0


def test_a_stream_of_parallel_calls(simulator: Simulator) -> None:
    completion = run(simulator, stream("[[parallel]]", tools=[WEATHER, TIME]))
    calls = completion.choices[0].message.tool_calls
    assert [(c.function.name, c.function.arguments) for c in calls] == [
        ("get_weather", '{"city":"Paris"}'),
        ("get_time", "{}"),
    ]
    assert completion.choices[0].finish_reason == "tool_calls"


def test_the_models(simulator: Simulator) -> None:
    async def work(client: Any) -> Any:
        return [model.id async for model in client.models.list()]

    assert run(simulator, work) == ["reference"]


@pytest.mark.parametrize("form", [ask, stream])
@pytest.mark.parametrize(
    ("members", "key", "error"),
    [
        ({"temperature": 9}, "sk-reference", "BadRequestError"),
        ({}, "sk-wrong", "AuthenticationError"),
    ],
)
def test_errors_are_of_their_class(
    simulator: Simulator, form: Any, members: dict[str, Any], key: str, error: str
) -> None:
    import openai

    with pytest.raises(getattr(openai, error)) as raised:
        run(simulator, form("Hi", **members), key)
    assert raised.value.type == "invalid_request_error"
    assert raised.value.request_id


def test_an_unknown_model_is_not_found(simulator: Simulator) -> None:
    import openai

    async def work(client: Any) -> Any:
        return await client.models.retrieve("nope")

    with pytest.raises(openai.NotFoundError):
        run(simulator, work)
