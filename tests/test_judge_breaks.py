"""An answer that breaks off, or none: the doing of a declared quirk, or we could not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance.judge import judge_attempt, mark_stale, worth_keeping
from conformance.quirks import Quirk
from conformance.rules import examples as ex
from conformance.types import Attempt, Cell, Exchange, VerdictName
from tests.judging import (
    BROKEN_STREAM,
    CLEAN,
    DID,
    DID_NOT,
    MISSING_ID,
    STUCK,
    WARNING,
    a_quirk,
    a_scenario,
    broken,
    cell_of,
    nobody,
    refusing,
)


def a_break(*scenarios: str, id: str = "closes") -> Quirk:
    return a_quirk("chat.response.tool-call-id").model_copy(
        update={"id": id, "shows": (), "breaks": scenarios}
    )


CLOSED = nobody("protocol", "h:80 closed the connection without an answer")
CLOSES = a_break("tools.*")


@pytest.mark.parametrize(
    ("model", "wire", "declared", "verdict"),
    [
        # an answer that breaks off, or none: the quirk's doing where one is declared
        (STUCK, CLOSED, [], "error"),
        (STUCK, CLOSED, [CLOSES], "quirk"),
        (STUCK, CLOSED, [a_break("tools.single-call")], "quirk"),
        (STUCK, CLOSED, [a_break("stream.*")], "error"),
        (STUCK, CLOSED, [a_quirk("chat.response.tool-call-id")], "error"),
        (STUCK, BROKEN_STREAM, [CLOSES], "quirk"),
        (STUCK, broken("stalled", ex.stream(done=b"")), [CLOSES], "quirk"),
        (STUCK, broken("cut", ex.answer(raw=b'{"id":"chatcmpl-1",')), [CLOSES], "quirk"),
        # other things that go wrong are not the quirk's
        *((STUCK, nobody(kind, "no"), [CLOSES], "error")
          for kind in ("connect", "tls", "timeout", "no-cassette", "older-scenario", "request-cap")),
        (STUCK, broken("too-large", ex.stream(done=b"")), [CLOSES], "error"),
        (STUCK, refusing(503), [CLOSES], "error"),
        (STUCK, broken("cut", refusing(503)), [CLOSES], "error"),
        (STUCK, CLOSED + nobody("timeout", "late"), [CLOSES], "error"),
        (STUCK, nobody("timeout", "late") + CLOSED, [CLOSES], "error"),
        # what is found elsewhere, or in what came, counts as before
        (STUCK, MISSING_ID + CLOSED, [CLOSES], "violates"),
        (STUCK, CLOSED + MISSING_ID, [CLOSES], "violates"),
        (STUCK, WARNING + CLOSED, [CLOSES], "quirk"),
        (STUCK, broken("cut", ex.stream(ex.start(), b"data: pong\n\n", done=b"")), [CLOSES], "violates"),
        (DID_NOT, CLOSED, [CLOSES], "quirk"),
        # all of it came
        (DID, broken("stalled", ex.stream()), [CLOSES], "conforms"),
        (DID, CLEAN, [CLOSES], "conforms"),
    ],
)  # fmt: skip
def test_verdict_where_a_quirk_breaks_answers_off(
    model: tuple[Any, str], wire: tuple[Exchange, ...], declared: Sequence[Quirk], verdict: VerdictName
) -> None:
    assert judge_attempt(a_scenario(), Attempt(wire, *model), declared).verdict == verdict


def test_the_reason_of_a_declared_break_is_its_quirk_and_the_broken_answer_has_no_finding_for_it() -> None:
    attempt = Attempt(broken("cut", ex.stream(done=b"")), *STUCK)
    judgement = judge_attempt(a_scenario(), attempt, [CLOSES])
    assert (judgement.reason, judgement.findings) == ("declared: closes", ())


def showing(cell: Cell, *exchanges: Exchange) -> Cell:
    """The cell with evidence, as far as it tells how answers ended."""
    return replace(
        cell,
        evidence=tuple(
            {"ending": one.ending, "failure": None if one.failure is None else {"kind": one.failure.kind}}
            for one in exchanges
        ),
    )


@pytest.mark.parametrize(
    ("exchanges", "stale"),
    [
        (CLEAN, True),
        (MISSING_ID, True),
        (broken("closed-by-us", ex.stream()), True),
        (CLOSED, False),
        (BROKEN_STREAM, False),
        (CLEAN + broken("stalled", ex.stream(done=b"")), False),
        (MISSING_ID + CLOSED, False),
        (nobody("timeout", "late"), False),
    ],
)
def test_a_declared_break_is_stale_where_all_answers_of_its_scenario_are_whole(
    exchanges: tuple[Exchange, ...], stale: bool
) -> None:
    quirk = a_break("tools.single-call")
    attempt = Attempt(exchanges, *(STUCK if exchanges[-1].failure else DID))
    cell = showing(cell_of(a_scenario(), [attempt], [quirk]), *exchanges)
    (marked,), notes = mark_stale([cell], [quirk])
    assert (marked.flags == ("stale",), len(notes)) == (stale, int(stale))


def test_a_break_matched_by_a_glob_alone_is_never_stale_but_shows() -> None:
    whole = showing(cell_of(a_scenario(), [Attempt(CLEAN, *DID)]), *CLEAN)
    closed = showing(cell_of(a_scenario("tools.other"), [Attempt(CLOSED, *STUCK)], [CLOSES]), *CLOSED)
    assert mark_stale([whole], [CLOSES])[1] == ()
    assert mark_stale([whole, closed], [a_break("tools.single-call", "tools.*")])[1] == ()
    assert mark_stale([whole, closed], [a_break("tools.single-call")])[1] != ()


def test_what_was_not_answered_is_kept_only_where_a_declared_quirk_breaks_the_scenario() -> None:
    attempts = [Attempt(CLEAN + CLOSED)]
    assert worth_keeping(a_scenario(), attempts, [CLOSES])
    assert not worth_keeping(a_scenario(), attempts)
    assert not worth_keeping(a_scenario(), attempts, [a_break("stream.*")])
    assert not worth_keeping(a_scenario(), attempts, [a_quirk("chat.response.tool-call-id")])
    assert not worth_keeping(a_scenario(), [*attempts, Attempt(refusing(401))], [CLOSES])
