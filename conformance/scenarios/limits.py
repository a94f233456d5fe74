"""Sizes and numbers at the edge of what the schema allows, and several requests at a time.

Those that cost money or may disturb other users of an endpoint are intrusive: they run only when asked for.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from conformance.scenarios.base import TOOLS, ask, feature, need, request, scenario
from conformance.scenarios.kit import CHAT, WEATHER, called, calls_to, closed, results, said
from conformance.types import Ask, Cancel, Message, Raw, Reply, Script, Together, Tool

CONTEXT = feature(
    "long prompts", r"context[ _](?:length|size|window|limit)|too many tokens|too long|maximum context"
)
MANY_TOOLS = feature("128 tools", r"(?:too many|at most \d+|maximum (?:number )?of \d*) ?(?:tools|functions)")
FEW_TOKENS = 16
"""Output cap, in tokens, of requests whose answers nobody reads."""

LAMPS = tuple(
    Tool(f"switch_lamp_{number:03}", f"Switch lamp {number} on.", {"type": "object", "properties": {}})
    for number in range(1, 129)
)


@scenario(
    "limits.many-tools",
    ideal=(called(("switch_lamp_117", {})),),
    needs=("tools",),
    optional=(TOOLS, MANY_TOOLS, CONTEXT),
)
def many_tools() -> Script:
    """128 tools, the most that the schema speaks of."""
    turn = yield from ask(request(Message.user("Switch lamp 117 on. Use the tool."), tools=LAMPS))
    need(calls_to(turn, "switch_lamp_117"), "call the tool it was asked to use")


LONG_NAME = "read-the-thermometer_of_the_weather_station-that_is_in_the_city_"
"""As long as the schema allows: 64 characters."""


@scenario(
    "limits.long-tool-name",
    ideal=(called((LONG_NAME, {"city": "Nuuk"})),),
    needs=("tools",),
    optional=(TOOLS,),
)
def long_tool_name() -> Script:
    """A tool name of 64 characters comes back whole."""
    tool = Tool(LONG_NAME, WEATHER.description, WEATHER.parameters)
    turn = yield from ask(request(Message.user("Read the thermometer in Nuuk with the tool."), tools=(tool,)))
    need(turn.calls, "call the tool it was asked to use")


NOTE = Tool(
    "write_note",
    "Keep a note.",
    closed({"text": {"type": "string", "description": "The whole note."}}, ("text",)),
)
NUMBERS = " ".join(str(number) for number in range(1, 251))


@scenario(
    "limits.large-arguments",
    ideal=(called(("write_note", {"text": NUMBERS})), called(("write_note", {"text": f"{NUMBERS}."}))),
    needs=("tools", "streaming"),
    optional=(TOOLS,),
)
def large_arguments() -> Script:
    """Arguments of about a thousand characters, whole and in the pieces of a stream."""
    for stream in (False, True):
        end = ", and end it with a full stop" if stream else ""
        question = Message.user(
            "Write a note with the tool. Its text is the numbers from 1 to 250, all of them, separated by "
            f"single spaces{end}."
        )
        turn = yield from ask(request(question, tools=(NOTE,), stream=stream))
        need(any("249 250" in call.arguments for call in turn.calls), "call the tool with all the numbers")


LOG = Tool("read_log", "Read the log of a station.", WEATHER.parameters)
LOG_TEXT = (
    "\n".join(f"{number:04} wind steady, nothing to report" for number in range(600))
    + "\n0600 mast struck by lightning, code OSPREY"
)
"""About 24 kB, and what matters at its end."""


@scenario(
    "limits.large-tool-result",
    ideal=(
        called(("read_log", {"city": "Tromso"})),
        said("At the end the mast was struck by lightning, code OSPREY."),
    ),
    needs=("tools",),
    optional=(TOOLS, CONTEXT),
)
def large_tool_result() -> Script:
    """A tool result of 24 kB is taken, and its end reaches the model."""
    question = Message.user("Read the log of Tromso with the tool. What happened at its end, and which code?")
    turn = yield from ask(request(question, tools=(LOG,)))
    need(turn.calls, "call the tool it was asked to use")
    history = (question, Message.assistant(turn), *results(turn, {"read_log": LOG_TEXT}))
    final = yield from ask(request(*history, tools=(LOG,)), probe="tool-large-result")
    need("OSPREY" in final.text, "read the result to its end")


def _all(**properties: Any) -> dict[str, Any]:
    return closed(properties, tuple(properties))


_TEXT, _COUNT = {"type": "string"}, {"type": "integer"}
_BEDS = _all(single=_COUNT, double=_COUNT)
_STOP = _all(place=_TEXT, house=_all(name=_TEXT, beds=_BEDS))
TRIP = Tool(
    "book_trip",
    "Book a trip of several legs, each with its stops.",
    _all(legs={"type": "array", "items": _all(to=_TEXT, stops={"type": "array", "items": _STOP})}),
)
REPORT = Tool(
    "file_report",
    "File a report of the weather. What is not known is null.",
    {
        **_all(
            kind={"enum": ["storm", "calm"]},
            remark={"type": ["string", "null"]},
            gust={"anyOf": [_COUNT, {"type": "null"}]},
            place={"$ref": "#/$defs/place"},
        ),
        "$defs": {"place": _all(name=_TEXT, country=_TEXT)},
    },
)

TREE = Tool(
    "plant_tree",
    "Plant a tree of labelled nodes.",
    {
        **_all(root={"$ref": "#/$defs/node"}),
        "$defs": {"node": _all(label=_TEXT, children={"type": "array", "items": {"$ref": "#/$defs/node"}})},
    },
)
FORM = Tool(
    "fill_form",
    "Fill in a form.",
    _all(
        kind={"const": "order"},
        code={"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2}$"},
        day={"type": "string", "format": "date"},
        urgency={"type": "integer", "minimum": 1, "maximum": 5},
        tags={"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 3},
        size={"oneOf": [_COUNT, {"enum": ["small", "large"]}]},
        stock={"type": "object", "additionalProperties": _COUNT},
    ),
)
FILLED = {
    "kind": "order",
    "code": "ELM-42",
    "day": "2031-05-17",
    "urgency": 3,
    "tags": ["wood"],
    "size": "large",
    "stock": {"beech": 7},
}
ROOT = {"label": "root", "children": [{"label": "leaf", "children": []}]}
HOUSE = {"name": "Elm", "beds": {"single": 1, "double": 2}}
BERGEN = {"name": "Bergen", "country": "Norway"}


@scenario(
    "limits.schemas",
    ideal=(
        called(("book_trip", {"legs": [{"to": "Graz", "stops": [{"place": "Enns", "house": HOUSE}]}]})),
        called(("file_report", {"kind": "storm", "remark": None, "gust": 31, "place": BERGEN})),
        called(("plant_tree", {"root": ROOT})),
        called(("fill_form", FILLED)),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def schemas() -> Script:
    """Schemas as generators write them: six levels deep; null beside a type, ``anyOf``, ``$ref``.

    Then a recursive one, and one with a constant, a pattern, a format, bounds, ``oneOf`` and a map.
    """
    first = yield Ask(
        request(
            Message.user(
                "Book a trip of one leg, to Graz, with the tool. Its one stop is Enns, in a house named Elm "
                "that has one single and two double beds."
            ),
            tools=(TRIP,),
        )
    )
    second = yield Ask(
        request(
            Message.user(
                "File a report with the tool: a storm in Bergen, Norway, with gusts of 31. No remark: null."
            ),
            tools=(REPORT,),
        )
    )
    third = yield Ask(
        request(Message.user("Plant a tree with the tool: a node root with one child, leaf."), tools=(TREE,))
    )
    fourth = yield Ask(
        request(
            Message.user(
                "Fill in the form with the tool: an order, code ELM-42, for 17 May 2031, urgency 3, tagged "
                "wood, size large; in stock are 7 of beech."
            ),
            tools=(FORM,),
        )
    )
    for reply in (first, second, third, fourth):
        assert isinstance(reply, Reply)
        need(not reply.ok or (reply.turn and reply.turn.calls), "call the tool it was asked to use")


CANARIES = (
    "canary-3f9a1c7e",
    "canary-b04d82f6",
    "canary-57e1c9a3",
    "canary-e8206bd4",
    "canary-91cf5a0b",
    "canary-2d73f8e9",
    "canary-c6a4107d",
    "canary-08be9f52",
)
"""Codes that nobody can guess: one that shows in the answer to another request was mixed up on the way."""


@scenario("limits.concurrent", ideal=tuple(said(code) for code in CANARIES), needs=("streaming",))
def concurrent() -> Script:
    """Eight requests at once, four of them streamed, and each gets its own answer."""
    questions = [Message.user(f"Repeat this code and say nothing else: {code}") for code in CANARIES]
    replies = yield Together(
        tuple(
            Ask(request(question, stream=number % 2 == 1), probe="concurrent")
            for number, question in enumerate(questions)
        )
    )
    assert isinstance(replies, tuple)
    for code, reply in zip(CANARIES, replies, strict=True):
        need(not reply.ok or (reply.turn and code in reply.turn.text), "repeat the code it was given")


@scenario(
    "limits.client-leaves",
    ideal=(
        said("Sixty sheep, fifty-nine sheep, fifty-eight sheep, and so on down to the last one."),
        said("Yes, I am still here."),
    ),
    needs=("streaming",),
)
def client_leaves() -> Script:
    """A client that hangs up in the middle of a stream does not keep the next request from being answered.

    Whether the server stops generating shows in nothing but the clock, and a clock is no proof.
    """
    yield Cancel(
        Ask(request(Message.user("Count sixty sheep down to one, each in words."), stream=True)),
        after_events=3,
    )
    yield Ask(request(Message.user("Are you still here?")))


# ------------------------------------------------------------------------------------------ intrusive

BODY_BYTES = 6 * 1024 * 1024
"""More than many servers take by default (nginx 1 MiB, axum 2 MiB), less than hurts one that takes it."""


@scenario("limits.body-too-large", wires=CHAT, intrusive=True)
def body_too_large() -> Script:
    """A body of 6 MiB, nearly all of it space between JSON tokens, is answered or refused with 413."""
    asked = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": FEW_TOKENS}
    head = b'{"model": "{{model}}", ' + json.dumps(asked).encode()[1:-1]
    body = head + b" " * (BODY_BYTES - len(head) - 1) + b"}"
    yield Raw("POST", "@chat", body, probe="body-too-large", expect="either")


LONG_PROMPT_NUMBERS = 120_000
"""Of six digits each: 840 kB, at least 240,000 tokens of any tokenizer in use."""


@scenario("limits.context-length", ideal=(said("That was longer than I can read."),), intrusive=True)
def context_length() -> Script:
    """A prompt longer than the context is refused with 400, and never cut in silence."""
    numbers = " ".join(str(100_000 + number) for number in range(LONG_PROMPT_NUMBERS))
    asked = request(Message.user(f"Which of these numbers is the smallest? {numbers}"))
    yield Ask(replace(asked, max_tokens=FEW_TOKENS), probe="context-length", expect="either")


BURST = 40


@scenario("limits.rate-limit", ideal=(said("Ready when you are."),) * BURST, intrusive=True)
def rate_limit() -> Script:
    """Forty small requests at once: those that are too many get 429 and are told when to come back."""
    asked = replace(request(Message.user("Say that you are ready.")), max_tokens=FEW_TOKENS)
    yield Together((Ask(asked, probe="burst", expect="either"),) * BURST)
