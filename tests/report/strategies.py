"""Any matrix at all, with texts as nasty as an endpoint can send them."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from conformance.types import (
    VERDICTS,
    WIRES,
    Basis,
    Cell,
    Ending,
    EndpointRow,
    FailureKind,
    Finding,
    Flag,
    Level,
    Matrix,
    Mode,
    Observation,
    ScenarioRow,
)

_NASTY = st.sampled_from(
    [
        "\x1b[31mred\x1b[0m",
        "\x1b]8;;http://evil\x07click\x1b\\",
        "\x9b2J",
        "\u202egnp.exe",
        "a\r\nb\tc\x00",
        "[bold]not markup[/bold]",
        "<script>alert(1)</script>",
        "![x](http://evil/x.png) [y](javascript:z)",
        "a|b\\|c `d`` e",
        "http://evil.example www.evil.example a@b.example #1 @team",
        "# heading",
        "- item",
        "1. item",
        "]]> &amp; \ufffe",
        "漢字　e\u0301 👩\u200d💻",
        "",
    ]
)
texts = _NASTY | st.text(max_size=20)
names = st.text(min_size=1, max_size=24) | _NASTY.filter(bool)
milliseconds = st.floats(min_value=0, max_value=1e6)
headers = st.lists(st.tuples(texts, texts).map(list), max_size=2)
optional = st.none() | texts

responses = st.fixed_dictionaries(
    {
        "status": st.integers(100, 599),
        "http_version": st.just("HTTP/1.1"),
        "headers": headers,
        "body": texts,
        "parts": st.lists(st.tuples(milliseconds, st.integers(0, 99)).map(list), max_size=2),
    }
)
exchanges: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "request": st.fixed_dictionaries(
            {"method": st.just("POST"), "url": texts, "headers": headers, "body": texts}
        ),
        "response": st.none() | responses,
        "ending": st.sampled_from(get_args(Ending)),
        "failure": st.none()
        | st.fixed_dictionaries({"kind": st.sampled_from(get_args(FailureKind)), "message": texts}),
        "elapsed_ms": milliseconds,
        "probe": optional,
        "truncated": st.booleans(),
    }
)
findings = st.builds(
    Finding,
    rule=names,
    level=st.sampled_from(get_args(Level)),
    basis=st.sampled_from(get_args(Basis)),
    path=texts,
    message=texts,
    wanted=texts,
    got=texts,
    event=st.none() | st.integers(0, 999),
    ms=st.none() | milliseconds,
    more=st.integers(0, 9),
    quirk=optional,
    known=optional,
    consequence=texts,
)
observations = st.builds(
    Observation,
    policy=names,
    aspect=names,
    outcome=names,
    path=texts,
    detail=texts,
    status=st.none() | st.integers(200, 599),
)
endpoint_rows = st.builds(
    EndpointRow,
    name=names,
    wire=st.sampled_from(WIRES),
    model=texts,
    base_url=texts,
    source=st.sampled_from(["live", "cassette", "simulator", "none"]),
    status=st.sampled_from(["run", "not-run"]),
    reason=texts,
    server=optional,
    recorded=optional,
    quirks=st.lists(texts, max_size=2).map(tuple),
)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    rows = draw(st.lists(endpoint_rows, max_size=4, unique_by=lambda row: row.name))
    scenarios = draw(
        st.lists(
            st.builds(ScenarioRow, id=names, title=texts, chapter=st.just("policies") | texts),
            max_size=3,
            unique_by=lambda row: row.id,
        )
    )
    places = [(row.name, s.id, mode) for row in rows for s in scenarios for mode in get_args(Mode)]
    chosen = draw(st.lists(st.sampled_from(places), unique=True, max_size=6)) if places else []
    cells = tuple(
        Cell(
            endpoint,
            scenario,
            mode,
            verdict=draw(st.sampled_from(VERDICTS)),
            flags=draw(st.lists(st.sampled_from(get_args(Flag)), unique=True, max_size=2).map(tuple)),
            findings=draw(st.lists(findings, max_size=2).map(tuple)),
            observations=draw(st.lists(observations, max_size=2).map(tuple)),
            reason=draw(texts),
            evidence=draw(st.lists(exchanges, max_size=1).map(tuple)),
            attempts=draw(st.integers(1, 3)),
            decided_by=draw(st.integers(0, 2)),
            requests=draw(st.integers(0, 9)),
            elapsed_ms=draw(milliseconds),
        )
        for endpoint, scenario, mode in chosen
    )
    suite = draw(st.dictionaries(st.sampled_from(["name", "version", "rulebook", "date"]), texts))
    return Matrix(suite, tuple(rows), tuple(scenarios), cells, draw(st.lists(texts, max_size=2).map(tuple)))
