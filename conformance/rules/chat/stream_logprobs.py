"""Log probabilities in streams: the object in a chunk, and what it says of the chunk's text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.logprobs import (
    ENTRY,
    LISTS,
    ON,
    STREAMED,
    content_entries,
    joined,
    logprobs,
    token,
)
from conformance.rules.chat.stream import CHUNK
from conformance.rules.chat.streams import ChoiceStream, Delta
from conformance.rules.examples import piece, start, stream
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import sdk
from conformance.rules.views import Violation


@rule(
    "chat.stream.logprobs-shape",
    level="MUST",
    basis="schema",
    source=(CHUNK, ENTRY),
    violating=stream(
        start(),
        piece(content="Hel", choice=logprobs(token("Hel"))),
        piece(content="lo.", choice=logprobs(token("lo."))),
        piece("stop", choice={"logprobs": []}),
        asked=ON,
    ),
    conforming=STREAMED,
    consequence="openai-python's helper reads choice.logprobs.content and raises AttributeError",
)
def shape(one: Delta) -> Iterator[Violation]:
    """chunk logprobs is null or an object with content and refusal lists (or null).

    Corrected: a missing refusal is left alone, as openai-python's type declares both lists optional. The
    entries are chat.response.logprobs-entry-shape's.
    """
    found = one.get("logprobs")
    if found is ABSENT or found is None:
        return
    if not isinstance(found, dict):
        yield one.found("logprobs", wanted="an object or null")
        return
    for name in LISTS:
        if not isinstance(found.get(name), list | None):
            yield one.found("logprobs", name, wanted="an array or null")


@rule(
    "chat.stream.logprobs-match-delta",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=sdk("lib/streaming/chat/_completions.py (logprobs are accumulated beside the content)"),
    violating=stream(
        start(), piece(content="Hello.", choice=logprobs(token("Hel"))), piece("stop"), asked=ON
    ),
    conforming=STREAMED,
    consequence="probabilities cannot be laid over the text: they belong to other words",
)
def match(choice: ChoiceStream) -> Iterator[Violation]:
    """Tokens of a chunk's logprobs concatenate to its content delta.

    Asked of the whole stream: tokens may come a chunk before or after their text. By their bytes where all
    have them, else by their spelling.
    """
    entries = [entry for one in choice.deltas for entry in content_entries(one)]
    stops = choice.asked is not None and bool(choice.asked.stop)
    if not entries or not choice.settled or stops or choice.finish_reason != "stop":
        return
    content = choice.value["content"] or ""
    rebuilt = joined(entries)
    spelt = "".join(text for one in entries if isinstance(text := _token(one), str))
    agrees = spelt == content if rebuilt is None else rebuilt == content.encode(errors="surrogatepass")
    if not agrees:
        said = spelt if rebuilt is None else rebuilt.decode(errors="replace")
        yield choice.found("content", wanted="what the tokens make up", saw=f"tokens: {said}")


def _token(entry: Any) -> Any:
    return entry.get("token") if isinstance(entry, dict) else None
