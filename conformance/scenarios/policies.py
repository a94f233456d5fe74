"""Policies of requests: two tools of one name, and ``tool_choice`` against what the model would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.scenarios.base import TOOLS, request, scenario
from conformance.scenarios.kit import TIME, WEATHER, called, closed, said
from conformance.types import JSON, Ask, Expect, Message, Request, Script, Tool, WireName


def measured(policy: str, step: str, asked: Request, *, control: bool = False) -> Ask:
    """One request of a policy; a ``control`` is one that every endpoint should answer."""
    expect: Expect = "answer" if control else "either"
    return Ask(asked, probe=f"policy:{policy}/{step}", expect=expect)


FIRST = Tool(
    WEATHER.name,
    "Get the weather of a city. The code of this station is KESTREL.",
    closed({"city": {"type": "string"}}, ("city",)),
)
SECOND = Tool(
    WEATHER.name,
    "Get the weather of a town, told in full: temperature, wind, rain, snow, clouds and tide, for today and "
    "for each of the six days after it, in the units of the country. The code of this station is HERON.",
    closed({"town": {"type": "string", "description": "The town, as its inhabitants write it."}}, ("town",)),
)
TOOL_LISTS: Mapping[str, tuple[Tool, ...]] = {
    "first": (FIRST,),
    "second": (SECOND,),
    "identical": (FIRST, FIRST),
    "different": (FIRST, SECOND),
}


@scenario(
    "policies.duplicate-tool-names",
    policy="duplicate-tool-names",
    ideal=(
        said("I see the tool of one station."),
        said("I see the tool of the other station."),
        said("I see what I see, twice or not."),
        said("I see the tools of a station or two."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def duplicate_tool_names() -> Script:
    """Two tools of one name, the same and different ones, beside each of them alone.

    Which definition the model is shown is told by the tokens of the prompt, and by what it says of them.
    """
    question = Message.user(
        "List every tool that you can see, with the code of its station, word by word. Call none of them."
    )
    for step, tools in TOOL_LISTS.items():
        asked = request(question, tools=tools)
        yield measured("duplicate-tool-names", step, asked, control=len(tools) == 1)


Native = Mapping[WireName, Mapping[str, JSON]]


def _choice(chat: JSON, responses: JSON, anthropic: JSON, calling: Mapping[str, JSON]) -> Native:
    """A choice in the words of every wire. Ollama has none: it is sent those of Chat."""
    return {
        "openai-chat": {"tool_choice": chat},
        "openai-responses": {"tool_choice": responses},
        "anthropic-messages": {"tool_choice": anthropic},
        "gemini": {"toolConfig": {"functionCallingConfig": dict(calling)}},
        "ollama": {"tool_choice": chat},
    }


_FUNCTION: dict[str, Any] = {"type": "function", "function": {"name": TIME.name}}
_FLAT: dict[str, Any] = {"type": "function", "name": TIME.name}
CHOICES: Mapping[str, Native] = {
    "none": _choice("none", "none", {"type": "none"}, {"mode": "NONE"}),
    "auto": _choice("auto", "auto", {"type": "auto"}, {"mode": "AUTO"}),
    "required": _choice("required", "required", {"type": "any"}, {"mode": "ANY"}),
    "named": _choice(
        _FUNCTION,
        _FLAT,
        {"type": "tool", "name": TIME.name},
        {"mode": "ANY", "allowedFunctionNames": [TIME.name]},
    ),
    "allowed": _choice(
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [_FUNCTION]}},
        {"type": "allowed_tools", "mode": "auto", "tools": [_FLAT]},
        # Anthropic has no word for it: what a gateway would pass on.
        {"type": "allowed_tools", "mode": "auto", "tools": [_FLAT]},
        {"mode": "VALIDATED", "allowedFunctionNames": [TIME.name]},
    ),
}


@scenario(
    "policies.tool-choice",
    policy="tool-choice",
    ideal=(
        called(("get_weather", {"city": "Narvik"})),
        said("Good day to you."),
        called(("get_weather", {"city": "Narvik"}), text="Once more."),
        called(("get_weather", {"city": "Narvik"}), text="As I may."),
        said("A good day to you."),
        said("A very good day to you."),
        called(("get_weather", {"city": "Narvik"}), text="Though I may not."),
    ),
    needs=("tools",),
    optional=(TOOLS,),
)
def tool_choice() -> Script:
    """Each ``tool_choice`` against a question that wants something else, which is also asked without it."""
    wants = Message.user("Look up the weather in Narvik with the tool.")
    idle = Message.user("Say good day in one short sentence. You need no tool for that.")
    tools = (WEATHER, TIME)
    yield measured("tool-choice", "unbound", request(wants, tools=tools), control=True)
    yield measured("tool-choice", "idle", request(idle, tools=tools), control=True)
    for step, choice in CHOICES.items():
        question = idle if step in ("required", "named") else wants
        yield measured("tool-choice", step, request(question, tools=tools, native=choice))
