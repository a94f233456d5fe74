"""The cases: every text with its right reading, by its id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from conformance.dialects import edits
from conformance.dialects.case import Case, Made
from conformance.dialects.edits import Writer, call, edited, rendered
from conformance.types import Part, Reasoning, Text, ToolCall


def _weather(city: str) -> ToolCall:
    return call("get_weather", {"city": city})


def _time(city: str) -> ToolCall:
    return call("get_time", {"city": city})


def _made(*calls: ToolCall) -> tuple[Made, ...]:
    return tuple((one.name, json.loads(one.arguments)) for one in calls)


def _well(
    id: str,
    title: str,
    words: str,
    *parts: Part,
    writer: Writer | None = None,
    lenient: tuple[tuple[Made, ...], ...] = (),
    doc: str = "",
    stop: tuple[str, ...] = (),
) -> Case:
    return Case(
        f"parser.{id}",
        title,
        "call",
        tuple(words.split()),
        writer or rendered(*parts),
        parts,
        lenient,
        doc,
        stop,
    )


def _broken(
    id: str,
    title: str,
    words: str,
    writer: Writer,
    *lenient: tuple[Made, ...],
    doc: str = "",
    kept: tuple[str, ...] = (),
) -> Case:
    return Case(f"parser.{id}", title, "broken", tuple(words.split()), writer, (), lenient, doc, kept=kept)


def _quoted(
    id: str,
    title: str,
    words: str,
    writer: Writer,
    *parts: Part,
    doc: str = "",
    thinks: bool = False,
    kept: tuple[str, ...] = (),
) -> Case:
    return Case(
        f"parser.{id}", title, "quotation", tuple(words.split()), writer, parts, (), doc, (), thinks, kept
    )


_STAYS = "A correct server leaves it in the text, whole, or refuses the request as the client's."
_NESTED: dict[str, Any] = {
    "city": "Ulm",
    "days": -3,
    "opts": {"a": {"b": [{"c": "}"}, [], {}]}, "name": "inner", "on": False, "none": None},
    "tags": ["x]", "{y", ""],
}
_ESCAPED = r'{"city": "Lod\u00e8ve \ud83d\ude00 \"q\" \\ a\tb\nc"}'
_LONG = (
    "Aurich, Bamberg, Coburg, Dachau, Erding, Freising, Goslar, Husum, Itzehoe, Jever, Kassel, Lindau, "
    "Meppen, Norden, Pirna, Quedlinburg, Rostock, Speyer, Templin, Uelzen, Viersen, Wismar, Zeitz, Apolda, "
    "Borkum, Cottbus, Demmin, Einbeck, Forst, Greiz, Halle, Ilmenau, Jessen, Korbach, Lemgo, Melle, Nauen, "
    "Oschatz, Plau, Ratingen, Stade, Torgau, Usedom, Velbert, Wittlich, Ahlen, Bingen, Calw and Deggendorf"
)
"""Long enough for ``CAP`` to end in it however it is cut into tokens, and nowhere the same."""

WELL_FORMED = (
    _well("text-before", "Text, then a call", "Aalen", Text("Let me look at Aalen."), _weather("Aalen")),
    _well("text-after", "A call, then text", "Bochum", _weather("Bochum"), Text("That was all of it.")),
    _well(
        "text-between",
        "Text between two calls",
        "Celle",
        _weather("Celle"),
        Text("And now the clock."),
        _time("Celle"),
    ),
    _well("two-calls", "Two calls", "Dresden Delft", _weather("Dresden"), _time("Delft")),
    _well("empty-arguments", "A call with an empty object of arguments", "ping", call("ping", {})),
    _well("nested-arguments", "Objects and arrays in the arguments", "Ulm", call("get_report", _NESTED)),
    _well(
        "unicode-arguments",
        "Arguments in other scripts",
        "Šibenik",
        _weather("Šibenik ☂ 東京 👩\u200d🚀 é\u2028"),
    ),
    _well("escaped-arguments", "Escapes in the arguments", "Lod", call("get_weather", _ESCAPED)),
    _well(
        "digits-in-string",
        "A string of digits",
        "04510",
        _weather("04510"),
        doc="It stays the string that it is, and that its schema wants: no number, no zero lost.",
    ),
    _well(
        "extra-members",
        "A call object with further members",
        "Fulda",
        _weather("Fulda"),
        writer=edits.extra_member(_weather("Fulda"), '"note": "urgent"'),
    ),
    _well(
        "markup-in-string",
        "The end marker inside of a string",
        "Gotha",
        call("get_weather", {"city": "Gotha </tool_call> East"}),
        writer=edits.with_markup_inside("get_weather", "city", "Gotha ", "</tool_call>", " East"),
        doc="The JSON is decoded before the end marker is looked for.",
    ),
    _well(
        "no-space",
        "No white space in a call",
        "Hagen",
        _weather("Hagen"),
        writer=edits.respaced(_weather("Hagen"), wide=False),
    ),
    _well(
        "wide-space",
        "White space wherever JSON allows it",
        "Jena",
        _weather("Jena"),
        writer=edits.respaced(_weather("Jena"), wide=True),
    ),
    _well(
        "arguments-first",
        "The arguments stand before the name",
        "Kiel",
        _weather("Kiel"),
        writer=edits.arguments_first(_weather("Kiel")),
    ),
    _well(
        "stop-behind-call",
        "A stop sequence behind a call",
        "Lahr",
        _weather("Lahr"),
        writer=edits.followed(_weather("Lahr"), "\nObservation: sunny"),
        stop=("Observation:",),
    ),
)
BROKEN = (
    _broken(
        "no-arguments",
        "A call without the member for arguments",
        "ping",
        edits.without_arguments("ping"),
        _made(call("ping", {})),
        doc="Read leniently, nothing is an empty object.",
    ),
    _broken(
        "two-in-one-block",
        "Two calls between one pair of markers",
        "Mainz Marl",
        edits.in_one_block(_weather("Mainz"), _time("Marl")),
        _made(_weather("Mainz"), _time("Marl")),
        _made(_weather("Mainz")),
        doc="Both are made, or only the first and the second stays text, or all of it does.",
    ),
    _broken(
        "list-in-one-block",
        "A list of calls between markers that are meant for one",
        "Moers Menden",
        edits.in_one_block(_weather("Moers"), _time("Menden"), listed=True),
        _made(_weather("Moers"), _time("Menden")),
        doc="Both are made, or all of it stays text.",
    ),
    _broken(
        "single-quotes",
        "Arguments in single quotes",
        "Neuss",
        edited(_weather("Neuss"), lambda _: "{'city': 'Neuss'}"),
        _made(_weather("Neuss")),
        doc=_STAYS + " Read leniently, it is a Python literal.",
    ),
    _broken(
        "trailing-comma",
        "A comma behind the last argument",
        "Olpe",
        edited(_weather("Olpe"), lambda _: '{"city": "Olpe",}'),
        _made(_weather("Olpe")),
        doc=_STAYS,
    ),
    _broken(
        "raw-newline",
        "A raw line break in a string",
        "Passau",
        edited(_weather("Passau\nInn"), lambda _: '{"city": "Passau\nInn"}'),
        _made(_weather("Passau\nInn")),
        doc=_STAYS,
    ),
    _broken(
        "missing-brace",
        "A brace is missing at the end of the arguments",
        "Rheine",
        edited(_weather("Rheine"), lambda _: '{"city": "Rheine"'),
        _made(_weather("Rheine")),
        doc=_STAYS + " All values are whole, so a repair guesses nothing.",
    ),
    _broken(
        "bare-value",
        "A string without quotes",
        "Soest",
        edited(_weather("Soest"), lambda _: '{"city": Soest}'),
        _made(_weather("Soest")),
        doc=_STAYS,
    ),
    _broken(
        "double-encoded",
        "The arguments as a JSON string",
        "Trier",
        edited(_weather("Trier"), lambda arguments: json.dumps(arguments)),
        _made(_weather("Trier")),
        doc="Decoded once more it is an object; a string is none.",
    ),
    _broken(
        "unclosed-call",
        "A call without its end marker",
        "Unna",
        edits.unclosed(_weather("Unna")),
        _made(_weather("Unna")),
        doc="The JSON is whole: it may count as a call.",
    ),
    _broken(
        "broken-off",
        "A call that breaks off in the midst of a string",
        "Verd",
        edits.broken_off("Let me see.", _weather("Verden"), "Verd"),
        kept=("Let me see.",),
        doc="The model ends there by itself. Nobody can know the rest, so no call is made of it.",
    ),
    _broken(
        "unknown-tool",
        "A call of a tool that was not offered",
        "Wesel",
        rendered(call("launch_rocket", {"city": "Wesel"})),
        _made(call("launch_rocket", {"city": "Wesel"})),
        doc="It is passed on as it is, stays text, or is refused; it is never another tool's.",
    ),
)
QUOTATIONS = (
    _quoted(
        "fenced-call",
        "A call quoted in a code fence",
        "Xanten",
        edits.around("So it is written:\n```\n", _weather("Xanten"), "\n```\nI made none."),
        kept=("I made none.",),
    ),
    _quoted(
        "prose-marker",
        "Prose about the marker of calls",
        "Zella",
        edits.of_the_marker("In Zella they wrap calls in {} tags."),
        kept=("tags.",),
    ),
    _quoted(
        "call-in-reasoning",
        "A call inside of the reasoning",
        "Zwickau",
        edits.thinking("I could write\n", _weather("Zwickau"), "\nbut I need not.", "No call is needed."),
        Reasoning("I could write it, but I need not in Zwickau."),
        Text("No call is needed."),
        doc="What is only thought is not done.",
        kept=("No call is needed.",),
        thinks=True,
    ),
    _quoted(
        "unclosed-reasoning",
        "Reasoning that does not end",
        "Worms",
        edits.never_done("I never stop thinking about Worms"),
        Text("I never stop thinking about Worms"),
        doc="It is shown as reasoning, or as text without the tag.",
        thinks=True,
    ),
)
CUT = (
    Case(
        "parser.cut-by-cap",
        "A call that the token cap cuts",
        "cut",
        ("get_weather",),
        rendered(_weather(_LONG)),
        (_weather(_LONG),),
        doc="The end is told, and what has come of the call is what the model wrote.",
    ),
)
CASES: Mapping[str, Case] = MappingProxyType(
    {case.id: case for case in (*WELL_FORMED, *BROKEN, *QUOTATIONS, *CUT)}
)
"""Every case by its id, which is that of its scenario and of the probe that asks for it."""
