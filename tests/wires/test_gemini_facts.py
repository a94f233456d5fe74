"""Which oddities of Gemini answers become facts, and where errors are found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .gemini_kit import WIRE, answer, assemble, call, facts, read, response, sse

AT = "/body/candidates/0"
PART = f"{AT}/content/parts/0"


# -------------------------------------------------------------------------------------------------- facts


@pytest.mark.parametrize(
    ("body", "fact", "path"),
    [
        ({"candidates": [1, {}]}, "candidate-not-object", "/body/candidates/0"),
        ({"candidates": [{"index": "x"}]}, "candidate-index-not-integer", f"{AT}/index"),
        (
            {"candidates": [{"index": 0}, {"index": 0}]},
            "candidate-repeated-index",
            "/body/candidates/1/index",
        ),
        ({"candidates": [{"content": "x"}]}, "content-not-object", f"{AT}/content"),
        ({"candidates": [{"content": {"role": "assistant"}}]}, "role-not-model", f"{AT}/content/role"),
        ({"candidates": [{"content": {"parts": {}}}]}, "parts-not-list", f"{AT}/content/parts"),
        (answer("x"), "part-not-object", PART),  # type: ignore[arg-type]
        (answer({"text": "a", "functionCall": {"name": "f"}}), "several-data", PART),
        (answer({"functionCall": "f"}), "datum-not-object", f"{PART}/functionCall"),
        (answer({"inlineData": {"mimeType": "image/png"}}), "datum-missing", f"{PART}/inlineData/data"),
        (
            answer({"inlineData": {"mimeType": 1, "data": "AA"}}),
            "mime-not-string",
            f"{PART}/inlineData/mimeType",
        ),
        (answer({"text": 1}), "text-not-string", f"{PART}/text"),
        (answer({"text": "a", "thought": 1}), "thought-not-boolean", f"{PART}/text"),
        (answer({"functionCall": {"args": {}}}), "missing-name", f"{PART}/functionCall/name"),
        (answer(call(1)), "name-not-string", f"{PART}/functionCall/name"),  # type: ignore[arg-type]
        (answer(call("f", id=7)), "call-id-not-string", f"{PART}/functionCall/id"),
        (answer(call("f", id="a"), call("f", id="a")), "repeated-id", f"{AT}/content/parts/1"),
        (answer(call("f", "{}")), "args-not-object", f"{PART}/functionCall/args"),
        (answer({"text": "a"}, finishReason="length"), "finish-unknown", f"{AT}/finishReason"),
        (answer({"text": "a"}, finishReason=1), "finish-not-string", f"{AT}/finishReason"),
        (
            answer({"text": "a"}, finishReason="FINISH_REASON_UNSPECIFIED"),
            "finish-unspecified",
            f"{AT}/finishReason",
        ),
        (answer({"text": "a"}) | {"usage_metadata": {}}, "snake-case", "/body/usage_metadata"),
        (answer({"text": "a", "thought_signature": "AA"}), "snake-case", f"{PART}/thought_signature"),
        (answer({"text": "a"}) | {"usageMetadata": []}, "usage-not-object", "/body/usageMetadata"),
        (
            answer({"text": "a"}) | {"usageMetadata": {"promptTokenCount": 1.5}},
            "usage-not-integer",
            "/body/usageMetadata/promptTokenCount",
        ),
        (answer({"text": "a"}) | {"responseId": 1}, "id-not-string", "/body/responseId"),
        (answer({"text": "a"}) | {"modelVersion": 1}, "model-not-string", "/body/modelVersion"),
        (answer({"text": "a"}) | {"error": {"message": "no"}}, "error-body", "/body/error"),
    ],
)
def test_an_oddity_of_a_whole_answer_is_a_fact(body: dict[str, Any], fact: str, path: str) -> None:
    turns = WIRE.decode(response(body))
    assert facts(turns[0]) == [(fact, path)]


@pytest.mark.parametrize(
    ("events", "fact", "path"),
    [
        (["{", answer({"text": "a"})], "not-json", "/events/0/data"),
        (["[1]", answer({"text": "a"})], "not-object", "/events/0/data"),
        ([answer({"text": "a"}), "[DONE]"], "done-sentinel", "/events/1/data"),
        (
            [answer({"text": "a"}), {"error": {"code": 503, "message": "m"}}],
            "error-event",
            "/events/1/data/error",
        ),
        (
            [answer({"text": "a"}), answer({"text": "b"}, finishReason=None)],
            "after-finish",
            "/events/1/data/candidates/0/content/parts/0",
        ),
        ([answer({"text": "a"}), answer()], "finish-twice", "/events/1/data/candidates/0/finishReason"),
        (
            [answer({"text": t}, finishReason=None) for t in ("a", "ab", "abc")],
            "snapshot-like",
            "/events/2/data/candidates/0/content/parts/0/text",
        ),
    ],
)
def test_an_oddity_of_a_stream_is_a_fact(events: list[Any], fact: str, path: str) -> None:
    (turn,) = assemble(events)
    assert facts(turn) == [(fact, path)]


@pytest.mark.parametrize(
    ("args", "arguments"),
    [("{}", "{}"), ("x", "x"), ([1], "[1]"), (7, "7"), (None, "{}")],
)
def test_args_that_are_no_object_are_kept(args: Any, arguments: str) -> None:
    (found,) = read({"functionCall": {"name": "f", "args": args}}).calls
    assert found.arguments == arguments


@pytest.mark.parametrize("number", [1, 2, 3, 10])
def test_a_finish_reason_by_number_is_read_as_its_word(number: int) -> None:
    words = {1: "stop", 2: "length", 3: "content_filter", 10: "stop"}
    assert read({"text": "a"}, finishReason=number).finish_reason == words[number]


def test_more_candidates_than_anyone_asks_for_are_dropped() -> None:
    body = {"candidates": [{"index": i} for i in range(200)]}
    turns = WIRE.decode(response(body))
    assert len(turns) == 128
    assert facts(turns[0]) == [("too-many-candidates", f"/body/candidates/{i}") for i in range(128, 148)]


def test_a_body_that_is_not_utf_8_is_read_with_replacements() -> None:
    body = json.dumps(answer({"text": "X"})).encode().replace(b"X", b"\xff")
    (turn,) = WIRE.decode(response(body))
    assert (turn.text, facts(turn)[0]) == ("�", ("not-utf-8", "/body"))


# ------------------------------------------------------------------------------------------------- errors

ERROR = {"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (ERROR, 400),
        ([ERROR], 400),
        ([answer({"text": "a"}), ERROR], 200),
        (sse([json.dumps(answer({"text": "a"})), json.dumps(ERROR)]), 200),
    ],
)
def test_an_error_is_found_wherever_it_stands(body: Any, status: int) -> None:
    found = WIRE.error_of(response(body, status))
    assert found is not None
    assert (found.message, found.type, found.code) == ("bad", "INVALID_ARGUMENT", 400)


def test_an_error_names_the_field_that_its_details_tell_of() -> None:
    violation = {"field": "contents[0].parts", "description": "empty"}
    details = [
        {"@type": "x"},
        {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]},
    ]
    found = WIRE.error_of(response({"error": ERROR["error"] | {"details": details}}, 400))
    assert found is not None
    assert found.param == "contents[0].parts"


def test_a_good_answer_is_no_error() -> None:
    assert WIRE.error_of(response(answer({"text": "error"}))) is None
    assert WIRE.error_of(response([answer({"text": "error"})])) is None
