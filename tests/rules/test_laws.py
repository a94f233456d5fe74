"""Laws of all rules: no bytes and no JSON make one raise, and what they say is always printable."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.rules import RULES, check
from conformance.rules.examples import answer
from conformance.rules.parity import both_ways
from conformance.types import WIRES, Ending, Exchange, Expect, Text, ToolCall, Turn, Twin

from .strategies import mangled, mangled_body, well_formed

EXAMPLES = [
    one for rule in RULES.values() for one in (*rule.violating, *rule.conforming) if one.response is not None
]
SCRIPTS = [
    Turn((Text("Hello."),), "stop"),
    Turn((ToolCall("call_1", "get_weather", '{"city": "Oslo"}'),), "tool_calls"),
    None,
]
STATUSES = [200, 201, 204, 302, 400, 401, 404, 429, 500, 503]
PROBES = [None, *{rule.probe for rule in RULES.values() if rule.probe}]
TYPES = ["application/json", "text/event-stream", "text/html", "\x00;"]
FRAMING = [
    *(b"data: ", b"data:[DONE]", b"{}", b"\n", b"\r", b"event: error", b"id: 1", b"x", b"\xff"),
    *(b"[", b"]", b'{"done":true}\n', b'{"candidates":[{}]}'),
]
PATHS = [
    *("/chat/completions", "/responses", "/models", ""),
    *("/models/m:generateContent", "/models/m:streamGenerateContent", "/models/m", "/api/chat", "/api/tags"),
]


@st.composite
def near_examples(draw: st.DrawFn) -> Exchange:
    """An example of some rule, with a little of anything in its request, its body or its chunks."""
    example = draw(st.sampled_from(EXAMPLES))
    assert example.response is not None
    body = example.response.body
    body = draw(mangled_body(body))
    asked = draw(mangled(example.request.body))
    return replace(
        example,
        request=replace(example.request, body=asked),
        response=replace(example.response, body=body),
    )


@st.composite
def anything(draw: st.DrawFn) -> Exchange:
    """Any bytes under any status, header, path, wire and ending."""
    (clean,) = answer()
    assert clean.response is not None
    return replace(
        clean,
        request=replace(
            clean.request,
            body=draw(st.binary(max_size=50)),
            method=draw(st.sampled_from(["POST", "GET"])),
            url="https://x/v1" + draw(st.sampled_from(PATHS)) + draw(st.sampled_from(["", "?alt=sse"])),
        ),
        response=replace(
            clean.response,
            status=draw(st.sampled_from(STATUSES)),
            headers=(
                ("Content-Type", draw(st.sampled_from(TYPES))),
                ("Retry-After", draw(st.text(max_size=5))),
            ),
            body=draw(st.binary(max_size=200) | st.lists(st.sampled_from(FRAMING)).map(b"".join)),
        ),
        wire=draw(st.sampled_from(WIRES)),
        ending=draw(st.sampled_from(get_args(Ending))),
        probe=draw(st.sampled_from(PROBES)),
        expect=draw(st.sampled_from(get_args(Expect))),
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(near_examples() | anything(), min_size=1, max_size=3))
def test_no_exchange_makes_a_rule_raise_or_say_what_cannot_be_printed(run: list[Exchange]) -> None:
    assert all(well_formed(finding) for finding in check(run))


@settings(max_examples=100, deadline=None)
@given(near_examples())
def test_judging_twice_gives_the_same_findings(one: Exchange) -> None:
    assert check((one,)) == check((one,))


@settings(max_examples=150, deadline=None)
@given(near_examples() | anything(), near_examples() | anything(), st.booleans(), st.sampled_from(SCRIPTS))
def test_no_twin_makes_a_rule_raise_or_say_what_cannot_be_printed(
    one: Exchange, other: Exchange, streams: bool, script: Turn | None
) -> None:
    twin = replace(other, wire=one.wire, twin=Twin(0, streams, script))
    assert all(well_formed(finding) for finding in both_ways((one, twin)))


@settings(max_examples=100, deadline=None)
@given(near_examples(), st.booleans())
def test_what_is_said_twice_alike_has_parity(one: Exchange, streams: bool) -> None:
    """Whatever an answer is: the same bytes both times differ in nothing."""
    assert both_ways((one, replace(one, twin=Twin(0, streams, SCRIPTS[0])))) == ()
