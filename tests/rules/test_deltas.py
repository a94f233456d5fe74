"""Deltas and their delivery: what the rules on streams leave alone and find, and what the SDK makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from openai.lib.streaming._deltas import accumulate_delta

from conformance.rules import check, rule_of
from conformance.rules.chat.logprobs import logprobs, token
from conformance.rules.examples import Exchanges, chunk, opened, piece, start, stream, tool_stream
from conformance.rules.markup import call_prelude

WHOLE = '{"city":"Oslo"}'
ON = {"logprobs": True}
FISH = "🐟".encode()


def fired(exchanges: Exchanges) -> set[str]:
    """The rules that fire, MAY aside."""
    return {finding.rule for finding in check(exchanges) if finding.level != "MAY"}


@pytest.mark.parametrize(
    "exchanges",
    [
        pytest.param(
            stream(
                start(),
                piece(reasoning="Hm."),
                piece(content="First. "),
                piece(reasoning="And then?"),
                piece(content="Second."),
                piece("stop"),
            ),
            id="interleaved thinking",
        ),
        pytest.param(
            stream(
                start(), piece(content="Hello."), chunk(moderation={"input": {}, "output": {}}), piece("stop")
            ),
            id="the moderation chunk",
        ),
        pytest.param(
            stream(start(), piece(content="Hello."), *(piece() for _ in range(5)), piece("stop")),
            id="a few empty deltas",
        ),
        pytest.param(
            stream(start(), piece(content="a", tags=["x"]), piece(content="b", tags=["y"]), piece("stop")),
            id="a list of texts",
        ),
        pytest.param(
            stream(
                start(), piece(content="a", notes=[{"t": 1}]), piece(content="b", notes=[]), piece("stop")
            ),
            id="a list that comes once",
        ),
        pytest.param(
            stream(start(), piece(content="a", seq=1), piece(content="b"), piece("stop")), id="a lone number"
        ),
        pytest.param(
            tool_stream(piece(content="Is 3 < 4? "), opened(arguments=WHOLE)), id="a less-than sign"
        ),
        pytest.param(
            stream(
                start(),
                piece(content="🐟", choice=logprobs(*(token("?") | {"bytes": [byte]} for byte in FISH))),
                piece("stop"),
                asked=ON,
            ),
            id="a character of four tokens",
        ),
        pytest.param(
            stream(
                start(),
                piece(choice=logprobs(token("Hel"))),
                piece(content="Hello.", choice=logprobs(token("lo.") | {"bytes": None})),
                piece("stop"),
                asked=ON,
            ),
            id="tokens ahead of their text",
        ),
        pytest.param(
            stream(
                start(),
                piece(content="Error: the connection pool is the cause."),
                piece("stop"),
                asked={"messages": [{"role": "user", "content": "What does this error mean?"}]},
            ),
            id="a talk about errors",
        ),
        pytest.param(
            stream(start(), piece(content="Error bars show the range."), piece("stop")),
            id="a word of statistics",
        ),
        pytest.param(
            stream(
                start() | {"obfuscation": None},
                piece(content="Hello."),
                piece("stop"),
                asked={"stream_options": {"include_obfuscation": False}},
            ),
            id="null for padding that was switched off",
        ),
        pytest.param(
            stream(start(), piece(content="a\u2028b\u2029c\u0085d"), piece("stop")), id="separators"
        ),
    ],
)
def test_what_is_allowed_is_left_alone(exchanges: Exchanges) -> None:
    assert fired(exchanges) == set()


@pytest.mark.parametrize(
    ("rule", "exchanges"),
    [
        (
            "chat.stream.error-not-as-content",
            stream(
                start(), piece(content="Hel"), piece(content='{"error": "upstream failed"}'), piece("stop")
            ),
        ),
        (
            "chat.stream.reasoning-before-content",
            tool_stream(opened(arguments=WHOLE), piece(reasoning_content="Hm.")),
        ),
        (
            "chat.stream.delta-extra-numbers",
            stream(start(), piece(content="a", t=0.5), piece(content="b", t=True), piece("stop")),
        ),
        (
            "chat.stream.logprobs-match-delta",
            stream(
                start(),
                piece(content="Hello.", choice=logprobs(token("Bye.") | {"bytes": None})),
                piece("stop"),
                asked=ON,
            ),
        ),
    ],
)
def test_the_near_miss_is_found(rule: str, exchanges: Exchanges) -> None:
    assert rule in fired(exchanges)


def test_one_replacement_character_may_be_the_models_own() -> None:
    alone = stream(start(), piece(content="Well \ufffd"), piece(content=" done."), piece("stop"))
    assert fired(alone) == {"chat.response.content-unicode-intact"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Let me see. <tool_call>\n", "<tool_call>"),
        ("<tool_", "<tool_"),
        ("[TOOL_CALLS]", "[TOOL_CALLS]"),
        ("a <t", None),
        ("a < b", None),
        ("", None),
    ],
)
def test_the_beginning_of_a_calls_markup_is_known_at_the_end_of_a_text(text: str, left: str | None) -> None:
    assert call_prelude(text) == left


def delivered(words: int, *reads: tuple[float, float]) -> Exchanges:
    """A stream of so many words, read at these milliseconds in these shares of its bytes."""
    (one,) = stream(start(), *(piece(content="word ") for _ in range(words)), piece("stop"))
    assert one.response is not None
    size = len(one.response.body)
    parts = tuple((ms, round(size * share)) for ms, share in reads)
    return (replace(one, response=replace(one.response, parts=parts)),)


@pytest.mark.parametrize(
    ("words", "reads", "burst"),
    [
        pytest.param(60, [(3000.0, 1.0)], True, id="everything at once, late"),
        pytest.param(60, [(3000.0, 0.5), (3001.0, 0.6)], True, id="in two reads"),
        pytest.param(60, [(20.0, 0.01), (3000.0, 1.0)], True, id="after an early first chunk"),
        pytest.param(60, [(3000.0, 0.3), (3001.0, 0.3), (3002.0, 0.5)], False, id="fast, after long thought"),
        pytest.param(60, [(900.0, 1.0)], False, id="everything at once, within a second"),
        pytest.param(40, [(3000.0, 1.0)], False, id="a short answer"),
        pytest.param(60, [], False, id="no times known"),
    ],
)
def test_a_long_answer_in_one_late_burst_was_held_back(
    words: int, reads: Sequence[tuple[float, float]], burst: bool
) -> None:
    found = check(delivered(words, *reads), rules=[rule_of("sse.incremental-delivery")])
    assert bool(found) is burst


def accumulated(*deltas: dict[Any, Any]) -> dict[Any, Any]:
    whole: dict[Any, Any] = {}
    for delta in deltas:
        whole = accumulate_delta(whole, delta)
    return whole


def test_the_sdk_adds_up_numbers_that_come_again() -> None:
    assert accumulated({"seq": 1}, {"seq": 2}) == {"seq": 3}


def test_the_sdk_raises_on_a_list_that_comes_again_without_indexes() -> None:
    with pytest.raises(RuntimeError, match="index"):
        accumulated({"notes": [{"t": "a"}]}, {"notes": [{"t": "b"}]})
    assert accumulated({"notes": [{"index": 0, "t": "a"}]}, {"notes": [{"index": 0, "t": "b"}]})
