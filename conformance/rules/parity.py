"""A server's two paths agree: what it answers whole and what it streams, to the same request.

Judged only where the model wrote the same token by token (``conformance.rules.twice``), so that every
difference is the parser's or the stream writer's. Of a model that may say something else nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conformance.rules.check import check
from conformance.rules.examples import (
    USAGE,
    Exchanges,
    call,
    chunk,
    error,
    opened,
    piece,
    start,
    stream,
)
from conformance.rules.parsing import BEFORE, LET_ME_SEE, LISTED, NEUSS, after, in_hermes, of_case
from conformance.rules.registry import RULES, Rule, rule
from conformance.rules.scripted import Told
from conformance.rules.sources import schema
from conformance.rules.twice import Twice, told, unspaced
from conformance.rules.views import Violation
from conformance.types import WIRES, Exchange, Finding, Rulebook, Usage

STREAM = schema("CreateChatCompletionRequest stream (the response data is streamed as it is generated)")
AALEN = '{"city": "Aalen"}'
WHOLE = of_case(BEFORE, LET_ME_SEE, call(arguments=AALEN))
MARKUP = in_hermes(NEUSS)


def _streamed(
    said: str = LET_ME_SEE,
    arguments: str = AALEN,
    *,
    spent: int = 3,
    thought: str | None = None,
    probe: str = BEFORE.id,
    calls: bool = True,
) -> Exchanges:
    """The answer of ``WHOLE`` as a stream."""
    usage = {**USAGE, "completion_tokens": spent, "total_tokens": USAGE["prompt_tokens"] + spent}
    pieces: list[Any] = [piece(reasoning_content=thought)] if thought else []
    pieces += [piece(content=said)] if said else []
    pieces += [opened(arguments=arguments)] if calls else []
    chunks = (start(), *pieces, piece("tool_calls" if calls else "stop"), chunk(usage=usage))
    return stream(
        *({"usage": None, **one, "id": "chatcmpl-2"} for one in chunks),
        asked={"stream_options": {"include_usage": True}, "tools": LISTED},
        probe=probe,
        expect="answer" if calls else "either",
    )


SAME = after(BEFORE, WHOLE, _streamed())


PREFIX = "parity."


def both_ways(
    exchanges: Sequence[Exchange],
    rules: Iterable[Rule] | None = None,
    rulebook: Rulebook = "default",
) -> tuple[Finding, ...]:
    """How the twins among the exchanges differ from those whose twins they are."""
    chosen = RULES.values() if rules is None else rules
    return check(exchanges, rules=[one for one in chosen if one.id.startswith(PREFIX)], rulebook=rulebook)


@rule(
    "parity.outcome",
    wires=WIRES,
    needs=("request", "purpose"),
    level="SHOULD",
    basis="derived",
    source=STREAM,
    violating=after(
        NEUSS, error(400, probe=NEUSS.id, expect="either"), _streamed(MARKUP, calls=False, probe=NEUSS.id)
    ),
    conforming=after(NEUSS, of_case(NEUSS, MARKUP), _streamed(MARKUP, calls=False, probe=NEUSS.id)),
    consequence="a turn works or fails depending on how it is fetched",
)
def outcome(twice: Twice) -> Iterator[Violation]:
    """A request is refused both whole and streamed, or neither, and brings as many choices.

    No MUST: who streams has begun to answer before a text turns out to be broken.
    """
    whole, streamed = twice.whole, twice.streamed
    if whole is None or streamed is None or twice.bent or not (whole.turns or streamed.turns):
        return
    wanted, got = _brought(whole), _brought(streamed)
    if wanted and got and wanted != got:
        yield twice.found(wanted=f"{wanted}, as in the whole answer", saw=got)


def _brought(one: Told) -> str:
    """What an answer brings; empty where that can't be told."""
    if one.turns:
        return "an answer" if len(one.turns) == 1 else f"{len(one.turns)} answers"
    return "an error" if one.declined else "nothing" if one.silent else ""


@rule(
    "parity.calls",
    wires=WIRES,
    needs=("request", "purpose"),
    level="MUST",
    basis="derived",
    source=STREAM,
    violating=after(BEFORE, WHOLE, _streamed(arguments='{"city": "Aale"}')),
    conforming=SAME,
    also=("parser.call-as-written",),
    consequence="an agent runs other tools, or none, when its user watches",
)
def calls(twice: Twice) -> Iterator[Violation]:
    """A streamed answer makes the calls that the whole one makes: names and arguments, by value.

    Where the token cap cut them, names alone: a parser may hold back what it is not sure of.
    """
    for whole, streamed in twice.pairs:
        cut = "length" in (whole.finish_reason, streamed.finish_reason)
        wanted, got = (told(turn.calls, names_only=cut) for turn in (whole, streamed))
        if wanted != got:
            yield twice.found(wanted=f"{_listed(wanted)}, as in the whole answer", saw=_listed(got))


@rule(
    "parity.text",
    wires=WIRES,
    needs=("request", "purpose"),
    level="MUST",
    basis="derived",
    source=STREAM,
    violating=after(BEFORE, WHOLE, _streamed("Let me look at Aalen")),
    conforming=SAME,
    also=("parser.text-kept",),
    consequence="text is lost or doubled, or markup shows, depending on how it is fetched",
)
def text(twice: Twice) -> Iterator[Violation]:
    """A streamed answer says the text that the whole one says, white space aside."""
    for whole, streamed in twice.pairs:
        yield from _other_words(twice, "text", (whole.text, streamed.text))


@rule(
    "parity.space",
    wires=WIRES,
    needs=("request", "purpose"),
    level="SHOULD",
    basis="convention",
    source=STREAM,
    violating=after(BEFORE, WHOLE, _streamed(f"{LET_ME_SEE}\n\n")),
    conforming=SAME,
    consequence="a client that asks whether there is text sees some in one answer and none in the other",
)
def space(twice: Twice) -> Iterator[Violation]:
    """The text of a streamed answer has the white space of the whole one.

    A convention: a parser that streams can't take back the line break before a call, and may send it on.
    """
    for whole, streamed in ((one.text, other.text) for one, other in twice.pairs):
        if whole != streamed and unspaced(whole) == unspaced(streamed):
            yield twice.found(wanted=f"the text {whole!r}, as in the whole answer", saw=repr(streamed))


@rule(
    "parity.reasoning",
    wires=WIRES,
    needs=("request", "purpose"),
    level="SHOULD",
    basis="derived",
    source=STREAM,
    violating=after(BEFORE, WHOLE, _streamed(thought="Hm.")),
    conforming=SAME,
    consequence="reasoning is lost or shown, and echoed or not, depending on how the answer is fetched",
)
def reasoning(twice: Twice) -> Iterator[Violation]:
    """A streamed answer shows the reasoning that the whole one shows, white space aside.

    No MUST: no published schema of Chat has reasoning in its answers.
    """
    for whole, streamed in twice.pairs:
        yield from _other_words(twice, "reasoning", (whole.reasoning, streamed.reasoning))


@rule(
    "parity.finish",
    wires=WIRES,
    needs=("request", "purpose"),
    level="MUST",
    basis="derived",
    source=STREAM,
    violating=after(NEUSS, of_case(NEUSS, MARKUP), _streamed(MARKUP, '{"city": "Neuss"}', probe=NEUSS.id)),
    conforming=SAME,
    also=("parity.calls",),
    consequence="a loop ends in one answer and goes on in the other",
)
def finish(twice: Twice) -> Iterator[Violation]:
    """A streamed answer ends for the reason for which the whole one ends."""
    for whole, streamed in ((one.finish_reason, other.finish_reason) for one, other in twice.pairs):
        if whole != streamed:
            yield twice.found(wanted=f"finish reason {whole}, as in the whole answer", saw=str(streamed))


@rule(
    "parity.usage",
    wires=WIRES,
    needs=("request", "purpose"),
    level="SHOULD",
    basis="derived",
    source=(STREAM, schema("CompletionUsage")),
    violating=after(BEFORE, WHOLE, _streamed(spent=4)),
    conforming=SAME,
    consequence="the bill depends on whether anybody watches the answer being written",
)
def usage(twice: Twice) -> Iterator[Violation]:
    """A streamed answer costs what the whole one costs, where both count."""
    for whole, streamed in ((one.usage, other.usage) for one, other in twice.pairs):
        if whole is None or streamed is None:
            continue
        counts = [("completion_tokens", whole.completion_tokens, streamed.completion_tokens)]
        if not _cached(whole, streamed):
            counts.insert(0, ("prompt_tokens", whole.whole_prompt, streamed.whole_prompt))
        for name, count, got in counts:
            if count is not None and got is not None and count != got:
                yield twice.found(wanted=f"{count} {name}, as in the whole answer", saw=str(got))


def _cached(one: Usage, other: Usage) -> bool:
    """Whether the prompts may differ by what was in a cache, which the second of two always finds there."""
    first, second = one.whole_prompt, other.whole_prompt
    if first is None or second is None:
        return False
    if one.total_tokens is None and other.total_tokens is None:
        return True
    return any(
        low + (used.cached_tokens or 0) == high
        for used, low, high in ((one, first, second), (other, second, first))
        if low < high
    )


def _other_words(twice: Twice, what: str, pair: tuple[str, str]) -> Iterator[Violation]:
    whole, streamed = pair
    if unspaced(whole) != unspaced(streamed):
        yield twice.found(wanted=f"the {what} {whole!r}, as in the whole answer", saw=repr(streamed))


def _listed(made: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name}({arguments})" for name, arguments in made) or "no calls"
