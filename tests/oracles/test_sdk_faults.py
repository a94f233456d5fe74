"""The faults of the official SDKs that we found: each still shows."""

from __future__ import annotations

import gc
import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.types import HttpResponse, WireName
from conformance.wires import wire

from .oracle import Oracle, Question
from .replay import Replay
from .sdk_faults import FAULTS, SdkFault
from .spoken import CLEAN, Simulated

Oracles = Callable[[WireName], Oracle]
ROOT = Path(__file__).parents[2]


def installed(module: str) -> Any:
    return pytest.importorskip(module, reason=f"the official SDK is not installed: {module}")


def streamed(simulated: Simulated, over: WireName) -> tuple[HttpResponse, Question]:
    """A plain stream of the simulator, and what was asked for it."""
    ((stream, asked),) = (
        (exchange.response, asked)
        for exchange, asked in simulated.questions("chat.plain", over, CLEAN)
        if asked.streamed
    )
    assert stream is not None
    return stream, asked


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_its_proof(fault: SdkFault) -> None:
    file, name = fault.proof
    assert name in (ROOT / file).read_text()


def test_names_are_unique() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_an_error_event_of_responses_raises_nothing(replay: Replay) -> None:
    openai = installed("openai")
    head = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "tools": []}
    created = {"type": "response.created", "sequence_number": 0, "response": head}
    error = {"type": "error", "sequence_number": 1, "code": "c", "message": "gone", "param": None}
    body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in (created, error))
    answer = HttpResponse(200, (("content-type", "text/event-stream"),), body.encode())
    told = wire("openai-responses").error_of(answer)
    assert told is not None
    assert told.message == "gone"
    replay.load(answer)
    with (
        openai.OpenAI(base_url=f"{replay.origin}/v1", api_key="k", max_retries=0) as client,
        client.responses.stream(model="m", input="Hi") as events,
    ):
        assert [event.type for event in events] == ["response.created", "error"]
        with pytest.raises(RuntimeError, match=r"response\.completed"):
            events.get_final_response()


def test_sampling_is_no_argument_of_anthropics() -> None:
    messages = installed("anthropic.resources.messages").Messages
    assert not inspect.signature(messages.create).parameters.keys() & {"temperature", "top_p", "top_k"}


def test_a_byte_order_mark_costs_anthropics_message(
    simulated: Simulated, replay: Replay, oracle: Oracles
) -> None:
    answer, asked = streamed(simulated, "anthropic-messages")
    marked = replace(answer, body=b"\xef\xbb\xbf" + answer.body)
    assert wire("anthropic-messages").decode(marked)[0].text
    replay.load(marked)
    with pytest.raises(AssertionError):
        oracle("anthropic-messages").ask(asked)


@pytest.mark.parametrize(
    "reframed",
    [
        lambda body: b": still here\n\n" + body,
        lambda body: body.replace(b"data: ", b"data:"),
        lambda body: b"retry: 10\n\n" + body,
        lambda body: body.replace(b"data: ", b"id: 1\ndata: "),
        lambda body: b"\xef\xbb\xbf" + body,
    ],
    ids=["comment", "no-space", "retry", "id", "bom"],
)
def test_regular_event_streams_are_no_json_to_google(
    simulated: Simulated, replay: Replay, oracle: Oracles, reframed: Callable[[bytes], bytes]
) -> None:
    answer, asked = streamed(simulated, "gemini")
    answer = replace(answer, body=reframed(answer.body))
    (turn,) = wire("gemini").decode(answer)
    assert (turn.finish_reason, turn.facts) == ("stop", ())
    replay.load(answer)
    with pytest.raises(installed("google.genai.errors").UnknownApiResponseError):
        oracle("gemini").ask(asked)


def test_a_client_of_googles_closes_under_its_models(replay: Replay) -> None:
    genai = installed("google.genai")
    models = genai.Client(api_key="k", vertexai=False, http_options={"base_url": replay.origin}).models
    gc.collect()
    with pytest.raises(RuntimeError, match="closed"):
        models.generate_content(model="m", contents="Hi")


def test_a_numbered_finish_reason_is_too_much_for_google(replay: Replay, oracle: Oracles) -> None:
    candidate = {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": 1, "index": 0}
    body = json.dumps({"candidates": [candidate]}).encode()
    answer = HttpResponse(200, (("content-type", "application/json"),), body)
    (turn,) = wire("gemini").decode(answer)
    assert turn.text == "Hi"
    replay.load(answer)
    question = Question({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}, "m", False)
    with pytest.raises(AttributeError):
        oracle("gemini").ask(question)


def sent_by_ollama(replay: Replay, oracle: Oracles, **members: Any) -> Any:
    message = {"role": "assistant", "content": "Hi"}
    body = json.dumps({"model": "m", "message": message, "done": True}).encode()
    replay.load(HttpResponse(200, (("content-type", "application/json"),), body))
    oracle("ollama").ask(Question({"model": "m", **members}, "m", False))
    (request,) = replay.heard
    return json.loads(request.body)


def test_ollamas_sdk_drops_much_of_a_schema(replay: Replay, oracle: Oracles) -> None:
    whole = {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"inner": {"type": "string"}}},
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "b"},
            "c": {"$ref": "#/$defs/c"},
        },
        "$defs": {"c": {"type": "string", "pattern": "^x"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    function = {"name": "f", "description": "Does it.", "parameters": whole}
    tool = {"type": "function", "function": function}
    sent = sent_by_ollama(replay, oracle, messages=[{"role": "user", "content": "Hi"}], tools=[tool])
    assert sent["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"a": {"type": "object"}, "b": {"description": "b"}, "c": {}},
        "$defs": {"c": {"type": "string", "pattern": "^x"}},
        "required": ["a"],
    }


def test_ollamas_sdk_drops_what_pairs_calls_with_results(replay: Replay, oracle: Oracles) -> None:
    call = {"id": "c", "function": {"index": 0, "name": "f", "arguments": {}}}
    history = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_name": "f", "tool_call_id": "c", "content": "r"},
    ]
    assert sent_by_ollama(replay, oracle, messages=history)["messages"] == [
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "tool_name": "f", "content": "r"},
    ]


def test_an_error_object_is_no_text_to_ollama(replay: Replay) -> None:
    ollama = installed("ollama")
    error = {"message": "gone", "type": "server_error"}
    answer = HttpResponse(500, (("content-type", "application/json"),), json.dumps({"error": error}).encode())
    told = wire("ollama").error_of(answer)
    assert told is not None
    assert told.message == "gone"
    replay.load(answer)
    with pytest.raises(ollama.ResponseError) as raised:
        ollama.Client(host=replay.origin).chat("m", [])
    told_to_the_user: Any = raised.value.error
    assert told_to_the_user == error
