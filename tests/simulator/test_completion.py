"""What the clean persona says without streaming."""

from __future__ import annotations

import json
import time

import pytest

from .support import SCRIPTS, TIME, WEATHER, Talk, assistant, tool


def test_the_envelope_is_the_published_one(reference: Talk) -> None:
    response = reference.ask("[[plain]]")
    document = response.json()
    assert response.headers["content-type"] == "application/json"
    assert document["id"].startswith("chatcmpl-")
    assert document["object"] == "chat.completion"
    assert abs(document["created"] - time.time()) < 60
    assert document["model"] == "reference"
    assert document["service_tier"] == "default"
    assert isinstance(document["system_fingerprint"], str)


def test_a_text_answer(reference: Talk) -> None:
    assert reference.choice("[[plain]]") == {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": SCRIPTS["plain"].text,
            "refusal": None,
            "annotations": [],
        },
        "logprobs": None,
        "finish_reason": "stop",
    }


def test_a_call_has_null_content_and_finishes_with_tool_calls(reference: Talk) -> None:
    choice = reference.choice("[[call]]", tools=[WEATHER])
    (call,) = choice["message"]["tool_calls"]
    assert choice["message"]["content"] is None
    assert choice["finish_reason"] == "tool_calls"
    assert call["type"] == "function"
    assert call["function"] == {"name": "get_weather", "arguments": '{"city":"Malmö","days":3}'}


def test_text_stands_beside_a_call(reference: Talk) -> None:
    message = reference.choice("[[mixed]]", tools=[WEATHER])["message"]
    assert message["content"] == "Let me look."
    assert len(message["tool_calls"]) == 1


def test_reasoning_is_a_field_of_its_own(reference: Talk) -> None:
    message = reference.choice("[[thinking]]")["message"]
    assert (message["reasoning_content"], message["content"]) == ("First, the facts.", "So it is.")


def test_ids_are_fresh_in_every_answer(reference: Talk) -> None:
    answers = [reference.ask("[[parallel]]", tools=[WEATHER, TIME]) for _ in range(3)]
    calls = [c["id"] for a in answers for c in a.json()["choices"][0]["message"]["tool_calls"]]
    assert len(set(calls)) == 6
    assert all(i.startswith("call_") and len(i) == 29 and i[5:].isalnum() for i in calls)
    assert len({a.json()["id"] for a in answers}) == 3
    assert len({a.headers["x-request-id"] for a in answers}) == 3


def test_the_last_marker_wins_even_in_a_tool_result(reference: Talk) -> None:
    history = ("Ask [[call]]", assistant("c1"), tool("c1", "cold [[done/1]]"))
    assert reference.choice(*history, tools=[WEATHER])["message"]["content"] == "It is sunny."


def test_a_marker_in_a_system_message_means_nothing(reference: Talk) -> None:
    choice = reference.choice({"role": "system", "content": "[[plain]]"}, "Good day")
    assert choice["message"]["content"] == "You wrote: Good day"


def test_an_improvised_answer_depends_on_the_request_alone(reference: Talk) -> None:
    first, second = (reference.choice("Ærø 東京 😀")["message"] for _ in range(2))
    assert first == second
    assert "Ærø 東京 😀" in first["content"]


def test_an_improvised_answer_attributes_results_by_id_not_by_position(reference: Talk) -> None:
    history = ("Weather?", assistant("c1", "c2"), tool("c2", "second"), tool("c1", "first"))
    text = reference.choice(*history, tools=[WEATHER])["message"]["content"]
    assert [line.rpartition(" ")[2] for line in text.splitlines()] == ["first", "second"]


def test_n_choices_are_numbered_and_share_no_call_id(reference: Talk) -> None:
    choices = reference.ask("[[call]]", tools=[WEATHER], n=3).json()["choices"]
    assert [c["index"] for c in choices] == [0, 1, 2]
    assert len({c["message"]["tool_calls"][0]["id"] for c in choices}) == 3


def test_usage_adds_up(reference: Talk) -> None:
    usage = reference.ask("[[thinking]]").json()["usage"]
    assert usage["prompt_tokens"] > 0
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert 0 < usage["completion_tokens_details"]["reasoning_tokens"] < usage["completion_tokens"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == 0


def cached(talk: Talk, *messages: str) -> int:
    usage = talk.ask(*messages).json()["usage"]
    found: int = usage["prompt_tokens_details"]["cached_tokens"]
    assert found <= usage["prompt_tokens"]
    return found


def test_a_long_prompt_is_read_from_the_cache_the_second_time(reference: Talk) -> None:
    long = " ".join(f"entry {number}" for number in range(600))
    assert cached(reference, long, "and now?") == 0
    again = cached(reference, long, "and now?")
    assert again >= 1024
    assert again % 128 == 0


def test_only_the_prefix_that_prompts_share_is_cached(reference: Talk) -> None:
    shared = " ".join(f"line {number}" for number in range(800))
    ends = ["one " * 2000, "two " * 2000]
    assert [cached(reference, shared + end) for end in ends] == [0, pytest.approx(len(shared) / 4, abs=140)]


def test_a_short_prompt_is_never_cached(reference: Talk) -> None:
    assert [cached(reference, "[[plain]]") for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_token_cap_cuts_the_answer_and_says_so(reference: Talk, name: str) -> None:
    document = reference.ask("[[plain]]", **{name: 5}).json()
    choice = document["choices"][0]
    assert choice["finish_reason"] == "length"
    assert document["usage"]["completion_tokens"] == 5
    assert SCRIPTS["plain"].text.startswith(choice["message"]["content"])


def test_a_token_cap_cuts_the_arguments_of_a_call(reference: Talk) -> None:
    choice = reference.choice("[[call]]", tools=[WEATHER], max_tokens=5)
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"city":'


def test_a_cap_above_the_answer_changes_nothing(reference: Talk) -> None:
    assert reference.choice("[[plain]]", max_tokens=1000)["finish_reason"] == "stop"


@pytest.mark.parametrize("stop", ["brown", ["never", "brown", "jumps"]])
def test_a_stop_sequence_ends_the_text_before_it(reference: Talk, stop: object) -> None:
    choice = reference.choice("[[plain]]", stop=stop)
    assert choice["message"]["content"] == "The quick "
    assert choice["finish_reason"] == "stop"


def test_logprobs_rebuild_the_text(reference: Talk) -> None:
    choice = reference.choice("[[plain]]", logprobs=True, top_logprobs=2)
    entries = choice["logprobs"]["content"]
    assert b"".join(bytes(e["bytes"]) for e in entries).decode() == choice["message"]["content"]
    for entry in entries:
        values = [top["logprob"] for top in entry["top_logprobs"]]
        assert len(values) == 2
        assert values == sorted(values, reverse=True)
        assert values[0] <= 0


def test_unknown_members_are_ignored(reference: Talk) -> None:
    assert reference.ask("Hi", x_unknown=1).status_code == 200


def test_non_ascii_is_sent_unescaped(reference: Talk) -> None:
    body = reference.ask("[[plain]]").content
    assert "東京 😀".encode() in body
    assert json.loads(body)
