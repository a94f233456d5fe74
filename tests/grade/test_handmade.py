"""What somebody changed by hand contradicts itself: it is told from what recorders do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.handmade import composed, request_changed
from conformance.grade.recorded import KEPT, Recorded
from conformance.types import Exchange, HttpRequest, HttpResponse

from .support import ANSWER, QUESTION, packed

DATE = ("Date", "Sun, 26 Oct 2025 18:23:15 GMT")
SENT = 1_761_502_995
DAY = 86_400
BODY = packed(ANSWER | {"created": SENT})


def recorded(
    *headers: tuple[str, str], body: str = BODY, asked: bytes = b"", fidelity: Any = "wire", **request: Any
) -> Recorded:
    sent = {"method": "POST", "url": "https://api.example.com/v1/chat/completions", "headers": ()} | request
    exchange = Exchange(
        HttpRequest(**sent, body=asked), HttpResponse(200, headers, body.encode()), "complete", "openai-chat"
    )
    return Recorded(exchange, "file", 0, "test", fidelity, KEPT[fidelity])


@pytest.mark.parametrize(
    ("one", "days"),
    [
        (recorded(DATE), 0),
        (recorded(DATE, body=packed({"created": SENT - DAY + 60})), 0),
        (recorded(DATE, body=packed({"created": SENT - 3 * DAY})), 3),
        (recorded(DATE, body=packed({"created_at": SENT + 3 * DAY})), 3),
        (recorded(DATE, ("cf-cache-status", "DYNAMIC"), body=packed({"created": SENT - 3 * DAY})), 3),
        (recorded(DATE, ("x-cache", "HIT"), body=packed({"created": SENT - 3 * DAY})), 0),
        (recorded(DATE, ("age", "250000"), body=packed({"created": SENT - 3 * DAY})), 0),
        (recorded(DATE, body=packed([{"created": SENT}, {"created": SENT - 900 * DAY}])), 0),
        (recorded(DATE, body=packed({"created": SENT - 900 * DAY}), method="GET"), 0),
        (recorded(DATE, body=packed({"created": 0})), 0),
        (recorded(body=packed({"created": SENT - 3 * DAY})), 0),
        (recorded(("Date", "yesterday"), body=packed({"created": SENT - 3 * DAY})), 0),
        (recorded(DATE, body=packed({"created": SENT - 3 * DAY}), fidelity="scrubbed"), 0),
    ],
)
def test_a_body_that_is_days_from_its_date_is_of_another_answer(one: Recorded, days: int) -> None:
    assert composed(one) == (f"put together by hand: the body is {days} days from its Date" if days else None)


@pytest.mark.parametrize(
    ("headers", "fidelity", "is_another"),
    [
        ([("Content-Length", str(len(BODY)))], "wire", False),
        ([("Content-Length", str(len(BODY) + 64))], "wire", False),
        ([("Content-Length", str(len(BODY) + 65))], "wire", True),
        ([("Content-Length", "7")], "wire", False),
        ([("Content-Length", "9999"), ("Content-Encoding", "gzip")], "wire", False),
        ([("Content-Length", "9999")], "parsed", False),
        ([("Content-Length", "-9999")], "wire", False),
        ([("Content-Length", "9" * 5000)], "wire", False),
    ],
)
def test_a_content_length_far_above_the_body_is_of_another_answer(
    headers: list[tuple[str, str]], fidelity: str, is_another: bool
) -> None:
    reason = "put together by hand: its Content-Length is that of another body"
    assert composed(recorded(*headers, fidelity=fidelity)) == (reason if is_another else None)


def asked(body: bytes, length: int) -> Recorded:
    return recorded(asked=body, headers=(("content-length", str(length)),))


SPELT = [json.dumps(QUESTION | {"user": "Zoë"}, ensure_ascii=escaped).encode() for escaped in (True, False)]


@pytest.mark.parametrize("body", SPELT)
@pytest.mark.parametrize("sent", SPELT)
def test_json_that_was_written_anew_is_the_request_that_was_sent(body: bytes, sent: bytes) -> None:
    tight = json.dumps(json.loads(sent), separators=(",", ":"))
    assert not request_changed(asked(body, len(sent)))
    assert not request_changed(asked(body, len(tight)))


def test_a_member_that_was_put_in_later_shows_in_the_length() -> None:
    sent = packed(QUESTION).encode()
    later = packed(QUESTION | {"stream_options": {"include_usage": True}}).encode()
    assert request_changed(asked(later, len(sent)))
    assert request_changed(asked(b"no JSON", 3))
    assert not request_changed(recorded(asked=later))
    assert not request_changed(asked(b"", 5))


@given(st.binary(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_no_bytes_make_it_raise(body: bytes, date: str, length: str) -> None:
    one = recorded(("date", date), ("content-length", length), body=body.decode("latin-1"), asked=body)
    composed(one)
    request_changed(one)
