"""The client behind ``--adapted``: what it tries again, how long it waits, when it falls back, what
it never does.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from conformance.engine.drive import Brought, PlainClient, Question, Target, encoded
from conformance.engine.reference_client import LONGEST_WAIT_S, RETRIES, ReferenceClient
from conformance.profiles import profile
from conformance.types import (
    Ask,
    Ending,
    Exchange,
    Expect,
    Failure,
    HttpRequest,
    HttpResponse,
    Message,
    NamedChoice,
    Request,
    Tool,
    WireName,
)
from conformance.wires import wire

HELLO = Request((Message.user("Hello."),))
ALPHA = Tool("alpha", "", {"type": "object", "properties": {}})
CALLING = replace(HELLO, tools=(ALPHA,))
TARGET = Target("http://x/v1", wire("openai-chat"), "first", key="k")


def answer(message: dict[str, Any] | None = None, reason: str = "stop") -> HttpResponse:
    """A whole answer that conforms."""
    said = {"role": "assistant", "content": "Hello.", "refusal": None} | (message or {})
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": reason}
    return document(
        200, {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )


def document(status: int, body: Any, **headers: str) -> HttpResponse:
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HttpResponse(status, (("content-type", "application/json"), *given), json.dumps(body).encode())


def refused(status: int, message: str = "no", **headers: str) -> HttpResponse:
    """A refusal in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return document(status, {"error": error}, **headers)


def stream(*events: Any) -> HttpResponse:
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    body = "".join(f"data: {text}\n\n" for text in texts).encode()
    return HttpResponse(200, (("content-type", "text/event-stream"),), body)


BROKEN = Failure("protocol", "the connection broke")


class Scripted:
    """A transport that answers from a list, the last entry again and again."""

    def __init__(self, *answers: HttpResponse | Failure, ending: Ending = "complete") -> None:
        self.sent: list[HttpRequest] = []
        self._answers = list(answers)
        self._ending: Ending = ending

    async def send(
        self, request: HttpRequest, *, wire: WireName, close_after_events: int | None = None
    ) -> Exchange:
        self.sent.append(request)
        said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(said, Failure):
            return Exchange(request, None, "cut", wire, said)
        ending: Ending = "closed-by-us" if close_after_events else self._ending
        return Exchange(request, said, ending, wire)

    async def aclose(self) -> None:
        """Nothing is held open."""

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in self.sent]


def question(request: Request = HELLO, expect: Expect = "answer", close: int | None = None) -> Question:
    ask = Ask(request, expect=expect)
    return Question(encoded(request, ask, TARGET), expect, ask, request, close)


def ask(
    transport: Scripted,
    asked: Question | None = None,
    *,
    name: str = "compatible",
    fallback: str | None = None,
    seed: str = "s",
) -> tuple[Brought, list[float]]:
    """What the client brings, and how long it waited before each further try."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    client = ReferenceClient(profile(name), fallback_model=fallback, seed=seed, sleep=sleep, now=lambda: 0.0)
    return asyncio.run(client.send(asked or question(), TARGET, transport)), waits


def status(brought: Brought) -> int | None:
    response = brought.exchange.response
    return None if response is None else response.status


# --------------------------------------------------------------------------------------------- retries


@pytest.mark.parametrize(
    "first", [refused(429), refused(500), refused(503), BROKEN, document(200, {"error": {"code": 502}})]
)
def test_what_may_go_away_is_tried_again_and_every_try_is_kept(first: HttpResponse | Failure) -> None:
    brought, waits = ask(Scripted(first, answer()))
    assert (status(brought), len(brought.behind), len(waits)) == (200, 2, 1)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_a_refusal_that_stays_one_is_never_tried_again(code: int) -> None:
    brought, waits = ask(Scripted(refused(code)))
    assert (status(brought), len(brought.behind), waits) == (code, 1, [])


def test_after_so_many_tries_the_failure_stands() -> None:
    brought, waits = ask(Scripted(refused(503)))
    assert (status(brought), len(brought.behind), len(waits)) == (503, RETRIES + 1, RETRIES)


def test_waits_grow_and_are_bounded_and_depend_on_the_seed_alone() -> None:
    _, waits = ask(Scripted(refused(503)))
    assert waits == sorted(waits)
    assert all(0.25 <= wait <= LONGEST_WAIT_S for wait in waits)
    assert waits == ask(Scripted(refused(503)))[1] != ask(Scripted(refused(503)), seed="t")[1]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "250"}, 0.25),
        ({"retry_after": "Thu, 01 Jan 1970 00:00:30 GMT"}, 30.0),
    ],
)
def test_an_endpoint_says_how_long_to_wait(headers: dict[str, str], wait: float) -> None:
    assert ask(Scripted(refused(429, **headers), answer()))[1] == [wait]


def test_an_endpoint_that_wants_too_long_a_wait_is_not_waited_for() -> None:
    brought, waits = ask(Scripted(refused(429, retry_after="3600"), answer()))
    assert (status(brought), waits) == (429, [])


def test_a_stream_that_broke_off_is_asked_for_again() -> None:
    cut = stream({"id": "x", "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]})
    brought, _ = ask(Scripted(cut, answer()), question(replace(HELLO, stream=True)))
    assert len(brought.behind) == 2


def test_an_answer_of_reasoning_alone_is_asked_for_again_at_once() -> None:
    thought = answer({"content": "", "reasoning_content": "hm"})
    brought, waits = ask(Scripted(thought, answer()))
    assert (len(brought.behind), waits) == (2, [])


def test_a_refusal_in_words_is_an_answer() -> None:
    brought, _ = ask(Scripted(answer({"content": None, "refusal": "No."})))
    assert len(brought.behind) == 1


def test_a_stream_that_we_closed_is_not_asked_for_again() -> None:
    begun = stream({"id": "x", "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]})
    brought, _ = ask(Scripted(begun), question(replace(HELLO, stream=True), close=1))
    assert len(brought.behind) == 1


def test_the_plain_client_never_tries_again() -> None:
    for first in (refused(429, retry_after="1"), refused(500), BROKEN):
        transport = Scripted(first, answer())
        brought = asyncio.run(PlainClient().send(question(), TARGET, transport))
        assert (len(transport.sent), brought.behind) == (1, ())


# -------------------------------------------------------------------------------------------- fallback


def models(transport: Scripted) -> list[str]:
    return [body["model"] for body in transport.bodies()]


def test_when_the_tries_are_spent_the_second_model_is_asked() -> None:
    transport = Scripted(*[refused(503)] * (RETRIES + 1), answer())
    brought, _ = ask(transport, fallback="second")
    assert models(transport) == ["first"] * (RETRIES + 1) + ["second"]
    assert status(brought) == 200


def test_a_refusal_that_stays_one_does_not_lead_to_another_model() -> None:
    transport = Scripted(refused(400))
    ask(transport, fallback="second")
    assert models(transport) == ["first"]


def test_a_capability_that_a_model_lacks_leads_to_another_at_once() -> None:
    lacking = refused(404, "No endpoints found that support tool use.")
    transport = Scripted(lacking, answer())
    brought, waits = ask(transport, question(CALLING), name="openrouter", fallback="second")
    assert (models(transport), waits, status(brought)) == (["first", "second"], [], 200)


# ---------------------------------------------------------------------------------------- another way


def test_after_a_failed_call_the_model_is_told_what_it_said() -> None:
    error = {
        "message": "x",
        "type": "t",
        "param": None,
        "code": "tool_use_failed",
        "failed_generation": "<alpha",
    }
    transport = Scripted(document(400, {"error": error}), answer())
    brought, _ = ask(transport, question(CALLING), name="groq")
    assert status(brought) == 200
    assert "<alpha" in transport.bodies()[1]["messages"][-1]["content"]


def test_a_choice_that_no_host_takes_is_asked_for_in_words() -> None:
    text = "No endpoints found that support the provided 'tool_choice' value."
    transport = Scripted(refused(404, text), answer())
    ask(transport, question(replace(CALLING, tool_choice=NamedChoice("alpha"))), name="openrouter")
    assert transport.bodies()[1]["tool_choice"] == "auto"


def test_what_is_given_up_is_given_up_in_the_request_that_is_judged_too() -> None:
    asked = question(replace(HELLO, stream=True, include_usage=True))
    transport = Scripted(refused(400, "stream_options: unknown"), answer())
    brought, _ = ask(transport, asked)
    assert "stream_options" not in json.loads(brought.exchange.request.body)


def test_a_stream_whose_calls_can_not_be_used_is_asked_for_whole_and_told_as_a_stream() -> None:
    opened = {"index": 0, "id": "c1", "type": "function", "function": {"name": "alpha", "arguments": 'a":1}'}}
    garbled = stream(
        {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [opened]}, "finish_reason": None}]},
        {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        "[DONE]",
    )
    call = {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}
    transport = Scripted(garbled, answer({"content": None, "tool_calls": [call]}, "tool_calls"))
    brought, _ = ask(transport, question(replace(CALLING, stream=True)))
    assert "stream" not in transport.bodies()[1]
    response = brought.exchange.response
    assert response is not None
    assert response.body.endswith(b"data: [DONE]\n\n")
    (turn,) = wire("openai-chat").decode(response)
    assert [(c.id, c.name, c.arguments) for c in turn.calls] == [("c1", "alpha", "{}")]


def test_a_forced_call_that_never_comes_is_asked_for_in_words_and_then_given_up_openly() -> None:
    transport = Scripted(answer())
    brought, waits = ask(transport, question(replace(CALLING, tool_choice="required")))
    assert [body["tool_choice"] for body in transport.bodies()] == ["required", "auto", "auto"]
    assert (json.loads(brought.exchange.request.body)["tool_choice"], waits) == ("auto", [])


# ---------------------------------------------------------------------------------------------- seeing


def test_the_judged_exchange_is_what_the_client_behind_the_profile_asked_and_got() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}
    raw = answer({"content": None, "tool_calls": [call]}, "STOP")
    transport = Scripted(raw)
    brought, _ = ask(transport, question(replace(CALLING, tool_choice="required")), name="google-gemini")
    assert json.loads(brought.exchange.request.body)["tool_choice"] == "required"
    assert transport.bodies()[0]["tool_choice"] == "auto"
    response = brought.exchange.response
    assert response is not None
    assert (b'"tool_calls"}' in response.body, b'"STOP"' in raw.body) == (True, True)
    assert brought.behind[0].response == raw


def test_what_is_sent_in_order_to_be_refused_is_sent_as_it_is() -> None:
    odd = replace(CALLING, tools=(ALPHA, ALPHA))
    transport = Scripted(refused(400))
    ask(transport, question(odd, "refusal"), name="deepseek")
    assert len(transport.bodies()[0]["tools"]) == 2
    assert "thinking" not in transport.bodies()[0]


BODY: dict[str, Any] = {
    "model": "first",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi."}], "odd": 1}],
    "max_completion_tokens": 9,
    "odd": True,
}


def raw(
    body: Any, expect: Expect = "answer", path: str = "/chat/completions", method: str = "POST"
) -> Question:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Question(HttpRequest(method, f"http://x/v1{path}", (), data), expect)


def test_bytes_that_say_a_request_are_prepared_and_stay_what_they_are_otherwise() -> None:
    transport = Scripted(answer())
    ask(transport, raw(BODY), name="deepseek")
    assert transport.bodies() == [{**BODY, "thinking": {"type": "enabled"}}]


@pytest.mark.parametrize(
    "asked",
    [
        raw(BODY, "refusal"),
        raw(BODY, "either"),
        raw(b'{"model": "first", "mess'),
        raw({"model": "first"}),
        raw([1]),
        raw(b"\xff"),
        raw(BODY, path="/nope"),
        raw(b"", path="/models", method="GET"),
    ],
    ids=[
        "to be refused",
        "either",
        "cut",
        "no messages",
        "a list",
        "not UTF-8",
        "elsewhere",
        "a list of models",
    ],
)
def test_bytes_that_say_none_are_sent_as_they_stand(asked: Question) -> None:
    transport = Scripted(answer())
    ask(transport, asked, name="deepseek")
    assert [request.body for request in transport.sent] == [asked.http.body]
