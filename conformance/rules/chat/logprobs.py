"""Log probabilities: of whole answers, and what holds for every entry however it came."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from conformance.rules.chat.asked import Asked
from conformance.rules.chat.streams import ChoiceStream
from conformance.rules.chat.views import Answer, Choice
from conformance.rules.examples import USAGE, answer, piece, start, stream
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Run, View, Violation, lookup

ENTRY = schema("ChatCompletionTokenLogprob")
REQUEST = schema("CreateChatCompletionRequest")
ON: dict[str, Any] = {"logprobs": True}
TOP: dict[str, Any] = {"logprobs": True, "top_logprobs": 2}
LISTS = ("content", "refusal")


def token(text: str, logprob: float = -0.1, *, top: tuple[tuple[str, float], ...] = ()) -> dict[str, Any]:
    """An entry, for examples."""
    return {
        "token": text,
        "logprob": logprob,
        "bytes": list(text.encode()),
        "top_logprobs": [
            {"token": other, "logprob": value, "bytes": list(other.encode())} for other, value in top
        ],
    }


def logprobs(*entries: Any) -> dict[str, Any]:
    """A choice's ``logprobs`` member, for examples."""
    return {"logprobs": {"content": list(entries), "refusal": None}}


HELLO = logprobs(token("Hel"), token("lo."))


@dataclass(frozen=True, slots=True)
class Scored(View):
    """The ``logprobs`` of a whole choice or of a chunk's; ``asked`` is the request."""

    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for choice in run.views(Choice):
            yield cls(choice.reading, f"{choice.at}/logprobs", choice.get("logprobs"), None, choice.asked)
        for one in run.views(ChoiceStream):
            for delta in one.deltas:
                at = f"{delta.at}/logprobs"
                yield cls(delta.reading, at, delta.get("logprobs"), delta.event, one.asked)


@dataclass(frozen=True, slots=True)
class Entry(View):
    """Each token's entry in a ``logprobs``, of content or refusal."""

    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for scored in run.views(Scored):
            for name in LISTS:
                listed = scored.get(name)
                for place, value in enumerate(listed if isinstance(listed, list) else ()):
                    at = f"{scored.at}/{name}/{place}"
                    yield cls(scored.reading, at, value, scored.event, scored.asked)

    @property
    def top(self) -> list[Any]:
        """``top_logprobs``, or nothing where that is no array."""
        return self.array("top_logprobs")


@rule(
    "chat.response.logprobs-when-requested",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{REQUEST} logprobs",
    violating=answer(asked=ON),
    conforming=answer(asked=ON, choice=HELLO),
    consequence="classifiers and evaluations that rest on the probabilities have none, and no error says so",
)
def when_requested(run: Run) -> Iterator[Violation]:
    """logprobs true returns content token log probabilities.

    A server that cannot give them may refuse the request. Asked for wherever the answer has content.
    """
    for choice in run.views(Choice):
        content, listed = choice.get("message", "content"), choice.get("logprobs", "content")
        wanted = choice.asked is not None and choice.asked.logprobs
        if wanted and content and isinstance(content, str) and not (isinstance(listed, list) and listed):
            yield choice.found("logprobs", "content", wanted="an entry per token of the content")
    for one in run.views(ChoiceStream):
        wanted = one.asked is not None and one.asked.logprobs
        if wanted and one.settled and one.value["content"] and not any(map(content_entries, one.deltas)):
            yield one.found(wanted="logprobs beside the content", saw="none in the whole stream")


@rule(
    "chat.response.logprobs-not-when-off",
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=f"{REQUEST} logprobs",
    violating=answer(choice=HELLO),
    conforming=answer(choice={"logprobs": None}),
    consequence="answers are many times as large as they need be",
)
def not_when_off(scored: Scored) -> Iterator[Violation]:
    """Without logprobs the field is null."""
    off = scored.asked is not None and not scored.asked.body.get("logprobs")
    if off and scored.value is not ABSENT and scored.value is not None:
        yield scored.found(wanted="null (logprobs was not asked for)")


@rule(
    "chat.response.logprobs-entry-shape",
    level="MUST",
    basis="schema",
    source=ENTRY,
    violating=answer(
        asked=ON, choice=logprobs({"token": "Hello.", "logprob": -0.1, "top_logprobs": []}), message={}
    ),
    conforming=answer(asked=ON, choice=HELLO),
    consequence="openai-python gives None for what is missing, and iterating over it raises TypeError; "
    "typed clients refuse the whole answer",
)
def entry_shape(entry: Entry) -> Iterator[Violation]:
    """Each entry has token, logprob, bytes and top_logprobs.

    An alternative has the first three of them.
    """
    yield from _misshapen(entry)
    if not isinstance(entry.get("top_logprobs"), list):
        yield entry.found("top_logprobs", wanted="an array")
    for place in range(len(entry.top)):
        yield from _misshapen(entry, "top_logprobs", place)


@rule(
    "chat.response.logprobs-nonpositive",
    level="SHOULD",
    basis="prose",
    source=f"{ENTRY} logprob",
    violating=answer(asked=ON, choice=logprobs(token("Hello.", 0.7))),
    conforming=answer(asked=ON, choice=logprobs(token("Hello.", -9999.0))),
    consequence="exp(logprob) is no probability: perplexities and thresholds are nonsense",
)
def nonpositive(entry: Entry) -> Iterator[Violation]:
    """logprob values are finite and not above zero.

    The schema has -9999.0 for a very unlikely token; a millionth above zero is rounding.
    """
    for path in (("logprob",), *(("top_logprobs", place, "logprob") for place in range(len(entry.top)))):
        value = entry.get(*path)
        if _is_number(value) and not (math.isfinite(value) and value <= 1e-6):
            yield entry.found(*path, wanted="a finite number of at most 0")


@rule(
    "chat.response.logprobs-top-count",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{REQUEST} top_logprobs",
    violating=answer(
        asked=TOP, choice=logprobs(token("Hello.", top=(("Hello.", -0.1), ("Hi", -2.5), ("Hey", -4.0))))
    ),
    conforming=answer(asked=TOP, choice=logprobs(token("Hello.", top=(("Hello.", -0.1), ("Hi", -2.5))))),
    consequence="clients that lay out a table of that many columns overflow it",
)
def top_count(entry: Entry) -> Iterator[Violation]:
    """Each entry has at most top_logprobs alternatives.

    Corrected: judged only where the request says how many; for one that does not, no text gives a bound.
    """
    most = entry.asked.body.get("top_logprobs") if entry.asked else None
    if type(most) is int and len(entry.top) > most:
        yield entry.found("top_logprobs", wanted=f"at most {most}", saw=f"{len(entry.top)} alternatives")


@rule(
    "chat.response.logprobs-top-sorted",
    level="SHOULD",
    basis="convention",
    source=ENTRY,
    violating=answer(asked=TOP, choice=logprobs(token("Hello.", top=(("Hi", -2.5), ("Hello.", -0.1))))),
    conforming=answer(asked=TOP, choice=logprobs(token("Hello.", top=(("Hello.", -0.1), ("Hi", -2.5))))),
    consequence="clients that take the first alternative for the likeliest take another",
)
def top_sorted(entry: Entry) -> Iterator[Violation]:
    """Alternatives are in descending probability."""
    values: list[Any] = [lookup(one, ("logprob",)) for one in entry.top]
    for place, (before, after) in enumerate(pairwise(values), 1):
        if _is_number(before) and _is_number(after) and after > before:
            yield entry.found("top_logprobs", place, "logprob", wanted=f"at most {before}, the one before")
            return


@rule(
    "chat.response.logprobs-bytes-rebuild-content",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=f"{ENTRY} bytes",
    violating=answer(asked=ON, choice=logprobs(token("Hel"))),
    conforming=answer(asked=ON, choice=HELLO),
    consequence="probabilities cannot be laid over the text: they belong to other words",
)
def rebuild(choice: Choice) -> Iterator[Violation]:
    """Concatenated token bytes equal the UTF-8 content.

    Asked of answers that stopped by themselves and whose every token has bytes; a stop sequence may be
    among the tokens and is not in the text. Of streams, chat.stream.logprobs-match-delta asks it.
    """
    content, listed = choice.get("message", "content"), choice.get("logprobs", "content")
    stops = choice.asked is not None and bool(choice.asked.stop)
    if choice.finish_reason != "stop" or stops or not (isinstance(content, str) and isinstance(listed, list)):
        return
    rebuilt = joined(listed)
    if listed and rebuilt is not None and rebuilt != content.encode(errors="surrogatepass"):
        text = rebuilt.decode(errors="replace")
        yield choice.found("logprobs", "content", wanted="tokens that make up the content", saw=text)


def content_entries(view: View) -> list[Any]:
    """The entries of content that stand in a choice or a chunk's; none where that is no array."""
    return view.array("logprobs", "content")


def joined(entries: list[Any]) -> bytes | None:
    """What the tokens' bytes add up to; ``None`` where a token has none."""
    whole = bytearray()
    for entry in entries:
        part: Any = lookup(entry, ("bytes",))
        if not _is_bytes(part):
            return None
        whole += bytes(part)
    return bytes(whole)


def _misshapen(entry: Entry, *path: str | int) -> Iterator[Violation]:
    if not isinstance(entry.get(*path), dict):
        yield entry.found(*path, wanted="an object")
        return
    if not isinstance(entry.get(*path, "token"), str):
        yield entry.found(*path, "token", wanted="a string")
    if not _is_number(entry.get(*path, "logprob")):
        yield entry.found(*path, "logprob", wanted="a number")
    part = entry.get(*path, "bytes")
    if part is not None and not _is_bytes(part):
        yield entry.found(*path, "bytes", wanted="an array of integers from 0 to 255, or null")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_bytes(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is int and 0 <= one <= 255 for one in value)


STREAMED = stream(
    start(),
    piece(content="Hel", choice=logprobs(token("Hel"))),
    piece(content="lo.", choice=logprobs(token("lo."))),
    piece("stop"),
    asked=ON,
)
"""A clean stream with log probabilities, for examples."""


@rule(
    "chat.response.logprobs-counted",
    level="MUST",
    basis="prose",
    source=(
        f"{REQUEST} n (charged by the tokens generated across all of the choices)",
        schema("CompletionUsage completion_tokens"),
    ),
    violating=answer(asked=ON, choice=HELLO, usage=USAGE | {"completion_tokens": 1, "total_tokens": 10}),
    conforming=answer(asked=ON, choice=HELLO),
    consequence="what several choices cost is told for one",
)
def counted(reply: Answer) -> Iterator[Violation]:
    """completion_tokens counts at least the tokens, of all choices, whose log probabilities are told.

    The rule is this suite's own. There may be more: those that a client does not see.
    """
    listed = (lookup(one, ("logprobs", name)) for one in reply.choices for name in LISTS)
    told = sum(len(entries) for entries in listed if isinstance(entries, list))
    counts = reply.get("usage", "completion_tokens")
    if type(counts) is int and counts < told:
        yield reply.found("usage", "completion_tokens", wanted=f"at least {told}: so many tokens are told")
