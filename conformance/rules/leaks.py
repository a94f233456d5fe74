"""Calls that a server's parser missed: they reach the client as text, in the words of some dialect.

The commonest fault of self-hosted servers: the tool parser is off, or the wrong one. What is told names the
dialect and the call that the text holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.dialects import Leak, leaked
from conformance.rules.examples import Exchanges
from conformance.rules.markup import call_markup, without_json_strings
from conformance.rules.registry import rule
from conformance.rules.scripted import keeps_markup
from conformance.rules.views import Run, View, Violation
from conformance.types import Tool, Turn, WireName
from conformance.wires import wire

LEAKED = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
QUOTED = "Calls look like `<tool_call>{...}`."


@dataclass(frozen=True, slots=True)
class Visible(View):
    """A whole 2xx answer over a wire other than Chat: its ``turn``, and the ``tools`` that were offered."""

    turn: Turn = field(default_factory=Turn)
    tools: tuple[Tool, ...] = ()

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            exchange = reading.exchange
            if exchange.wire == "openai-chat" or exchange.response is None or not reading.succeeded:
                continue
            if not isinstance(reading.asked, dict) or exchange.ending != "complete":
                continue
            spoken = wire(exchange.wire)
            try:
                tools = spoken.decode_request(reading.asked, path=reading.path).tools
            except ValueError:
                continue
            for turn in spoken.decode(exchange.response) if tools else ():
                yield cls(reading, f"/exchanges/{reading.index}/response", None, None, turn, tools)


def leaks_in(text: str, functions: Mapping[str, Mapping[str, Any]] | Sequence[Tool]) -> Iterator[str]:
    """The markup of calls in a text: each whole call with its dialect, then markup of no whole call."""
    text = without_json_strings(text)
    tools = tools_of(functions) if isinstance(functions, Mapping) else functions
    found = [leak for leak in leaked(text, tools) if not is_bare(leak)]
    yield from map(told, found)
    rest = text
    for leak in reversed(found):
        rest = rest[: leak.start] + " " + rest[leak.end :]
    yield from call_markup(rest)


def is_bare(leak: Leak) -> bool:
    """Whether the call stands there as JSON or code alone, without any markup."""
    return leak.dialect in ("llama3-json", "json-action", "pythonic") and not leak.excerpt.startswith("<")


def told(leak: Leak) -> str:
    """A leak in a line: dialect, call, and how it stands in the text."""
    return f"{leak.dialect}: {leak.name}({leak.arguments}), written {leak.excerpt}"


def tools_of(functions: Mapping[str, Mapping[str, Any]]) -> tuple[Tool, ...]:
    """The tools that Chat's function definitions declare."""
    schemas = {name: one.get("parameters") for name, one in functions.items()}
    return tuple(
        Tool(name, "", schema if isinstance(schema, dict) else {}) for name, schema in schemas.items()
    )


def register(
    id: str, over: WireName, place: str, violating: Exchanges, conforming: Exchanges, source: str
) -> Callable[[Visible], Iterator[Violation]]:
    """The rule that calls are where ``over`` has a place for them, and not in the visible text."""

    def no_call_markup(answer: Visible) -> Iterator[Violation]:
        for leak in () if keeps_markup(answer.reading) else leaks_in(answer.turn.text, answer.tools):
            yield answer.found(wanted=f"calls in {place}, not in the text", saw=leak)

    no_call_markup.__doc__ = f"""With tools offered, the text holds no markup of calls: they are in {place}.

    The commonest fault of self-hosted servers: the tool parser is off, or the wrong one. Markup inside code
    spans and fences is quotation.
    """
    return rule(
        id,
        wires=(over,),
        level="SHOULD",
        strict_level="MUST",
        basis="convention",
        needs=("request",),
        source=("the chat templates and tool-call formats of the model families", source),
        violating=violating,
        conforming=conforming,
        consequence="the call never runs and the user sees its markup",
    )(no_call_markup)
