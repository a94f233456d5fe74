"""What only Ollama has: streams unless told otherwise, levels of thinking, results by the tool's name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.scenarios.base import REASONING, TOOLS, request, scenario
from conformance.scenarios.kit import WEATHER, said, thought
from conformance.types import Ask, Message, Raw, Request, Script, WireName

OLLAMA: tuple[WireName, ...] = ("ollama",)
HELLO = [{"role": "user", "content": "Say hello in one short sentence."}]
LEVELS = ("low", "medium", "high")


def posted(body: Mapping[str, Any], probe: str | None = None) -> Raw:
    """A request of the endpoint's model that the API allows."""
    return Raw("POST", "@chat", _written(body), probe=probe, expect="answer")


def refused(body: Mapping[str, Any], probe: str) -> Raw:
    """A request of the endpoint's model that the API does not allow."""
    return Raw("POST", "@chat", _written(body), probe=probe, expect="refusal")


@scenario("ollama.default-stream", wires=OLLAMA, needs=("streaming",))
def default_stream() -> Script:
    """A request that says nothing of streaming: the answer is a stream."""
    yield posted({"messages": HELLO})


@scenario("ollama.load", wires=OLLAMA)
def load() -> Script:
    """A request without messages loads the model, and says so."""
    yield posted({"messages": [], "stream": False})


@scenario(
    "ollama.think",
    wires=OLLAMA,
    ideal=(
        thought("A week has seven days.", "Seven, by the calendar."),
        thought("Seven days, as everybody counts.", "Seven days are a week."),
        thought("Let me count: from Monday to Sunday, seven.", "It has seven days."),
        said("Seven, without a thought."),
        said("As enormous as that, I can not think."),
    ),
    needs=("reasoning",),
    optional=(REASONING,),
)
def think() -> Script:
    """Three levels of thinking, none at all, and a level that there is not."""
    for level in LEVELS:
        yield Ask(_thinking(level))
    yield Ask(_thinking(False), probe="no-effort", expect="either")
    yield Ask(_thinking("enormous"), probe="unknown-think-level", expect="either")


TWO_CALLS = [
    {"type": "function", "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Narvik"}}},
    {"type": "function", "function": {"index": 1, "name": "get_time", "arguments": {"city": "Narvik"}}},
]


@scenario("ollama.result-forms", wires=OLLAMA, needs=("tools",), optional=(TOOLS,))
def result_forms() -> Script:
    """Results as the manual writes them: named by their tools, after a message of calls that has no content.

    In the order of the calls, and in another one.
    """
    question = {"role": "user", "content": "What are the weather and the time in Narvik?"}
    weather = {"role": "tool", "tool_name": "get_weather", "content": "18 degrees"}
    time = {"role": "tool", "tool_name": "get_time", "content": "21:07"}
    tools = [_tool("get_weather"), _tool("get_time")]
    for answers in ((weather, time), (time, weather)):
        history = [question, {"role": "assistant", "tool_calls": TWO_CALLS}, *answers]
        yield posted({"messages": history, "tools": tools, "stream": False}, "tool-results")


@scenario("ollama.bad-requests", wires=OLLAMA)
def bad_requests() -> Script:
    """What the API does not allow is refused with 400: no model, another type, a format that is none."""
    nameless = json.dumps({"messages": HELLO, "stream": False}).encode()
    yield Raw("POST", "@chat", nameless, probe="missing-model", expect="refusal")
    yield refused({"messages": "Say hello.", "stream": False}, "wrong-type")
    yield refused({"messages": HELLO, "stream": False, "options": {"temperature": "hot"}}, "wrong-type")
    yield refused({"messages": HELLO, "stream": False, "format": "yaml"}, "malformed-format")


@scenario("ollama.models", wires=OLLAMA, ideal=(said("Here, and ready to talk."),), needs=("models",))
def list_models() -> Script:
    """The list of models and what is said of one; the model under test is among them, and it answers."""
    yield Raw("GET", "@models", probe="models-list", expect="answer")
    yield Raw("POST", "/api/show", b'{"model": "{{model}}"}', probe="models-retrieve", expect="answer")
    unknown = b'{"model": "no-such-model-conformance"}'
    yield Raw("POST", "/api/show", unknown, probe="retrieve-unknown", expect="refusal")
    yield Ask(request(Message.user("Say that you are ready to talk.")))


def _thinking(level: str | bool) -> Request:
    question = Message.user("How many days has a week? One short sentence.")
    return request(question, native={"ollama": {"think": level}})


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": dict(WEATHER.parameters)}}


def _written(body: Mapping[str, Any]) -> bytes:
    return json.dumps({"model": "{{model}}", **body}, ensure_ascii=False).encode()
