"""Rules of the Ollama wire: what they leave alone, and where else than in their examples they bite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.rules import RULES, check
from conformance.rules.examples import WEATHER_SCHEMA, Exchanges, conversation, dumped
from conformance.rules.ollama.examples import (
    COUNTS,
    answer,
    call,
    chunk,
    entry,
    error,
    history,
    listing,
    result,
    said,
    shown,
    stream,
    told,
    tool,
    user,
)
from conformance.rules.reading import ABSENT
from conformance.types import Ending, Rulebook

OFFER = {"tools": [tool()]}
JSON_FORMAT = {"format": "json"}

CLEAN = {
    "a text": answer(),
    "calls": answer(call(1), call(2)),
    "a call without an id and an index": answer(call(id=ABSENT, function={"index": ABSENT})),
    "thoughts": answer(message={"thinking": "They greet me."}),
    "a call without content": answer(call(), message={"content": ABSENT}),
    "a cut text": answer(done_reason="length"),
    "a model loaded": answer(
        body={
            "model": "m",
            "created_at": "2026-01-31T12:00:00Z",
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "load",
        }
    ),
    "a prompt out of the cache": answer(prompt_eval_count=ABSENT),
    "members of the provider's own": answer(remote_model="m:cloud", remote_host="https://ollama.example"),
    "tools not used": answer(asked=OFFER),
    "a streamed text": stream(),
    "streamed calls": stream(chunk(said(call(1), call(2))), *told()[2:]),
    "streamed thoughts": stream(chunk(said(content="", thinking="Hm.")), *told()),
    "a stream of one line": stream(*told()[2:]),
    "a last line without its end": stream(raw=b"".join(dumped(one) + b"\n" for one in told())[:-1]),
    "nothing said of streaming": stream(asked={"stream": ABSENT}),
    "a stream that fails": stream(*told()[:1], {"error": "It broke."}),
    "a stream that we closed": stream(*told()[:1], ending="closed-by-us"),
    "a line that we closed": stream(raw=dumped(told()[0]) + b"\n" + b'{"mod', ending="closed-by-us"),
    "a refusal": error(),
    "models": listing(),
    "models with tags, and a request": conversation(
        listing(entry(name="example-model:latest", model="example-model:latest")), answer()
    ),
    "a model shown": shown(),
}


@pytest.mark.parametrize("rulebook", ["default", "literal"])
@pytest.mark.parametrize("exchanges", [pytest.param(e, id=name) for name, e in CLEAN.items()])
def test_clean_traffic_breaks_no_rule_under_either_rulebook(exchanges: Exchanges, rulebook: Rulebook) -> None:
    assert check(exchanges, rulebook=rulebook) == ()


def broken(exchanges: Exchanges) -> set[str]:
    return {finding.rule for finding in check(exchanges)}


def cut(exchanges: Exchanges, size: int, ending: Ending) -> Exchanges:
    """The last answer, broken off after so many bytes."""
    *before, last = exchanges
    assert last.response is not None
    response = replace(last.response, body=last.response.body[:size])
    return (*before, replace(last, response=response, ending=ending))


@pytest.mark.parametrize("ending", ["cut", "stalled"])
@pytest.mark.parametrize("exchanges", [pytest.param(e, id=name) for name, e in CLEAN.items()])
def test_a_clean_answer_that_breaks_off_breaks_only_rules_that_need_its_end(
    exchanges: Exchanges, ending: Ending
) -> None:
    response = exchanges[-1].response
    assert response is not None
    for size in range(0, len(response.body) if response.status < 300 else 0, 5):
        found = broken(cut(exchanges, size, ending))
        assert not [rule for rule in found if not RULES[rule].needs_end], size


MORE_BREAKS: dict[str, tuple[set[str], Exchanges]] = {
    "a page in place of an answer": (
        {"oll.response.json-object", "oll.response.content-type-json"},
        answer(raw=b"<h1>Hello</h1>", headers={"content-type": "text/html"}),
    ),
    "a valid request that fails": ({"oll.request.accepted"}, error(500, expect="answer")),
    "a whole answer where a stream was asked for": (
        {"oll.stream.ndjson"},
        answer(asked={"stream": True}),
    ),
    "a stream where a whole answer was asked for": (
        {"oll.response.json-object", "oll.response.content-type-json"},
        stream(asked={"stream": False}),
    ),
    "a line of an array": ({"oll.stream.ndjson"}, stream(b"[]\n", *told())),
    "the end marker of another wire": ({"oll.stream.ndjson"}, stream(*told(), b"[DONE]\n")),
    "a line over several lines": (
        {"oll.stream.ndjson"},
        stream(dumped(told()[0]).replace(b",", b",\n", 1) + b"\n", *told()[1:]),
    ),
    "lines behind the last": ({"oll.stream.done-last"}, stream(*told(), *told())),
    "an empty stream": ({"oll.stream.done-last"}, stream(raw=b"")),
    "a message that is a text": ({"oll.response.keys"}, answer(body=chunk("Hello.", done=True))),
    "a line without a message": (
        {"oll.response.keys"},
        stream({"model": "m", "created_at": "2026-01-31T12:00:00Z", "done": False}, *told()),
    ),
    "no content": ({"oll.response.message-role"}, answer(message={"content": ABSENT})),
    "a time that is none": ({"oll.response.created-at-rfc3339"}, answer(created_at="2026-02-30T12:00:00Z")),
    "a time without its zone": (
        {"oll.response.created-at-rfc3339"},
        answer(created_at="2026-01-31T12:00:00"),
    ),
    "calls that are an object": ({"oll.response.tool-call-shape"}, answer(message={"tool_calls": {}})),
    "arguments left out": (
        {"oll.response.tool-arguments-object"},
        answer(call(function={"arguments": ABSENT})),
    ),
    "a negative duration": ({"oll.response.counts"}, answer(eval_duration=-1)),
    "thoughts that are a list": ({"oll.response.thinking-separate"}, answer(message={"thinking": ["Hm."]})),
    "JSON in a fence": (
        {"oll.response.format-schema"},
        answer(asked=JSON_FORMAT, message={"content": '```json\n{"city":"Oslo"}\n```'}),
    ),
    "an error that is no text": (
        {"oll.stream.error-line"},
        stream(*told()[:1], {"error": {"message": "It broke."}}),
    ),
    "an error in the middle": (
        {"oll.stream.error-line"},
        stream(told()[0], {"error": "It broke."}, *told()[1:]),
    ),
    "a refusal that is a page": (
        {"oll.error.shape", "oll.error.json-content-type"},
        error(body="<h1>Bad.</h1>", headers={"content-type": "text/html"}),
    ),
    "a refusal in OpenAI's form": ({"oll.error.shape"}, error(error={"message": "Bad.", "type": "x"})),
    "a list that fails": ({"oll.models.shape", "oll.error.shape"}, listing(status=500)),
    "a trace in a refusal": (
        {"err.no-stack-trace"},
        error(500, error='Traceback (most recent call last):\n  File "serve.py", line 7'),
    ),
}


@pytest.mark.parametrize(("rules", "exchanges"), MORE_BREAKS.values(), ids=MORE_BREAKS.keys())
def test_a_rule_also_bites_where_its_example_does_not_show_it(rules: set[str], exchanges: Exchanges) -> None:
    assert broken(exchanges) == rules


LEFT_ALONE: dict[str, Exchanges] = {
    "a refusal for quota": error(429, expect="answer"),
    "a refusal of the key": error(401, expect="answer"),
    "a wrong key that opens": answer(probe="wrong-key", expect="refusal"),
    "JSON that the cap cut": answer(asked=JSON_FORMAT, message={"content": '{"ci'}, done_reason="length"),
    "calls where JSON was asked for": answer(call(), asked={**OFFER, **JSON_FORMAT}),
    "the very end at the cap": answer(asked={"options": {"num_predict": 3}}, **COUNTS),
    "a cap of minus one": answer(asked={"options": {"num_predict": -1}}),
    "one text that repeats another": stream(*told("ha", "haha")),
    "thoughts of a model that can't but think": answer(
        asked={"model": "gpt-oss:20b", "think": False}, message={"thinking": "They greet me."}
    ),
    "thoughts in quotation": answer(message={"content": "A thought stands in `<think>` tags."}),
    "an answer whose request nobody kept": tuple(
        replace(one, request=replace(one.request, body=b""))
        for one in stream(chunk(said(call())), *told()[2:])
    ),
    "a result that holds no code": answer(
        asked=history(user(), said(call()), result("18 degrees")), probe="tool-result"
    ),
    "a code that the question has too": answer(
        asked=history(user("Is it KESTREL?"), said(call()), result("KESTREL")), probe="tool-result"
    ),
    "one more call after a result": answer(
        call(), asked=history(user(), said(call()), result("KESTREL")), probe="tool-result"
    ),
}


@pytest.mark.parametrize("exchanges", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_what_proves_nothing_is_left_alone(exchanges: Exchanges) -> None:
    assert not {rule for rule in broken(exchanges) if rule.startswith("oll.")}


def test_content_in_pieces_is_judged_as_one() -> None:
    asked = {"format": WEATHER_SCHEMA}
    assert broken(stream(*told('{"town":', '"Oslo"}'), asked=asked)) == {"oll.response.format-schema"}


def test_a_finding_in_a_line_says_which() -> None:
    (finding,) = check(stream(*told()[:1], b"\n", *told()[1:]))
    assert finding.path == "/exchanges/0/response/events/1/data"
    assert finding.event == 1


def test_a_line_nested_too_deep_is_passed_over() -> None:
    deep = b'{"a":' * 200 + b"1" + b"}" * 200 + b"\n"
    assert "oll.stream.ndjson" not in broken(stream(deep, *told()))


def test_another_wire_is_not_judged() -> None:
    other = tuple(replace(one, wire="openai-chat") for one in answer(model=7))
    assert not {rule for rule in broken(other) if rule.startswith("oll.")}
