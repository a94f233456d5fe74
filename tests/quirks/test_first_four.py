"""The four first quirks: DeepSeek's thinking, repeated tool names, Responses as Chat, Gemini's "required".

Where reports contradict each other both sides are held, each by the persona that has the quirk or has not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from conformance.judge import judge_attempt
from conformance.quirks import catalogue
from conformance.simulator import Simulator, running
from conformance.simulator.personas import persona_of
from conformance.types import Turn, WireName
from conformance.wires import wire

from .conftest import ALL_SCENARIOS, CLEAN, Play

ECHO, EMPTY = "deepseek-reasoning-echo-required", "deepseek-reasoning-empty-string-rejected"
DEFAULT, FORCED = "deepseek-thinking-default-on", "deepseek-thinking-tool-choice-required"
TWICE, MERGED = "duplicate-tool-names-rejected", "duplicate-tool-names-silently-merged"
REQUIRED, ARRAY = "gemini-tool-choice-required-unreliable", "gemini-error-body-array"

PERSONAS: dict[str, tuple[str, ...]] = {
    "clean": (),
    "deepseek": (DEFAULT, ECHO, FORCED, TWICE),
    "deepseek-strict": (DEFAULT, ECHO, EMPTY),
    "twice": (TWICE,),
    "merging": (MERGED,),
    "gemini": (REQUIRED, ARRAY),
    "gemini-required": (REQUIRED,),
    "gemini-array": (ARRAY,),
}


class Asking:
    """Posts JSON to a persona over a wire."""

    def __init__(self, simulator: Simulator, client: httpx.Client) -> None:
        self._simulator = simulator
        self._client = client

    def __call__(self, persona: str, over: WireName, **body: Any) -> httpx.Response:
        spoken = wire(over)
        url = self._simulator.base_url(persona, over) + spoken.path("reference", False)
        headers = dict((*spoken.headers, *spoken.auth_headers("sk-reference")))
        named = {} if over == "gemini" else {"model": "reference"}
        return self._client.post(url, json={**named, **body}, headers=headers)

    def chat(self, persona: str, *messages: Any, **body: Any) -> httpx.Response:
        return self(persona, "openai-chat", messages=list(messages), **body)


@pytest.fixture(scope="module")
def ask() -> Iterator[Asking]:
    made = [persona_of(name, [catalogue()[quirk] for quirk in ids]) for name, ids in PERSONAS.items()]
    # No TLS context: it would cost more than all the requests.
    shared = httpx.Client(transport=httpx.HTTPTransport(verify=False), timeout=10)
    with running(Simulator(made, {}, gap_s=0)) as simulator, shared as client:
        yield Asking(simulator, client)


def chat_tool(name: str = "alpha", **members: Any) -> dict[str, Any]:
    function = {"name": name, "parameters": {"type": "object", "properties": {}}, **members}
    return {"type": "function", "function": function}


HI = {"role": "user", "content": "Call alpha."}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
SAID = {"role": "assistant", "content": "Done."}
OFF: dict[str, Any] = {"thinking": {"type": "disabled"}}


# ------------------------------------------------------------------------------- DeepSeek's thinking


@pytest.mark.parametrize(
    ("flag", "thinks"), [({}, True), ({"thinking": {"type": "enabled"}}, True), (OFF, False)]
)
def test_thinking_is_on_unless_the_flag_switches_it_off(
    ask: Asking, flag: dict[str, Any], thinks: bool
) -> None:
    (choice,) = ask.chat("deepseek", HI, **flag).json()["choices"]
    assert ("reasoning_content" in choice["message"]) is thinks


def thought(message: dict[str, Any], reasoning: str = "Hm.") -> dict[str, Any]:
    return {**message, "reasoning_content": reasoning}


@pytest.mark.parametrize(
    ("messages", "flag", "status"),
    [
        ([HI, CALLED, RESULT], {}, 400),
        ([HI, CALLED, RESULT], OFF, 200),
        ([HI, CALLED, RESULT], {"reasoning_effort": "none"}, 200),
        ([HI, thought(CALLED), RESULT], {}, 200),
        ([HI, thought(CALLED, " "), RESULT], {}, 200),
        ([HI, thought(CALLED), RESULT, SAID, HI], {}, 400),
        ([HI, thought(CALLED), RESULT, thought(SAID), HI], {}, 200),
        ([HI, SAID, HI, thought(CALLED), RESULT], {}, 200),
        ([HI, CALLED, RESULT, thought(SAID), HI, SAID], {}, 400),
    ],
)
def test_reasoning_of_turns_with_calls_is_wanted_back_also_of_a_text_after_them(
    ask: Asking, messages: list[Any], flag: dict[str, Any], status: int
) -> None:
    assert ask.chat("deepseek", *messages, tools=[chat_tool()], **flag).status_code == status
    assert ask.chat("clean", *messages, tools=[chat_tool()], **flag).status_code == 200


@pytest.mark.parametrize(("persona", "status"), [("deepseek", 200), ("deepseek-strict", 400), ("clean", 200)])
def test_empty_reasoning_passes_or_not_and_a_space_passes_with_both(
    ask: Asking, persona: str, status: int
) -> None:
    tools = [chat_tool()]
    assert ask.chat(persona, HI, thought(CALLED, ""), RESULT, tools=tools).status_code == status
    assert ask.chat(persona, HI, thought(CALLED, " "), RESULT, tools=tools).status_code == 200


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "alpha"}}])
def test_a_call_can_be_forced_where_thinking_is_off(ask: Asking, choice: Any) -> None:
    asked: dict[str, Any] = {"tools": [chat_tool()], "tool_choice": choice}
    assert ask.chat("deepseek", HI, **asked).status_code == 400
    assert ask.chat("deepseek", HI, **asked, **OFF).status_code == 200


def test_over_the_messages_wire_the_thinking_block_is_wanted_back(ask: Asking) -> None:
    def status(persona: str, *before: Any) -> int:
        call = {"type": "tool_use", "id": "c1", "name": "alpha", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
        messages = [
            {"role": "user", "content": "Call alpha."},
            {"role": "assistant", "content": [*before, call]},
            {"role": "user", "content": [result]},
        ]
        tools = [{"name": "alpha", "input_schema": {"type": "object"}}]
        asked: dict[str, Any] = {"messages": messages, "tools": tools, "max_tokens": 2048}
        return ask(persona, "anthropic-messages", **asked).status_code

    assert status("clean") == 200
    assert status("deepseek") == 400


# ------------------------------------------------------------------------------ repeated tool names


def flat(name: str = "alpha", **members: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False, **members}


def bodies(over: WireName, *tools: Any) -> dict[str, Any]:
    match over:
        case "openai-chat":
            return {"messages": [HI], "tools": list(tools)}
        case "openai-responses":
            return {"input": "Call alpha.", "tools": list(tools)}
        case "anthropic-messages":
            return {"messages": [HI], "max_tokens": 100, "tools": list(tools)}
        case _:
            return {"contents": [{"parts": [{"text": "Call alpha."}]}], "tools": list(tools)}


NAMED = {"name": "alpha", "input_schema": {"type": "object"}}
TWO: list[tuple[WireName, tuple[Any, Any], str]] = [
    ("openai-chat", (chat_tool(), chat_tool(description="Another.")), "Tool names must be unique."),
    ("openai-chat", (chat_tool(), {"type": "custom", "custom": {"name": "alpha"}}), "Tool names must be un"),
    ("openai-responses", (flat(), flat(description="Another.")), "Tool names must be unique."),
    ("openai-responses", (flat(), {"type": "custom", "name": "alpha"}), "Tool names must be unique."),
    (
        "openai-responses",
        (flat("beta"), {"type": "namespace", "name": "mcp", "tools": [flat(), flat()]}),
        "Tool names must be unique.",
    ),
    (
        "anthropic-messages",
        (NAMED, {**NAMED, "description": "Another."}),
        "tools: Tool names must be unique.",
    ),
    (
        "gemini",
        ({"functionDeclarations": [{"name": "alpha"}]}, {"functionDeclarations": [{"name": "alpha"}]}),
        "Duplicate function declaration found: alpha",
    ),
]


@pytest.mark.parametrize(("over", "tools", "message"), TWO)
def test_a_name_that_occurs_twice_is_refused_on_every_wire(
    ask: Asking, over: WireName, tools: tuple[Any, Any], message: str
) -> None:
    response = ask("twice", over, **bodies(over, *tools))
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("over", "tool", "other"),
    [
        ("openai-chat", chat_tool(), chat_tool("beta")),
        ("openai-responses", flat(), flat("beta")),
        ("anthropic-messages", NAMED, {**NAMED, "name": "beta"}),
        ("gemini", {"functionDeclarations": [{"name": "alpha"}]}, {"functionDeclarations": [{"name": "b"}]}),
    ],
)
def test_two_names_are_taken_on_every_wire(ask: Asking, over: WireName, tool: Any, other: Any) -> None:
    assert ask("twice", over, **bodies(over, tool, other)).status_code == 200


@pytest.mark.parametrize("over", ["openai-chat", "openai-responses"])
def test_the_refusal_is_seen_and_forgiven_on_both_of_openais_wires(play: Play, over: WireName) -> None:
    scenario = ALL_SCENARIOS["tools.duplicate-names"]
    attempt = play(scenario.id, TWICE, over)
    assert judge_attempt(scenario, attempt).verdict == "violates"
    assert judge_attempt(scenario, attempt, [catalogue()[TWICE]]).verdict == "quirk"


@pytest.mark.parametrize("persona", ["clean", "merging"])
def test_others_take_the_same_request_and_one_of_them_shows_the_model_the_first(
    ask: Asking, persona: str
) -> None:
    long = chat_tool(description="Another one. " * 30)

    def tokens(*tools: Any) -> int:
        return int(ask.chat(persona, HI, tools=list(tools)).json()["usage"]["prompt_tokens"])

    once, both = tokens(chat_tool()), tokens(chat_tool(), long)
    assert (both == once) is (persona == "merging")


# --------------------------------------------------------------------------- Responses, seen as Chat


def told(turn: Turn) -> tuple[str, list[tuple[str, Any]], str | None]:
    calls = [(call.name, json.loads(call.arguments)) for call in turn.calls]
    return turn.text, calls, turn.finish_reason


@pytest.mark.parametrize(
    "scenario",
    [
        "chat.multi-turn",
        "tools.parallel-calls",
        "tools.sequential-calls",
        "tools.mixed-text-and-tool-use",
        "stream.parallel-calls",
        "reasoning.interleaved",
    ],
)
def test_a_conversation_over_responses_is_the_conversation_over_chat(play: Play, scenario: str) -> None:
    turns: dict[WireName, list[Any]] = {}
    asked: dict[WireName, list[Any]] = {}
    for over in ("openai-chat", "openai-responses"):
        attempt = play(scenario, CLEAN, over)
        answers = [exchange.response for exchange in attempt.exchanges]
        turns[over] = [told(turn) for answer in answers if answer for turn in wire(over).decode(answer)]
        bodies = [json.loads(exchange.request.body) for exchange in attempt.exchanges]
        asked[over] = [[m.role for m in wire(over).decode_request(body).messages] for body in bodies]
    assert turns["openai-chat"]
    assert turns["openai-responses"] == turns["openai-chat"]
    assert asked["openai-responses"] == asked["openai-chat"]


# ------------------------------------------------------------------------------- Gemini's "required"


@pytest.mark.parametrize(
    ("persona", "statuses"), [("clean", [200] * 3), ("gemini-required", [400, 200, 200])]
)
def test_required_is_refused_and_auto_and_nothing_are_taken(
    ask: Asking, persona: str, statuses: list[int]
) -> None:
    choices: list[dict[str, Any]] = [{"tool_choice": "required"}, {"tool_choice": "auto"}, {}]
    assert [ask.chat(persona, HI, tools=[chat_tool()], **c).status_code for c in choices] == statuses


def test_an_error_is_in_an_array_whatever_was_refused(ask: Asking) -> None:
    for response in (ask.chat("gemini-array", HI, temperature=9), ask.chat("gemini-array")):
        assert response.status_code == 400
        (entry,) = response.json()
        assert (entry["error"]["code"], entry["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_each_of_the_two_works_alone_and_both_together(ask: Asking) -> None:
    asked: dict[str, Any] = {"tools": [chat_tool()], "tool_choice": "required"}
    assert ask.chat("gemini-array", HI, **asked).status_code == 200
    alone = ask.chat("gemini-required", HI, **asked).json()
    (entry,) = ask.chat("gemini", HI, **asked).json()
    assert entry["error"]["message"] == alone["error"]["message"]
    assert isinstance(alone["error"], dict)
