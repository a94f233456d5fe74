"""What somebody changed by hand contradicts itself: it is told from what recorders do."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.handmade import composed, made_up, request_changed, without_replaced
from conformance.grade.recognise import recognise
from conformance.grade.recorded import KEPT, Recorded
from conformance.rules.reading import read
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


# ------------------------------------------------------------------------------------------- made up by hand


def why(one: Recorded, file: str = "one.json") -> str | None:
    reading = read(0, one.exchange)
    return made_up(one, reading, recognise(reading, file))


def answer_of(provider: str, name: str, fidelity: Any = "reformatted") -> str | None:
    one = recorded(body=packed(ANSWER | {"id": name}), fidelity=fidelity, url="", method="")
    return why(one, f"fixtures/{provider}/one.json")


@pytest.mark.parametrize(
    ("provider", "name", "is_made_up"),
    [
        ("xai", "img-123-456", True),
        ("xai", "chatcmpl-reasoning-123", True),
        ("openrouter", "gen-12345", True),
        ("mistral", "abc123cached456", True),
        ("openai", "chatcmpl-audio-test", True),
        ("xai", "0aa220cd-9634-4ba5-9593-5366bb313663", False),
        ("openrouter", "gen-1762105039-Rr5cW3AvXbsn9z7yz0OA", False),
        ("mistral", "b3999b8c93e04e11bcbff7bcab829667", False),
        ("openai", "chatcmpl-BbtVwN51duOFNOyEf2i3hgSDTxwYy", False),
        ("groq", "stub", False),
        ("ollama", "chatcmpl-675", False),
        ("cloudflare", "id-1767213411249", False),
        ("nobody-knows", "chatcmpl-1", False),
        ("openai", "chatcmpl-REDACTED", False),
        ("openai", "<ID>", False),
        ("openai", "", False),
    ],
)
def test_an_id_that_is_short_is_typed_where_the_provider_makes_long_ones(
    provider: str, name: str, is_made_up: bool
) -> None:
    told = f"put together by hand: {provider} makes no such id as {json.dumps(name)}"
    assert answer_of(provider, name) == (told if is_made_up else None)


def test_an_id_of_openais_in_the_body_of_a_provider_that_has_its_own_is_copied() -> None:
    name = "chatcmpl-AZaPUjMBtN3XS1RKGvkI7ZfnNPpJU"
    assert answer_of("xai", name) == "put together by hand: xai makes no ids that begin with chatcmpl"
    assert answer_of("openai", name) is None
    sent = recorded(body=packed(ANSWER | {"id": name}), url="https://api.x.ai/v1/chat/completions")
    assert why(sent) is None


def test_ids_that_a_recorder_rewrote_tell_nothing() -> None:
    assert answer_of("xai", "img-123-456", "scrubbed") is None


def test_the_id_of_a_stream_is_that_of_its_first_event() -> None:
    body = "data: " + packed({"type": "message_start", "message": {"id": "msg_first"}}) + "\n\n"
    one = recorded(
        ("content-type", "text/event-stream"), body=body, url="https://api.anthropic.com/v1/messages"
    )
    assert why(one) == 'put together by hand: anthropic makes no such id as "msg_first"'


def test_our_own_recordings_are_not_asked() -> None:
    one = recorded(body=packed(ANSWER), url="https://api.openai.com/v1/chat/completions")
    assert why(one)
    assert why(replace(one, exchange=replace(one.exchange, probe="plain"))) is None


def lines_at(*times: str) -> Recorded:
    lines = [{"model": "m", "created_at": at, "message": {"content": "a"}, "done": False} for at in times]
    return recorded(body="\n".join(map(packed, lines)), url="http://h:11434/api/chat")


@pytest.mark.parametrize(
    ("times", "is_made_up"),
    [
        (["2025-08-08T10:00:00Z", "2025-08-08T10:00:01Z"], True),
        (["2025-08-08T10:00:00Z", "2025-08-08T10:00:00.5123Z"], False),
        (["2025-08-08T10:00:00.123456789+02:00"], False),
        (["1970-01-01T00:00:00Z"], False),
        ([], False),
    ],
)
def test_times_of_whole_seconds_are_typed_where_the_server_sends_fractions(
    times: list[str], is_made_up: bool
) -> None:
    told = "put together by hand: its times are of whole seconds"
    assert why(lines_at(*times)) == (told if is_made_up else None)


@pytest.mark.parametrize(
    ("mean", "is_made_up"),
    [(-0.05, True), (-0.2275218963623, False), (-18.441757590101833, False), (-0.0, False), (0, False)],
)
def test_a_mean_of_logarithms_with_two_digits_is_typed(mean: float, is_made_up: bool) -> None:
    one = recorded(body=packed({"candidates": [{"avgLogprobs": mean}]}), url="/models/m:generateContent")
    found = why(one)
    assert (found == "put together by hand: a mean of logarithms has more digits") is is_made_up


@pytest.mark.parametrize(
    ("mime", "data", "size"),
    [
        ("image/png", b"xyz", 3),
        ("audio/wav", bytes(44), 44),
        ("image/png", bytes(60), None),
        ("text/plain", b"xyz", None),
    ],
)
def test_a_picture_of_a_few_bytes_is_none(mime: str, data: bytes, size: int | None) -> None:
    part = {"inlineData": {"mimeType": mime, "data": base64.b64encode(data).decode()}}
    one = recorded(body=packed({"candidates": [{"content": {"parts": [part]}}]}))
    assert why(one) == (f"put together by hand: its {mime} is of {size} bytes" if size else None)


def test_a_picture_that_a_recorder_replaced_tells_nothing() -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": "<PICTURE>"}}
    assert why(recorded(body=packed({"candidates": [{"content": {"parts": [part]}}]}))) is None


LAID_OUT = '{ "model": "m", "messages": [] }'


@pytest.mark.parametrize(
    ("asked", "answered", "fidelity", "is_made_up"),
    [
        (LAID_OUT, LAID_OUT, "wire", True),
        (packed(QUESTION), LAID_OUT, "wire", False),
        (LAID_OUT, BODY, "wire", False),
        ('{\n  "model": "m"\n}', '{\n  "id": "1"\n}', "wire", False),
        (LAID_OUT, LAID_OUT, "parsed", False),
    ],
)
def test_question_and_answer_with_one_odd_layout_are_by_one_hand(
    asked: str, answered: str, fidelity: str, is_made_up: bool
) -> None:
    found = why(recorded(body=answered, asked=asked.encode(), fidelity=fidelity))
    assert (found is not None) is is_made_up


# ------------------------------------------------------------------------------------------- replaced headers


@pytest.mark.parametrize(
    ("headers", "left", "all_there"),
    [
        ([DATE, ("x-request-id", "r")], 2, True),
        ([("server", "uvicorn"), ("x-request-id", "r")], 2, True),
        ([("x-request-id", "r")], 1, False),
        ([DATE, ("openai-processing-ms", "9"), ("x-request-id", "r")], 3, True),
        ([DATE, ("openai-processing-ms", "9")], 2, False),
        ([DATE, ("anthropic-ratelimit-tokens-limit", "9"), ("request-id", "r")], 3, True),
        ([DATE, ("anthropic-ratelimit-tokens-limit", "9")], 2, False),
        ([DATE, ("x-ratelimit-limit-tokens", "X-RATELIMIT-LIMIT-TOKENS-XXX")], 1, False),
        ([DATE, ("x-request-id", "<X_REQUEST_ID>")], 1, False),
        ([DATE, ("set-cookie", "REDACTED")], 1, False),
    ],
)
def test_headers_that_a_recorder_replaced_are_none_and_one_that_is_not_there_may_have_been_left_out(
    headers: list[tuple[str, str]], left: int, all_there: bool
) -> None:
    found = without_replaced(recorded(*headers))
    assert found.exchange.response is not None
    assert len(found.exchange.response.headers) == left
    assert ("all-headers" in found.kept) is all_there


@given(st.binary(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_no_bytes_make_it_raise(body: bytes, date: str, length: str) -> None:
    one = recorded(("date", date), ("content-length", length), body=body.decode("latin-1"), asked=body)
    composed(one)
    request_changed(one)
    without_replaced(one)
    why(one, "xai/one.json")


@given(st.binary(max_size=90), st.text(max_size=30))
def test_no_picture_and_no_id_make_it_raise(data: bytes, name: str) -> None:
    media = b'{"candidates": [], "inlineData": {"mimeType": "image/png", "data": "' + data + b'"}}'
    why(recorded(body=media.decode("latin-1")))
    answer_of("xai", name)
