"""Items, pairing and state: what a Responses endpoint makes of a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from .responses_support import TOOLS, Responses, call, message, output

PART = {"type": "input_text", "text": "part"}
PNG = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"}
PDF = {"type": "input_file", "file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"}
SAID = {"type": "output_text", "text": "Yes.", "annotations": [], "logprobs": []}

ACCEPTED: list[tuple[str, Any]] = [
    ("string", "Hi"),
    ("typeless-message", [{"role": "user", "content": "Hi"}]),
    ("parts", [message("user", PART, PNG, PDF)]),
    ("every-role", [message("system", "x"), message("developer", "x"), message("user", "x")]),
    ("assistant-text", [message("user", "x"), message("assistant", "y"), message("user", "z")]),
    ("assistant-parts", [message("assistant", SAID, id="msg_1", status="completed", phase="final_answer")]),
    ("assistant-refusal", [message("assistant", {"type": "refusal", "refusal": "No."})]),
    ("parallel", [call("a"), call("b", "get_time"), output("b"), output("a")]),
    ("one-by-one", [call("a"), output("a"), call("b"), output("b")]),
    ("apart", [call("a"), message("user", "Wait."), output("a"), message("user", "Well?")]),
    ("output-parts", [call("a"), output("a", [PART, PNG, PDF])]),
    ("output-empty", [call("a"), output("a", "")]),
    ("ids-again", [call("a"), output("a", "one"), call("a"), output("a", "two")]),
    ("text-between", [message("assistant", "x"), call("a"), message("assistant", "y"), output("a")]),
]


@pytest.mark.parametrize("given", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_conversations_that_are_answered(responses: Responses, given: Any) -> None:
    assert responses.response(given, tools=TOOLS)["status"] == "completed"


REFUSED: list[tuple[str, list[Any], str]] = [
    ("orphan", [output("a")], "No tool call found for function call output with call_id a."),
    ("before", [output("a"), call("a")], "No tool call found for function call output with call_id a."),
    ("unanswered", [call("a"), message("user", "x")], "No tool output found for function call a."),
    ("half", [call("a"), call("b"), output("a")], "No tool output found for function call b."),
    ("twice", [call("a"), output("a"), output("a")], "Duplicate function call output with call_id a."),
    (
        "called-twice",
        [call("a"), call("a"), output("a"), output("a")],
        "Duplicate function call with call_id a.",
    ),
    (
        "same-item",
        [message("assistant", "x", id="msg_1"), message("assistant", "y", id="msg_1")],
        "Duplicate item found with id msg_1.",
    ),
]


@pytest.mark.parametrize(("given", "begins"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_conversations_that_are_refused(responses: Responses, given: list[Any], begins: str) -> None:
    error = responses.error(given)
    assert error["message"].startswith(begins)
    assert error["param"] == "input"


def text(response: Any) -> str:
    return "".join(
        part["text"]
        for item in response["output"]
        if item["type"] == "message"
        for part in item["content"]
        if part["type"] == "output_text"
    )


def test_each_output_is_read_beside_its_call(responses: Responses) -> None:
    given = [call("a", city="Oslo"), call("b", "get_time"), output("b", "noon"), output("a", [PART])]
    answered = responses.response(given)
    assert text(answered) == 'get_weather({"city":"Oslo"}) returned: part\nget_time({}) returned: noon'


def test_ids_that_come_again_are_paired_in_order(responses: Responses) -> None:
    given = [call("a", city="Oslo"), output("a", "one"), call("a", city="Rome"), output("a", "two")]
    assert text(responses.response(given)) == 'get_weather({"city":"Rome"}) returned: two'


def test_instructions_are_read(responses: Responses) -> None:
    short = responses.response("Hi")["usage"]["input_tokens"]
    assert responses.response("Hi", instructions="Be brief.")["usage"]["input_tokens"] > short


# --------------------------------------------------------------------------------------------- state


def test_a_response_goes_on_from_the_one_before(responses: Responses) -> None:
    first = responses.response("[[call]]", tools=TOOLS)
    asked = output(first["output"][-1]["call_id"], "[[done/1]]")
    second = responses.response([asked], previous_response_id=first["id"])
    assert text(second) == "It is sunny."
    assert second["previous_response_id"] == first["id"]
    third = responses.response("And then?", previous_response_id=second["id"])
    assert third["usage"]["input_tokens"] > second["usage"]["input_tokens"]


def test_calls_of_the_response_before_must_be_answered(responses: Responses) -> None:
    first = responses.response("[[call]]", tools=TOOLS)
    error = responses.error("Never mind.", previous_response_id=first["id"])
    assert error["message"].startswith("No tool output found for function call call_")


def test_items_of_the_response_before_are_not_sent_again(responses: Responses) -> None:
    first = responses.response("Hi")
    error = responses.error(first["output"], previous_response_id=first["id"])
    assert error["message"].startswith("Duplicate item found with id msg_")


def test_instructions_are_not_carried_over(responses: Responses) -> None:
    first = responses.response("Hi", instructions="Say the word json. " * 20)
    second = responses.response("Hi", previous_response_id=first["id"])
    assert second["instructions"] is None
    assert second["usage"]["input_tokens"] < first["usage"]["input_tokens"]


def test_the_input_may_be_all_in_the_response_before(responses: Responses) -> None:
    first = responses.response("[[done/1]]")
    assert text(responses.response(previous_response_id=first["id"])) == "It is sunny."


def test_what_is_not_stored_is_not_found(responses: Responses) -> None:
    first = responses.response("Hi", store=False)
    assert responses.error("Hi", previous_response_id=first["id"])["code"] == "previous_response_not_found"


def test_a_response_is_its_personas_own(responses: Responses, simulator: Any, client: Any) -> None:
    first = responses.response("Hi")
    other = Responses(simulator, client, "deepseek")
    assert other.error("Hi", previous_response_id=first["id"])["code"] == "previous_response_not_found"


def test_a_streamed_response_is_stored_too(responses: Responses) -> None:
    first = responses.events("[[done/1]]")[-1]["response"]
    assert text(responses.response(previous_response_id=first["id"])) == "It is sunny."


def test_a_stored_item_may_be_referred_to(responses: Responses) -> None:
    first = responses.response("[[call]]", tools=TOOLS)["output"][-1]
    for reference in ({"type": "item_reference", "id": first["id"]}, {"id": first["id"]}):
        given = [message("user", "Hi"), reference, output(first["call_id"], "[[done/1]]")]
        assert text(responses.response(given)) == "It is sunny."


def test_only_items_of_an_output_are_found(responses: Responses) -> None:
    responses.response([message("assistant", "Mine.", id="msg_mine"), message("user", "Hi")])
    error = responses.error([{"type": "item_reference", "id": "msg_mine"}], status=404)
    assert "Items are not persisted when `store` is set to false" in error["message"]


# ----------------------------------------------------------------------------------------- reasoning


def answered(output_items: list[Any]) -> list[Any]:
    return [output(item["call_id"]) for item in output_items if item["type"] == "function_call"]


@pytest.mark.parametrize("store", [True, False])
def test_an_output_is_accepted_back_as_it_was(responses: Responses, store: bool) -> None:
    include = ["reasoning.encrypted_content"]
    first = responses.response("[[interleaved]]", tools=TOOLS, store=store, include=include)["output"]
    assert responses.ask([message("user", "Hi"), *first, *answered(first)], tools=TOOLS).status_code == 200


def test_reasoning_that_was_not_stored_comes_back_encrypted_only(responses: Responses) -> None:
    first = responses.response("[[interleaved]]", tools=TOOLS, store=False)["output"]
    error = responses.error([*first, *answered(first)], status=404)
    assert error["message"].startswith("Item with id 'rs_")


def test_altered_encrypted_reasoning_is_refused(responses: Responses) -> None:
    include = ["reasoning.encrypted_content"]
    first = responses.response("[[thinking]]", include=include)["output"]
    first[0]["encrypted_content"] = first[0]["encrypted_content"][:-8] + "AAAAAAA="
    assert responses.error([*first, message("user", "Hi")])["code"] == "invalid_encrypted_content"


def test_reasoning_is_not_sent_without_what_followed_it(responses: Responses) -> None:
    reasoning = responses.response("[[thinking]]")["output"][0]
    for given in ([reasoning], [reasoning, message("user", "Hi")]):
        error = responses.error(given)
        assert error["message"].endswith("was provided without its required following item.")


def test_what_followed_reasoning_is_not_sent_without_it(responses: Responses) -> None:
    first = responses.response("[[interleaved]]", tools=TOOLS)["output"]
    bare = [item for item in first if item["type"] != "reasoning"]
    error = responses.error([*bare, *answered(bare)])
    assert "was provided without its required 'reasoning' item: 'rs_" in error["message"]
    nameless = [{k: v for k, v in item.items() if k != "id"} for item in bare]
    assert responses.ask([*nameless, *answered(bare)]).status_code == 200
