"""Histories sent whole: what a client may append to a conversation, and what it may get wrong.

They are made up here and rest on no earlier answer, so each request stands alone: a step that fails does not
stop the next. A closing question follows the tool results, so that a result stays exactly what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.scenarios.base import TOOLS, need, request, scenario
from conformance.scenarios.kit import CHAT, WEATHER, called, said
from conformance.types import Ask, Message, Reasoning, Reply, Request, Script, Text, ToolCall, Turn

ONE = called(("get_weather", {"city": "Rome"}))
TWO = called(("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Oslo"}))
KESTREL, HERON = "KESTREL", "HERON"
LOOK_UP = Message.user("Look up the wind codes of Rome and Oslo with the tool.")
WHICH = Message.user("Which wind code has Rome? Answer in one short sentence.")
UNICODE_RESULT = 'Station "Ærø"\n東京 😀\twind code ÆON'


def asking(*messages: Message, echo_reasoning: bool = False) -> Request:
    """A request with this history and the weather tool."""
    return request(*messages, tools=(WEATHER,), echo_reasoning=echo_reasoning)


def verbatim(*messages: Mapping[str, Any], tools: bool = True) -> Request:
    """A request whose messages go out as they are, where the canonical form has no words for them."""
    offered = (WEATHER,) if tools else ()
    return request(tools=offered, extra={"messages": [dict(message) for message in messages]})


def result(text: Any = KESTREL, id: str = "call_1") -> dict[str, Any]:
    """A tool message, verbatim."""
    return {"role": "tool", "tool_call_id": id, "content": text}


def calling(arguments: Any = '{"city": "Rome"}', **members: Any) -> dict[str, Any]:
    """An assistant message with one call, verbatim."""
    function = {"name": WEATHER.name, "arguments": arguments}
    return {
        "role": "assistant",
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        **members,
    }


def user(content: Any) -> dict[str, Any]:
    """A user message, verbatim."""
    return {"role": "user", "content": content}


@scenario(
    "history.tool-results",
    ideal=(said("Rome has the wind code KESTREL."), said("KESTREL is the wind code of Rome.")),
    needs=("tools",),
    optional=(TOOLS,),
)
def tool_results() -> Script:
    """The results of two calls, in the order of the calls and in the other.

    Results belong to calls by id, never by position.
    """
    question = Message.assistant(TWO)
    rome, oslo = Message.tool(TWO.calls[0], KESTREL), Message.tool(TWO.calls[1], HERON)
    yield Ask(asking(LOOK_UP, question, rome, oslo, WHICH), probe="tool-results")
    yield Ask(asking(LOOK_UP, question, oslo, rome, WHICH), probe="tool-results")


@scenario(
    "history.tool-content",
    ideal=(
        said("The tool returned an empty text."),
        said("The tool says that the code is KESTREL and the air has 18 degrees."),
        said(f"It says: {UNICODE_RESULT}"),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def tool_content() -> Script:
    """Results that are empty, JSON, and lines of non-ASCII text."""
    question = Message.user("Repeat word by word what the tool returned.")
    for text in ("", '{"code": "KESTREL", "temperature": 18, "note": null}', UNICODE_RESULT):
        history = (LOOK_UP, Message.assistant(ONE), Message.tool(ONE.calls[0], text))
        yield Ask(asking(*history, question), probe="tool-content-string")


@scenario(
    "history.content-parts",
    wires=CHAT,
    ideal=(
        said("In two parts the tool says KESTREL."),
        said("Hello Ada, the names have arrived."),
        said("Your text came in two parts."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def content_parts() -> Script:
    """Text in parts, of a tool and of the user, and messages with names."""
    parts = [{"type": "text", "text": "wind code "}, {"type": "text", "text": "KESTREL"}]
    yield Ask(
        verbatim(user("Look up Rome."), calling(), result(parts), user("Repeat that.")),
        probe="tool-content-parts",
    )
    yield Ask(
        verbatim(
            {"role": "system", "name": "rules", "content": "You are brief."},
            {**user("My name is Ada."), "name": "ada"},
            {"role": "assistant", "name": "helper", "content": "Good day, Ada."},
            {**user("Greet me once more."), "name": "ada"},
            tools=False,
        ),
        probe="name-field",
    )
    parts = [{"type": "text", "text": "Greet me. "}, {"type": "text", "text": "My name is Ada."}]
    yield Ask(verbatim(user(parts), tools=False), probe="content-parts-text")


@scenario(
    "history.broken-pairing",
    ideal=(
        said("One of the two results is missing."),
        said("The same call was answered twice."),
        said("That result belongs to no call."),
        said("That call was never answered."),
        said("A question came before its result."),
        said("I spoke before the result was there."),
        said("The result has an id of its own."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def broken_pairing() -> Script:
    """A call without its result, a call with two, and a result without an id or with a wrong one.

    Nothing stands between a call and its result either, be it of the user or of the assistant.
    """
    both, single = Message.assistant(TWO), Message.assistant(ONE)
    rome = Message.tool(ONE.calls[0], KESTREL)
    yield Ask(asking(LOOK_UP, both, rome, WHICH), probe="tool-result-missing", expect="either")
    yield Ask(asking(LOOK_UP, single, rome, rome, WHICH), probe="tool-result-duplicate", expect="either")
    nameless = replace(rome, tool_call_id=None)
    yield Ask(asking(LOOK_UP, single, nameless, WHICH), probe="tool-id-missing", expect="refusal")
    wait = Message.assistant(Turn((Text("One moment."),)))
    for history in (
        (LOOK_UP, single, WHICH),
        (LOOK_UP, single, WHICH, rome, Message.user("And?")),
        (LOOK_UP, single, wait, rome, WHICH),
    ):
        yield Ask(asking(*history), probe="tool-result-missing", expect="either")
    stranger = replace(rome, tool_call_id="call_nobody_made")
    yield Ask(asking(LOOK_UP, single, stranger, WHICH), probe="orphan-tool-result", expect="either")


@scenario(
    "history.assistant-messages",
    wires=CHAT,
    ideal=(
        said("With null content: KESTREL it is."),
        said("With empty content the code is still KESTREL."),
        said("Without any content Rome has KESTREL."),
        said("I said so before: Rome has KESTREL."),
        said("You wrote twice, and I was silent."),
        said("No tools were called, so I know no code."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def assistant_messages() -> Script:
    """Assistant messages with calls and no content, with both, and with neither.

    Beside calls the content may be null, empty or absent. A message with nothing in it may be refused or
    ignored.
    """
    for members in ({"content": None}, {"content": ""}, {}):
        yield Ask(
            verbatim(user("Look up Rome."), calling(**members), result(), user("Which code?")),
            probe="assistant-null-content",
        )
    spoken = Turn((Text("I will look it up."), *ONE.calls))
    yield Ask(
        asking(LOOK_UP, Message.assistant(spoken), Message.tool(ONE.calls[0], KESTREL), WHICH),
        probe="assistant-content-and-calls",
    )
    yield Ask(
        verbatim(user("Are you there?"), {"role": "assistant"}, user("Say something.")),
        probe="assistant-empty",
        expect="either",
    )
    no_calls = {"role": "assistant", "content": "I know no wind code.", "tool_calls": []}
    yield Ask(
        verbatim(user("Which wind code has Rome?"), no_calls, user("Why?")),
        probe="assistant-empty-tool-calls",
        expect="either",
    )


@scenario(
    "history.arguments",
    wires=CHAT,
    ideal=(said("The arguments were an object."), said("Those arguments were cut short.")),
    needs=("tools",),
    optional=(TOOLS,),
)
def arguments() -> Script:
    """Arguments that are an object and no string, and a string that is not JSON.

    A client stores what it got, broken calls included: the endpoint may refuse them but must survive.
    """
    yield Ask(
        verbatim(user("Look up Rome."), calling({"city": "Rome"}, content=None), result(), user("And?")),
        probe="arguments-object",
        expect="either",
    )
    broken = ToolCall("call_1", WEATHER.name, "{")
    yield Ask(
        asking(LOOK_UP, Message.assistant(Turn((broken,))), Message.tool(broken, "Bad arguments."), WHICH),
        probe="arguments-invalid-json",
        expect="either",
    )


FOREIGN_IDS = {
    "Anthropic": "toolu_01A09q90qw90lq917835lq9",
    "Kimi": "functions.get_weather:0",
    "Mistral": "a1B2c3D4e",
    "a UUID": "3f2b8c1e-5a4d-4e6f-9b7a-0c1d2e3f4a5b",
}
"""Ids as others mint them. None is longer than the 40 characters that OpenAI takes."""


@scenario(
    "history.foreign-ids",
    ideal=tuple(said(f"Rome has KESTREL, says the call with the id of {maker}.") for maker in FOREIGN_IDS),
    needs=("tools",),
    optional=(TOOLS,),
)
def foreign_ids() -> Script:
    """Calls whose ids were minted by other vendors, as when a conversation changes its provider."""
    for foreign in FOREIGN_IDS.values():
        call = replace(ONE.calls[0], id=foreign)
        history = (LOOK_UP, Message.assistant(Turn((call,))), Message.tool(call, KESTREL))
        yield Ask(asking(*history, WHICH), probe="foreign-ids")


@scenario(
    "history.instruction-roles",
    ideal=(said("Ahoy, says the system."), said("Ahoy, says the developer.")),
    needs=("developer-role",),
)
def instruction_roles() -> Script:
    """Instructions as a system message and as a developer message; they reach the model."""
    greet = Message.user("Greet me.")
    replies = []
    for role in ("system", "developer"):
        instruction = Message(role, (Text('Begin with "Ahoy".'),))
        replies.append((yield Ask(request(instruction, greet), probe="instruction-role")))
    for reply in replies:
        assert isinstance(reply, Reply)
        need(not reply.ok or (reply.turn and "ahoy" in reply.turn.text.lower()), "do as it was instructed")


@scenario(
    "history.user-messages",
    ideal=(
        said("You wrote two messages in a row."),
        said("Everybody spoke twice, Ada."),
        said("and so I end where I began."),
    ),
)
def user_messages() -> Script:
    """Two user messages in a row, two in a row of everyone else, and the assistant's as the last."""
    first, second = Message.user("My name is Ada."), Message.user("Greet me in one short sentence.")
    yield Ask(request(first, second), probe="consecutive-same-role")
    twice = (
        *(Message.system(text) for text in ("You are brief.", "You are kind.")),
        *(first, second),
        *(Message.assistant(Turn((Text(text),))) for text in ("Good day.", "Good day, Ada.")),
        Message.user("Who spoke twice?"),
    )
    yield Ask(request(*twice), probe="consecutive-same-role")
    begun = Message.assistant(Turn((Text("I begin"),)))
    yield Ask(request(Message.user("Say one long sentence."), begun), probe="assistant-last", expect="either")


@scenario(
    "history.without-tools",
    ideal=(said("No tools any more, yet Rome has KESTREL."),),
    needs=("tools",),
    optional=(TOOLS,),
)
def without_tools() -> Script:
    """A history of calls in a request that offers no tools.

    A client takes the tools away to make the model close with a text.
    """
    history = (LOOK_UP, Message.assistant(ONE), Message.tool(ONE.calls[0], KESTREL))
    yield Ask(request(*history, WHICH), probe="tools-omitted")


@scenario(
    "history.function-role",
    wires=CHAT,
    ideal=(said("A function said that Rome has KESTREL."),),
    needs=("tools",),
    optional=(TOOLS,),
)
def function_role() -> Script:
    """A history of a call in the deprecated form, ``function_call`` and the role ``function``."""
    function_call = {"name": WEATHER.name, "arguments": '{"city": "Rome"}'}
    yield Ask(
        verbatim(
            user("Look up Rome."),
            {"role": "assistant", "content": None, "function_call": function_call},
            {"role": "function", "name": WEATHER.name, "content": KESTREL},
            user("Which code was it?"),
            tools=False,
        ),
        probe="function-role",
        expect="either",
    )


@scenario(
    "history.reasoning",
    ideal=(said("Nobody told me what I thought."), said("My thoughts came back empty.")),
    needs=("reasoning", "tools"),
    optional=(TOOLS,),
)
def reasoning() -> Script:
    """A call whose reasoning is left out, and one whose reasoning comes back empty.

    An endpoint may insist on the echo if it says so; a client whose store kept no reasoning sends ``""``.
    """
    answered = (Message.tool(ONE.calls[0], KESTREL), WHICH)
    yield Ask(asking(LOOK_UP, Message.assistant(ONE), *answered), probe="reasoning-omitted", expect="either")
    empty = Turn((Reasoning(""), *ONE.calls))
    yield Ask(
        asking(LOOK_UP, Message.assistant(empty), *answered, echo_reasoning=True), probe="reasoning-empty"
    )
