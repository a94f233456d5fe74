"""What deltas hold beside text and calls: refusals, reasoning, padding, members of the provider's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.rules.chat.stream import ACCUMULATE, CHUNK, DELTA
from conformance.rules.chat.streams import ChatStream, ChoiceStream, Chunk, Delta
from conformance.rules.examples import opened, piece, start, stream, tool_stream
from conformance.rules.markup import call_prelude
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Violation, lookup

OPTIONS = schema("ChatCompletionStreamOptions")
REASONING = ("reasoning_content", "reasoning")
PUBLISHED = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "audio"})
SAFE = PUBLISHED | {"index", "type"}
"""Members that the schema has, and those that the SDK replaces and never adds up."""
MOST_EMPTY = 0.2
FEW = 5
"""Empty deltas of a choice that are left alone whatever their share."""


@rule(
    "chat.stream.refusal-string",
    level="MUST",
    basis="schema",
    source=DELTA,
    violating=stream(start(), piece(refusal=True), piece(content="Hello."), piece("stop")),
    conforming=stream(start(), piece(refusal="I can't."), piece("stop")),
    consequence="concatenating the refusal raises TypeError; openai-python's helper drops it",
)
def refusal_string(one: Delta) -> Iterator[Violation]:
    """delta.refusal is a string or null."""
    refusal = one.get("delta", "refusal")
    if refusal is not ABSENT and not isinstance(refusal, str | None):
        yield one.found("delta", "refusal", wanted="a string or null")


@rule(
    "chat.stream.refusal-xor-content",
    level="SHOULD",
    basis="convention",
    source=DELTA,
    violating=stream(start(), piece(content="I can't."), piece(refusal="I can't."), piece("stop")),
    conforming=stream(start(), piece(refusal="I can't."), piece("stop")),
    consequence="openai-python's helper raises ValueError where it should parse; other clients show both",
)
def refusal_alone(choice: ChoiceStream) -> Iterator[Violation]:
    """A refusing choice streams refusal deltas and no content deltas."""
    both = choice.value["content"] and choice.value["refusal"]
    if both:
        one = next(delta for delta in choice.deltas if delta.text("content"))
        yield one.found("delta", "content", wanted="no content beside a refusal")


@rule(
    "chat.stream.reasoning-before-content",
    level="SHOULD",
    basis="convention",
    source="ollama/ollama@fb307609 openai/openai.go ToStreamChunks",
    violating=stream(start(), piece(content="42."), piece(reasoning_content="They want 42."), piece("stop")),
    conforming=stream(start(), piece(reasoning_content="They want 42."), piece(content="42."), piece("stop")),
    consequence="clients close the thought at the first word of the answer and lose or misplace the rest",
)
def reasoning_first(choice: ChoiceStream) -> Iterator[Violation]:
    """Reasoning deltas precede the first content or tool delta of the same step.

    Corrected: a choice that reasoned before its first word may go on later, as interleaved thinking does; a
    violation is one that begins to reason after the answer began.
    """
    if not any(isinstance(choice.value.get(name), str) for name in REASONING):
        return
    for one in choice.deltas:
        if any(one.text(name) for name in REASONING):
            return
        if one.payload:
            thought = next((d for d in choice.deltas if any(d.text(name) for name in REASONING)), None)
            if thought is not None:
                yield thought.found("delta", wanted="reasoning before the answer", saw="reasoning after it")
            return


@rule(
    "chat.stream.no-call-markup-leak",
    level="SHOULD",
    strict_level="MUST",
    basis="convention",
    source="the chat templates and tool-call formats of the model families",
    violating=tool_stream(
        piece(content="<tool_"), piece(content="call>\n"), opened(arguments='{"city":"Oslo"}')
    ),
    conforming=tool_stream(piece(content="Let me see."), opened(arguments='{"city":"Oslo"}')),
    consequence="the user sees the beginning of the markup, and it is sent back as part of the history",
)
def no_markup_before_calls(choice: ChoiceStream) -> Iterator[Violation]:
    """Accumulated content holds no raw tool-call markup, nor a partial marker that later turns into a call.

    Judged here is the piece of a marker that was streamed as text before the parser saw a call in it; whole
    markup is chat.response.no-call-markup-leak's, which judges streams too.
    """
    content = choice.value["content"]
    if choice.calls and isinstance(content, str) and (left := call_prelude(content)):
        one = next(delta for delta in reversed(choice.deltas) if delta.text("content").strip())
        yield one.found("delta", "content", wanted="no markup before the call", saw=left)


@rule(
    "chat.stream.no-empty-chunk-flood",
    level="SHOULD",
    basis="convention",
    source=CHUNK,
    violating=stream(start(), piece(content="Hello."), *(piece() for _ in range(6)), piece("stop")),
    conforming=stream(),
    consequence="every chunk costs its 300 bytes and its parsing, for nothing",
)
def no_flood(choice: ChoiceStream) -> Iterator[Violation]:
    """Chunks with an empty delta and no finish_reason are rare.

    Corrected: no word on two in a row, which tokens that a parser holds back bring about. More than five in
    a choice and more than a fifth of its chunks are too many.
    """
    empty = [one for one in choice.deltas if _is_empty(one)]
    some, all_ = (sum(one.times for one in ones) for ones in (empty, choice.deltas))
    if some > FEW and some > MOST_EMPTY * all_:
        saw = f"{some} of {all_} are empty"
        yield empty[0].found("delta", wanted="deltas that say something", saw=saw)


@rule(
    "chat.stream.obfuscation-string",
    level="MAY",
    basis="schema",
    source=f"{CHUNK} obfuscation",
    violating=stream(start(), piece(content="Hello.", obfuscation="k3Zp"), piece("stop")),
    conforming=stream(start() | {"obfuscation": "k3Zp"}, piece(content="Hello."), piece("stop")),
    consequence="inside a delta openai-python makes the padding a member of the message",
)
def obfuscation_string(one: Chunk) -> Iterator[Violation]:
    """obfuscation, if present, is a string at chunk level."""
    if not isinstance(one.get("obfuscation"), str | None) and one.get("obfuscation") is not ABSENT:
        yield one.found("obfuscation", wanted="a string")
    choices = one.get("choices")
    for place in range(len(choices) if isinstance(choices, list) else 0):
        if one.get("choices", place, "delta", "obfuscation") is not ABSENT:
            yield one.found("choices", place, "delta", "obfuscation", wanted="no such member in a delta")


@rule(
    "chat.stream.obfuscation-off",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{OPTIONS} include_obfuscation",
    violating=stream(
        start() | {"obfuscation": "k3Zp"},
        piece(content="Hello."),
        piece("stop"),
        asked={"stream_options": {"include_obfuscation": False}},
    ),
    conforming=stream(asked={"stream_options": {"include_obfuscation": False}}),
    consequence="the traffic that the client wanted to save is spent",
)
def obfuscation_off(one: ChatStream) -> Iterator[Violation]:
    """include_obfuscation false removes the obfuscation member; null pads nothing."""
    body: Mapping[str, Any] = one.asked.body if one.asked else {}
    if lookup(body, ("stream_options", "include_obfuscation")) is False:
        for padded in one.chunks:
            if padded.get("obfuscation") not in (ABSENT, None):
                yield padded.found("obfuscation", wanted="no such member (it was switched off)")


@rule(
    "chat.stream.delta-extra-lists-indexed",
    level="SHOULD",
    basis="sdk",
    source=(ACCUMULATE, "OpenRouter docs reasoning_details"),
    violating=stream(
        start(),
        piece(reasoning_details=[{"text": "They "}]),
        piece(reasoning_details=[{"text": "ask."}]),
        piece(content="Hello."),
        piece("stop"),
    ),
    conforming=stream(
        start(),
        piece(reasoning_details=[{"index": 0, "text": "They "}]),
        piece(reasoning_details=[{"index": 0, "text": "ask."}]),
        piece(content="Hello."),
        piece("stop"),
    ),
    consequence="openai-python's helper raises RuntimeError: it expects an index in each entry",
)
def lists_indexed(choice: ChoiceStream) -> Iterator[Violation]:
    """A provider list inside delta gives each object an integer index, or occurs in one delta only.

    Lists that are empty, and lists of texts and numbers, which the SDK appends, are left alone.
    """
    for name, ones in _extras(choice, list).items():
        for one in ones[1:]:
            entries = one.get("delta", name)
            place = next((p for p, entry in enumerate(entries) if _has_no_index(entry)), None)
            if place is not None:
                yield one.found("delta", name, place, "index", wanted="an integer (the list comes again)")
                break


@rule(
    "chat.stream.delta-extra-numbers",
    level="SHOULD",
    basis="sdk",
    source=ACCUMULATE,
    violating=stream(start(), piece(content="Hel", seq=1), piece(content="lo.", seq=2), piece("stop")),
    conforming=stream(start() | {"seq": 1}, piece(content="Hello.") | {"seq": 2}, piece("stop")),
    consequence="openai-python adds the numbers up: 1 and 2 become 3",
)
def numbers_once(choice: ChoiceStream) -> Iterator[Violation]:
    """Provider numbers are not repeated inside delta.

    At chunk level they are safe.
    """
    for name, ones in _extras(choice, (int, float)).items():
        for one in ones[1:2]:
            yield one.found("delta", name, wanted="a number in one delta only, or at chunk level")


def _is_empty(one: Delta) -> bool:
    delta = one.get("delta")
    if not isinstance(delta, dict) or one.finish_reason is not None:
        return False
    said = any(value for name, value in delta.items() if name != "role")
    return not said and not (one.first and delta.get("role"))


def _extras(choice: ChoiceStream, kind: Any) -> dict[str, list[Delta]]:
    """The deltas that hold a non-empty value of a kind under each name that no schema has."""
    found: dict[str, list[Delta]] = {}
    for one in choice.deltas:
        delta = one.get("delta")
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if isinstance(value, kind) and name not in SAFE and value != []:
                found.setdefault(name, []).append(one)
    return found


def _has_no_index(entry: Any) -> bool:
    return isinstance(entry, dict) and type(entry.get("index")) is not int
