"""Translating bodies: what the input is, what comes out, what is lost at either end."""

from __future__ import annotations

import contextlib
import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.types import WIRES, Loss
from conformance.wires.translation import Unusable, kind_of, translate

FORMATS = (*WIRES, "langchain")

CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "42"},
    ],
    "max_tokens": 64,
}
ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "a",
                "tool_calls": CHAT["messages"][2]["tool_calls"],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def sse(*datas: Any) -> bytes:
    return b"".join(b"data: " + (dump(d) if isinstance(d, dict) else d) + b"\n\n" for d in datas)


# ---------------------------------------------------------------------------------- the round trips


@pytest.mark.parametrize(("first", "second"), list(product(FORMATS, FORMATS)))
def test_a_request_comes_back_through_any_two_formats(first: str, second: str) -> None:
    once = dump(translate("openai-chat", first, dump(CHAT)).value)
    assert kind_of(once) == "request"
    twice = dump(translate(first, second, once, model="m").value)
    back: Any = translate(second, "openai-chat", twice, model="m").value
    said = [
        (m["role"], m["content"], [c["function"] for c in m.get("tool_calls", ())]) for m in back["messages"]
    ]
    assert said == [
        ("system", "s", []),
        ("user", "hi", []),
        ("assistant", None, [{"name": "f", "arguments": '{"a":1}'}]),
        ("tool", "42", []),
    ]
    assert back["messages"][2]["tool_calls"][0]["id"] == back["messages"][3]["tool_call_id"]


@pytest.mark.parametrize(("first", "second"), list(product(FORMATS, FORMATS)))
def test_an_answer_comes_back_through_any_two_formats(first: str, second: str) -> None:
    once = dump(translate("openai-chat", first, dump(ANSWER)).value)
    assert kind_of(once) == "response" or first == "langchain"
    twice = dump(translate(first, second, once, kind="response").value)
    back: Any = translate(second, "openai-chat", twice, kind="response").value
    (choice,) = back["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "a"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert back["usage"]["total_tokens"] == 3
    assert back["model"] == "m"


# ------------------------------------------------------------------------------- what an input is


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (CHAT, "request"),
        ({"model": "m", "input": "hi"}, "request"),
        ({"contents": []}, "request"),
        ([{"type": "human", "data": {"content": "hi"}}], "request"),
        (ANSWER, "response"),
        ({"output": []}, "response"),
        ({"candidates": []}, "response"),
        ([{"candidates": []}], "response"),
        ({"model": "m", "message": {"content": "a"}, "done": True}, "response"),
        ({"type": "ai", "data": {"content": "hi"}}, "response"),
        ({"error": {"message": "no"}}, "response"),
    ],
)
def test_a_kind_is_recognised_by_content(value: Any, kind: str) -> None:
    assert kind_of(dump(value)) == kind


def test_a_recorded_stream_is_an_answer() -> None:
    body = sse(chunk({"role": "assistant", "content": "a"}), chunk({}, "stop"), b"[DONE]")
    assert kind_of(body) == "response"
    out: Any = translate("openai-chat", "openai-chat", body).value
    assert out["choices"][0]["message"]["content"] == "a"


def test_json_lines_are_an_answer() -> None:
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "a"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "b"}, "done": True, "done_reason": "stop"},
    ]
    out: Any = translate("ollama", "openai-chat", b"\n".join(dump(line) for line in lines)).value
    assert out["choices"][0]["message"]["content"] == "ab"


def test_the_given_kind_wins() -> None:
    with pytest.raises(Unusable, match="no answer of openai-chat"):
        translate("openai-chat", "openai-chat", dump(CHAT), kind="response")


@pytest.mark.parametrize(
    ("source", "body", "says"),
    [
        ("openai-chat", b"{", "not JSON: .*line 1, column 2"),
        ("openai-chat", b"", "nothing in it"),
        ("openai-chat", b"[1]", "no answer of openai-chat"),
        ("openai-chat", b'{"messages": 1}', "no request of openai-chat: messages: not a list"),
        ("openai-chat", b'{"messages": [{"role": "x"}]}', "messages/0"),
        ("openai-chat", b'{"messages": [], "messages": []}', "'messages' stands twice"),
        ("openai-chat", b'{"messages": [], "seed": NaN}', "NaN"),
        ("openai-chat", b'{"messages": [], "seed": 1e400}', "1e400"),
        ("openai-chat", b'{"messages": [], "seed": ' + b"9" * 5000 + b"}", "not usable JSON"),
        ("openai-chat", b'{"messages": ' + b"[" * 10_000, "not JSON|nested"),
        ("openai-chat", b'{"messages": []}', "no model"),
        ("openai-chat", b"\xff", "not UTF-8: byte 0"),
        ("openai-chat", dump({"error": {"message": "no such"}}), "an error, not an answer: no such"),
        ("openai-chat", sse(chunk({"content": "a"}), {"error": {"message": "cut"}}), "an error.*: cut"),
        ("langchain", b"[1]", "/0: not a LangChain message"),
        ("langchain", dump({"type": "human", "data": {"content": "hi"}}), "not an ai message"),
        ("nope", dump(ANSWER), "no such wire: 'nope'"),
    ],
)  # fmt: skip
def test_what_can_not_be_translated_says_why(source: str, body: bytes, says: str) -> None:
    with pytest.raises(Unusable, match=says):
        translate(source, "openai-chat", body)


@given(st.binary(max_size=60), st.sampled_from(FORMATS), st.sampled_from(["request", "response", None]))
def test_no_bytes_raise_anything_else(body: bytes, source: str, kind: Any) -> None:
    with contextlib.suppress(Unusable):
        translate(source, "openai-chat", body, kind=kind, model="m")


# ------------------------------------------------------------------------- what the input loses


@pytest.mark.parametrize(
    ("change", "losses"),
    [
        ({}, []),
        (
            {"messages": [{"role": "user", "content": "hi", "name": "bob"}]},
            [Loss("/messages/0/name", "in the input: has no canonical form")],
        ),
        (
            {"messages": [{"role": "user", "content": "hi", "id": "msg_1"}]},
            [Loss("/messages/0/id", "in the input: has no canonical form", "form")],
        ),
        ({"messages": [{"role": "user", "content": "hi", "name": None, "x": []}]}, []),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}, []),
        ({"seed": 7, "x_of_theirs": {"a": 1}, "stream": False}, []),
        (
            {"messages": [{"role": "user", "content": "hi", "x": {"y": [0]}}]},
            [Loss("/messages/0/x", "in the input: has no canonical form")],
        ),
    ],
)
def test_members_without_canonical_form_are_told(change: dict[str, Any], losses: list[Loss]) -> None:
    assert list(translate("openai-chat", "openai-chat", dump(CHAT | change)).losses) == losses


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        ({"annotations": [{"type": "url_citation"}]}, ["/choices/0/message/annotations"]),
        ({"audio": {"id": "a", "data": "UklG"}}, ["/choices/0/message/audio"]),
        ({"annotations": [], "audio": None, "custom": {"name": "", "input": ""}}, []),
    ],
)
def test_what_an_answer_says_beyond_the_canonical_form_is_told(
    change: dict[str, Any], paths: list[str]
) -> None:
    answer = json.loads(json.dumps(ANSWER))
    answer["choices"][0]["message"] |= change
    answer["system_fingerprint"] = "fp"
    assert [loss.path for loss in translate("openai-chat", "openai-chat", dump(answer)).losses] == paths


def test_the_newer_word_for_max_tokens_is_no_loss() -> None:
    body = {k: v for k, v in CHAT.items() if k != "max_tokens"} | {"max_completion_tokens": 64}
    assert translate("openai-chat", "anthropic-messages", dump(body)).losses == ()
    assert translate("openai-chat", "openai-chat", dump(body)).value == body


def test_what_was_odd_in_an_answer_is_told_as_facts() -> None:
    odd = json.loads(json.dumps(ANSWER))
    odd["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}]
    found = translate("openai-chat", "openai-chat", dump(odd))
    assert [fact.name for fact in found.facts] == ["content-list"]


def test_a_model_replaces_the_one_in_the_input() -> None:
    for body in (CHAT, ANSWER):
        out: Any = translate("openai-chat", "anthropic-messages", dump(body), model="claude").value
        assert out["model"] == "claude"


def test_numbers_beyond_a_double_survive() -> None:
    arguments = '{"a":9007199254740993}'
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    body = dump({"model": "m", "messages": [{"role": "user", "content": "hi"},
                 {"role": "assistant", "content": None, "tool_calls": [call]},
                 {"role": "tool", "tool_call_id": "c", "content": "1"}], "max_tokens": 9})  # fmt: skip
    for target in FORMATS:
        assert "9007199254740993" in json.dumps(translate("openai-chat", target, body).value)


def test_an_answer_that_repeats_its_input_is_an_answer() -> None:
    body = {"object": "response", "input": [], "output": [], "status": "completed"}
    assert kind_of(json.dumps(body).encode()) == "response"


def test_a_request_may_have_a_stored_prompt_and_no_input() -> None:
    assert kind_of(b'{"model": "m", "prompt": {"id": "pmpt_1"}}') == "request"


def test_a_request_of_another_wire_is_told_by_its_members() -> None:
    with pytest.raises(Unusable, match="contents: as of gemini"):
        translate("openai-chat", "ollama", b'{"contents": []}', kind="request")


@pytest.mark.parametrize("body", [b"", b" \n", b"\xef\xbb\xbf"])
def test_nothing_is_neither_request_nor_answer(body: bytes) -> None:
    with pytest.raises(Unusable, match="nothing in it"):
        translate("openai-chat", "gemini", body)


def test_digits_that_a_double_does_not_hold_are_a_loss() -> None:
    body = json.dumps(CHAT | {"temperature": 0.5}).replace("0.5", "0.12345678901234567890")
    (loss,) = translate("openai-chat", "openai-chat", body.encode()).losses
    assert (loss.path, loss.weight) == ("", "meaning")
    assert "0.12345678901234567890" in loss.what


def gemini_call(args: str) -> str:
    call = f'{{"functionCall": {{"id": "c", "name": "f", "args": {args}}}}}'
    return (
        f'{{"candidates": [{{"content": {{"role": "model", "parts": [{call}]}}, "finishReason": "STOP"}}]}}'
    )


def ollama_call(args: str) -> str:
    call = f'{{"function": {{"name": "f", "arguments": {args}}}}}'
    return f'{{"message": {{"role": "assistant", "content": "", "tool_calls": [{call}]}}, "done": true}}'


ARGUMENTS = {
    '{"a":1,"a":2}': "the key 'a' stands twice",
    '{"a":0.1234567890123456789}': "digits of 0.1234567890123456789",
}


@pytest.mark.parametrize("args", ARGUMENTS)
@pytest.mark.parametrize(
    ("source", "body"),
    [
        ("gemini", gemini_call),
        ("gemini", lambda args: f"[{gemini_call(args)}]"),
        ("gemini", lambda args: f"data: {gemini_call(args)}\n\n"),
        ("ollama", ollama_call),
        ("ollama", lambda args: f"{ollama_call(args)}\n{ollama_call('{}')}"),
    ],
)
def test_arguments_that_reading_changes_are_told_in_any_form_of_an_answer(
    source: str, body: Any, args: str
) -> None:
    losses = translate(source, "openai-chat", body(args).encode(), model="m").losses
    assert [loss.weight for loss in losses if ARGUMENTS[args] in loss.what] == ["meaning"]


def test_a_stream_that_is_odd_throughout_is_told_of_a_few_times() -> None:
    event = f"data: {gemini_call(json.dumps({'a': 0}).replace('0', '0.1234567890123456789'))}\n\n"
    odd = [event.replace("0.1", f"0.{i}") for i in range(1000, 1100)]
    losses = translate("gemini", "openai-chat", "".join(odd).encode(), model="m").losses
    assert len([loss for loss in losses if not loss.path]) == 20


def test_an_answer_without_an_end_is_noted() -> None:
    cut = {**ANSWER, "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}}]}
    facts = translate("openai-chat", "gemini", json.dumps(cut).encode()).facts
    assert [(fact.name, fact.path) for fact in facts] == [("unfinished", "/turns/0")]


def test_numbers_of_an_answer_in_all_the_digits_of_a_double_are_no_loss() -> None:
    body = gemini_call("{}").replace('"STOP"', '"STOP", "avgLogprobs": -6.5675703808665276e-05')
    assert [
        loss for loss in translate("gemini", "openai-chat", body.encode(), model="m").losses if not loss.path
    ] == []
