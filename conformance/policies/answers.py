"""One step's exchange as an observer looks at it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from conformance.types import Exchange, Turn
from conformance.wires import ErrorInfo, wire
from conformance.wires.errors import error_of

SAME_TOKENS = 3
"""Counts of prompt tokens that differ by no more than this are the same."""

_CAP = re.compile(
    rb'"(?:max_(?:completion_|output_)?tokens|maxOutputTokens|num_predict)"\s{0,9}:\s{0,9}(\d{1,9})'
)

MAX_SAID = 160
"""Longest excerpt of an answer in a detail, in characters."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one step. ``index`` is the exchange's place in the attempt."""

    index: int
    exchange: Exchange
    turn: Turn
    error: ErrorInfo | None

    @property
    def state(self) -> Literal["answered", "refused", "hang"]:
        """An error inside HTTP 200 is a refusal too."""
        if self.exchange.response is None or self.exchange.ending == "stalled":
            return "hang"
        return "answered" if self.error is None else "refused"

    @property
    def status(self) -> int | None:
        """The HTTP status of a refusal."""
        response = self.exchange.response
        return response.status if response is not None and self.state == "refused" else None

    @property
    def prompt_tokens(self) -> int | None:
        """What the endpoint says the prompt cost, in tokens."""
        return self.turn.usage.prompt_tokens if self.turn.usage else None

    @property
    def capped(self) -> bool:
        """Whether the answer was cut at the request's cap, told or by the count of its tokens."""
        cap = _CAP.search(self.exchange.request.body)
        count = self.turn.usage.completion_tokens if self.turn.usage else None
        full = cap is not None and count is not None and count >= int(cap.group(1))
        return full or self.turn.finish_reason == "length"

    @property
    def words(self) -> str:
        """All that the model said, its reasoning too."""
        return f"{self.turn.reasoning}\n{self.turn.text}"

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the tools that were called, in order."""
        return tuple(call.name for call in self.turn.calls)

    @property
    def path(self) -> str:
        """The JSON Pointer of the evidence."""
        place = f"/exchanges/{self.index}"
        if self.exchange.response is None:
            return f"{place}/failure"
        return f"{place}/response/status" if self.status and self.status >= 300 else f"{place}/response/body"

    @property
    def said(self) -> str:
        """One line on what came back: the error, the calls, or the beginning of the text."""
        if self.exchange.failure is not None:
            return self.exchange.failure.message
        if self.error is not None:
            code = self.error.code if isinstance(self.error.code, str) else self.error.type
            told = ": ".join(str(word) for word in (code, self.error.message) if word)
            return f"HTTP {self.status}: {_line(told)}" if told else f"HTTP {self.status}"
        if self.called:
            return f"called {', '.join(self.called)}"[:MAX_SAID]
        return f"said: {_line(self.turn.text)}" if self.turn.text.strip() else "said nothing"


def read(index: int, exchange: Exchange) -> Answer:
    """The answer in an exchange. Never raises."""
    response = exchange.response
    if response is None:
        return Answer(index, exchange, Turn(), None)
    turns = wire(exchange.wire).decode(response) if response.status < 300 else ()
    return Answer(index, exchange, turns[0] if turns else Turn(), error_of(response))


def _line(text: str) -> str:
    line = " ".join(text[: 4 * MAX_SAID].split())
    return line if len(line) <= MAX_SAID else line[: MAX_SAID - 1] + "…"
