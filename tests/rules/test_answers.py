"""Answers, whole or merged: what rules on limits, text and optional members leave alone, and find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.chat.logprobs import logprobs, token
from conformance.rules.examples import (
    CREATED,
    USAGE,
    Exchanges,
    answer,
    call,
    chunk,
    error,
    piece,
    start,
    stream,
    tool,
)
from conformance.rules.reading import ABSENT

SURROGATE = answer(
    raw=b'{"choices":[{"message":{"role":"assistant","content":"\\ud83d"},"finish_reason":"stop"}]}'
)
HALF = '{"city":"Os'
FULL = USAGE | {"completion_tokens": 16, "total_tokens": 25}
CAP: dict[str, Any] = {"max_tokens": 16}
COUNTING = {"stream_options": {"include_usage": True}}
USER = {"messages": [{"role": "user", "content": "Say exactly: the quick brown fox"}]}
ALLOWED = {
    "tools": [tool(), tool("get_time")],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "get_time"}}]},
    },
}
ORDERED = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "a",
            "strict": True,
            "schema": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
        },
    }
}


def fired(exchanges: Exchanges) -> set[str]:
    """The rules that fire, MAY aside."""
    return {finding.rule for finding in check(exchanges) if finding.level != "MAY"}


def counted(usage: dict[str, Any], **asked: Any) -> Exchanges:
    """A stream that was asked for its usage, and has this."""
    said = [one | {"usage": None} for one in (start(), piece(content="Hello."), piece("stop"))]
    return stream(*said, chunk(usage=usage), asked=COUNTING | asked)


@pytest.mark.parametrize(
    "exchanges",
    [
        pytest.param(answer(asked=CAP, usage=FULL), id="a text that ends by itself exactly at the cap"),
        pytest.param(
            answer(asked={"max_tokens": 8, "max_completion_tokens": 16}, usage=FULL), id="the larger cap"
        ),
        pytest.param(answer(asked={"stop": ["END", ""]}), id="a stop sequence that is empty"),
        pytest.param(answer(asked={"stop": "END"}, message={"content": ""}), id="a stop at the first word"),
        pytest.param(
            answer(asked={"stop": ["."], "include_stop_str_in_output": True}), id="a stop that was wanted"
        ),
        pytest.param(
            answer(
                asked={"messages": [{"role": "user", "content": "Print <|im_end|>"}]},
                message={"content": "<|im_end|>"},
            ),
            id="a control token that was asked for",
        ),
        pytest.param(answer(message={"content": "<s>old</s> new </s>"}), id="HTML's strike-through"),
        pytest.param(
            answer(
                asked={"messages": [{"role": "user", "content": "\ufffd?"}]}, message={"content": "\ufffd!"}
            ),
            id="U+FFFD that the user wrote",
        ),
        pytest.param(
            answer(message={"content": "Hello \ufffd"}, choice={"finish_reason": "length"}),
            id="a last character that the cap cut",
        ),
        pytest.param(answer(asked=USER, message={"content": "the quick brown fox"}), id="a text repeated"),
        pytest.param(answer(message={"content": "Assistant:\nHi."}), id="a role in a play"),
        pytest.param(answer(message={"content": None, "refusal": "No."}), id="a refusal and no content"),
        pytest.param(
            answer(message={"content": "", "audio": {"id": "a", "data": "", "transcript": ""}}), id="audio"
        ),
        pytest.param(
            stream(start(), piece(reasoning="Hm."), piece("length")), id="a stream cut while it reasoned"
        ),
        pytest.param(
            answer(choice=logprobs(token("Hel"), token("lo.")), asked={"logprobs": True}), id="logprobs"
        ),
        pytest.param(
            answer(
                choice={"logprobs": {"content": None, "refusal": [token("No.")]}},
                message={"content": None, "refusal": "No."},
                asked={"logprobs": True},
            ),
            id="logprobs of a refusal",
        ),
        pytest.param(
            answer(calls=[call()], asked={"logprobs": True}), id="no logprobs where there is no content"
        ),
        pytest.param(answer(asked=ALLOWED, calls=[call(name="get_time")]), id="an allowed call"),
        pytest.param(
            answer(asked=ORDERED, message={"content": '{"c":0,"a":1,"b":2}'}), id="a key that has no place"
        ),
        pytest.param(answer(service_tier=None, system_fingerprint=None), id="members that are null"),
        pytest.param(
            tuple(replace(one, started=CREATED + 3600.0) for one in stream()), id="a clock an hour off"
        ),
        pytest.param(counted(USAGE | {"prompt_tokens_details": {"cached_tokens": 9}}), id="all of it cached"),
        pytest.param(error(500, error={"message": "Failed at 12:30 (see status page)."}), id="no trace"),
    ],
)
def test_what_is_allowed_is_left_alone(exchanges: Exchanges) -> None:
    assert fired(exchanges) == set()


@pytest.mark.parametrize(
    ("rule", "exchanges"),
    [
        ("chat.response.token-cap-respected", counted(FULL, max_completion_tokens=8)),
        (
            "chat.response.usage-details-bounds",
            counted(USAGE | {"prompt_tokens_details": {"cached_tokens": 10}}),
        ),
        (
            "chat.response.finish-length-at-cap",
            answer(asked=CAP, usage=FULL, probe="token-cap"),
        ),
        ("chat.response.finish-length-at-cap", error(400, asked=CAP, probe="token-cap", expect="answer")),
        ("chat.response.stop-sequence-excluded", answer(asked={"stop": ["lo"]})),
        ("chat.response.no-special-token-leak", answer(message={"content": "Hello.</s>"})),
        (
            "chat.response.no-special-token-leak",
            stream(start(), piece(content="Hello.<|eot"), piece(content="_id|>"), piece("stop")),
        ),
        (
            "chat.response.no-special-token-leak",
            answer(message={"reasoning_content": "I never stop.<|im_end|>"}),
        ),
        ("chat.response.content-unicode-intact", SURROGATE),
        (
            "chat.response.content-no-echoed-prompt",
            answer(asked=USER, message={"content": "Say exactly: the quick brown fox\nassistant\nfox"}),
        ),
        ("chat.response.reasoning-not-only", stream(start(), piece(reasoning="Hm."), piece("stop"))),
        ("chat.response.message-not-empty", stream(start(), piece("stop"))),
        (
            "chat.response.logprobs-when-requested",
            stream(start(), piece(content="Hello."), piece("stop"), asked={"logprobs": True}),
        ),
        ("chat.response.logprobs-not-when-off", answer(choice={"logprobs": {"content": []}})),
        (
            "chat.response.logprobs-entry-shape",
            answer(
                asked={"logprobs": True},
                choice=logprobs(
                    token("Hello.") | {"top_logprobs": [{"token": "a", "logprob": -1.0, "bytes": [256]}]}
                ),
            ),
        ),
        (
            "chat.response.logprobs-nonpositive",
            answer(
                asked={"logprobs": True, "top_logprobs": 1},
                choice=logprobs(token("Hello.", top=(("Hello.", 0.5),))),
            ),
        ),
        (
            "chat.response.custom-tool-call-shape",
            answer(calls=[call(id="c", function=ABSENT, custom={"name": "x"})]),
        ),
        ("so.key-order", answer(asked=ORDERED, message={"content": '{"b":2,"c":0,"a":1}'})),
        (
            "chat.response.created-plausible",
            tuple(replace(one, started=CREATED - 100_000.0) for one in stream()),
        ),
        (
            "chat.response.service-tier-enum",
            stream(start() | {"service_tier": "gold"}, *[piece("stop", content="a")]),
        ),
    ],
)
def test_the_near_miss_is_found(rule: str, exchanges: Exchanges) -> None:
    assert rule in fired(exchanges)


def test_half_a_call_below_its_cap_is_the_models_own() -> None:
    below = answer(asked={"max_tokens": 17}, usage=FULL, calls=[call(arguments=HALF)])
    assert fired(below) == {"chat.response.tool-call-arguments-json"}


def test_an_id_of_the_history_is_taken_whoever_gave_it() -> None:
    history = [{"role": "assistant", "content": None, "tool_calls": [call(id="a"), call(id="b"), 5]}, None]
    assert fired(answer(asked={"messages": history}, calls=[call(id="b")])) == {
        "chat.response.tool-call-id-unique-conversation"
    }


@pytest.mark.parametrize("name", ["logprobs", "refusal"])
def test_what_the_schema_requires_and_nobody_misses_counts_under_the_literal_rulebook_alone(
    name: str,
) -> None:
    lacking = (
        answer(choice={"logprobs": ABSENT}) if name == "logprobs" else answer(message={"refusal": ABSENT})
    )
    assert [finding.level for finding in check(lacking)] == ["MAY"]
    assert [finding.level for finding in check(lacking, rulebook="literal")] == ["MUST"]
