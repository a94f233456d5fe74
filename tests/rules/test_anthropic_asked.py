"""Rules of the Messages wire on what was asked for: formats, strict tools, the same question twice."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.anthropic.examples import (
    USAGE,
    answer,
    error,
    stream,
    text,
    thinking,
    told,
    tool,
    tool_use,
    user,
)
from conformance.rules.examples import WEATHER_SCHEMA, Exchanges, conversation

FORMAT: dict[str, Any] = {"output_config": {"format": {"type": "json_schema", "schema": WEATHER_SCHEMA}}}
CITY, TOWN = '{"city":"Oslo"}', '{"town":"Oslo"}'
STRICT = {"tools": [tool(strict=True)]}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
PAPER = {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}
CODES = ("canary-00000001", "canary-00000002")


def again(**how: Any) -> Exchanges:
    """The answer to the same question a second time."""
    return answer(id="msg_2", **how)


def costing(tokens: int, cached: int = 0) -> dict[str, Any]:
    return {"usage": USAGE | {"input_tokens": tokens, "cache_read_input_tokens": cached}}


def asking(*blocks: Any) -> dict[str, Any]:
    return {"messages": [user(text("What is it?"), *blocks)]}


def crowd(*said: str) -> Exchanges:
    """Requests at once, each with a code of its own, and what they were answered with."""
    return conversation(
        *(
            answer(text(words), asked={"messages": [user(text(code))]}, probe="concurrent", id=f"msg_{code}")
            for code, words in zip(CODES, said, strict=True)
        )
    )


CLEAN = {
    "a format kept": answer(text(CITY), asked=FORMAT),
    "a format kept over two blocks": answer(text('{"city":'), text('"Oslo"}'), asked=FORMAT),
    "a format kept after thinking": answer(thinking(), text(CITY), asked=FORMAT),
    "a format that the cap cut": answer(text('{"ci'), asked=FORMAT, stop_reason="max_tokens"),
    "a format that a stop sequence cut": answer(
        text('{"ci'),
        asked=FORMAT | {"stop_sequences": ["ty"]},
        stop_reason="stop_sequence",
        stop_sequence="ty",
    ),
    "a refusal where a format was asked for": answer(text("No."), asked=FORMAT, stop_reason="refusal"),
    "a word and a call where a format was asked for": answer(
        text("I look it up."), tool_use(), asked=FORMAT | {"tools": [tool()]}
    ),
    "a strict call that the cap cut": answer(tool_use(input={}), asked=STRICT, stop_reason="max_tokens"),
    "a prompt that was cached the second time": conversation(
        answer(**costing(9)), stream(told(**costing(1, 8), id="msg_2"), probe="as-whole", expect="either")
    ),
    "a picture that costs": conversation(
        answer(asked=asking(PICTURE), **costing(90)),
        again(asked=asking(), probe="without-image", **costing(9)),
    ),
    "a document that was refused": conversation(
        error(asked=asking(PAPER), probe="attachment", expect="either"),
        again(asked=asking(), probe="without-attachment", **costing(9)),
    ),
    "a code that was not repeated": crowd("Hello.", CODES[1]),
    "thinking that nobody switched off": answer(thinking(), text()),
}

BITES = {
    "prose for a format, streamed": (
        stream(told(text("It is Oslo.")), asked=FORMAT),
        "anth.response.output-format-json",
    ),
    "a fence around a format": (
        answer(text(f"```json\n{CITY}\n```"), asked=FORMAT),
        "anth.response.output-format-json",
    ),
    "another object than the format's, streamed": (
        stream(told(text(TOWN)), asked=FORMAT),
        "anth.response.output-format-valid",
    ),
    "a strict input that does not fit, streamed": (
        stream(told(tool_use(input={"town": "Oslo"})), asked=STRICT),
        "anth.response.strict-tool-input",
    ),
    "a document that costs nothing": (
        conversation(
            answer(asked=asking(PAPER), probe="attachment", expect="either", **costing(9)),
            again(asked=asking(), probe="without-attachment", **costing(9)),
        ),
        "anth.request.attachment-not-ignored",
    ),
    "a code in a streamed answer of another": (
        conversation(
            crowd(*CODES)[:1],
            stream(told(text(CODES[0])), asked={"messages": [user(text(CODES[1]))]}, probe="concurrent"),
        ),
        "anth.response.own-answer",
    ),
    "a stream that says less": (
        conversation(answer(), stream(told(text("Hell")), probe="as-whole", expect="either")),
        "anth.stream.text-equals-whole",
    ),
    "redacted thinking that was switched off": (
        answer({"type": "redacted_thinking", "data": "Em"}, text(), asked={"thinking": {"type": "disabled"}}),
        "anth.response.thinking-off",
    ),
}


@pytest.mark.parametrize("exchanges", CLEAN.values(), ids=CLEAN)
def test_clean_traffic_breaks_no_rule(exchanges: Exchanges) -> None:
    assert check(exchanges) == ()


@pytest.mark.parametrize(("exchanges", "rule"), BITES.values(), ids=BITES)
def test_a_rule_also_bites_here(exchanges: Exchanges, rule: str) -> None:
    assert rule in {finding.rule for finding in check(exchanges)}


def test_a_strict_tool_is_the_servers_matter_and_another_the_models() -> None:
    misfit = tool_use(input={"town": "Oslo"})
    assert {one.rule for one in check(answer(misfit, asked=STRICT))} == {"anth.response.strict-tool-input"}
    assert {one.rule for one in check(answer(misfit))} == {"anth.response.tool-input-schema"}
