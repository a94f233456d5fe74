"""What a model of a dialect writes for a canonical turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby

from conformance.dialects import Dialect
from conformance.scripted_model.checkpoints import CHECKPOINTS
from conformance.scripted_model.vocabulary import Script
from conformance.types import Part, Reasoning, Text, Tool, ToolCall, Turn


def written(turn: Turn, dialect: Dialect, tools: Sequence[Tool] = (), *, first: int = 0) -> str:
    """``turn`` in the dialect, its parts in order; ``first`` counts the calls the conversation had before.

    White space that models put between text, reasoning and calls is left out where the dialect reads the same
    without it: parsers keep it as text or drop it, and either is right. Raises ``ValueError`` for a part that
    text has no form for (a refusal, an image).
    """
    text = ""
    if dialect.ids == "mistral":
        turn = _with_nine_letter_ids(turn, first)
    for reasons, group in groupby(turn.parts, lambda part: isinstance(part, Reasoning)):
        parts = tuple(group)
        if reasons:
            opening, closing = dialect.think
            thought = "".join(part.text for part in parts if isinstance(part, Reasoning))
            text += f"{opening}{thought}{closing.removeprefix(chr(10))}"
        else:
            text += _said(parts, dialect, tools, first)
    return text


def script(text: str, dialect: Dialect, *, calls: bool = False) -> Script:
    """A dialect's text as a script that continues its checkpoint's prompt, and ends as its turns do.

    ``calls``: the text has some, which matters where such turns have an end of their own.
    """
    checkpoint = CHECKPOINTS[dialect.name]
    end = checkpoint.ends[-1 if calls else 0]
    for own in checkpoint.ends:
        if text.endswith(own):
            text, end = text.removesuffix(own), own
            break
    if checkpoint.answer and not calls:
        header, _, rest = text.rpartition(checkpoint.prompt)
        if not rest.startswith("<|"):
            text = header + (checkpoint.prompt if header else "") + checkpoint.answer + rest
    opening, closing = dialect.think
    if checkpoint.begun:
        text = text.removeprefix(opening) if text.startswith(opening) else closing.strip() + text
    return Script(text, end)


def _with_nine_letter_ids(turn: Turn, first: int) -> Turn:
    """The turn with ids such as models of Mistral write; a call's own would not be written at all."""
    numbers = count(first)
    parts = (replace(p, id=f"call{next(numbers):05d}") if isinstance(p, ToolCall) else p for p in turn.parts)
    return replace(turn, parts=tuple(parts))


def _said(parts: tuple[Part, ...], dialect: Dialect, tools: Sequence[Tool], first: int) -> str:
    for part in parts:
        if not isinstance(part, Text | ToolCall):
            raise ValueError(f"text has no form for a {type(part).__name__} part")
    turn = Turn(parts)
    if turn.calls and dialect.before_calls.isspace():
        close = "".join(_runs(parts, dialect, tools, first))
        read = dialect.parse(close, tools).to_turn()
        if read.text == turn.text and [c.name for c in read.calls] == [c.name for c in turn.calls]:
            return close
    return dialect.render_calls(turn, tools, first=first)


def _runs(parts: tuple[Part, ...], dialect: Dialect, tools: Sequence[Tool], first: int) -> Iterator[str]:
    for calls, group in groupby(parts, lambda part: isinstance(part, ToolCall)):
        run = tuple(group)
        if calls:
            yield dialect.render_calls(Turn(run), tools, first=first)
            first += len(run)
        else:
            yield "".join(part.text for part in run if isinstance(part, Text))
