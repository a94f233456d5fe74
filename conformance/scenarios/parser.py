"""What a server makes of calls as models write them: its parser, with the model's words given.

Only our scripted model writes these texts; the ideal turn is what a correct server makes of each. The first
three are Hermes text; the others, ``dialects.cases``, are text of any dialect and run three times: without
tools, which shows what is written, with them, and, unless a grammar bent that, streamed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.dialects import DIALECTS
from conformance.dialects.case import ALONE, CAP, Case
from conformance.dialects.cases import CASES
from conformance.scenarios.base import (
    STREAM_USAGE,
    TOOLS,
    Writing,
    ask,
    need,
    request,
    scenario,
)
from conformance.scenarios.kit import PING, THINKING, TIME, WEATHER, called, said
from conformance.types import Ask, Expect, Message, Reply, Script, Tool, Turn, Usage

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
    written={0: QUOTE, 1: QUOTE.replace("Turin", "Trento")},
    needs=("scripted", "tools", "streaming"),
    optional=(TOOLS,),
)
def quoted_markup() -> Script:
    """Markup inside a code fence is quotation: it stays in the text, and nothing is called."""
    for stream in (False, True):
        question = Message.user("Show me how a call is written, and make none.")
        yield Ask(request(question, tools=(WEATHER,), stream=stream), probe="quoted-markup")


REPORT = Tool(
    name="get_report",
    description="Get the weather report of a city for several days.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "opts": {"type": "object"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
    },
)
ROOM = 512
"""Tokens in which every text ends, and a model that a grammar has led astray soon does, too."""
OFFERED = (WEATHER, TIME, PING, REPORT)
BENT = "write with tools what it writes without: a grammar bent its text"


def _script(case: Case) -> Callable[[], Script]:
    """What the model writes, told by the text without tools; then what is made of it, whole and streamed."""
    question = replace(
        request(Message.user(f"Please see to {' and '.join(case.words)}.")),
        native=THINKING if case.thinks else {},
        max_tokens=CAP if case.kind == "cut" else ROOM,
        temperature=None if case.thinks else 0,
        stop=case.stop or None,
    )
    expect: Expect = "either" if case.kind == "broken" else "answer"

    def script() -> Script:
        alone = _turn((yield Ask(question, probe=ALONE, expect="either")))
        need(alone is None or case.known(alone), "write this text, which its dialect may not have")
        asked = replace(question, tools=OFFERED)
        whole = _turn((yield Ask(asked, probe=case.id, expect=expect)))
        need(not case.bent(alone, whole), BENT)
        asked = replace(asked, stream=True, include_usage=True)
        streamed = _turn((yield Ask(asked, probe=case.id, expect=expect)))
        need(not case.bent(alone, whole, streamed), BENT)

    script.__doc__ = f"{case.title}.\n\n{case.doc}".rstrip()
    return script


def _turn(reply: Reply | tuple[Reply, ...]) -> Turn | None:
    return None if isinstance(reply, tuple) else reply.turn


def _ideal(case: Case) -> tuple[Turn, ...]:
    """What is written, and twice what is made of it; all cost the same, as the same was written."""
    text = case.text(DIALECTS["hermes"], OFFERED)
    assert text is not None
    spent = None if case.kind == "cut" else Usage(completion_tokens=len(text.encode()))
    read = replace(case.turn(text), usage=spent)
    return (replace(case.unread(text), usage=spent), read, read)


def _writing(case: Case) -> Writing:
    return lambda dialect: case.text(dialect, OFFERED)


for _case in CASES.values():
    scenario(
        _case.id,
        ideal=_ideal(_case),
        written=dict.fromkeys(range(3), _writing(_case)),
        needs=("scripted", "tools", "streaming", *(("reasoning",) if _case.thinks else ())),
        optional=(TOOLS, STREAM_USAGE),
    )(_script(_case))
