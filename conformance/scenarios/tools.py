"""Tool calls: made, paired with their results, forced, forbidden."""

from __future__ import annotations

import json
from dataclasses import replace

from conformance.scenarios.base import (
    ALLOWED_TOOLS,
    PARALLEL,
    STRICT_TOOLS,
    TOOLS,
    ask,
    need,
    request,
    scenario,
)
from conformance.scenarios.kit import (
    CHAT,
    OPENAI,
    PING,
    TIME,
    WEATHER,
    called,
    calls_to,
    closed,
    results,
    said,
)
from conformance.types import JSON, Ask, Message, NamedChoice, Script, Tool, ToolCall

CANARY = "18 degrees, wind code KESTREL"
"""A result no model can guess: when it shows in the answer, the result really reached the model."""


@scenario(
    "tools.single-call",
    ideal=(called(("get_weather", {"city": "Paris"})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def single_call() -> Script:
    """One tool, one call."""
    turn = yield from ask(
        request(Message.user("What is the weather in Paris? Use the tool."), tools=(WEATHER,))
    )
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "tools.parallel-calls",
    ideal=(
        called(("get_weather", {"city": "Rome"}), ("get_time", {"city": "Tokyo"})),
        said("Rome has 18 degrees, wind code KESTREL, and in Tokyo it is 21:07."),
    ),
    needs=("tools", "parallel-tools"),
    optional=(TOOLS,),
)
def parallel_calls() -> Script:
    """Two calls in one turn, both answered.

    Results are paired with calls by id: each goes back with its own text, and the answer must use both.
    """
    question = Message.user(
        "I need two things at once: the weather in Rome and the local time in Tokyo. Call both tools now."
    )
    turn = yield from ask(request(question, tools=(WEATHER, TIME)))
    need(len(turn.calls) >= 2, "make two calls in one turn")
    answers = results(turn, {"get_weather": CANARY, "get_time": "21:07"})
    final = yield from ask(
        request(question, Message.assistant(turn), *answers, tools=(WEATHER, TIME)), probe="tool-result"
    )
    need("KESTREL" in final.text and "21:07" in final.text, "use both results in its answer")


@scenario(
    "tools.mixed-text-and-tool-use",
    ideal=(
        called(("get_weather", {"city": "Lisbon"}), text="I will look up the weather in Lisbon."),
        said("In Lisbon it is 18 degrees, wind code KESTREL."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def mixed() -> Script:
    """Text and a call in the same turn.

    Neither may swallow the other, and a history that holds both must be accepted.
    """
    question = Message.user("First say in one sentence what you will do, then look up the weather in Lisbon.")
    turn = yield from ask(request(question, tools=(WEATHER,)))
    need(turn.calls and turn.text.strip(), "answer with text and a call in one turn")
    final = yield from ask(
        request(question, Message.assistant(turn), *results(turn, {"get_weather": CANARY}), tools=(WEATHER,)),
        probe="tool-result",
    )
    need("KESTREL" in final.text, "use the result in its answer")


@scenario(
    "tools.duplicate-names",
    wires=OPENAI,
    ideal=(called(("get_weather", {"city": "Madrid"})),),
    needs=("tools", "duplicate-tool-names"),
    optional=(TOOLS,),
)
def duplicate_names() -> Script:
    """Two tools of the same name in one request.

    OpenAI's schemas do not forbid it (other wires do), and a client gets there when a cached tool list is
    changed by whoever borrowed it. Some endpoints refuse the request; those declare it as a quirk.
    """
    second = Tool(WEATHER.name, "Get the weather of a town, from another source.", WEATHER.parameters)
    turn = yield from ask(
        request(Message.user("What is the weather in Madrid? Use the tool."), tools=(WEATHER, second))
    )
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "tools.choice-none",
    ideal=(said("I may not use a tool, so I cannot know the weather in Paris."),),
    needs=("tools",),
    optional=(TOOLS,),
)
def choice_none() -> Script:
    """``tool_choice: "none"`` forbids calls."""
    yield from ask(
        request(
            Message.user("What is the weather in Paris? Use the tool."), tools=(WEATHER,), tool_choice="none"
        )
    )


@scenario(
    "tools.choice-required",
    ideal=(called(("get_weather", {"city": "Vienna"})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def choice_required() -> Script:
    """``tool_choice: "required"`` forces a call."""
    yield from ask(
        request(Message.user("Have you ever been to Vienna?"), tools=(WEATHER, TIME), tool_choice="required")
    )


@scenario(
    "tools.choice-named",
    ideal=(called(("get_time", {"city": "Cairo"})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def choice_named() -> Script:
    """A named ``tool_choice`` forces that function and no other."""
    yield from ask(
        request(
            Message.user("What is the weather in Cairo?"),
            tools=(WEATHER, TIME),
            tool_choice=NamedChoice("get_time"),
        )
    )


@scenario(
    "tools.no-arguments",
    ideal=(called(("ping", {})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def no_arguments() -> Script:
    """A call of a tool that takes no arguments; its arguments are ``{}``."""
    turn = yield from ask(request(Message.user("Ping the station with the tool."), tools=(PING,)))
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "tools.no-parameters",
    wires=CHAT,
    ideal=(called(("ping", {}), text="Once more."),),
    needs=("tools",),
    optional=(TOOLS,),
)
def no_parameters() -> Script:
    """A tool declared without ``parameters``, which means a schema of no members."""
    bare = {"type": "function", "function": {"name": PING.name, "description": PING.description}}
    turn = yield from ask(
        request(Message.user("Ping the station once more with the tool."), extra={"tools": [bare]})
    )
    need(turn.calls, "call the tool it was asked to use")


UNICODE_CITY = 'Zürich 東京 🌦 "old\\new"'
PAGE = '<p class="x">1 &lt; 2</p>\n```js\nf = () => ({"a": [1, "}"]});\n```\n\t% \'done\''
"""Markup and code in lines: everything that a parser of calls might take for an end."""
RENDER = Tool(
    name="render_page",
    description="Render the source text of a page.",
    parameters=closed({"source": {"type": "string", "description": "The whole source."}}, ("source",)),
)


@scenario(
    "tools.unicode-arguments",
    ideal=(called(("get_weather", {"city": UNICODE_CITY})), called(("render_page", {"source": PAGE}))),
    needs=("tools",),
    optional=(TOOLS,),
)
def unicode_arguments() -> Script:
    """Arguments with accents, CJK, an emoji, quotes and a backslash arrive unchanged, and so does code."""
    turn = yield from ask(
        request(
            Message.user(f"Look up the weather with the tool. The city is exactly: {UNICODE_CITY}"),
            tools=(WEATHER,),
        )
    )
    need(calls_to(turn, WEATHER.name), "call the tool it was asked to use")
    need(
        any(argument(call, "city") == UNICODE_CITY for call in turn.calls),
        "copy the city into the arguments letter by letter",
    )
    turn = yield from ask(
        request(
            Message.user(f"Render this page with the tool, to the letter:\n{PAGE}"),
            tools=(RENDER,),
        )
    )
    need(calls_to(turn, RENDER.name), "call the tool it was asked to use")
    need(
        any(argument(call, "source") == PAGE for call in turn.calls),
        "copy the page into the arguments letter by letter",
    )


LONG_NAME = (
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch on the Isle of Anglesey, in the north-west "
    "of Wales"
)


@scenario(
    "tools.cut-call",
    ideal=(called(("get_weather", {"city": LONG_NAME})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def cut_call() -> Script:
    """A small cap cuts a call short in the midst of its arguments."""
    question = Message.user(f"Look up the weather with the tool. The city is exactly: {LONG_NAME}")
    yield Ask(replace(request(question, tools=(WEATHER,)), max_tokens=20))


_BOTH = called(("get_weather", {"city": "Riga"}), ("get_time", {"city": "Quito"}))


@scenario(
    "tools.parallel-false",
    ideal=(called(("get_weather", {"city": "Riga"})),),
    written={0: lambda dialect: dialect.render_calls(_BOTH)},
    needs=("tools",),
    optional=(TOOLS, PARALLEL),
)
def parallel_false() -> Script:
    """``parallel_tool_calls: false`` allows one call, even where two were of use.

    The scripted model disobeys and writes two: one must be all that comes.
    """
    question = Message.user(
        "I need two things: the weather in Riga and the local time in Quito. Call both tools at once."
    )
    yield Ask(replace(request(question, tools=(WEATHER, TIME)), parallel_tool_calls=False))


BOOKING = Tool(
    name="book_trip",
    description="Book a trip with several stops.",
    parameters=closed(
        {
            "traveller": closed(
                {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}}, ("name", "age")
            ),
            "stops": {
                "type": "array",
                "items": closed(
                    {"city": {"type": "string"}, "nights": {"type": "integer"}}, ("city", "nights")
                ),
            },
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        ("traveller", "stops", "note"),
    ),
    strict=True,
)
"""A strict tool whose schema nests objects and arrays and lets two members be null."""


@scenario(
    "tools.strict",
    ideal=(
        called(
            (
                "book_trip",
                {
                    "traveller": {"name": "Ada", "age": None},
                    "stops": [{"city": "Graz", "nights": 2}, {"city": "Split", "nights": 3}],
                    "note": None,
                },
            )
        ),
    ),
    needs=("tools",),
    optional=(TOOLS, STRICT_TOOLS),
)
def strict() -> Script:
    """A strict tool with nested and nullable members: its arguments fit the schema."""
    question = Message.user(
        "Book a trip for Ada, whose age I do not know: two nights in Graz, then three in Split. No note. "
        "Use the tool."
    )
    turn = yield from ask(request(question, tools=(BOOKING,)))
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "tools.allowed-tools",
    ideal=(called(("get_time", {"city": "Bogotá"})),),
    needs=("tools",),
    optional=(TOOLS, ALLOWED_TOOLS),
)
def allowed_tools() -> Script:
    """``tool_choice: allowed_tools`` narrows what may be called, though more is offered."""
    choice = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": TIME.name}}]},
    }
    question = Message.user("Call every tool you may use for Bogotá: the local time, the weather, or both.")
    turn = yield from ask(request(question, tools=(WEATHER, TIME), extra={"tool_choice": choice}))
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "tools.not-needed",
    ideal=(said("Twelve, and no tool was needed for that."),),
    needs=("tools",),
    optional=(TOOLS,),
)
def not_needed() -> Script:
    """A tool is offered and the question has no use for it: the answer is a text like any other."""
    turn = yield from ask(request(Message.user("How many months has a year?"), tools=(WEATHER, TIME)))
    need(turn.text and not turn.calls, "answer without a tool that is of no use")


@scenario(
    "tools.custom",
    ideal=(said("I only know tools with JSON arguments."),),
    needs=("tools",),
    optional=(TOOLS,),
)
def custom() -> Script:
    """A custom tool, whose input is a text under a grammar; few endpoints have them, and others refuse."""
    grammar = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[a-z]{3}"}}
    tool = {"type": "custom", "custom": {"name": "ring", "description": "Ring a bell.", "format": grammar}}
    asked = request(Message.user("Ring the bell abc with the tool."), extra={"tools": [tool]})
    yield Ask(asked, probe="custom-tool", expect="either")


def argument(call: ToolCall, name: str) -> JSON:
    """A member of the call's arguments; ``None`` where it is not there, or they are no object or not JSON."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None
    return arguments.get(name) if isinstance(arguments, dict) else None
