"""How requests are read that nobody checks."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from conformance.simulator import Persona
from conformance.simulator.deviations import DEVIATIONS
from conformance.types import WireName


def read(name: str, body: dict[str, Any], wire: WireName = "openai-chat", **options: Any) -> dict[str, Any]:
    sent = copy.deepcopy(body)
    made = DEVIATIONS[name](**options).disregard(wire, body, "reference")
    assert body == sent
    return made


def called(*ids: Any) -> dict[str, Any]:
    calls = [{"type": "function", **({"id": i} if i is not None else {})} for i in ids]
    return {"role": "assistant", "tool_calls": calls}


def result(call_id: str | None) -> dict[str, Any]:
    return {"role": "tool", **({"tool_call_id": call_id} if call_id is not None else {})}


def pairs(body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    made = [call.get("id") for m in body["messages"] for call in m.get("tool_calls") or ()]
    return made, [m.get("tool_call_id") for m in body["messages"] if m.get("role") == "tool"]


@pytest.mark.parametrize(
    "messages",
    [
        [called("c", "c"), result("c"), result("c")],
        [called("c"), result("c"), called("c"), result("c")],
        [called("", ""), result(""), result("")],
        [called(None), result(None)],
        [called("a", "b", "a"), result("a"), result("b"), result("a")],
    ],
)
def test_calls_that_share_an_id_are_told_apart_and_so_are_their_results(messages: list[Any]) -> None:
    made, answered = pairs(read("call-ids-told-apart", {"messages": messages}))
    assert len(set(made)) == len(made)
    assert answered == made


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [called("a", "b"), result("b"), result("a")]},
        {"messages": [result("nobody")]},
        {"messages": "none"},
        {"messages": [None, {"tool_calls": "none"}, {"tool_calls": [7]}]},
        {},
    ],
)
def test_what_can_be_told_apart_stays_as_it_is(body: dict[str, Any]) -> None:
    assert read("call-ids-told-apart", body) is body


def test_calls_of_responses_are_told_apart() -> None:
    kinds = ("function_call", "function_call_output") * 2
    body = {"input": [{"type": kind, "call_id": "call_0"} for kind in kinds]}
    made = [item["call_id"] for item in read("call-ids-told-apart", body, "openai-responses")["input"]]
    assert made[0] == made[1] != made[2] == made[3]


def test_a_request_is_read_as_another() -> None:
    options: dict[str, Any] = {"values": {"/a/b": 1}, "without": ["/c"]}
    assert read("read-as", {"a": {}, "c": 2}, **options) == {"a": {"b": 1}}
    assert read("read-as", {"a": {}, "c": 2}, "gemini", **options) == {"a": {}, "c": 2}
    assert read("read-as", {"c": 2}, values={"/a": 1}, when=[{"at": "", "missing": "c"}]) == {"c": 2}


def test_every_model_is_served_by_the_one_that_is_there() -> None:
    persona = Persona("any", (DEVIATIONS["any-model-served"](),))
    assert persona.serving("whatever").model == "whatever"
    assert Persona("one").serving("whatever").model == "reference"


def test_signatures_are_as_good_as_new() -> None:
    block = {"type": "thinking", "thinking": "So.", "signature": ""}
    body = {"messages": [{"role": "assistant", "content": [block, {"type": "text", "text": "Yes."}]}]}
    made = read("signatures-unchecked", body, "anthropic-messages")
    assert made["messages"][0]["content"][0]["signature"]
    assert read("signatures-unchecked", body) is body
