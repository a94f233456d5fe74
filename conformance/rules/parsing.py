"""What a server's parser does with a text that is known: only the scripted model writes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.rules.examples import answer, call, tool
from conformance.rules.registry import rule
from conformance.rules.views import Probe, Violation
from conformance.types import WIRES, Turn
from conformance.wires import wire

MARKUP = "<tool_call>"
ELEMENT = f'{MARKUP}\n{{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}\n</tool_call>'
FENCED = f"Like this:\n```\n{ELEMENT}\n```"


@dataclass(frozen=True, slots=True)
class Quoting(Probe):
    """The reply, over any wire, of a model that quoted the markup of a call and made none."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What a whole answer says."""
        exchange = self.reading.exchange
        if exchange.response is None or not self.reading.succeeded or exchange.ending != "complete":
            return ()
        return wire(exchange.wire).decode(exchange.response)


@rule(
    "parser.quoted-markup-kept",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source="the tool-call formats of the model families: a call is an element of its own, not a quotation",
    probe="quoted-markup",
    violating=answer(asked={"tools": [tool()]}, calls=[call()], probe="quoted-markup"),
    conforming=answer(asked={"tools": [tool()]}, message={"content": FENCED}, probe="quoted-markup"),
    consequence="documentation of a tool runs it, and the text that the user asked for is gone",
)
def quoted_markup(quoting: Quoting) -> Iterator[Violation]:
    """The markup of a call inside a code fence makes no call and stays in the text.

    The scripted model writes it so, word for word: what is missing is the parser's doing.
    """
    yield from quoting.accepted()
    for turn in quoting.turns:
        for made in turn.calls:
            yield quoting.found(wanted="no call", saw=f"the call {made.name}({made.arguments})")
        if not turn.calls and MARKUP not in turn.text:
            yield quoting.found(wanted="the quoted markup in the text", saw=turn.text or "no text")
