"""Calls and what comes back: the loop that every agent runs, once, in turn, and when a tool fails."""

from __future__ import annotations

from conformance.scenarios.base import IMAGES, TOOLS, ask, need, request, scenario
from conformance.scenarios.kit import WEATHER, called, calls_to, closed, red_square, results, said
from conformance.scenarios.tools import CANARY, argument
from conformance.types import Ask, Image, Message, Script, Text, Tool, Turn


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


SCREENSHOT = Tool("take_screenshot", "Take a picture of the screen.", closed({}, ()))
CLICK = Tool(
    "click",
    "Click on a point of the screen.",
    closed({"x": {"type": "integer"}, "y": {"type": "integer"}}, ("x", "y")),
)
TYPE = Tool("type_text", "Type a text where the cursor is.", closed({"text": {"type": "string"}}, ("text",)))
SCREEN = (SCREENSHOT, CLICK, TYPE)


@scenario(
    "tools.image-result",
    ideal=(called(("take_screenshot", {})), said("The screen shows a red square.")),
    needs=("tools",),
    optional=(TOOLS, IMAGES),
)
def image_result() -> Script:
    """A tool whose result is a picture.

    Some wires take pictures in results; over the others it follows the results in a message of its own.
    """
    question = Message.user("Take a screenshot with the tool. Which colour has the square on it?")
    turn = yield from ask(request(question, tools=(SCREENSHOT,)))
    need(turn.calls, "call the tool it was asked to use")
    history = (question, Message.assistant(turn), *_pictures(turn))
    final = yield from ask(request(*history, tools=(SCREENSHOT,)), probe="tool-result")
    need("red" in final.text.lower(), "see the colour in the picture")


@scenario(
    "tools.computer-use",
    ideal=(
        called(("take_screenshot", {})),
        called(("click", {"x": 32, "y": 48})),
        called(("type_text", {"text": "KESTREL"})),
        said("I clicked on the square and typed KESTREL into it."),
    ),
    needs=("tools",),
    optional=(TOOLS, IMAGES),
)
def computer_use() -> Script:
    """A screen that is looked at, clicked on and typed into, by functions that any wire can offer."""
    history: tuple[Message, ...] = (
        Message.user("Use the tools in turn: take a screenshot, click on the square in it, type KESTREL."),
    )
    for tool in SCREEN:
        asked = request(*history, tools=SCREEN)
        turn = yield from ask(asked, probe="tool-result" if len(history) > 1 else None)
        need(calls_to(turn, tool.name), f"call {tool.name}")
        done = _pictures(turn) if tool is SCREENSHOT else results(turn, {tool.name: "Done."})
        history = (*history, Message.assistant(turn), *done)
    yield Ask(request(*history, tools=SCREEN), probe="tool-result")


@scenario(
    "tools.cleared-results",
    ideal=(
        called(("get_weather", {"city": "Reine"})),
        called(("get_weather", {"city": "Vardø"})),
        said("Vardø has 18 degrees, wind code KESTREL; what Reine had is gone."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def cleared_results() -> Script:
    """An old result is cleared to save context: its call stays, a note stands in its place."""
    first = Message.user("Look up the weather in Reine with the tool.")
    turn = yield from ask(request(first, tools=(WEATHER,)))
    need(turn.calls, "call the tool it was asked to use")
    old = results(turn, {WEATHER.name: "[old tool result cleared]"})
    history = (first, Message.assistant(turn), *old, Message.user("Now look it up for Vardø."))
    turn = yield from ask(request(*history, tools=(WEATHER,)), probe="tool-result")
    need(turn.calls, "call the tool again")
    history = (*history, Message.assistant(turn), *results(turn, {WEATHER.name: CANARY}))
    final = yield from ask(request(*history, tools=(WEATHER,)), probe="tool-result")
    need("KESTREL" in final.text, "use the result that was not cleared")


def _pictures(turn: Turn) -> tuple[Message, ...]:
    """One result per call of the turn: a picture of the screen, and a word about it."""
    parts = (Text("The screen is 64 by 64 pixels."), Image(red_square()))
    return tuple(Message("tool", parts, tool_call_id=call.id) for call in turn.calls)
