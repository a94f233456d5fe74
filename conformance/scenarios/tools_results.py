"""Calls and what comes back: the loop that every agent runs, once, in turn, and when a tool fails."""

from __future__ import annotations

from conformance.scenarios.base import TOOLS, ask, need, request, scenario
from conformance.scenarios.kit import WEATHER, called, calls_to, closed, results, said
from conformance.scenarios.tools import CANARY, argument
from conformance.types import Ask, Message, Script, Tool


@scenario(
    "tools.result-round-trip",
    ideal=(
        called(("get_weather", {"city": "Oslo"})),
        said("The station in Oslo reports 18 degrees, wind code KESTREL."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def result_round_trip() -> Script:
    """Call, result, answer.

    The loop every agent runs: the call goes back in the history with its result, and the answer rests on it.
    """
    question = Message.user("What is the weather in Oslo? Use the tool, then tell me all it reports.")
    turn = yield from ask(request(question, tools=(WEATHER,)))
    need(turn.calls, "call the tool it was asked to use")
    final = yield from ask(
        request(question, Message.assistant(turn), *results(turn, {"get_weather": CANARY}), tools=(WEATHER,)),
        probe="tool-result",
    )
    need("KESTREL" in final.text, "use the result in its answer")


STATION = Tool(
    name="find_station",
    description="Find the code of the weather station of a city.",
    parameters=WEATHER.parameters,
)
READING = Tool(
    name="read_station",
    description="Read the instruments of the station with this code.",
    parameters=closed({"code": {"type": "integer", "description": "The station's code."}}, ("code",)),
)


@scenario(
    "tools.sequential-calls",
    ideal=(
        called(("find_station", {"city": "Hobart"})),
        called(("read_station", {"code": 470213})),
        said("The station of Hobart, 470213, reports 18 degrees, wind code KESTREL."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def sequential_calls() -> Script:
    """A call whose result the next call needs, then the answer.

    The loop of every agent: the history grows by a call and its result each time.
    """
    tools = (STATION, READING)
    history: tuple[Message, ...] = (
        Message.user("What do the instruments of the weather station of Hobart say? Use the tools, in turn."),
    )
    turn = yield from ask(request(*history, tools=tools))
    need(calls_to(turn, STATION.name), "call the tool that finds the station")
    history = (*history, Message.assistant(turn), *results(turn, {STATION.name: "470213"}))
    turn = yield from ask(request(*history, tools=tools), probe="tool-result")
    need(any(argument(call, "code") == 470213 for call in turn.calls), "carry the code into the next call")
    history = (*history, Message.assistant(turn), *results(turn, {READING.name: CANARY}))
    final = yield from ask(request(*history, tools=tools), probe="tool-result")
    need("KESTREL" in final.text, "use the result in its answer")


@scenario(
    "tools.error-result",
    ideal=(
        called(("get_weather", {"city": "Tromsø"})),
        said("I could not get the weather: the station is offline, ticket PLOVER."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def error_result() -> Script:
    """A tool that failed: its error is a result like any other."""
    question = Message.user("What is the weather in Tromsø? Use the tool once, then tell me all it reports.")
    turn = yield from ask(request(question, tools=(WEATHER,)))
    need(turn.calls, "call the tool it was asked to use")
    failed = results(turn, {"get_weather": '{"error": "station offline", "ticket": "PLOVER"}'})
    yield Ask(request(question, Message.assistant(turn), *failed, tools=(WEATHER,)), probe="tool-result")
