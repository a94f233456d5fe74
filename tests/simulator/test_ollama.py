"""The answers and streams of Ollama's native API."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator
from conformance.simulator.turns import count

from .ollama_support import TOOLS, Ollama, called, result
from .support import SCRIPTS

COUNTS = {
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
}


@pytest.fixture(scope="module")
def ollama(simulator: Simulator, client: httpx.Client) -> Ollama:
    return Ollama(simulator, client)


def test_an_answer_has_the_members_that_ollama_sends(ollama: Ollama) -> None:
    response = ollama.ask("[[plain]]")
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    document = response.json()
    assert set(document) == {"model", "created_at", "message", "done", "done_reason"} | COUNTS
    assert document["message"] == {"role": "assistant", "content": SCRIPTS["plain"].text}
    assert (document["model"], document["done"], document["done_reason"]) == ("reference", True, "stop")


def test_the_time_is_rfc_3339_to_the_nanosecond(ollama: Ollama) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", ollama.answer("Hi")["created_at"])


def test_tokens_are_counted_and_times_are_nanoseconds(ollama: Ollama) -> None:
    document = ollama.answer("[[thinking]]")
    assert document["eval_count"] == count(SCRIPTS["thinking"].parts)
    parts = document["load_duration"] + document["prompt_eval_duration"] + document["eval_duration"]
    assert document["total_duration"] == parts
    assert all(isinstance(document[name], int) and document[name] > 0 for name in COUNTS)


def test_a_longer_prompt_costs_more(ollama: Ollama) -> None:
    short, long = (ollama.answer("x" * size)["prompt_eval_count"] for size in (10, 1000))
    assert long > short


@pytest.mark.parametrize("think", [None, True, "low", "medium", "high", "max"])
def test_thinking_shows_unless_it_is_switched_off(ollama: Ollama, think: Any) -> None:
    message = ollama.answer("[[thinking]]", think=think)["message"]
    assert (message["thinking"], message["content"]) == ("First, the facts.", "So it is.")


def test_thinking_switched_off_neither_shows_nor_costs(ollama: Ollama) -> None:
    document = ollama.answer("[[thinking]]", think=False)
    assert document["message"] == {"role": "assistant", "content": "So it is."}
    assert document["eval_count"] == 3


# --------------------------------------------------------------------------------------------- calls


def test_calls_come_as_objects_numbered_and_end_with_stop(ollama: Ollama) -> None:
    document = ollama.answer("[[parallel]]", tools=TOOLS)
    calls = document["message"]["tool_calls"]
    assert [call["function"] for call in calls] == [
        {"index": 0, "name": "get_weather", "arguments": {"city": "Paris"}},
        {"index": 1, "name": "get_time", "arguments": {}},
    ]
    assert len({call["id"] for call in calls}) == 2
    assert (document["message"]["content"], document["done_reason"]) == ("", "stop")


def test_text_beside_a_call_is_kept(ollama: Ollama) -> None:
    message = ollama.answer("[[mixed]]", tools=TOOLS)["message"]
    assert message["content"] == "Let me look."
    assert len(message["tool_calls"]) == 1


def test_there_is_no_tool_choice(ollama: Ollama) -> None:
    document = ollama.answer("[[plain]]", tools=TOOLS, tool_choice="required")
    assert "tool_calls" not in document["message"]


@pytest.mark.parametrize("name", ["echo", "by-order", "by-id", "other-order", "as-openai-names-it"])
def test_results_are_paired_with_their_calls(ollama: Ollama, name: str) -> None:
    first, second = called("a"), called("a", "b")
    by_id = {**second, "tool_calls": [{**call, "id": f"c{i}"} for i, call in enumerate(second["tool_calls"])]}
    history: dict[str, list[Any]] = {
        "echo": [first, result("a", "1")],
        "by-order": [second, result(None, "1"), result(None, "2")],
        "by-id": [by_id, result(None, "2", tool_call_id="c1"), result(None, "1", tool_call_id="c0")],
        "other-order": [second, result("b", "2"), result("a", "1")],
        "as-openai-names-it": [first, {"role": "tool", "name": "a", "content": "1"}],
    }
    said = ollama.answer("Hi", *history[name])["message"]["content"]
    assert said.splitlines() == ["a({}) returned: 1", "b({}) returned: 2"][: len(history[name]) - 1]


def test_results_of_one_function_are_taken_in_order(ollama: Ollama) -> None:
    history = [called("a", "a"), result("a", "1"), result("a", "2")]
    said = ollama.answer("Hi", *history)["message"]["content"]
    assert [line[-1] for line in said.splitlines()] == ["1", "2"]


@pytest.mark.parametrize(
    "history",
    [
        [result("a", "[[done/1]]")],
        [called("a"), result("b", "[[done/1]]")],
        [called("a"), result("a"), result("a", "[[done/1]]")],
        [called("a"), "[[done/1]]"],
        [called("a", "b"), result("b", "[[done/1]]")],
    ],
)
def test_the_order_of_calls_and_results_is_the_client_s_affair(ollama: Ollama, history: list[Any]) -> None:
    assert ollama.answer("Hi", *history)["message"]["content"] == "It is sunny."


@pytest.mark.parametrize("stream", [False, True])
def test_its_own_message_is_accepted_back(ollama: Ollama, stream: bool) -> None:
    message = ollama.answer("[[parallel]]", tools=TOOLS)["message"]
    history = ["[[parallel]]", message, result("get_weather"), result("get_time", "[[done/1]]")]
    assert ollama.ask(*history, tools=TOOLS, stream=stream).status_code == 200


# --------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("options", "content", "reason"),
    [
        ({"num_predict": 2}, "The quic", "length"),
        ({"num_predict": 2.9}, "The quic", "length"),
        ({"num_predict": -1}, SCRIPTS["plain"].text, "stop"),
        ({"num_predict": 0}, SCRIPTS["plain"].text, "stop"),
        ({"stop": ["brown"]}, "The quick ", "stop"),
        ({"temperature": 0, "seed": 7, "num_gpu": 1, "use_mmap": True}, SCRIPTS["plain"].text, "stop"),
        ({"no_such_option": "x"}, SCRIPTS["plain"].text, "stop"),
    ],
)
def test_options_are_obeyed(ollama: Ollama, options: Any, content: str, reason: str) -> None:
    document = ollama.answer("[[plain]]", options=options)
    assert (document["message"]["content"], document["done_reason"]) == (content, reason)


def test_a_call_that_a_cap_cuts_short_is_not_sent(ollama: Ollama) -> None:
    document = ollama.answer("[[call]]", tools=TOOLS, options={"num_predict": 5})
    assert document["message"] == {"role": "assistant", "content": ""}
    assert document["done_reason"] == "length"


def test_a_refusal_is_content(ollama: Ollama) -> None:
    assert ollama.answer("[[refusal]]")["message"]["content"] == SCRIPTS["refusal"].refusal


PLACE = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_a_schema_is_obeyed(ollama: Ollama) -> None:
    assert set(json.loads(ollama.answer("Hi", format=PLACE)["message"]["content"])) == {"city"}


def test_json_is_an_object(ollama: Ollama) -> None:
    assert isinstance(json.loads(ollama.answer("Hi", format="json")["message"]["content"]), dict)


@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities_cover_the_text(ollama: Ollama, stream: bool) -> None:
    members = {"logprobs": True, "top_logprobs": 2}
    documents = (ollama.lines if stream else lambda *a, **k: [ollama.answer(*a, **k)])("[[plain]]", **members)
    entries = [entry for document in documents for entry in document.get("logprobs", ())]
    assert "".join(entry["token"] for entry in entries) == SCRIPTS["plain"].text
    assert {len(entry["top_logprobs"]) for entry in entries} == {2}
    assert all(bytes(entry["bytes"]).decode() == entry["token"] for entry in entries)


@pytest.mark.parametrize(
    ("keep_alive", "reason"),
    [(None, "load"), ("5m", "load"), (-1, "load"), (0, "unload"), ("0", "unload"), ("0s", "unload")],
)
@pytest.mark.parametrize("stream", [False, True])
def test_without_messages_the_model_is_loaded_or_unloaded(
    ollama: Ollama, keep_alive: Any, reason: str, stream: bool
) -> None:
    document = ollama.answer(keep_alive=keep_alive, stream=stream)
    assert (document["done"], document["done_reason"]) == (True, reason)
    assert document["message"] == {"role": "assistant", "content": ""}


# -------------------------------------------------------------------------------------------- stream


def test_an_answer_streams_unless_told_not_to(ollama: Ollama) -> None:
    response = ollama.ask("[[plain]]", stream=None)
    assert response.headers["content-type"] == "application/x-ndjson"
    assert len(response.content.splitlines()) > 3


@pytest.mark.parametrize("script", ["plain", "call", "parallel", "mixed", "thinking", "interleaved"])
def test_a_stream_says_what_the_whole_answer_says(ollama: Ollama, script: str) -> None:
    messages = [line["message"] for line in ollama.lines(f"[[{script}]]", tools=TOOLS)]
    turn = SCRIPTS[script]
    calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    assert "".join(message["content"] for message in messages) == turn.text
    assert "".join(message.get("thinking", "") for message in messages) == turn.reasoning
    assert [(c["name"], c["arguments"]) for c in calls] == [
        (c.name, json.loads(c.arguments)) for c in turn.calls
    ]
    assert [call["index"] for call in calls] == list(range(len(calls)))


def test_only_the_last_line_is_done_and_counts(ollama: Ollama) -> None:
    *others, last = ollama.lines("[[plain]]")
    assert {frozenset(line) for line in others} == {frozenset({"model", "created_at", "message", "done"})}
    assert not any(line["done"] for line in others)
    assert set(last) == {"model", "created_at", "message", "done", "done_reason"} | COUNTS
    assert last["message"] == {"role": "assistant", "content": ""}
    assert last["eval_count"] == ollama.answer("[[plain]]")["eval_count"]


def test_a_line_separator_in_a_text_does_not_end_its_line(ollama: Ollama) -> None:
    response = ollama.ask("[[plain]]", stream=True)
    assert "\u2028" not in response.text
    assert "\\u2028" in response.text


# ------------------------------------------------------------------------------------------- models


def test_models_are_listed_with_their_tag(ollama: Ollama) -> None:
    (entry,) = ollama.get("/api/tags").json()["models"]
    assert (entry["name"], entry["model"]) == ("reference:latest", "reference:latest")
    assert set(entry) == {"name", "model", "modified_at", "size", "digest", "details"}


@pytest.mark.parametrize("name", ["reference", "reference:latest"])
def test_a_model_is_known_with_and_without_its_tag(ollama: Ollama, name: str) -> None:
    assert ollama.answer("Hi", model=name)["model"] == name
    assert "tools" in ollama.post("/api/show", {"model": name}).json()["capabilities"]


def test_the_version_is_told(ollama: Ollama) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", ollama.get("/api/version").json()["version"])
