"""What looks like a violation and is none, and the near miss beside it that is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from conformance.rules import check
from conformance.rules.examples import (
    KEY,
    USAGE,
    Exchanges,
    answer,
    call,
    chunk,
    conversation,
    entry,
    error,
    models,
    opened,
    piece,
    start,
    stream,
    tool,
    tool_piece,
    tool_stream,
)
from conformance.rules.reading import ABSENT
from conformance.types import Ending

NAMED = {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
WHOLE = '{"city":"Oslo"}'
AZURE_FIRST = chunk(id="", object="", created=0, model="", prompt_filter_results=[])
SAID = (piece(content="Hello."), piece("stop"))
CUSTOM = {"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
ERROR_EVENT = b'data: {"error":{"message":"No memory."}}\n\n'
SCHEMA = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": {}}}
}
FUNCTIONS = {"functions": [{"name": "f", "parameters": {}}]}


def fired(exchanges: Exchanges) -> set[str]:
    """The rules that fire, MAY aside."""
    return {finding.rule for finding in check(exchanges) if finding.level != "MAY"}


@pytest.mark.parametrize(
    "exchanges",
    [
        pytest.param(
            answer(asked=NAMED, calls=[call()], choice={"finish_reason": "stop"}),
            id="a forced call that finishes with stop, as OpenAI's do",
        ),
        pytest.param(
            tool_stream(opened(arguments=WHOLE), asked=NAMED, finish="stop"), id="the same, streamed"
        ),
        pytest.param(
            answer(calls=[call(arguments='{"city":"Os')], choice={"finish_reason": "length"}),
            id="arguments that the cap cut",
        ),
        pytest.param(
            tool_stream(opened(arguments='{"city":'), finish="length"),
            id="streamed arguments that the cap cut",
        ),
        pytest.param(
            answer(asked={"tool_choice": "required", "tools": [tool()]}, choice={"finish_reason": "length"}),
            id="no required call before the cap",
        ),
        pytest.param(
            answer(
                asked={"tool_choice": "required", "tools": [tool()]},
                message={"content": None, "refusal": "No."},
            ),
            id="a refusal where a call was required",
        ),
        pytest.param(answer(calls=[call(index=0)]), id="an extra index in a whole call"),
        pytest.param(
            answer(choice={"logprobs": ABSENT}, message={"refusal": ABSENT}), id="no logprobs, no refusal"
        ),
        pytest.param(answer(calls=[call()], message={"content": ""}), id="empty content beside calls"),
        pytest.param(answer(calls=[call()], message={"content": "Let me see."}), id="text beside calls"),
        pytest.param(answer(calls=[CUSTOM], asked={"tools": [{"type": "custom"}]}), id="a custom tool call"),
        pytest.param(
            answer(asked=FUNCTIONS, message={"function_call": {}}, choice={"finish_reason": "function_call"}),
            id="a legacy function call",
        ),
        pytest.param(
            answer(system_fingerprint="fp", usage=USAGE | {"cost": 0.25}), id="members of the provider's own"
        ),
        pytest.param(answer(usage=USAGE | {"prompt_tokens_details": None}), id="details that are null"),
        pytest.param(
            answer(raw=b"\n\n  " + cast(Any, answer()[0].response).body), id="blank lines before the JSON"
        ),
        pytest.param(
            answer(asked={"tools": [tool()]}, message={"content": "`[TOOL_CALLS]`"}), id="markup in code"
        ),
        pytest.param(
            answer(message={"content": "<tool_call>{}</tool_call>"}), id="markup where no tools were offered"
        ),
        pytest.param(
            answer(asked=SCHEMA, message={"content": None, "refusal": "No."}), id="a refusal under a schema"
        ),
        pytest.param(answer(asked=SCHEMA | {"tools": [tool()]}, calls=[call()]), id="calls under a schema"),
        pytest.param(stream(AZURE_FIRST, start(), *SAID), id="Azure's bookkeeping chunk"),
        pytest.param(stream(start(), piece("stop", content="Hi.")), id="text on the finishing chunk"),
        pytest.param(stream(piece("stop", role="assistant", content="Hi.")), id="a stream of one chunk"),
        pytest.param(stream(start() | {"obfuscation": "x1"}, *SAID), id="obfuscation"),
        pytest.param(stream(start(), b": keep-alive\n\n", *SAID), id="comments"),
        pytest.param(
            stream(start(), *(piece(content="ha") for _ in range(3)), piece("stop")), id="a text that repeats"
        ),
        pytest.param(tool_stream(opened(arguments=WHOLE)), id="a whole call in one delta"),
        pytest.param(tool_stream(opened(), tool_piece(0, WHOLE, type="function")), id="the type repeated"),
        pytest.param(tool_stream(opened(), tool_piece(0, WHOLE, id="")), id="an empty id later on"),
        pytest.param(stream(start(), done=b"", ending="closed-by-us"), id="a stream that we closed"),
        pytest.param(stream(start(), done=b"", ending="stalled"), id="a stream that stalled"),
        pytest.param(stream(start(), done=b"data: {", ending="too-large"), id="a stream too large to read"),
        pytest.param(error(422, probe="malformed-json"), id="422 in place of 400"),
        pytest.param(error(400, probe="unknown-model"), id="400 for an unknown model"),
        pytest.param(error(429, probe="unknown-model"), id="a probe that met a quota"),
        pytest.param(
            error(401, probe="tool-result", expect="answer"), id="a probe with a key that is refused"
        ),
        pytest.param(answer(probe="wrong-key", expect="refusal"), id="an endpoint that asks for no key"),
        pytest.param(
            error(502, raw=b"<html>", headers={"content-type": "text/html"}, expect="answer"), id="a proxy's"
        ),
        pytest.param(error(429, expect="answer", headers={"retry-after": "7"}), id="a quota"),
        pytest.param(error(400, expect="either"), id="a refusal that is allowed"),
        pytest.param(
            error(429, headers={"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}), id="Retry-After as a date"
        ),
        pytest.param(error(401, error={"message": f"Bad key {KEY[:4]}***"}), id="a masked key"),
        pytest.param(models(entry(id="other")), id="a list of models in a run that names no model"),
        pytest.param(
            conversation(answer(probe="unknown-model", asked={"model": "x"}, expect="either"), models())[1:],
            id="an unknown model that is rightly not listed",
        ),
        pytest.param(answer(asked={"model": ABSENT, "messages": ABSENT}), id="a request that names nothing"),
    ],
)
def test_what_is_allowed_is_left_alone(exchanges: Exchanges) -> None:
    assert fired(exchanges) == set()


@pytest.mark.parametrize(
    ("rules", "exchanges"),
    [
        pytest.param(
            {"chat.response.finish-tool-calls-when-called"},
            answer(asked={"tool_choice": "required"}, calls=[call()], choice={"finish_reason": "stop"}),
            id="a required call that finishes with stop, as OpenAI's do not",
        ),
        pytest.param(
            {"chat.response.tool-call-arguments-json"},
            answer(calls=[call(arguments='{"city":"Os')]),
            id="cut arguments under tool_calls",
        ),
        pytest.param(
            {"sse.done-sentinel"},
            stream(start(), done=b"", ending="cut"),
            id="a connection that broke mid-stream",
        ),
        pytest.param(
            {"chat.response.body-single-json-object"},
            answer(raw=b'{"id":"chatcmpl-1","obj', ending="cut"),
            id="a connection that broke in the JSON",
        ),
        pytest.param(
            {"chat.response.body-single-json-object", "chat.response.content-type-json"},
            answer(raw=b"<html>Hello.</html>", headers={"content-type": "text/html"}),
            id="HTML in place of JSON",
        ),
        pytest.param({"chat.response.body-single-json-object"}, answer(raw=b""), id="an empty body"),
        pytest.param(
            {"chat.stream.choice-index-range", "sse.done-sentinel"}, stream(raw=b""), id="an empty stream"
        ),
        pytest.param(
            {"sse.final-event-terminated"}, stream(done=b"data: [DONE]"), id="a marker without its blank line"
        ),
        pytest.param(
            {"sse.done-sentinel"}, stream(done=b"data:  [DONE]\n\n"), id="a marker with a second space"
        ),
        pytest.param({"sse.done-once-and-last"}, stream(done=b"data: [DONE]\n\n" * 2), id="two markers"),
        pytest.param(
            {"chat.stream.validation-error-before-stream"},
            stream(ERROR_EVENT, done=b""),
            id="a stream that is an error",
        ),
        pytest.param(
            {"err.status-not-200"}, error(200, asked={"stream": True}), id="an error in JSON under 200"
        ),
        pytest.param(
            {"chat.stream.is-sse-when-asked"}, stream(asked={"stream": False}), id="a stream nobody asked for"
        ),
        pytest.param(
            {"chat.request.accepted"}, error(400, expect="answer"), id="a valid request that is refused"
        ),
        pytest.param({"chat.request.accepted"}, error(500, expect="answer"), id="a valid request that fails"),
        pytest.param({"err.auth-invalid-401"}, error(403, probe="wrong-key"), id="403 for a wrong key"),
        pytest.param(
            {"chat.response.tool-call-id-unique", "chat.stream.tool-index-distinct"},
            tool_stream(
                opened(0, id="a", arguments=WHOLE),
                opened(0, id="b", arguments=WHOLE),
                opened(1, id="a", arguments=WHOLE),
            ),
            id="streamed calls that share an id",
        ),
        pytest.param(
            {"so.json-schema-strict-valid"},
            stream(
                start(),
                piece(content='{"city":'),
                piece(content="1}"),
                piece("stop"),
                asked={
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {
                            "name": "a",
                            "strict": True,
                            "schema": {"properties": {"city": {"type": "string"}}},
                        },
                    }
                },
            ),
            id="a streamed answer that does not fit its strict schema",
        ),
        pytest.param(
            {"models.list.tested-model-present"},
            conversation(models(entry(id="other")), answer(asked={"model": "mine"})),
            id="a tested model that is not listed",
        ),
    ],
)
def test_the_near_miss_is_found(rules: set[str], exchanges: Exchanges) -> None:
    assert fired(exchanges) == rules


@pytest.mark.parametrize("ending", ["closed-by-us", "stalled", "too-large"])
def test_an_ending_that_is_not_the_servers_asks_for_no_completeness(ending: Ending) -> None:
    unfinished = stream(
        start() | {"usage": None},
        opened(arguments='{"city":') | {"usage": None},
        done=b"data: {",
        asked={"tools": [tool(strict=True)], "stream_options": {"include_usage": True}},
        ending=ending,
    )
    assert fired(unfinished) == set()


def test_a_reference_in_a_schema_is_never_followed() -> None:
    outside = tool(parameters={"$ref": "file:///etc/hostname"})
    assert fired(answer(asked={"tools": [outside]}, calls=[call(arguments="5")])) == {
        "chat.response.tool-call-arguments-object"
    }


def test_a_request_that_is_no_json_silences_what_needs_the_request() -> None:
    (exchange,) = answer(calls=[call()])
    bare = replace(exchange, request=replace(exchange.request, body=b""))
    assert fired((bare,)) == set()
