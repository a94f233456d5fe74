"""Almost what it should be: bodies with a little of anything in them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from conformance.types import Finding

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
def mangled_stream(draw: st.DrawFn, body: bytes) -> bytes:
    """An event stream with members of one of its chunks replaced by anything."""
    blank = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    events = body.split(blank)
    place = draw(st.integers(0, len(events) - 1))
    head, field, data = events[place].rpartition(b"data: ")
    events[place] = head + (field or b"data: ") + draw(mangled(data))
    return blank.join(events)


@st.composite
def mangled_lines(draw: st.DrawFn, body: bytes) -> bytes:
    """JSON lines with members of one of them replaced by anything."""
    lines = body.split(b"\n")
    place = draw(st.integers(0, len(lines) - 1))
    lines[place] = draw(mangled(lines[place]))
    return b"\n".join(lines)


def mangled_body(body: bytes) -> st.SearchStrategy[bytes]:
    """An answer with a little of anything in it, whichever way it is framed."""
    if body.startswith((b"data: {", b"event: ")):
        return mangled_stream(body)
    return mangled_lines(body) if b"}\n{" in body else mangled(body)


def well_formed(finding: Finding) -> bool:
    """Whether a finding can be shown: short, printable, with a place."""
    short = 0 < len(finding.wanted) <= 200 and 0 < len(finding.got) <= 200
    plain = finding.wanted.isprintable() and finding.got.isprintable() and finding.path.isprintable()
    return short and plain and finding.path.startswith("/exchanges/")
