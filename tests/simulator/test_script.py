"""Scripts: which turn answers, what it may say, and how a mistake in the file is told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.config import ConfigError
from conformance.simulator import PERSONAS, Simulator, running
from conformance.simulator.script import load_script
from conformance.types import WireName

from .support import SCRIPTS, WEATHER, Talk, assistant, tool

FAULTS = ("html-502", "rate-limited", "stream-cut")


@contextmanager
def scripted(folder: Path, text: str) -> Iterator[Talk]:
    path = folder / "turns.yaml"
    path.write_text(text)
    simulator = Simulator([PERSONAS["reference"]], SCRIPTS, gap_s=0, script=load_script(path, FAULTS))
    with running(simulator), httpx.Client() as client:
        yield Talk(simulator, "reference", client)


def said(talk: Talk, *messages: Any, **members: Any) -> str:
    return str(talk.choice(*messages, **members)["message"]["content"])


def test_turns_without_a_condition_play_in_order_once_each(tmp_path: Path) -> None:
    with scripted(tmp_path, "turns: [{text: one}, {text: two}]") as talk:
        assert [said(talk, "Hi") for _ in range(3)] == ["one", "two", "You wrote: Hi"]


@pytest.mark.parametrize(
    ("condition", "prompt", "fits"),
    [
        ("contains: Weather", "the WEATHER", True),
        ("contains: weather", "the time", False),
        ("matches: '^h(i|ello)$'", "hello", True),
        ("matches: '^h(i|ello)$'", "hello you", False),
        ("matches: 'WEATHER.*paris'", "The weather in Paris", False),
        ("matches: '(?i)WEATHER.*paris'", "The weather in Paris", True),
        ("matches: '(a+)+$'", "a" * 19_000 + "b", False),
        ("matches: 'a.*b.*c.*d'", "a" * 7_000 + "b" * 7_000 + "c" * 5_000, False),
        ("marker: mine", "Say [[mine]]", True),
        ("marker: mine", "Say [[other]]", False),
        ("number: 1", "anything", True),
        ("number: 2", "anything", False),
        ("{contains: weather, number: 2}", "weather", False),
        ("after: user", "anything", True),
        ("after: tools", "anything", False),
    ],
)
def test_a_turn_answers_where_all_its_conditions_hold(
    tmp_path: Path, condition: str, prompt: str, fits: bool
) -> None:
    text = condition.strip("{}")
    with scripted(tmp_path, f"turns: [{{{text}, text: scripted}}]") as talk:
        assert (said(talk, prompt) == "scripted") == fits


def test_a_condition_fits_again_and_again_and_the_first_that_fits_wins(tmp_path: Path) -> None:
    with scripted(tmp_path, "turns: [{contains: a, text: A}, {contains: b, text: B}]") as talk:
        assert [said(talk, p) for p in ("a", "ab", "b", "a")] == ["A", "A", "B", "A"]


def test_a_call_and_what_follows_its_result_make_a_loop_that_ends(tmp_path: Path) -> None:
    text = """
turns:
  - contains: weather
    calls: [{name: get_weather, arguments: {city: Paris}}]
  - {contains: sunny, after: tools, text: Take a hat.}
"""
    with scripted(tmp_path, text) as talk:
        call = talk.choice("the weather?", tools=[WEATHER])["message"]["tool_calls"][0]
        assert json.loads(call["function"]["arguments"]) == {"city": "Paris"}
        asked = ["the weather?", assistant(call["id"]), tool(call["id"], "sunny")]
        assert said(talk, *asked, tools=[WEATHER]) == "Take a hat."


@pytest.mark.parametrize(
    ("turn", "members", "wanted"),
    [
        ("{calls: [{name: unknown, arguments: '{oops'}]}", {}, ("unknown", "{oops")),
        (
            "{calls: [{name: get_weather}]}",
            {"tools": [WEATHER], "tool_choice": "none"},
            ("get_weather", "{}"),
        ),
    ],
)
def test_a_scripted_call_is_made_whatever_the_request_allows(
    tmp_path: Path, turn: str, members: dict[str, Any], wanted: tuple[str, str]
) -> None:
    with scripted(tmp_path, f"turns: [{turn}]") as talk:
        function = talk.choice("Hi", **members)["message"]["tool_calls"][0]["function"]
    assert (function["name"], function["arguments"]) == wanted


def test_a_scripted_text_need_not_be_the_json_that_was_asked_for(tmp_path: Path) -> None:
    with scripted(tmp_path, "turns: [{text: 'no {json'}]") as talk:
        assert said(talk, "some json", response_format={"type": "json_object"}) == "no {json"


def test_the_cap_cuts_a_scripted_turn_too(tmp_path: Path) -> None:
    with scripted(tmp_path, "turns: [{text: one two three four five six}]") as talk:
        choice = talk.choice("Hi", max_tokens=2)
    assert choice["finish_reason"] == "length"


def test_a_turn_says_reasoning_text_refusal_and_finish_reason(tmp_path: Path) -> None:
    text = "turns: [{reasoning: Hm, text: A, finish_reason: content_filter}, {refusal: 'No'}]"
    with scripted(tmp_path, text) as talk:
        first, second = talk.choice("1"), talk.choice("2")
    assert (first["message"]["reasoning_content"], first["message"]["content"]) == ("Hm", "A")
    assert first["finish_reason"] == "content_filter"
    assert second["message"]["refusal"] == "No"


def test_a_fault_takes_the_place_of_the_answer_or_changes_it(tmp_path: Path) -> None:
    text = "turns: [{fault: html-502}, {fault: rate-limited}, {text: a b c d e f g, fault: stream-cut}]"
    with scripted(tmp_path, text) as talk:
        assert talk.ask("1").status_code == 502
        assert talk.ask("2").status_code == 429
        with pytest.raises(httpx.HTTPError):
            talk.ask("3", stream=True)


@pytest.mark.parametrize(
    ("wire", "path", "asked"),
    [
        ("openai-responses", "/responses", {"input": "Hi"}),
        (
            "anthropic-messages",
            "/v1/messages",
            {"max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]},
        ),
        ("gemini", "/v1beta/models/reference:generateContent", {"contents": [{"parts": [{"text": "Hi"}]}]}),
        ("ollama", "/api/chat", {"messages": [{"role": "user", "content": "Hi"}], "stream": False}),
    ],
)
def test_a_script_speaks_every_wire(tmp_path: Path, wire: WireName, path: str, asked: dict[str, Any]) -> None:
    path_of_script = tmp_path / "turns.yaml"
    path_of_script.write_text("turns: [{text: from the script, calls: [{name: not_offered}]}]")
    simulator = Simulator([PERSONAS["reference"]], {}, script=load_script(path_of_script, FAULTS))
    key = PERSONAS["reference"].key
    headers = {"authorization": f"Bearer {key}", "x-goog-api-key": key, "anthropic-version": "2023-06-01"}
    if wire != "gemini":
        del headers["x-goog-api-key"]
    with running(simulator), httpx.Client(headers=headers) as client:
        body = asked if wire == "gemini" else {"model": "reference", **asked}
        answer = client.post(simulator.base_url("reference", wire) + path, json=body)
    assert answer.status_code == 200, answer.text
    assert "from the script" in answer.text
    assert "not_offered" in answer.text


BOMB = (
    "turns:\n  - calls: [{name: a, arguments: {a: &a [x, x], "
    + ", ".join(
        f"{name}: &{name} [*{before}, *{before}, *{before}, *{before}]"
        for before, name in itertools.pairwise("abcdefghijklmnopqrst")
    )
    + "}}]"
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[]", ":1: a mapping with the key turns is wanted"),
        ("turn: []", ":1: turn: unknown key (did you mean turns?)"),
        ("turns: []", ":1: turns: Tuple should have at least 1 item"),
        ("turns:\n  - {contain: x, text: y}", ":2: turns.0.contain: unknown key (did you mean contains?)"),
        ("turns:\n  - text: a\n  - {}", ":3: turns.1: says nothing: give text, reasoning"),
        ("turns:\n  - text: a\n    matches: '('", ":3: turns.0.matches: not a regular expression"),
        ("turns:\n  - text: a\n    matches: '(?=a)'", ":3: turns.0.matches: not a regular expression, or"),
        ("turns:\n  - calls: [{name: a, arguments: {day: 2026-01-01}}]", "no JSON: put it in quotes"),
        (BOMB, ":2: turns.0.calls.0.arguments: larger than 1,000,000 characters, counting what an alias"),
        ("turns:\n  - calls: [{name: a, arguments: &a {b: *a}}]", "turns.0.calls.0.arguments: larger than"),
        (
            "turns:\n  - text: a\n    number: 0",
            ":3: turns.0.number: Input should be greater than or equal to 1",
        ),
        ("turns:\n  - calls:\n      - {argument: {}}", ":3: turns.0.calls.0.name: is missing"),
        ("turns:\n  - calls: [{name: a, argument: {}}]", "argument: unknown key (did you mean arguments?)"),
        ("turns:\n  - calls: [{name: a, arguments: 3}]", ":2: turns.0.calls.0.arguments: Input should be"),
        ("turns:\n  - fault: html-503", ":2: turns.0.fault: no fault 'html-503' (did you mean html-502?)"),
        ("turns:\n  - text: a\n    text: b", ":3: text: this key occurs twice"),
        ("turns: [", ":1: not YAML"),
        ("turns: [{text: !!python/object/apply:os.system ['x']}]", "not YAML"),
    ],
)
def test_a_mistake_is_told_with_file_line_key_and_fix(tmp_path: Path, text: str, wanted: str) -> None:
    path = tmp_path / "turns.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_script(path, FAULTS)
    assert str(caught.value).startswith(f"{path}:")
    assert wanted in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_script(tmp_path / "none.yaml", FAULTS)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="can't be read"):
        load_script(tmp_path / "bytes.yaml", FAULTS)
