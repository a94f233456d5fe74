"""Streamed answers: text, arguments, parallel calls, usage."""

from __future__ import annotations

from dataclasses import replace

from conformance.scenarios.base import (
    CHOICES,
    LOGPROBS,
    OBFUSCATION,
    STREAM_USAGE,
    TOOLS,
    ask,
    need,
    request,
    scenario,
)
from conformance.scenarios.kit import TIME, WEATHER, called, said
from conformance.types import Ask, Message, Script


@scenario(
    "stream.plain",
    ideal=(said("One, two, three, four, five, six, seven, eight, nine and ten."),),
    needs=("streaming",),
)
def plain() -> Script:
    """A streamed text, from the role to ``[DONE]``."""
    turn = yield from ask(request(Message.user("Count from one to ten in words."), stream=True))
    need(turn.text, "answer with text")


@scenario(
    "stream.arguments",
    ideal=(called(("get_weather", {"city": "Saint-Pierre-et-Miquelon, near Newfoundland"})),),
    needs=("streaming", "tools"),
    optional=(TOOLS,),
)
def arguments() -> Script:
    """A call whose arguments arrive in pieces.

    Id, type and name come once, arguments in fragments that concatenate to one JSON text.
    """
    turn = yield from ask(
        request(
            Message.user("What is the weather in Saint-Pierre-et-Miquelon, near Newfoundland? Use the tool."),
            tools=(WEATHER,),
            stream=True,
        )
    )
    need(turn.calls, "call the tool it was asked to use")


@scenario(
    "stream.parallel-calls",
    ideal=(called(("get_weather", {"city": "Berlin"}), ("get_time", {"city": "Lima"})),),
    needs=("streaming", "tools", "parallel-tools"),
    optional=(TOOLS,),
)
def parallel_calls() -> Script:
    """Two streamed calls, told apart by ``index``."""
    turn = yield from ask(
        request(
            Message.user(
                "I need two things at once: the weather in Berlin and the local time in Lima. "
                "Call both tools now."
            ),
            tools=(WEATHER, TIME),
            stream=True,
        )
    )
    need(len(turn.calls) >= 2, "make two calls in one turn")


@scenario(
    "stream.mixed-text-and-tool-use",
    ideal=(called(("get_time", {"city": "Porto"}), text="Let me look at the clock in Porto."),),
    needs=("streaming", "tools"),
    optional=(TOOLS,),
)
def mixed() -> Script:
    """Text and a call in the same stream: neither swallows the other."""
    question = Message.user(
        "Say in one sentence that you look up the local time in Porto, then use the tool."
    )
    turn = yield from ask(request(question, tools=(TIME,), stream=True))
    need(turn.calls and turn.text.strip(), "answer with text and a call in one turn")


@scenario(
    "stream.same-as-whole",
    ideal=(
        *(said("Salt is white, coal is black, and rust is red."),) * 2,
        *(called(("get_time", {"city": "Ushuaia"})),) * 2,
    ),
    needs=("streaming", "tools"),
    optional=(TOOLS, STREAM_USAGE),
)
def same_as_whole() -> Script:
    """The same questions answered whole and streamed, at temperature 0."""
    colours = request(Message.user("Which colours have salt, coal and rust? Answer in one short sentence."))
    clock = request(Message.user("What time is it in Ushuaia? Use the tool."), tools=(TIME,))
    for asked in (colours, clock):
        asked = replace(asked, temperature=0)
        yield Ask(asked)
        yield Ask(replace(asked, stream=True, include_usage=True), probe="as-whole", expect="either")


@scenario(
    "stream.usage",
    ideal=(said("Water boils at one hundred degrees."),),
    needs=("streaming", "usage-in-stream"),
    optional=(STREAM_USAGE,),
)
def usage() -> Script:
    """Usage in a stream, on request: one last chunk with empty ``choices``."""
    turn = yield from ask(
        request(
            Message.user("At how many degrees does water boil? One sentence."),
            stream=True,
            include_usage=True,
        )
    )
    need(turn.text, "answer with text")


@scenario(
    "stream.two-choices",
    ideal=(said("Call the second boat Fulmar, or else Gannet."),),
    needs=("streaming",),
    optional=(CHOICES,),
)
def two_choices() -> Script:
    """Two streamed choices, told apart by ``index``."""
    yield Ask(replace(request(Message.user("Think up a name for a second boat."), stream=True), n=2))


@scenario(
    "stream.logprobs",
    ideal=(said("Coal is black, and the sun ☀ is not."),),
    needs=("streaming",),
    optional=(LOGPROBS,),
)
def logprobs() -> Script:
    """Streamed log probabilities: those of a chunk belong to its text."""
    question = Message.user("What colour is coal? Answer in one short sentence.")
    yield Ask(request(question, stream=True, extra={"logprobs": True, "top_logprobs": 2}))


@scenario(
    "stream.obfuscation-off",
    ideal=(said("Nothing was hidden in this stream."),),
    needs=("streaming",),
    optional=(OBFUSCATION,),
)
def obfuscation_off() -> Script:
    """``include_obfuscation: false`` keeps the padding out of the chunks."""
    question = Message.user("Say in one short sentence that nothing is hidden.")
    yield Ask(request(question, stream=True, extra={"stream_options": {"include_obfuscation": False}}))
