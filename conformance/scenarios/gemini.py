"""What only the Gemini API has: forms of a request, results with media, its modes, schemas and streams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.scenarios.base import JSON_SCHEMA, REASONING, TOOLS, ask, need, request, scenario
from conformance.scenarios.kit import (
    THINKING,
    TIME,
    WEATHER,
    called,
    closed,
    red_square,
    results,
    said,
)
from conformance.scenarios.tools import CANARY
from conformance.types import JSON, Ask, Image, Message, Raw, Script, Text, Tool, WireName

GEMINI: tuple[WireName, ...] = ("gemini",)
STREAM_PATH = "/v1beta/models/{{model}}:streamGenerateContent"
HELLO: dict[str, Any] = {
    "contents": [{"role": "user", "parts": [{"text": "Say hello in one short sentence."}]}]
}
DECLARED: dict[str, Any] = {
    "name": WEATHER.name,
    "description": WEATHER.description,
    "parametersJsonSchema": dict(WEATHER.parameters),
}
OFFER: dict[str, Any] = {"tools": [{"functionDeclarations": [DECLARED]}]}
ELSEWHERE = "skip_thought_signature_validator"
"""The documented signature of a call that another endpoint made."""


def posted(body: Mapping[str, Any], probe: str | None = None, *, path: str = "@chat") -> Raw:
    """A request that the API allows."""
    return Raw("POST", path, json.dumps(body, ensure_ascii=False).encode(), probe=probe, expect="answer")


def refused(body: Mapping[str, Any], probe: str, *, path: str = "@chat") -> Raw:
    """A request that the API does not allow."""
    return Raw("POST", path, json.dumps(body, ensure_ascii=False).encode(), probe=probe, expect="refusal")


@scenario("gemini.request-forms", wires=GEMINI)
def request_forms() -> Script:
    """Members in snake_case, as in the manual's own examples, and a content without a role."""
    snake = {
        "contents": HELLO["contents"],
        "system_instruction": {"parts": [{"text": "You are brief."}]},
        "generation_config": {"max_output_tokens": 1024},
    }
    yield posted(snake, "snake-case-request")
    yield posted({"contents": [{"parts": [{"text": "Say hello to whom it may concern."}]}]}, "roleless")


def answered(response: JSON) -> dict[str, Any]:
    """A history in which a call of the weather function is answered with this."""
    call = {"functionCall": {"name": WEATHER.name, "args": {"city": "Bodø"}}, "thoughtSignature": ELSEWHERE}
    return {
        **OFFER,
        "contents": [
            {"role": "user", "parts": [{"text": "What is the weather in Bodø? Use the tool."}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": WEATHER.name, "response": response}}]},
        ],
    }


@scenario("gemini.function-results", wires=GEMINI, needs=("tools",), optional=(TOOLS,))
def function_results() -> Script:
    """A result under output, an error under error, a result as it is; and a text, which is no object.

    The call is of another endpoint's making, without an id and with the signature documented for such.
    """
    forms: tuple[JSON, ...] = (
        {"output": CANARY},
        {"error": "station offline"},
        {"degrees": 18, "wind": ["N", 3]},
    )
    for response in forms:
        yield posted(answered(response), "function-result-forms")
    yield refused(answered(CANARY), "function-response-text")


SHOOT = Tool("take_picture", "Take a picture with the station's camera.", closed({}, ()))


@scenario(
    "gemini.multimodal-result",
    wires=GEMINI,
    ideal=(
        called(("take_picture", {})),
        said("The picture shows a red square."),
        said("I got no picture, only word of one."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def multimodal_result() -> Script:
    """A picture inside a functionResponse, and the same response without it.

    Models before Gemini 3 refuse it. What was read has its price in tokens.
    """
    question = Message.user("Take a picture with the tool. Which colour has what is on it?")
    turn = yield from ask(request(question, tools=(SHOOT,)))
    need(turn.calls, "call the tool it was asked to use")
    word = Text("A picture of 64 by 64 pixels.")
    for parts, probe in (((word, Image(red_square())), "multimodal-result"), ((word,), "without-picture")):
        told = tuple(Message("tool", parts, tool_call_id=call.id) for call in turn.calls)
        history = request(question, Message.assistant(turn), *told, tools=(SHOOT,))
        yield Ask(history, probe=probe, expect="either")


@scenario(
    "gemini.validated-mode",
    wires=GEMINI,
    ideal=(called(("get_weather", {"city": "Kirkenes"})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def validated_mode() -> Script:
    """The mode VALIDATED: a call or a text, and a call that fits its schema."""
    mode: dict[str, JSON] = {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}}
    question = Message.user("What is the weather in Kirkenes? Use the tool.")
    turn = yield from ask(request(question, tools=(WEATHER,), native={"gemini": mode}))
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "gemini.response-schema",
    wires=GEMINI,
    ideal=(said('{"city": "Tórshavn", "note": null}'), said('"storm"')),
    needs=("json-schema",),
    optional=(JSON_SCHEMA,),
)
def response_schema() -> Script:
    """A schema in Gemini's own words, with a member that may be null, and a bare word of an enumeration."""
    report: JSON = {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}, "note": {"type": "STRING", "nullable": True}},
        "required": ["city", "note"],
        "propertyOrdering": ["city", "note"],
    }
    as_json: dict[str, JSON] = {"responseMimeType": "application/json", "responseSchema": report}
    question = Message.user("Report as JSON: city Tórshavn, and no note, which is null.")
    turn = yield from ask(request(question, native={"gemini": {"generationConfig": as_json}}))
    need(turn.text, "answer with text")
    words: JSON = {"type": "STRING", "enum": ["calm", "storm"]}
    as_word: dict[str, JSON] = {"responseMimeType": "text/x.enum", "responseSchema": words}
    question = Message.user("Wind force 11: is that calm or storm?")
    yield Ask(request(question, native={"gemini": {"generationConfig": as_word}}))


@scenario("gemini.stream-array", wires=GEMINI, needs=("streaming",))
def stream_array() -> Script:
    """A stream that is asked for without ``alt=sse``: one JSON array, element by element."""
    yield posted(HELLO, path=STREAM_PATH)


@scenario(
    "gemini.streamed-signature",
    wires=GEMINI,
    ideal=(
        called(
            ("get_weather", {"city": "Alta"}),
            ("get_time", {"city": "Alta"}),
            reasoning="Alta is asked about twice, so I call both tools.",
        ),
        said("Alta has 18 degrees, wind code KESTREL, and it is 21:07 there."),
    ),
    needs=("tools", "streaming", "parallel-tools"),
    optional=(TOOLS, REASONING),
)
def streamed_signature() -> Script:
    """Two calls out of a stream, the first of them signed, go back as they came, and so do the thoughts."""
    question = Message.user("I need the weather in Alta and the local time there. Call both tools now.")
    tools = (WEATHER, TIME)
    turn = yield from ask(request(question, tools=tools, stream=True, native=THINKING))
    need(len(turn.calls) >= 2, "make two calls in one turn")
    answers = results(turn, {"get_weather": CANARY, "get_time": "21:07"})
    history = (question, Message.assistant(turn), *answers)
    echoed = request(*history, tools=tools, stream=True, echo_reasoning=True, native=THINKING)
    yield Ask(echoed, probe="tool-result")


@scenario("gemini.bad-requests", wires=GEMINI)
def bad_requests() -> Script:
    """What the API does not allow is refused with 400.

    No contents, also where a stream is asked for; another type, role or range than the API has; a member that
    there is not.
    """
    yield refused({}, "missing-contents")
    yield refused({"contents": []}, "missing-contents")
    yield refused({"contents": []}, "missing-contents", path=f"{STREAM_PATH}?alt=sse")
    yield refused({"contents": "Say hello."}, "wrong-type")
    yield refused({**HELLO, "generationConfig": {"temperature": "hot"}}, "wrong-type")
    yield refused({**HELLO, "xConformanceUnknown": 1}, "unknown-member")
    robot = {"role": "robot", "parts": [{"text": "Beep."}]}
    yield refused({"contents": [robot, *HELLO["contents"]]}, "bad-role")
    yield refused({**HELLO, "generationConfig": {"temperature": 9}}, "out-of-range")


@scenario("gemini.bad-tools", wires=GEMINI, needs=("tools",), optional=(TOOLS,))
def bad_tools() -> Script:
    """Functions that cannot work are refused with 400.

    A name that begins with a digit, a schema of a type that there is not, a forced call without functions,
    and one of a function that is not declared.
    """
    yield refused(_offering({**DECLARED, "name": "1st_weather"}), "tool-name-invalid")
    broken = {"name": WEATHER.name, "description": WEATHER.description, "parameters": {"type": "OBJEKT"}}
    yield refused(_offering(broken), "invalid-tool-schema")
    yield refused({**HELLO, **_forcing()}, "tool-choice-without-tools")
    yield refused({**_offering(DECLARED), **_forcing("no_such_function")}, "tool-choice-unknown")


@scenario("gemini.models", wires=GEMINI, ideal=(said("Listed, and glad to help."),), needs=("models",))
def list_models() -> Script:
    """The list of models and the entry of one; the model under test is among them, and it answers."""
    yield Raw("GET", "@models", probe="models-list", expect="answer")
    yield Raw("GET", "@models/{{model}}", probe="models-retrieve", expect="answer")
    yield Raw("GET", "@models/no-such-model-conformance", probe="retrieve-unknown", expect="refusal")
    yield Ask(request(Message.user("Say that you are glad to help.")))


def _offering(declaration: Mapping[str, Any]) -> dict[str, Any]:
    return {**HELLO, "tools": [{"functionDeclarations": [dict(declaration)]}]}


def _forcing(*names: str) -> dict[str, Any]:
    config = {"mode": "ANY", **({"allowedFunctionNames": list(names)} if names else {})}
    return {"toolConfig": {"functionCallingConfig": config}}
