"""The histories go out exactly as their scenario says, marked or not."""

from __future__ import annotations

import base64
import io
import struct
import wave
import zlib
from typing import Any

import pytest

from conformance.scenarios import SCENARIOS
from conformance.scenarios.base import marked
from conformance.scenarios.kit import one_line_pdf, red_square, stored_zstd, tone_wav
from conformance.types import Ask, Exchange, HttpRequest, HttpResponse, Reply
from conformance.wires.openai_chat_request import encode

ANSWERED = Exchange(HttpRequest("POST", "", (), b""), HttpResponse(200, (), b""), "complete", "openai-chat")


def asks(name: str) -> list[Ask]:
    """The requests of a scenario with a perfect model."""
    scenario = SCENARIOS[name]
    script, found = scenario.script(), []
    step = next(script)
    for turn in scenario.ideal:
        assert isinstance(step, Ask)
        found.append(step)
        try:
            step = script.send(Reply(ANSWERED, turn))
        except StopIteration:
            break
    return found


def sent(name: str, probe: str) -> list[list[dict[str, Any]]]:
    """The messages on the wire of every step of that probe."""
    bodies: list[Any] = [
        encode(ask.request, model="m", losses=[]) for ask in asks(name) if ask.probe == probe
    ]
    return [body["messages"] for body in bodies]


def of(role: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages if message["role"] == role]


def test_results_come_in_the_order_of_the_calls_and_in_the_other() -> None:
    ids = [
        [m["tool_call_id"] for m in of("tool", one)] for one in sent("history.tool-results", "tool-results")
    ]
    assert ids == [["call_1", "call_2"], ["call_2", "call_1"]]


def test_tool_content_is_empty_json_lines_and_parts() -> None:
    texts = [of("tool", one)[0]["content"] for one in sent("history.tool-content", "tool-content-string")]
    assert texts[0] == ""
    assert texts[1].startswith("{")
    assert "\n" in texts[2]
    assert not texts[2].isascii()
    (parts,) = sent("history.content-parts", "tool-content-parts")
    assert [part["type"] for part in of("tool", parts)[0]["content"]] == ["text", "text"]


def test_content_beside_calls_is_null_empty_and_absent() -> None:
    histories = sent("history.assistant-messages", "assistant-null-content")
    contents = [of("assistant", one)[0].get("content", "absent") for one in histories]
    assert contents == [None, "", "absent"]
    assert all(of("assistant", one)[0]["tool_calls"] for one in histories)


def test_broken_pairings_lack_a_result_double_one_and_lack_an_id() -> None:
    missing, *_ = sent("history.broken-pairing", "tool-result-missing")
    (double,) = sent("history.broken-pairing", "tool-result-duplicate")
    (nameless,) = sent("history.broken-pairing", "tool-id-missing")
    assert (len(of("assistant", missing)[0]["tool_calls"]), len(of("tool", missing))) == (2, 1)
    assert [m["tool_call_id"] for m in of("tool", double)] == ["call_1", "call_1"]
    assert "tool_call_id" not in of("tool", nameless)[0]


def test_a_result_may_be_missing_altogether_or_come_too_late() -> None:
    _, without, late, later = sent("history.broken-pairing", "tool-result-missing")
    assert [m["role"] for m in without] == ["user", "assistant", "user"]
    assert [m["role"] for m in late] == ["user", "assistant", "user", "tool", "user"]
    assert [m["role"] for m in later] == ["user", "assistant", "assistant", "tool", "user"]


def test_arguments_are_an_object_and_a_string_that_is_no_json() -> None:
    (whole,) = sent("history.arguments", "arguments-object")
    (broken,) = sent("history.arguments", "arguments-invalid-json")
    assert of("assistant", whole)[0]["tool_calls"][0]["function"]["arguments"] == {"city": "Rome"}
    assert of("assistant", broken)[0]["tool_calls"][0]["function"]["arguments"] == "{"


def test_no_foreign_id_is_longer_than_the_reference_takes() -> None:
    for history in sent("history.foreign-ids", "foreign-ids"):
        (call,) = of("assistant", history)[0]["tool_calls"]
        assert call["id"] == of("tool", history)[0]["tool_call_id"]
        assert len(call["id"]) <= 40


def test_reasoning_is_left_out_and_comes_back_empty() -> None:
    (omitted,) = sent("history.reasoning", "reasoning-omitted")
    (empty,) = sent("history.reasoning", "reasoning-empty")
    assert "reasoning_content" not in of("assistant", omitted)[0]
    assert of("assistant", empty)[0]["reasoning_content"] == ""


def test_no_tools_are_offered_where_the_history_is_all_there_is() -> None:
    assert not any(
        "tools" in encode(ask.request, model="m", losses=[]) for ask in asks("history.without-tools")
    )


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name.startswith("history.")])
def test_a_marker_changes_nothing_but_the_closing_question(name: str) -> None:
    for number, ask in enumerate(asks(name)):
        plain: Any = encode(ask.request, model="m", losses=[])["messages"]
        with_marker: Any = encode(marked(ask.request, f"{name}/{number}"), model="m", losses=[])["messages"]
        (changed,) = (i for i, message in enumerate(plain) if with_marker[i] != message)
        assert f"[[{name}/{number}]]" in str(with_marker[changed])
        assert with_marker[changed]["role"] == "user"
        assert all(message["role"] == "assistant" for message in plain[changed + 1 :])


def test_the_tone_is_a_wav_of_a_tenth_of_a_second() -> None:
    with wave.open(io.BytesIO(base64.b64decode(tone_wav(), validate=True))) as tone:
        assert (tone.getnchannels(), tone.getframerate(), tone.getnframes()) == (1, 8000, 800)


def test_every_object_of_the_pdf_is_where_its_table_says() -> None:
    kind, _, data = one_line_pdf("KESTREL").partition(",")
    pdf = base64.b64decode(data, validate=True)
    assert kind == "data:application/pdf;base64"
    table = pdf[int(pdf.split(b"startxref\n")[1].split()[0]) :].split(b"\n")
    offsets = [int(line.split()[0]) for line in table[3:8]]
    assert [pdf[at : at + 7] for at in offsets] == [b"%d 0 obj" % number for number in range(1, 6)]
    assert b"(KESTREL) Tj" in pdf


def test_the_stored_frame_is_zstd_with_nothing_compressed() -> None:
    assert stored_zstd(b"{}").hex(" ") == "28 b5 2f fd 20 02 11 00 00 7b 7d"


def test_the_picture_is_a_png_of_one_red() -> None:
    kind, _, data = red_square(16).partition(",")
    png = base64.b64decode(data, validate=True)
    assert kind == "data:image/png;base64"
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(png):
        size = struct.unpack(">I", png[at : at + 4])[0]
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + body)
        chunks[name] = body
        at += 12 + size
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (16, 16)
    assert zlib.decompress(chunks[b"IDAT"]) == b"\0\0\0" * 16
    assert chunks[b"PLTE"][0] > 200
