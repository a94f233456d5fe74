"""What a server makes of calls as models write them: its parser, with the model's words given.

Only our scripted model writes these texts; the ideal turn is what a correct server makes of each. They are
Hermes text (any white space around the JSON, one element per call).
"""

from __future__ import annotations

from conformance.scenarios.base import TOOLS, ask, need, request, scenario
from conformance.scenarios.kit import TIME, WEATHER, called, said
from conformance.types import Ask, Message, Script

QUOTE = (
    "A call is written like this:\n"
    '```\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Turin"}}\n</tool_call>\n```\n'
    "I made none."
)


@scenario(
    "parser.one-line",
    ideal=(called(("get_weather", {"city": "Turin"})), called(("get_weather", {"city": "Turku"}))),
    written={
        0: '<tool_call>{"name": "get_weather", "arguments": {"city": "Turin"}}</tool_call>',
        1: '<tool_call>{"name":"get_weather","arguments":{"city":"Turku"}}</tool_call>',
    },
    needs=("scripted", "tools", "streaming"),
    optional=(TOOLS,),
)
def one_line() -> Script:
    """A call on one line, and one streamed that has no white space at all."""
    for city, stream in (("Turin", False), ("Turku", True)):
        question = Message.user(f"What is the weather in {city}? Use the tool.")
        turn = yield from ask(request(question, tools=(WEATHER,), stream=stream))
        need(turn.calls or "<tool_call>" in turn.text, "write the call")


@scenario(
    "parser.adjacent-calls",
    ideal=(called(("get_weather", {"city": "Gdansk"}), ("get_time", {"city": "Gdansk"})),),
    written={
        0: '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Gdansk"}}\n</tool_call>'
        '<tool_call>\n{"name": "get_time", "arguments": {"city": "Gdansk"}}\n</tool_call>'
    },
    needs=("scripted", "tools"),
    optional=(TOOLS,),
)
def adjacent_calls() -> Script:
    """Two calls with nothing between them."""
    question = Message.user("I need the weather and the time in Gdansk. Use both tools.")
    turn = yield from ask(request(question, tools=(WEATHER, TIME)))
    need(turn.calls or "<tool_call>" in turn.text, "write the calls")


@scenario(
    "parser.quoted-markup",
    ideal=(said(QUOTE), said(QUOTE.replace("Turin", "Trento"))),
    needs=("scripted", "tools", "streaming"),
    optional=(TOOLS,),
)
def quoted_markup() -> Script:
    """Markup inside a code fence is quotation: it stays in the text, and nothing is called."""
    for stream in (False, True):
        question = Message.user("Show me how a call is written, and make none.")
        yield Ask(request(question, tools=(WEATHER,), stream=stream), probe="quoted-markup")
