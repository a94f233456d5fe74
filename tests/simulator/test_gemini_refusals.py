"""Requests that the Gemini API refuses, and the shape of the refusal."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator

from .gemini_support import KEY, TIME, TOOLS, WEATHER, Gemini, answer, call, model, parts, user

PATH = "/v1beta/models/reference:generateContent"
PIXEL = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}


@pytest.fixture(scope="module")
def gemini(simulator: Simulator, client: httpx.Client) -> Gemini:
    return Gemini(simulator, client)


def config(**members: Any) -> dict[str, Any]:
    return {"generationConfig": members}


def declared(**members: Any) -> dict[str, Any]:
    return {"tools": [{"functionDeclarations": [{"name": "f", **members}]}]}


def shaped(**schema: Any) -> dict[str, Any]:
    return declared(parameters={"type": "OBJECT", "properties": {"a": schema}})


def calling(**members: Any) -> dict[str, Any]:
    return {"tools": TOOLS, "toolConfig": {"functionCallingConfig": members}}


def safety(*settings: tuple[str, str]) -> dict[str, Any]:
    return {"safetySettings": [{"category": category, "threshold": level} for category, level in settings]}


HARM = "HARM_CATEGORY_HARASSMENT"
THINKING = "generation_config.thinking_config"
CALLING = "tool_config.function_calling_config"
ALLOWED = f"{CALLING}.allowed_function_names"
FUNCTION = "tools[0].function_declarations[0]"
PARAMETERS = f"{FUNCTION}.parameters"
SECOND = "tools[1].function_declarations[0].name"
REQUIRED = {"type": "OBJECT", "required": ["a"]}
JSON = "application/json"
SCHEMA = "generation_config.response_json_schema"
TEXT = {"type": "STRING"}
DATA = "contents[0].parts[0].inline_data"


def written(**members: Any) -> dict[str, Any]:
    """A configuration of JSON output."""
    return config(responseMimeType=JSON, **members)


def thinking(**members: Any) -> dict[str, Any]:
    return config(thinkingConfig=members)


def inline(**members: Any) -> dict[str, Any]:
    return {"contents": [user({"inlineData": members})]}


INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("no-contents", {"contents": None}, "contents"),
    ("empty-contents", {"contents": []}, "contents"),
    ("contents-type", {"contents": "Hi"}, "contents"),
    ("content-type", {"contents": ["Hi"]}, "contents[0]"),
    ("role", {"contents": [{**user("Hi"), "role": "robot"}]}, "contents[0].role"),
    ("no-parts", {"contents": [{"role": "user"}]}, "contents[0].parts"),
    ("empty-part", {"contents": [user({})]}, "contents[0].parts[0].data"),
    ("text-type", {"contents": [user({"text": 7})]}, "contents[0].parts[0].text"),
    ("two-data", {"contents": [user({"text": "a", **PIXEL})]}, "contents[0].parts[0].inline_data"),
    ("media-type", inline(data="aGk="), f"{DATA}.mime_type"),
    ("base64", inline(mimeType="a/b", data="?"), f"{DATA}.data"),
    ("instruction-parts", {"systemInstruction": {"parts": []}}, "system_instruction.parts"),
    ("instruction-media", {"systemInstruction": {"parts": [PIXEL]}}, "system_instruction"),
    ("unknown-in-config", config(foo=1), "generation_config"),
    ("set-twice", config(topP=1, top_p=1), "generation_config.top_p"),
    ("temperature", config(temperature=9), "generation_config.temperature"),
    ("temperature-type", config(temperature="hot"), "generation_config.temperature"),
    ("boolean-number", config(temperature=True), "generation_config.temperature"),
    ("top-p", config(topP=1.1), "generation_config.top_p"),
    ("top-k", config(topK=0), "generation_config.top_k"),
    ("cap-zero", config(maxOutputTokens=0), "generation_config.max_output_tokens"),
    ("cap-type", config(maxOutputTokens="ten"), "generation_config.max_output_tokens"),
    ("cap-fraction", config(maxOutputTokens=1.5), "generation_config.max_output_tokens"),
    ("cap-large", config(maxOutputTokens=2**31), "generation_config.max_output_tokens"),
    ("candidates", config(candidateCount=9), "generation_config.candidate_count"),
    ("stops", config(stopSequences=list("abcdef")), "generation_config.stop_sequences"),
    ("empty-stop", config(stopSequences=[""]), "generation_config.stop_sequences"),
    ("logprobs-alone", config(logprobs=2), "generation_config.logprobs"),
    ("logprobs-many", config(responseLogprobs=True, logprobs=21), "generation_config.logprobs"),
    ("modality", config(responseModalities=["AUDIO"]), "generation_config.response_modalities"),
    ("speech", config(speechConfig={}), "generation_config.speech_config"),
    ("budget", thinking(thinkingBudget=-2), f"{THINKING}.thinking_budget"),
    ("budget-and-level", thinking(thinkingBudget=9, thinkingLevel="LOW"), THINKING),
    ("level", thinking(thinkingLevel="ENORMOUS"), f"{THINKING}.thinking_level"),
    ("thoughts-off", thinking(thinkingBudget=0, includeThoughts=True), f"{THINKING}.include_thoughts"),
    ("mime-type", config(responseMimeType="text/yaml"), "generation_config.response_mime_type"),
    ("schema-in-text", config(responseSchema={"type": "STRING"}), "generation_config.response_schema"),
    ("two-schemas", written(responseSchema=TEXT, responseJsonSchema={}), SCHEMA),
    ("bad-json-schema", written(responseJsonSchema={"type": "objekt"}), SCHEMA),
    ("enum-without", config(responseMimeType="text/x.enum"), SCHEMA),
    ("safety-category", safety(("HARM_CATEGORY_SMELL", "OFF")), "safety_settings[0].category"),
    ("safety-threshold", {"safetySettings": [{"category": HARM}]}, "safety_settings[0].threshold"),
    ("safety-twice", safety((HARM, "OFF"), (HARM, "BLOCK_NONE")), "safety_settings[1].category"),
    ("function-name", declared(name="1f"), f"{FUNCTION}.name"),
    ("function-name-space", declared(name="a b"), f"{FUNCTION}.name"),
    ("function-name-long", declared(name="a" * 129), f"{FUNCTION}.name"),
    ("function-without-name", declared(name=None), f"{FUNCTION}.name"),
    ("function-twice", {"tools": [{"functionDeclarations": [TIME]}] * 2}, SECOND),
    ("two-parameters", declared(parameters=TEXT, parametersJsonSchema={}), f"{PARAMETERS}_json_schema"),
    ("bad-parameters", declared(parametersJsonSchema={"type": "objekt"}), f"{PARAMETERS}_json_schema"),
    ("array-parameters", declared(parametersJsonSchema={"type": "array"}), PARAMETERS),
    ("schema-type", shaped(type="objekt"), f"{PARAMETERS}.properties[a].type"),
    ("schema-array", shaped(type="ARRAY"), f"{PARAMETERS}.properties[a].items"),
    ("schema-enum", shaped(type="INTEGER", enum=["1"]), f"{PARAMETERS}.properties[a].enum"),
    ("schema-unknown", shaped(type="STRING", const="a"), f"{PARAMETERS}.properties[a]"),
    ("schema-closed", declared(parameters={"type": "OBJECT", "additionalProperties": False}), PARAMETERS),
    ("schema-required", declared(parameters=REQUIRED), f"{PARAMETERS}.required[0]"),
    ("schema-pattern", shaped(type="STRING", pattern="("), PARAMETERS),
    ("search", {"tools": [{"googleSearch": {}}]}, "tools[0].google_search"),
    ("mode", calling(mode="SOMETIMES"), f"{CALLING}.mode"),
    ("any-without-functions", {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, CALLING),
    ("allowed-in-auto", calling(mode="AUTO", allowedFunctionNames=["get_time"]), ALLOWED),
    ("allowed-undeclared", calling(mode="ANY", allowedFunctionNames=["nope"]), f"{ALLOWED}[0]"),
    ("too-long", {"contents": [user("x" * 600_000)]}, "contents"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("members", "field"), [case[1:] for case in INVALID], ids=[case[0] for case in INVALID]
)
def test_an_invalid_field_is_named(gemini: Gemini, members: dict[str, Any], field: str) -> None:
    response = gemini.post(PATH, {**gemini.body("Hi"), **members})
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert set(error) == {"code", "message", "status", "details"}
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    (detail,) = error["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert detail["fieldViolations"] == [{"field": field, "description": error["message"]}]


def test_an_unknown_member_is_refused_as_protojson_does(gemini: Gemini) -> None:
    error = gemini.ask("Hi", tool_choice="auto").json()["error"]
    assert error["message"] == 'Invalid JSON payload received. Unknown name "tool_choice": Cannot find field.'


ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("null-members", {"generationConfig": None, "tools": None, "toolConfig": None}),
    ("snake-case", {"system_instruction": {"parts": [{"text": "Be brief."}]}}),
    ("instruction-role", {"systemInstruction": model("Be brief.")}),
    ("safety", safety((HARM, "OFF"), ("HARM_CATEGORY_HATE_SPEECH", "BLOCK_NONE"))),
    ("lower-case-types", declared(parameters={"type": "object", "properties": {}, "required": []})),
    ("no-parameters", declared()),
    ("dotted-name", declared(name="_a.b:c-d")),
    ("none-without-functions", {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
    ("numbers", config(temperature=0, topP=1, topK=40, seed=-1, presencePenalty=2, frequencyPenalty=-2)),
    ("level", thinking(include_thoughts=True, thinking_level="low")),
    ("dynamic-budget", thinking(thinkingBudget=-1)),
    ("tier", {"serviceTier": "standard"}),
    ("image", {"contents": [user("What is it?", PIXEL)]}),
    ("file", {"contents": [user({"fileData": {"fileUri": "https://example.com/a.pdf"}})]}),
    ("no-role", {"contents": [{"parts": [{"text": "Hi"}]}]}),
]


@pytest.mark.parametrize("members", [case[1] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
def test_what_google_takes_is_taken(gemini: Gemini, members: dict[str, Any]) -> None:
    response = gemini.post(PATH, {**gemini.body("Hi"), **members})
    assert response.status_code == 200, response.text


ONE, TWO = call("get_weather"), call("get_time")
COLD = user(answer("get_weather"))
DUMMY = "skip_thought_signature_validator"

HISTORIES: list[tuple[str, list[Any], int]] = [
    ("answered", ["Hi", model(ONE), user(answer("get_weather"))], 200),
    ("legacy-role", ["Hi", model(ONE), {**user(answer("get_weather")), "role": "function"}], 200),
    ("any-order", ["Hi", model(ONE, TWO), user(answer("get_time"), answer("get_weather"))], 200),
    ("text-around", ["Hi", model("Look", ONE), user(answer("get_weather"), "Well?")], 200),
    ("media", ["Hi", model(ONE), user(answer("get_weather", parts=[PIXEL]))], 200),
    ("error", ["Hi", model(ONE), user(answer("get_weather", {"error": "down"}))], 200),
    ("foreign-ids", ["Hi", model(call("f", id="toolu_01")), user(answer("f", id="toolu_01"))], 200),
    ("dummy-signature", ["Hi", model({**ONE, "thoughtSignature": DUMMY}), user(answer("get_weather"))], 200),
    ("thought", ["Hi", model({"text": "Hm", "thought": True}, "Yes?"), "Hi"], 200),
    ("consecutive-users", ["Hi", "Are you there?"], 200),
    ("ends-with-the-model", ["Hi", model("I was")], 200),
    ("two-rounds", ["Hi", model(ONE), COLD, model(TWO), user(answer("get_time"))], 200),
    ("orphan", ["Hi", user(answer("get_weather"))], 400),
    ("orphan-after-text", ["Hi", model("x"), user(answer("get_weather"))], 400),
    ("late", ["Hi", model(ONE), user(answer("get_weather")), "Thanks", user(answer("get_weather"))], 400),
    ("one-of-two", ["Hi", model(ONE, TWO), user(answer("get_weather"))], 400),
    ("two-of-one", ["Hi", model(ONE), user(answer("get_weather"), answer("get_weather"))], 400),
    ("in-two-contents", ["Hi", model(ONE, TWO), user(answer("get_weather")), user(answer("get_time"))], 400),
    ("text-first", ["Hi", model(ONE), "Wait", user(answer("get_weather"))], 400),
    ("unanswered", ["Hi", model(ONE)], 400),
    ("other-name", ["Hi", model(ONE), user(answer("get_time"))], 400),
    ("other-name-by-id", ["Hi", model(call("f", id="a")), user(answer("g", id="a"))], 400),
    ("call-first", [model(ONE), user(answer("get_weather"))], 400),
    ("call-after-model", ["Hi", model("x"), model(ONE), user(answer("get_weather"))], 400),
    ("call-by-the-user", ["Hi", user(ONE), user(answer("get_weather"))], 400),
    ("answer-by-the-model", ["Hi", model(ONE), model(answer("get_weather"))], 400),
    ("args-text", ["Hi", model(call("get_weather", args="{}")), user(answer("get_weather"))], 400),
    ("response-text", ["Hi", model(ONE), user(answer("get_weather", "cold"))], 400),
    ("response-missing", ["Hi", model(ONE), user({"functionResponse": {"name": "get_weather"}})], 400),
    ("name-missing", ["Hi", model(ONE), user({"functionResponse": {"response": {}}})], 400),
    ("signature-no-base64", ["Hi", model({**ONE, "thoughtSignature": "@@"}), COLD], 400),
    ("signature-foreign", ["Hi", model({**ONE, "thoughtSignature": "aGVsbG8="}), COLD], 400),
]  # fmt: skip


@pytest.mark.parametrize(("contents", "status"), [h[1:] for h in HISTORIES], ids=[h[0] for h in HISTORIES])
def test_a_history_is_accepted_or_refused(gemini: Gemini, contents: list[Any], status: int) -> None:
    response = gemini.ask(*contents, tools=TOOLS)
    assert response.status_code == status, response.text


# ---------------------------------------------------------------------------------------- signatures


def echoed(gemini: Gemini, later: str | None = None, **changes: Any) -> httpx.Response:
    """A signed call that comes back with its first part changed; ``later`` begins another turn after it."""
    (part,) = parts(gemini.candidate("[[call]]", tools=TOOLS))
    changed = {name: value for name, value in {**part, **changes}.items() if value is not None}
    contents = ["[[call]]", model(changed), user(answer("get_weather"))]
    return gemini.ask(*contents, *([model("Cold."), later] if later else []), tools=TOOLS)


def test_an_altered_signature_is_refused(gemini: Gemini) -> None:
    (part,) = parts(gemini.candidate("[[call]]", tools=TOOLS))
    altered = part["thoughtSignature"][:-4] + "AAA="
    response = echoed(gemini, thoughtSignature=altered)
    assert (response.status_code, response.json()["error"]["message"]) == (
        400,
        "Corrupted thought signature.",
    )


def test_a_signature_that_is_left_out_is_missed_in_the_current_turn(gemini: Gemini) -> None:
    response = echoed(gemini, thoughtSignature=None)
    assert response.status_code == 400
    assert "missing a thought_signature" in response.json()["error"]["message"]


def test_an_older_turn_needs_no_signature(gemini: Gemini) -> None:
    assert echoed(gemini, later="And?", thoughtSignature=None).status_code == 200


# ----------------------------------------------------------------------------- keys, routes, bodies


@pytest.mark.parametrize(
    ("headers", "status", "name"),
    [
        ({}, 403, "PERMISSION_DENIED"),
        ({"authorization": "Bearer sk-reference"}, 403, "PERMISSION_DENIED"),
        ({"x-goog-api-key": "sk-wrong-0123456789"}, 400, "INVALID_ARGUMENT"),
    ],
)
def test_the_key_is_checked_before_the_body_and_never_repeated(
    gemini: Gemini, headers: dict[str, str], status: int, name: str
) -> None:
    response = gemini.post(PATH, b"{", headers)
    assert (response.status_code, response.json()["error"]["status"]) == (status, name)
    assert "sk-wrong" not in response.text + str(response.headers)


def test_a_wrong_key_has_google_s_reason(gemini: Gemini) -> None:
    (detail,) = gemini.post(PATH, b"{", {"x-goog-api-key": "x"}).json()["error"]["details"]
    assert detail["reason"] == "API_KEY_INVALID"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1beta/models/nope:generateContent"),
        ("POST", "/v1beta/models/nope:streamGenerateContent?alt=sse"),
        ("POST", "/v1beta/models/reference:countTokens"),
        ("GET", "/v1beta/models/nope"),
        ("GET", "/v1beta/nope"),
        ("GET", PATH),
    ],
)
def test_what_is_not_there_is_not_found(gemini: Gemini, method: str, path: str) -> None:
    response = gemini.get(path) if method == "GET" else gemini.post(path, gemini.body("Hi"))
    assert response.status_code == 404
    assert (response.json()["error"]["code"], response.json()["error"]["status"]) == (404, "NOT_FOUND")


def test_cached_content_that_is_not_there_is_denied(gemini: Gemini) -> None:
    response = gemini.ask("Hi", cachedContent="cachedContents/x")
    assert (response.status_code, response.json()["error"]["status"]) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"contents":' + b"[" * 100_000,
        b'{"contents":[{"parts":[{"text":"\\ud83d"}]}]}',
        b'{"generationConfig":{"seed":' + b"9" * 10_000 + b"}}",
        b'{"generationConfig":{"temperature":1e400}}',
        b'{"contents":[{"parts":[{"functionCall":{"name":"f","args":null}}]}]}',
    ],
)
def test_a_body_that_is_no_request_is_an_invalid_argument(gemini: Gemini, body: bytes) -> None:
    response = gemini.post(PATH, body, KEY)
    assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_a_schema_may_be_nested_as_deep_as_a_body(gemini: Gemini) -> None:
    schema: dict[str, Any] = {"type": "STRING"}
    for _ in range(88):
        schema = {"type": "ARRAY", "items": schema}
    response = gemini.ask("Hi", **declared(parameters={"type": "OBJECT", "properties": {"a": schema}}))
    assert response.status_code == 200, response.text


def test_a_refusal_has_google_s_headers(gemini: Gemini) -> None:
    response = gemini.post(PATH, b"{", KEY)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["server-timing"].startswith("gfet4t7; dur=")


def test_a_tool_that_is_null_is_no_tool(gemini: Gemini) -> None:
    tools = [{"functionDeclarations": [WEATHER]}, {"codeExecution": None}]
    assert gemini.ask("Hi", tools=tools).status_code == 200
