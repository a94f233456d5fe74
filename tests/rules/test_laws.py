"""Laws of all rules: no bytes and no JSON make one raise, and what they say is always printable."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.rules import RULES, check
from conformance.rules.examples import answer
from conformance.types import WIRES, Ending, Exchange, Expect, Finding

EXAMPLES = [
    one for rule in RULES.values() for one in (*rule.violating, *rule.conforming) if one.response is not None
]
STATUSES = [200, 201, 204, 302, 400, 401, 404, 429, 500, 503]
PROBES = [None, *{rule.probe for rule in RULES.values() if rule.probe}]
TYPES = ["application/json", "text/event-stream", "text/html", "\x00;"]
FRAMING = [b"data: ", b"data:[DONE]", b"{}", b"\n", b"\r", b"event: error", b"id: 1", b"x", b"\xff"]

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
junk = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def mangled(draw: st.DrawFn, text: bytes) -> bytes:
    """A JSON text with some of its members replaced by anything; other text as it is, or cut."""
    try:
        value = json.loads(text)
    except ValueError:
        return text[: draw(st.integers(0, len(text)))]
    for _ in range(draw(st.integers(0, 2))):
        place = value
        for _ in range(draw(st.integers(0, 6))):
            inner = list(place.values()) if isinstance(place, dict) else place
            below = [one for one in inner if isinstance(one, dict | list) and one]
            if not below:
                break
            place = draw(st.sampled_from(below))
        keys: Any = list(place) if isinstance(place, dict) else list(range(len(place)))
        if keys:
            place[draw(st.sampled_from(keys))] = draw(junk)
    return json.dumps(value).encode()


@st.composite
def near_examples(draw: st.DrawFn) -> Exchange:
    """An example of some rule, with a little of anything in its request, its body or its chunks."""
    example = draw(st.sampled_from(EXAMPLES))
    assert example.response is not None
    body = example.response.body
    if body.startswith(b"data: {"):
        events = body.split(b"\n\n")
        place = draw(st.integers(0, len(events) - 1))
        events[place] = b"data: " + draw(mangled(events[place].removeprefix(b"data: ")))
        body = b"\n\n".join(events)
    else:
        body = draw(mangled(body))
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
            url="https://x/v1" + draw(st.sampled_from(["/chat/completions", "/models", ""])),
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


def well_formed(finding: Finding) -> bool:
    short = 0 < len(finding.wanted) <= 200 and 0 < len(finding.got) <= 200
    plain = finding.wanted.isprintable() and finding.got.isprintable() and finding.path.isprintable()
    return short and plain and finding.path.startswith("/exchanges/")


@settings(max_examples=300, deadline=None)
@given(st.lists(near_examples() | anything(), min_size=1, max_size=3))
def test_no_exchange_makes_a_rule_raise_or_say_what_cannot_be_printed(run: list[Exchange]) -> None:
    assert all(well_formed(finding) for finding in check(run))


@settings(max_examples=100, deadline=None)
@given(near_examples())
def test_judging_twice_gives_the_same_findings(one: Exchange) -> None:
    assert check((one,)) == check((one,))
