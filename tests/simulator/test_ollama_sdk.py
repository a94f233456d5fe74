"""The official Ollama client against the simulator: it parses what is sent, and what it sends is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.simulator import Persona, Simulator, running
from conformance.types import Text, Turn

from .support import SCRIPTS, TIME, WEATHER, user


@pytest.fixture(scope="module")
def sdk(simulator: Simulator) -> Any:
    import ollama

    return ollama.Client(host=simulator.base_url("reference", "ollama"))


def ask(sdk: Any, *messages: Any, stream: bool = False, **members: Any) -> list[Any]:
    """The responses: one, or one a line."""
    turns = [user(message) if isinstance(message, str) else message for message in messages]
    answered = sdk.chat("reference", turns, stream=stream, **members)
    return list(answered) if stream else [answered]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("script", ["plain", "call", "parallel", "mixed", "thinking", "interleaved"])
def test_the_sdk_reads_the_scripted_turn(sdk: Any, script: str, stream: bool) -> None:
    responses = ask(sdk, f"[[{script}]]", stream=stream, tools=[WEATHER, TIME])
    turn = SCRIPTS[script]
    calls = [call.function for r in responses for call in r.message.tool_calls or ()]
    assert "".join(r.message.content for r in responses) == turn.text
    assert "".join(r.message.thinking or "" for r in responses) == turn.reasoning
    assert [(c.name, c.arguments) for c in calls] == [(c.name, json.loads(c.arguments)) for c in turn.calls]
    assert (responses[-1].done, responses[-1].done_reason) == (True, "stop")
    assert responses[-1].eval_count > 0


def test_its_messages_and_a_function_as_tool_are_taken(sdk: Any) -> None:
    def get_weather(city: str, days: int = 1) -> str:
        """The weather in a city.

        Args:
            city: where
            days: how many
        """
        return f"{city} {days} [[done/1]]"

    (response,) = ask(sdk, "[[call]]", tools=[get_weather])
    (call,) = response.message.tool_calls
    told = {"role": "tool", "tool_name": "get_weather", "content": get_weather(**call.function.arguments)}
    (last,) = ask(sdk, "[[call]]", response.message, told, tools=[get_weather])
    assert last.message.content == "It is sunny."


def test_an_image_is_taken(sdk: Any) -> None:
    (response,) = ask(sdk, {**user("[[done/1]]"), "images": [b"\x89PNG"]})
    assert response.message.content == "It is sunny."


def test_many_settings_are_taken_as_the_sdk_sends_them(sdk: Any) -> None:
    import ollama

    options = ollama.Options(num_predict=5, temperature=0.5, stop=["zebra"], seed=7, use_mmap=True)
    members: dict[str, Any] = {"think": "high", "keep_alive": "5m", "logprobs": True, "top_logprobs": 1}
    (response,) = ask(sdk, "[[plain]]", options=options, **members)
    assert response.done_reason == "length"
    assert len(response.logprobs) == 5


def test_a_schema_is_taken(sdk: Any) -> None:
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str
        days: list[int]

    (response,) = ask(sdk, "Hi", format=Place.model_json_schema())
    assert Place.model_validate_json(response.message.content)


def test_the_models_are_listed_and_shown(sdk: Any) -> None:
    assert [entry.model for entry in sdk.list().models] == ["reference:latest"]
    assert sdk.show("reference").capabilities == ["completion", "tools", "thinking", "vision"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("model", "members", "status"),
    [("nope", {}, 404), ("reference", {"options": {"temperature": "hot"}}, 400)],
)
def test_errors_are_of_their_class(sdk: Any, model: str, members: Any, status: int, stream: bool) -> None:
    import ollama

    with pytest.raises(ollama.ResponseError) as raised:
        list(sdk.chat(model, [user("Hi")], stream=stream, **members))
    assert raised.value.status_code == status
    assert raised.value.error


def test_the_sdk_s_line_reader_breaks_at_a_next_line_character() -> None:
    """ollama-python 0.6.3 uses httpx's ``iter_lines``, which ends lines at U+0085; Go leaves it bare."""
    import ollama

    scripts = {"nel": Turn((Text("before\x85after"),))}
    with running(Simulator([Persona("reference")], scripts)) as simulator:
        client = ollama.Client(host=simulator.base_url("reference", "ollama"))
        (whole,) = ask(client, "[[nel]]")
        assert whole.message.content == "before\x85after"
        with pytest.raises(json.JSONDecodeError):
            ask(client, "[[nel]]", stream=True)
