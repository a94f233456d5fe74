"""Reasoning: shown, streamed, and sent back."""

from __future__ import annotations

from dataclasses import replace

from conformance.scenarios.base import MAX_TOKENS, REASONING, TOOLS, ask, need, request, scenario
from conformance.scenarios.kit import THINKING, TIME, WEATHER, called, calls_to, results, said, thought
from conformance.scenarios.tools import CANARY
from conformance.types import Ask, Message, Script


@scenario(
    "reasoning.echo",
    ideal=(
        called(
            ("get_weather", {"city": "Bergen"}), reasoning="The user wants Bergen, so I look it up first."
        ),
        said("Bergen reports 18 degrees, wind code KESTREL."),
        said("Bergen has 18 degrees and its wind code is KESTREL."),
    ),
    needs=("reasoning", "tools"),
    optional=(REASONING, TOOLS),
)
def echo() -> Script:
    """A call that was reasoned about, answered without and with the reasoning echoed.

    The published schema knows no reasoning in a request: a history without it must be accepted (endpoints
    that insist on the echo declare it as a quirk), and one that carries it should be.
    """
    question = Message.user("Think first, then look up the weather in Bergen with the tool.")
    turn = yield from ask(request(question, tools=(WEATHER,), native=THINKING))
    need(turn.reasoning, "show its reasoning")
    need(turn.calls, "call the tool it was asked to use")
    history = (question, Message.assistant(turn), *results(turn, {"get_weather": CANARY}))
    yield Ask(request(*history, tools=(WEATHER,)), probe="tool-result")
    echoed = request(*history, tools=(WEATHER,), echo_reasoning=True, native=THINKING)
    yield Ask(echoed, probe="reasoning-echo")


@scenario(
    "reasoning.interleaved",
    ideal=(
        called(("get_weather", {"city": "Hammerfest"}), reasoning="First I need the weather in Hammerfest."),
        called(("get_time", {"city": "Hammerfest"}), reasoning="It is mild there, so now the time."),
        said("Hammerfest has 18 degrees, wind code KESTREL, and it is 21:07 there."),
    ),
    needs=("reasoning", "tools"),
    optional=(REASONING, TOOLS),
)
def interleaved() -> Script:
    """Reasoning before each of two calls that follow one another, all of it echoed in its place."""
    question = Message.user(
        "Think, look up the weather in Hammerfest with the tool, think again, then look up the time there."
    )
    tools = (WEATHER, TIME)
    history: tuple[Message, ...] = (question,)
    for name, result in (("get_weather", CANARY), ("get_time", "21:07")):
        asked = request(*history, tools=tools, echo_reasoning=True, native=THINKING)
        turn = yield from ask(asked, probe="reasoning-echo" if len(history) > 1 else None)
        need(turn.reasoning, "show its reasoning")
        need(calls_to(turn, name), f"call {name}")
        history = (*history, Message.assistant(turn), *results(turn, {name: result}))
    yield Ask(request(*history, tools=tools, echo_reasoning=True, native=THINKING), probe="reasoning-echo")


@scenario(
    "reasoning.effort",
    ideal=(
        thought("Nine times nine is eighty-one.", "It is 81."),
        said("Eight times eight makes 64."),
    ),
    needs=("reasoning",),
    optional=(REASONING,),
)
def effort() -> Script:
    """``reasoning_effort``: little, and none at all; what is switched off neither shows nor costs."""
    asked = request(Message.user("What is nine times nine?"), extra={"reasoning_effort": "low"})
    yield Ask(replace(asked, max_tokens=2 * MAX_TOKENS))
    asked = request(Message.user("What is eight times eight?"), extra={"reasoning_effort": "none"})
    yield Ask(asked, probe="no-effort", expect="either")


@scenario(
    "reasoning.stream",
    ideal=(thought("Six times seven is forty-two, I am sure.", "The answer is 42."),),
    needs=("reasoning", "streaming"),
    optional=(REASONING,),
)
def stream() -> Script:
    """Streamed reasoning, before and apart from the text."""
    question = Message.user("Think about it: what is six times seven?")
    turn = yield from ask(request(question, stream=True, native=THINKING))
    need(turn.reasoning, "show its reasoning")
    need(turn.text, "answer with text after its reasoning")
