"""Conversations: what a server said, sent back to it or named, and what a client may ask in other forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.reading import read_json
from conformance.rules.registry import rule
from conformance.rules.responses.examples import (
    WIRES,
    answer,
    call,
    error,
    message,
    output_text,
    reasoning,
    tool,
)
from conformance.rules.responses.views import Result
from conformance.rules.sources import docs, open_responses, schema
from conformance.rules.views import Probe, Violation, lookup

TOOLS = open_responses("Tool Calling")
PREVIOUS = open_responses("previous_response_id")
QUESTION = {"role": "user", "content": "Which code has Oslo?"}
OSLO, LIMA = call(1, arguments='{"city":"Oslo"}'), call(2, arguments='{"city":"Lima"}')
FROM_OSLO = {"type": "function_call_output", "call_id": "call_1", "output": "code KESTREL"}
FROM_LIMA = {"type": "function_call_output", "call_id": "call_2", "output": "code HERON"}
ORPHAN = {"type": "function_call_output", "call_id": "call_nobody_made", "output": "18"}
NESTED = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
SWAPPED = (OSLO, LIMA, FROM_LIMA, FROM_OSLO, QUESTION)
WORD = "PLOVER"
"""What the instructions of an earlier turn name and nothing else does."""
MEMORY = "CURLEW"
"""What the user told in an earlier turn, and asks for."""


def _said(text: str) -> dict[str, Any]:
    return message(output_text(text))


def _input(*items: Any) -> dict[str, Any]:
    return {"input": list(items), "tools": [tool()]}


@rule(
    "resp.response.string-input-accepted",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(open_responses("Chat Inference"), schema("CreateResponse input")),
    probe="string-input",
    violating=error(400, asked={"input": "Say hello."}, probe="string-input", expect="answer"),
    conforming=answer(asked={"input": "Say hello."}, probe="string-input"),
    consequence="the first example of every manual does not work",
)
def string_input(probe: Probe) -> Iterator[Violation]:
    """input may be a plain text."""
    yield from probe.accepted()


@rule(
    "resp.response.flat-tool-shape",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("FunctionTool"),
    probe="nested-tool",
    violating=answer(asked={"tools": [NESTED], "tool_choice": "auto"}, probe="nested-tool", tools=[]),
    conforming=error(400, asked={"tools": [NESTED]}, probe="nested-tool", expect="either"),
    consequence="a client ported from Chat gets answers in which no tool is ever called, and no reason",
)
def flat_tool(result: Result) -> Iterator[Violation]:
    """Function tools are flat; one nested as in Chat is refused or understood, and not dropped in silence.

    Understood is what is called, or comes back by its name among the tools of the response.
    """
    listed = result.get("tools")
    names = [
        lookup(one, path)
        for one in (listed if isinstance(listed, list) else ())
        for path in (("name",), ("function", "name"))
    ]
    if not result.calls and not any(isinstance(name, str) and name for name in names):
        yield result.found("tools", wanted="the tool, or a refusal of its form")


@rule(
    "resp.response.instructions-not-carried",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=(docs("api-reference/responses create instructions"), schema("CreateResponse instructions")),
    probe="instructions-dropped",
    violating=answer(_said(f"The word is {WORD}."), probe="instructions-dropped"),
    conforming=answer(_said("I know of no word."), probe="instructions-dropped"),
    consequence="a client that swaps its instructions between turns gets both, against each other",
)
def instructions_dropped(result: Result) -> Iterator[Violation]:
    """With previous_response_id the instructions of the response before do not apply.

    They named a word that stands nowhere else: an answer that has it has seen them.
    """
    if WORD in result.text:
        yield result.found("output", wanted="an answer without the word of the instructions before", saw=WORD)


@rule(
    "resp.error.unknown-previous-id",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=PREVIOUS,
    probe="unknown-previous-id",
    violating=answer(probe="unknown-previous-id", expect="refusal"),
    conforming=error(400, probe="unknown-previous-id"),
    consequence="a conversation goes on without its history, and nobody notices",
)
def unknown_previous(probe: Probe) -> Iterator[Violation]:
    """An unknown previous_response_id is refused with 400 or 404.

    422 is accepted. A server without such a state refuses the parameter just so.
    """
    yield from probe.refused_with(400, 404, 422)


@rule(
    "resp.mt.previous-response-accepted",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=(open_responses("Stateful Conversations"), schema("CreateResponse previous_response_id")),
    probe="previous-response",
    violating=error(
        400, asked={"previous_response_id": "resp_1"}, probe="previous-response", expect="answer"
    ),
    conforming=answer(_said(MEMORY), asked={"previous_response_id": "resp_1"}, probe="previous-response"),
    consequence="clients that leave the history to the server, as the manual's examples do, get past no turn",
)
def previous_accepted(probe: Probe) -> Iterator[Violation]:
    """A server keeps responses, and goes on from the one that previous_response_id names.

    Not in the catalogue. Open Responses: SHOULD.
    """
    yield from probe.accepted()


@rule(
    "resp.mt.previous-response-order",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=PREVIOUS,
    subject="model",
    probe="previous-response",
    violating=answer(_said("You told me no word."), probe="previous-response"),
    conforming=answer(_said(f"The word is {MEMORY}."), probe="previous-response"),
    consequence="a client that relies on the server's state talks to somebody who remembers nothing",
)
def previous_order(result: Result) -> Iterator[Violation]:
    """previous_response_id means: the input before, the output before, then the new input.

    It takes an answer to see that, so it judges the model: the earlier input has a word that is asked for.
    """
    if result.settled and MEMORY not in result.text and not result.refused:
        yield result.found("output", wanted=f"{MEMORY}, which the turn before has")


@rule(
    "resp.mt.replay-output-items",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(open_responses("Items → Items"), schema("InputItem")),
    probe="replayed-output",
    violating=error(400, asked=_input(QUESTION, OSLO, FROM_OSLO), probe="replayed-output", expect="answer"),
    conforming=answer(asked=_input(QUESTION, OSLO, FROM_OSLO), probe="replayed-output"),
    consequence="no stateless loop gets past its first turn: clients append the output that they got",
)
def replay(probe: Probe) -> Iterator[Violation]:
    """Items of an output are accepted back in an input, unchanged."""
    yield from probe.accepted()


@rule(
    "resp.mt.tool-result-accepted",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("FunctionCallOutputItemParam"),
    probe="tool-result",
    violating=error(400, asked=_input(QUESTION, OSLO, FROM_OSLO), probe="tool-result", expect="answer"),
    conforming=answer(asked=_input(QUESTION, OSLO, FROM_OSLO), probe="tool-result"),
    consequence="tools can be called but never answered",
)
def tool_result(probe: Probe) -> Iterator[Violation]:
    """A function_call followed by a function_call_output of its call_id is accepted.

    Not in the catalogue, which has the same rule for Chat.
    """
    yield from probe.accepted()


@rule(
    "resp.mt.reasoning-item-echo",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=schema("ReasoningItem"),
    probe="reasoning-echo",
    violating=error(
        400, asked=_input(QUESTION, reasoning(), OSLO, FROM_OSLO), probe="reasoning-echo", expect="answer"
    ),
    conforming=answer(asked=_input(QUESTION, reasoning(), OSLO, FROM_OSLO), probe="reasoning-echo"),
    consequence="a client that keeps the reasoning, as the schema's text asks it to, fails here",
)
def reasoning_echo(probe: Probe) -> Iterator[Violation]:
    """Reasoning items are accepted back in their place before the call."""
    yield from probe.accepted()


@rule(
    "resp.mt.function-output-accepted",
    wires=WIRES,
    level="MUST",
    basis="derived",
    source=TOOLS,
    probe="tool-results",
    violating=error(400, asked=_input(*SWAPPED), probe="tool-results", expect="answer"),
    conforming=answer(_said("KESTREL"), asked=_input(*SWAPPED), probe="tool-results"),
    consequence="no client can answer parallel calls",
)
def outputs_accepted(probe: Probe) -> Iterator[Violation]:
    """The outputs of several calls are accepted, in any order.

    Not in the catalogue, which has the same rule for Chat.
    """
    yield from probe.accepted()


@rule(
    "resp.mt.function-output-pairing",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("values",),
    source=TOOLS,
    subject="model",
    probe="tool-results",
    violating=answer(_said("code HERON"), asked=_input(*SWAPPED), probe="tool-results"),
    conforming=answer(_said("code KESTREL"), asked=_input(*SWAPPED), probe="tool-results"),
    consequence="results of parallel calls are swapped, and nothing in the answer tells",
)
def pairing(result: Result) -> Iterator[Violation]:
    """A function_call_output belongs to the call of its call_id, wherever it stands.

    It takes an answer to see that, so it judges the model: the last user message names what one call was
    about, and the answer must not hold the result of another one in its place.
    """
    right, wrong = _outputs_by_question(result)
    said = result.text
    if right and any(text in said for text in wrong) and not any(text in said for text in right):
        yield result.found(
            "output", wanted=f"what the call in question returned: {' or '.join(right)}", saw=said
        )


@rule(
    "resp.mt.function-output-orphan",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=TOOLS,
    probe="orphan-tool-result",
    violating=answer(asked=_input(QUESTION, ORPHAN), probe="orphan-tool-result", expect="either"),
    conforming=error(400, asked=_input(QUESTION, ORPHAN), probe="orphan-tool-result", expect="either"),
    consequence="a history that lost a call goes unnoticed, and the model sees a result out of nowhere",
)
def orphan(probe: Probe) -> Iterator[Violation]:
    """A function_call_output whose call_id is that of no call in the context is refused with 400.

    422 is accepted.
    """
    yield from probe.refused_with(400, 422)


def _outputs_by_question(result: Result) -> tuple[list[str], list[str]]:
    """The outputs of the calls that the last user message is about, and those of the other calls."""
    right: list[str] = []
    wrong: list[str] = []
    asked = result.asked
    for call_id, item in asked.calls.items() if asked else ():
        output = asked.outputs.get(call_id) if asked else None
        text = lookup(item, ("arguments",))
        if not output or asked is None or not isinstance(text, str):
            continue
        arguments = read_json(text).value
        values = arguments.values() if isinstance(arguments, dict) else ()
        about = any(isinstance(value, str) and value in asked.question for value in values)
        (right if about else wrong).append(output)
    return right, wrong
