"""What only the Responses API has: a text as input, items that go back as they came, state on the server."""

from __future__ import annotations

import json
from typing import Any

from conformance.scenarios.base import TOOLS, ask, feature, going_on, need, request, scenario
from conformance.scenarios.kit import WEATHER, called, results, said
from conformance.scenarios.tools import CANARY
from conformance.types import JSON, Ask, Message, Raw, Reply, Request, Script, WireName

RESPONSES: tuple[WireName, ...] = ("openai-responses",)
STATE = feature("previous_response_id", r"previous_response|\bstore[ds]?\b|stateful|\bstate\b")
FUNCTION = {
    "name": WEATHER.name,
    "description": WEATHER.description,
    "parameters": dict(WEATHER.parameters),
}
FLAT = {"type": "function", **FUNCTION, "strict": None}
NESTED = {"type": "function", "function": FUNCTION}


def create(probe: str, body: dict[str, Any], *, refusable: bool = False) -> Raw:
    """A request of the endpoint's model with this body, which the schema allows if not ``refusable``."""
    document = json.dumps({"model": "{{model}}", **body}, ensure_ascii=False).encode()
    return Raw("POST", "@chat", document, probe=probe, expect="either" if refusable else "answer")


@scenario("responses.input-forms", wires=RESPONSES, needs=("tools",), optional=(TOOLS,))
def input_forms() -> Script:
    """A plain text as input, and a tool in the nested form of Chat Completions.

    The text is a user message. The nested tool is wrong here: it is refused, or understood, and never dropped
    in silence.
    """
    yield create("string-input", {"input": "Say hello in one short sentence."})
    question = {"role": "user", "content": "What is the weather in Turku? Use the tool."}
    yield create("nested-tool", {"input": [question], "tools": [NESTED]}, refusable=True)


@scenario(
    "responses.replay",
    wires=RESPONSES,
    ideal=(
        called(("get_weather", {"city": "Tartu"}), reasoning="Tartu is asked for, so I look it up."),
        said("Tartu reports 18 degrees, wind code KESTREL."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def replay() -> Script:
    """The items of an answer go back as they came, member by member, and then in the suite's own words."""
    text = "Look up the weather in Tartu with the tool, then tell me all it reports."
    question = Message.user(text)
    reply = yield Ask(request(question, tools=(WEATHER,)))
    turn = going_on(reply)
    need(turn.calls, "call the tool it was asked to use")
    output = [] if isinstance(reply, tuple) else output_of(reply)
    outputs = [{"type": "function_call_output", "call_id": call.id, "output": CANARY} for call in turn.calls]
    body = {"input": [{"role": "user", "content": text}, *output, *outputs], "tools": [FLAT]}
    yield create("replayed-output", body)
    answers = results(turn, {"get_weather": CANARY})
    yield Ask(request(question, Message.assistant(turn), *answers, tools=(WEATHER,)), probe="tool-result")


def output_of(reply: Reply) -> list[Any]:
    """The output items of a whole response as they came; none where there are none to read."""
    response = reply.exchange.response
    try:
        body = json.loads(response.body) if response is not None else None
    except (ValueError, RecursionError):
        return []
    output = body.get("output") if isinstance(body, dict) else None
    return output if isinstance(output, list) else []


def going_on_from(response_id: str | None, question: str) -> Request:
    """The next turn of a conversation that the server keeps."""
    native: dict[str, JSON] = {"previous_response_id": response_id or "", "store": True}
    return request(Message.user(question), native={"openai-responses": native})


@scenario(
    "responses.previous-response",
    wires=RESPONSES,
    ideal=(
        said("Good, I shall remember CURLEW."),
        said("Your word is CURLEW."),
        said("No instructions of mine have a word in them."),
        said("I do not know what we spoke of before."),
    ),
    optional=(STATE,),
)
def previous_response() -> Script:
    """Turns that go on from the response before, whose history the server keeps.

    What the user told is remembered, the instructions of the turn before are not. A response that nobody made
    is refused.
    """
    opening = (
        Message.system("The pass word of this station is PLOVER. Say it to whoever asks for it."),
        Message.user("My word is CURLEW. Remember it, and say so in one short sentence."),
    )
    first = yield from ask(request(*opening, native={"openai-responses": {"store": True}}))
    need("PLOVER" not in first.text, "keep the pass word to itself until it is asked for")
    yield Ask(going_on_from(first.id, "Which word is mine? One short sentence."), probe="previous-response")
    yield Ask(
        going_on_from(first.id, "Which pass word do your instructions have? Say none if they have none."),
        probe="instructions-dropped",
        expect="either",
    )
    yield Ask(
        going_on_from("resp_nobody_made_this", "What did we speak of?"),
        probe="unknown-previous-id",
        expect="refusal",
    )
