"""The answers and streams of the Gemini API."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator
from conformance.simulator.turns import count
from conformance.types import Reasoning, Text

from .gemini_support import TIME, TOOLS, WEATHER, Gemini, answer, call, model, parts, texts, user
from .support import SCRIPTS


@pytest.fixture(scope="module")
def gemini(simulator: Simulator, client: httpx.Client) -> Gemini:
    return Gemini(simulator, client)


def test_an_answer_has_the_members_that_google_sends(gemini: Gemini) -> None:
    response = gemini.ask("[[plain]]")
    assert response.headers["content-type"] == "application/json; charset=UTF-8"
    document = response.json()
    assert set(document) == {"candidates", "usageMetadata", "modelVersion", "responseId"}
    assert document["candidates"] == [
        {
            "content": {"parts": [{"text": SCRIPTS["plain"].text}], "role": "model"},
            "finishReason": "STOP",
            "index": 0,
        }
    ]
    assert document["modelVersion"] == "reference"


def test_two_answers_have_two_ids(gemini: Gemini) -> None:
    assert len({gemini.ask("Hi").json()["responseId"] for _ in range(2)}) == 2


def test_the_total_is_the_sum_and_thoughts_are_counted_apart(gemini: Gemini) -> None:
    usage = gemini.ask("[[thinking]]").json()["usageMetadata"]
    said = SCRIPTS["thinking"].parts
    assert usage["thoughtsTokenCount"] == count(p for p in said if isinstance(p, Reasoning))
    assert usage["candidatesTokenCount"] == count(p for p in said if isinstance(p, Text))
    total = usage["promptTokenCount"] + usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]
    assert usage["totalTokenCount"] == total


def test_counts_of_nothing_are_left_out(gemini: Gemini) -> None:
    assert set(gemini.ask("[[plain]]").json()["usageMetadata"]) == {
        "promptTokenCount",
        "candidatesTokenCount",
        "totalTokenCount",
        "promptTokensDetails",
    }


@pytest.mark.parametrize(
    ("thinking", "shown"),
    [({}, False), ({"includeThoughts": False}, False), ({"includeThoughts": True}, True)],
)
def test_thoughts_show_when_they_are_asked_for(gemini: Gemini, thinking: Any, shown: bool) -> None:
    found = parts(gemini.candidate("[[thinking]]", generationConfig={"thinkingConfig": thinking}))
    thoughts = [{"text": "First, the facts.", "thought": True}] if shown else []
    assert found == [*thoughts, {"text": "So it is."}]


def test_a_budget_of_nothing_switches_thinking_off(gemini: Gemini) -> None:
    config = {"thinkingConfig": {"thinkingBudget": 0}}
    usage = gemini.ask("[[thinking]]", generationConfig=config).json()["usageMetadata"]
    assert "thoughtsTokenCount" not in usage


# --------------------------------------------------------------------------------------------- calls


def test_calls_come_as_objects_with_ids_and_end_with_stop(gemini: Gemini) -> None:
    candidate = gemini.candidate("[[parallel]]", tools=TOOLS)
    calls = [part["functionCall"] for part in parts(candidate)]
    assert [(c["name"], c["args"]) for c in calls] == [("get_weather", {"city": "Paris"}), ("get_time", {})]
    assert len({c["id"] for c in calls}) == 2
    assert candidate["finishReason"] == "STOP"


def test_only_the_first_of_parallel_calls_is_signed(gemini: Gemini) -> None:
    first, second = parts(gemini.candidate("[[parallel]]", tools=TOOLS))
    assert base64.b64decode(first["thoughtSignature"], validate=True)
    assert "thoughtSignature" not in second


def test_text_before_a_call_is_not_signed(gemini: Gemini) -> None:
    text, called = parts(gemini.candidate("[[mixed]]", tools=TOOLS))
    assert text == {"text": "Let me look."}
    assert "thoughtSignature" in called


def test_without_thinking_nothing_is_signed(gemini: Gemini) -> None:
    config = {"thinkingConfig": {"thinkingBudget": 0}}
    (called,) = parts(gemini.candidate("[[call]]", tools=TOOLS, generationConfig=config))
    assert set(called) == {"functionCall"}


@pytest.mark.parametrize(
    ("calling", "kinds"),
    [
        ({}, ["text", "functionCall"]),
        ({"mode": "AUTO"}, ["text", "functionCall"]),
        ({"mode": "auto"}, ["text", "functionCall"]),
        ({"mode": "NONE"}, ["text"]),
        ({"mode": "ANY"}, ["functionCall"]),
        ({"mode": "VALIDATED"}, ["text", "functionCall"]),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["get_time"]}, ["text"]),
        ({"mode": "ANY", "allowedFunctionNames": ["get_time"]}, ["functionCall"]),
    ],
)
def test_a_calling_mode_is_obeyed(gemini: Gemini, calling: Any, kinds: list[str]) -> None:
    candidate = gemini.candidate("[[mixed]]", tools=TOOLS, toolConfig={"functionCallingConfig": calling})
    found = parts(candidate)
    assert [kind for part in found for kind in part if kind != "thoughtSignature"] == kinds
    if "get_time" in calling.get("allowedFunctionNames", ()) and kinds == ["functionCall"]:
        assert found[0]["functionCall"]["name"] == "get_time"


def test_functions_of_several_tools_are_all_known(gemini: Gemini) -> None:
    tools = [{"functionDeclarations": [WEATHER]}, {"functionDeclarations": [TIME]}]
    assert len(parts(gemini.candidate("[[parallel]]", tools=tools))) == 2


@pytest.mark.parametrize("streamed", [False, True])
def test_its_own_content_is_accepted_back(gemini: Gemini, streamed: bool) -> None:
    config = {"thinkingConfig": {"includeThoughts": True}}
    if streamed:
        chunks = gemini.chunks("[[parallel]]", tools=TOOLS, generationConfig=config)
        content = model(*(part for chunk in chunks for part in parts(chunk["candidates"][0])))
    else:
        content = gemini.candidate("[[parallel]]", tools=TOOLS, generationConfig=config)["content"]
    answers = [
        answer(part["functionCall"]["name"], id=part["functionCall"]["id"]) for part in content["parts"]
    ]
    found = parts(gemini.candidate("[[parallel]]", content, user(*answers), "[[done/1]]", tools=TOOLS))
    assert found == [{"text": "It is sunny."}]


def test_results_reach_the_model_by_id_when_the_names_are_the_same(gemini: Gemini) -> None:
    calls = [call("get_weather", id="a", args={"city": "Oslo"}), call("get_weather", id="b")]
    answers = [answer("get_weather", {"output": "B"}, id="b"), answer("get_weather", {"output": "A"}, id="a")]
    (said,) = parts(gemini.candidate("Hi", model(*calls), user(*answers)))
    assert said["text"] == 'get_weather({"city":"Oslo"}) returned: A\nget_weather({}) returned: B'


def test_results_without_ids_are_taken_in_order(gemini: Gemini) -> None:
    calls = [call("get_weather"), call("get_time"), call("get_weather")]
    answers = [
        answer("get_weather", {"output": "1"}),
        answer("get_weather", {"output": "3"}),
        answer("get_time", {"x": 2}),
    ]
    (said,) = parts(gemini.candidate("Hi", model(*calls), user(*answers)))
    returned = [line.split(" returned: ")[1] for line in said["text"].splitlines()]
    assert returned == ["1", '{"x":2}', "3"]


# --------------------------------------------------------------------------------------- parameters


def test_a_cap_ends_with_max_tokens(gemini: Gemini) -> None:
    candidate = gemini.candidate("[[plain]]", generationConfig={"maxOutputTokens": 2})
    assert candidate["finishReason"] == "MAX_TOKENS"
    assert parts(candidate) == [{"text": "The quic"}]


def test_a_cap_that_thoughts_use_up_leaves_a_content_without_parts(gemini: Gemini) -> None:
    candidate = gemini.candidate("[[thinking]]", generationConfig={"maxOutputTokens": 2})
    assert candidate["content"] == {"role": "model"}
    assert candidate["finishReason"] == "MAX_TOKENS"


def test_a_call_that_a_cap_cuts_short_is_not_sent(gemini: Gemini) -> None:
    candidate = gemini.candidate("[[call]]", tools=TOOLS, generationConfig={"maxOutputTokens": 5})
    assert candidate["content"] == {"role": "model"}
    assert candidate["finishReason"] == "MAX_TOKENS"


def test_what_is_filtered_ends_with_safety(gemini: Gemini) -> None:
    assert gemini.candidate("[[filtered]]")["finishReason"] == "SAFETY"


def test_a_refusal_is_text(gemini: Gemini) -> None:
    assert parts(gemini.candidate("[[refusal]]")) == [{"text": SCRIPTS["refusal"].refusal}]


def test_a_stop_sequence_is_left_out(gemini: Gemini) -> None:
    candidate = gemini.candidate("[[plain]]", generationConfig={"stopSequences": ["brown"]})
    assert (parts(candidate), candidate["finishReason"]) == ([{"text": "The quick "}], "STOP")


@pytest.mark.parametrize("form", ["camel", "snake", "text"])
def test_numbers_and_names_are_read_as_protojson_reads_them(gemini: Gemini, form: str) -> None:
    body: dict[str, dict[str, Any]] = {
        "camel": {"generationConfig": {"maxOutputTokens": 2}},
        "snake": {"generation_config": {"max_output_tokens": 2.0}},
        "text": {"generationConfig": {"maxOutputTokens": "2", "temperature": "0.5", "seed": None}},
    }
    assert parts(gemini.candidate("[[plain]]", **body[form])) == [{"text": "The quic"}]


def test_each_candidate_is_numbered(gemini: Gemini) -> None:
    document = gemini.ask("[[call]]", tools=TOOLS, generationConfig={"candidateCount": 3}).json()
    assert [candidate["index"] for candidate in document["candidates"]] == [0, 1, 2]
    ids = {parts(candidate)[0]["functionCall"]["id"] for candidate in document["candidates"]}
    assert len(ids) == 3
    assert document["usageMetadata"]["candidatesTokenCount"] == 3 * count(SCRIPTS["call"].parts)


SCHEMA = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
PLAIN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHOICE = {"type": "STRING", "format": "enum", "enum": ["storm", "calm"]}


@pytest.mark.parametrize("schema", [{"responseSchema": SCHEMA}, {"responseJsonSchema": PLAIN}])
def test_a_schema_is_obeyed(gemini: Gemini, schema: Any) -> None:
    config = {"responseMimeType": "application/json", **schema}
    (said,) = parts(gemini.candidate("Hi", generationConfig=config))
    assert set(json.loads(said["text"])) == {"city"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "STRING", "nullable": True, "enum": ["a"]}, "a"),
        ({"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "2"}, list),
        ({"anyOf": [{"type": "NULL"}, {"type": "BOOLEAN"}]}, None),
        ({"type": "object", "properties": {"a": {"type": "number"}}, "propertyOrdering": ["a"]}, dict),
    ],
)
def test_the_openapi_subset_is_understood(gemini: Gemini, schema: Any, value: Any) -> None:
    config = {"responseMimeType": "application/json", "responseSchema": schema}
    (said,) = parts(gemini.candidate("Hi", generationConfig=config))
    found = json.loads(said["text"])
    assert isinstance(found, value) if isinstance(value, type) else found == value


def test_json_without_a_schema_is_an_object(gemini: Gemini) -> None:
    (said,) = parts(gemini.candidate("Hi", generationConfig={"responseMimeType": "application/json"}))
    assert isinstance(json.loads(said["text"]), dict)


def test_an_enumeration_comes_unquoted(gemini: Gemini) -> None:
    config = {"responseMimeType": "text/x.enum", "responseSchema": CHOICE}
    assert parts(gemini.candidate("Hi", generationConfig=config)) == [{"text": "storm"}]


def test_log_probabilities_cover_the_text(gemini: Gemini) -> None:
    candidate = gemini.candidate("[[plain]]", generationConfig={"responseLogprobs": True, "logprobs": 3})
    result = candidate["logprobsResult"]
    assert "".join(token["token"] for token in result["chosenCandidates"]) == SCRIPTS["plain"].text
    assert [len(step["candidates"]) for step in result["topCandidates"]] == [3] * 19
    assert candidate["avgLogprobs"] == pytest.approx(result["logProbabilitySum"] / 19)


# -------------------------------------------------------------------------------------------- stream


@pytest.mark.parametrize("script", ["plain", "call", "parallel", "mixed", "thinking", "interleaved"])
def test_a_stream_says_what_the_whole_answer_says(gemini: Gemini, script: str) -> None:
    config = {"thinkingConfig": {"includeThoughts": True}}
    chunks = gemini.chunks(f"[[{script}]]", tools=TOOLS, generationConfig=config)
    turn = SCRIPTS[script]
    calls = [p["functionCall"] for c in chunks for p in parts(c["candidates"][0]) if "functionCall" in p]
    assert texts(chunks) == turn.text
    assert texts(chunks, thought=True) == turn.reasoning
    assert [(c["name"], c["args"]) for c in calls] == [(c.name, json.loads(c.arguments)) for c in turn.calls]


def test_every_chunk_is_a_whole_response_of_one_id(gemini: Gemini) -> None:
    chunks = gemini.chunks("[[plain]]")
    assert len(chunks) > 3
    assert {frozenset(chunk) for chunk in chunks} == {
        frozenset({"candidates", "usageMetadata", "modelVersion", "responseId"})
    }
    assert len({chunk["responseId"] for chunk in chunks}) == 1


def test_only_the_last_chunk_says_how_it_ends(gemini: Gemini) -> None:
    ends = [chunk["candidates"][0].get("finishReason") for chunk in gemini.chunks("[[mixed]]", tools=TOOLS)]
    assert ends == [None] * (len(ends) - 1) + ["STOP"]


def test_counts_only_grow_and_end_at_the_whole_answer_s(gemini: Gemini) -> None:
    usages = [chunk["usageMetadata"] for chunk in gemini.chunks("[[thinking]]")]
    totals = [usage["totalTokenCount"] for usage in usages]
    assert totals == sorted(totals)
    assert usages[-1] == gemini.ask("[[thinking]]").json()["usageMetadata"]


def test_a_stream_that_shows_nothing_still_ends(gemini: Gemini) -> None:
    (chunk,) = gemini.chunks("[[thinking]]", generationConfig={"maxOutputTokens": 2})
    assert chunk["candidates"] == [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}]
    assert chunk["usageMetadata"]["thoughtsTokenCount"] == 2


def test_a_stream_of_candidates_ends_each_once(gemini: Gemini) -> None:
    chunks = gemini.chunks("[[plain]]", generationConfig={"candidateCount": 2})
    ends = [c["candidates"][0]["index"] for c in chunks if "finishReason" in c["candidates"][0]]
    assert ends == [0, 1]


def test_without_alt_sse_a_stream_is_one_array(gemini: Gemini) -> None:
    path = "/v1beta/models/reference:streamGenerateContent"
    response = gemini.post(path, gemini.body("[[plain]]"))
    assert response.headers["content-type"] == "application/json; charset=UTF-8"
    assert texts(response.json()) == SCRIPTS["plain"].text


# ----------------------------------------------------------------------------------- routes and models


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_both_versions_answer(gemini: Gemini, version: str) -> None:
    response = gemini.post(f"/{version}/models/reference:generateContent", gemini.body("Hi"))
    assert response.status_code == 200


def test_the_key_may_be_in_the_query(gemini: Gemini) -> None:
    path = "/v1beta/models/reference:generateContent?key=sk-reference"
    assert gemini.post(path, gemini.body("Hi"), headers={}).status_code == 200


def test_models_are_listed_by_their_resource_names(gemini: Gemini) -> None:
    (entry,) = gemini.get("/v1beta/models").json()["models"]
    assert entry["name"] == "models/reference"
    assert "generateContent" in entry["supportedGenerationMethods"]
    assert gemini.get("/v1beta/models/reference").json() == entry


def test_a_google_key_makes_the_common_list_google_s(gemini: Gemini) -> None:
    assert "models" in gemini.get("/v1/models").json()
    assert "data" in gemini.get("/v1/models", {"authorization": "Bearer sk-reference"}).json()
