"""Answers in place of others, and calls of whole answers that are told otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from conformance.simulator import BEHAVIOURS, Persona, Simulator, running
from conformance.simulator.deviations import DEVIATIONS
from conformance.types import Reasoning, Text, ToolCall, Turn
from tests.simulator.anthropic_support import Messages
from tests.simulator.responses_support import Responses
from tests.simulator.support import SCRIPTS, TIME, WEATHER, Talk

BEYOND = '{"city":"Oslo","days":30}'
QUOTED = 'Calls look so:\n```\n<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>\n```\nDone.'
TURNS = {
    **SCRIPTS,
    "beyond": Turn((ToolCall("a", "get_weather", BEYOND),)),
    "quoted": Turn((Text(QUOTED),)),
    "lines": Turn((ToolCall("a", "get_weather", '{"city":"a\\nb \\\\n"}'),)),
    "unfinished": Turn((ToolCall("a", "get_weather", '{"city":'),)),
    "thought": Turn((Reasoning("Two and two."), Text("Four."))),
}
EVERYWHERE = ["openai-chat", "openai-responses", "anthropic-messages"]
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "lenient": ("answered-anyway", {"said": "temperature", "wires": EVERYWHERE}),
    "no-entry": (
        "answered-instead",
        {"method": "GET", "path": "/v1/models/.+", "status": 404, "body": {"error": "no"}},
    ),
    "unreadable": ("unreadable-answered", {"status": 500, "body": {"status": "failure"}}),
    "listed": ("models-as-openai", {"wires": ["anthropic-messages"]}),
    "checked": ("calls-checked", {"body": {"error": {"failed": "{calls}"}}}),
    "wrapped": ("calls-wrapped", {"name": "several"}),
    "split": ("calls-apart", {}),
    "lost": ("calls-lost", {}),
    "unescaped": ("arguments-unescaped", {}),
    "again": ("call-ids-again", {}),
    "numbered": ("call-ids-counted", {"counted_from": "call_", "wires": EVERYWHERE}),
}
TOOLS: dict[str, Any] = {"tools": [WEATHER, TIME]}


@pytest.fixture(scope="module")
def started() -> Iterator[Simulator]:
    """As in conftest, with turns and texts of this module."""
    personas = [Persona(name, (DEVIATIONS[of](**options),)) for name, (of, options) in MADE.items()]
    texts = ("calls-as-one-line-text", "channels-run-together", "quoted-calls-made")
    personas += [Persona(name, (BEHAVIOURS[name],)) for name in texts]
    with running(Simulator(personas, TURNS, gap_s=0)) as simulator:
        yield simulator


def calls(choice: Any) -> list[Any]:
    return [call["function"] for call in choice["message"]["tool_calls"]]


def test_what_would_be_refused_is_answered(to: Callable[[str], Talk]) -> None:
    assert to("lenient").ask("Hi", temperature=9).json()["choices"][0]["message"]["content"]
    assert to("lenient").ask("Hi", top_p=9).status_code == 400


def test_what_would_be_refused_is_streamed(to: Callable[[str], Talk]) -> None:
    events = to("lenient").events("Hi", temperature=9)
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events)
    assert events[-1]["choices"][0]["finish_reason"] == "stop"


def test_it_is_answered_on_other_wires(started: Simulator, client: httpx.Client) -> None:
    assert Responses(started, client, "lenient").response("Hi", temperature=9)["status"] == "completed"
    answered = Messages(started, client, "lenient").ask("Hi", temperature=9)
    assert (answered.status_code, answered.json()["type"]) == (200, "message")


def test_one_address_is_answered_for(to: Callable[[str], Talk]) -> None:
    talk = to("no-entry")
    assert talk.get("/models").status_code == 200
    assert (talk.get("/models/reference").status_code, talk.get("/models/x").json()) == (404, {"error": "no"})


@pytest.mark.parametrize("body", [b'{"model": "refe', b"(\xb5/\xfd", b"", b"[" * 100_000])
def test_a_body_that_is_no_json_has_an_answer_of_its_own_whatever_the_key(
    to: Callable[[str], Talk], client: httpx.Client, body: bytes
) -> None:
    talk = to("unreadable")
    answered = client.post(f"{talk.base}/chat/completions", content=body)
    assert (answered.status_code, answered.json()) == (500, {"status": "failure"})
    assert talk.ask("Hi").status_code == 200


def test_models_are_listed_in_openais_form_to_clients_of_anthropics(
    started: Simulator, client: httpx.Client
) -> None:
    url = started.base_url("listed", "anthropic-messages") + "/v1/models"
    headers = {"x-api-key": "sk-reference", "anthropic-version": "2023-06-01"}
    listed = client.get(url, headers=headers).json()
    assert (listed["object"], [one["object"] for one in listed["data"]]) == ("list", ["model"])


def test_calls_that_break_their_schema_are_refused(to: Callable[[str], Talk]) -> None:
    refused = to("checked").ask("[[beyond]]", **TOOLS)
    assert refused.status_code == 400
    (written,) = json.loads(refused.json()["error"]["failed"])
    assert written == {"name": "get_weather", "parameters": json.loads(BEYOND)}
    assert to("checked").ask("[[call]]", **TOOLS).status_code == 200


def test_calls_that_were_cut_are_refused(to: Callable[[str], Talk]) -> None:
    assert to("checked").ask("[[call]]", max_tokens=5, **TOOLS).status_code == 400


def test_several_calls_are_wrapped_in_one(to: Callable[[str], Talk]) -> None:
    (call,) = calls(to("wrapped").choice("[[parallel]]", **TOOLS))
    uses = json.loads(call["arguments"])["tool_uses"]
    assert call["name"] == "several"
    assert [use["recipient_name"] for use in uses] == ["functions.get_weather", "functions.get_time"]
    assert calls(to("wrapped").choice("[[call]]", **TOOLS))[0]["name"] == "get_weather"


def test_text_and_calls_are_split_over_two_choices(to: Callable[[str], Talk]) -> None:
    said, called = to("split").ask("[[mixed]]", **TOOLS).json()["choices"]
    assert (said["index"], called["index"]) == (0, 1)
    assert said["message"]["content"] == "Let me look."
    assert "tool_calls" not in said["message"]
    assert called["message"]["content"] is None
    assert {said["finish_reason"], called["finish_reason"]} == {"tool_calls"}


def test_only_an_empty_list_is_left_of_calls(to: Callable[[str], Talk]) -> None:
    choice = to("lost").choice("[[call]]", **TOOLS)
    assert (choice["message"]["tool_calls"], choice["finish_reason"]) == ([], "tool_calls")


def test_line_ends_are_not_escaped_and_backslashes_are(to: Callable[[str], Talk]) -> None:
    (call,) = calls(to("unescaped").choice("[[lines]]", **TOOLS))
    assert call["arguments"] == '{"city":"a\nb \\\\n"}'


def test_calls_of_a_message_share_an_id(to: Callable[[str], Talk]) -> None:
    first, second = to("again").choice("[[parallel]]", **TOOLS)["message"]["tool_calls"]
    assert first["id"] == second["id"]


def test_ids_are_counted_from_the_beginning_in_every_answer(started: Simulator, client: httpx.Client) -> None:
    responses = Responses(started, client, "numbered")
    tools = [{"type": "function", "strict": False, **tool["function"]} for tool in (WEATHER, TIME)]
    for _ in range(2):
        output = responses.response("[[parallel]]", tools=tools)["output"]
        assert [item["call_id"] for item in output] == ["call_0", "call_1"]


def test_calls_are_written_on_one_line(to: Callable[[str], Talk]) -> None:
    content = to("calls-as-one-line-text").choice("[[call]]", **TOOLS)["message"]["content"]
    assert content.startswith('<tool_call>{"name": "get_weather"')
    assert "\n" not in content


def test_arguments_that_are_no_json_are_written_as_the_text_they_are(to: Callable[[str], Talk]) -> None:
    content = to("calls-as-one-line-text").choice("[[unfinished]]", **TOOLS)["message"]["content"]
    assert content == '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\":"}</tool_call>'


def test_channels_are_run_together(to: Callable[[str], Talk]) -> None:
    content = to("channels-run-together").choice("[[thought]]")["message"]["content"]
    assert content == "analysisTwo and two.assistantfinalFour."


def test_a_quotation_is_taken_for_a_call_where_tools_are_offered(to: Callable[[str], Talk]) -> None:
    talk = to("quoted-calls-made")
    choice = talk.choice("[[quoted]]", **TOOLS)
    assert choice["message"]["content"] == "Calls look so:\n"
    assert calls(choice) == [{"name": "get_time", "arguments": "{}"}]
    assert talk.choice("[[quoted]]")["message"]["content"] == QUOTED
