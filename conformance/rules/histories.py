"""What a client's next request must say of the conversation so far: its fault where it does not.

Judged in recorded traffic, where the client is not ours. Requests are read in canonical form, so that one
rule speaks for all wires that have the words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.rules.anthropic import examples as anthropic
from conformance.rules.examples import Exchanges, answer, call, conversation, tool
from conformance.rules.reading import Reading, read_json
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, docs, gemini_docs, schema
from conformance.rules.views import Run, View, Violation, lookup
from conformance.types import Message, Part, Reasoning, Text, ToolCall, Turn, WireName
from conformance.wires import wire

BY_ID: tuple[WireName, ...] = ("openai-chat", "openai-responses", "anthropic-messages")
"""The wires whose results name the call they answer."""
SEALING: tuple[WireName, ...] = ("openai-responses", "anthropic-messages", "gemini")
"""The wires whose reasoning carries what only its provider can read."""

_MESSAGES: Mapping[WireName, str] = {"openai-responses": "input", "gemini": "contents"}
_STATE = ("previous_response_id", "conversation")
"""Members of a Responses request that stand for a history kept by the server."""
_SEALS = ("signature", "data", "thoughtSignature")

RECENT = 8

Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class History(View):
    """A request that goes on with a conversation, in canonical form.

    ``answers`` are, by the place of the assistant message that repeats one, the turns of earlier exchanges
    that it may be: the same text, the same functions called. Only the latest messages and turns are looked
    at: what came before stood in the requests before.
    """

    messages: tuple[Message, ...] = ()
    answers: Mapping[int, Sequence[Turn]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        said: dict[Key, deque[Turn]] = {}
        for reading in run.readings:
            exchange = reading.exchange
            if exchange.probe is not None or exchange.expect != "either":
                continue
            messages = messages_of(reading)
            if any(message.role in ("assistant", "tool") for message in messages):
                at = f"/exchanges/{reading.index}/request/body/{_MESSAGES.get(exchange.wire, 'messages')}"
                spoken = [place for place, message in enumerate(messages) if message.role == "assistant"]
                repeated = {
                    place: tuple(said[key])
                    for place in spoken[-RECENT:]
                    if (key := key_of(messages[place].parts)) in said
                }
                yield cls(reading, at, None, None, messages, repeated)
            if len(run.readings) > 1:
                for turn in turns_of(reading):
                    said.setdefault(key_of(turn.parts), deque(maxlen=RECENT)).append(turn)

    @property
    def is_whole(self) -> bool:
        """Whether all of the conversation is in the request, and none of it kept by the server."""
        asked = self.reading.asked
        return isinstance(asked, dict) and not any(asked.get(name) for name in _STATE)

    def wrong(self, place: int, wanted: str, saw: str) -> Violation:
        """A violation in the message at a place of the canonical history."""
        return self.found(wanted=wanted, saw=f"{saw} (message {place} of {len(self.messages)})")


def messages_of(reading: Reading) -> tuple[Message, ...]:
    """The messages of a request in canonical form; ``()`` where it has none that can be read."""
    if not isinstance(reading.asked, dict):
        return ()
    try:
        return wire(reading.exchange.wire).decode_request(reading.asked, path=reading.path).messages
    except ValueError:
        return ()


def turns_of(reading: Reading) -> tuple[Turn, ...]:
    """The turns that an exchange brought; ``()`` where it brought none."""
    response = reading.exchange.response
    return wire(reading.exchange.wire).decode(response) if response and reading.succeeded else ()


def key_of(parts: Sequence[Part]) -> Key:
    """What a client repeats of a turn over any wire: the text, white space aside, and which functions."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return " ".join(text.split()), tuple(part.name for part in parts if isinstance(part, ToolCall))


CALLED = answer(calls=[call()], expect="either")


def _result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "18 degrees"}


def _sent(*messages: dict[str, Any], id: str = "chatcmpl-2") -> Exchanges:
    """A request with this history behind its question, and an answer."""
    question = {"role": "user", "content": "What is the weather in Oslo?"}
    asked = {"messages": [question, *messages], "tools": [tool()]}
    return answer(asked=asked, expect="either", id=id)


def _called(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


@rule(
    "client.results-answer-calls",
    wires=BY_ID,
    level="MUST",
    basis="schema",
    subject="client",
    needs=("request", "values"),
    source=(
        f"{schema('ChatCompletionRequestToolMessage')} tool_call_id",
        f"{schema('FunctionCallOutputItemParam')} call_id",
        anthropic_docs("agents-and-tools/tool-use/implement-tool-use"),
    ),
    violating=_sent(_result("call_1")),
    conforming=_sent(_called(call()), _result("call_1")),
    consequence="OpenAI and Anthropic refuse the request with 400; others show the model a result of no call",
)
def results_answer_calls(history: History) -> Iterator[Violation]:
    """Every tool result names a call that the history has before it.

    Not judged where the server keeps a part of the history (previous_response_id, conversation).
    """
    called: set[str] = set()
    for place, message in enumerate(history.messages if history.is_whole else ()):
        called.update(part.id for part in message.parts if isinstance(part, ToolCall))
        if message.role == "tool" and (message.tool_call_id or "") not in called:
            yield history.wrong(place, "the id of a call before it", f"the result of {message.tool_call_id}")


@rule(
    "client.calls-are-answered",
    wires=BY_ID,
    level="MUST",
    basis="prose",
    subject="client",
    needs=("request", "values"),
    source=(
        docs("guides/function-calling"),
        anthropic_docs("agents-and-tools/tool-use/implement-tool-use"),
    ),
    violating=_sent(_called(call()), {"role": "user", "content": "Well?"}),
    conforming=_sent(_called(call(), call(id="call_2")), _result("call_2"), _result("call_1")),
    consequence="OpenAI and Anthropic refuse the request with 400; other models call again, or make it up",
)
def calls_are_answered(history: History) -> Iterator[Violation]:
    """Every call in the history has its result, and before anything else is said.

    Over Responses the results may come later. Not judged where the server keeps a part of the history.
    """
    late = history.reading.exchange.wire == "openai-responses"
    waiting: dict[str, tuple[int, str]] = {}
    for place, message in enumerate(history.messages if history.is_whole else ()):
        if message.role == "tool":
            waiting.pop(message.tool_call_id or "", None)
            continue
        if waiting and not late:
            yield from _unanswered(history, waiting)
            waiting = {}
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        waiting |= {part.id: (place, part.name) for part in calls}
    yield from _unanswered(history, waiting if history.messages[-1].role != "assistant" else {})


def _unanswered(history: History, waiting: Mapping[str, tuple[int, str]]) -> Iterator[Violation]:
    for call_id, (place, name) in waiting.items():
        yield history.wrong(
            place, f"a result for the call {call_id}", f"the call {name}, and no result of it"
        )


@rule(
    "client.answers-go-back-unchanged",
    wires=BY_ID,
    level="SHOULD",
    basis="derived",
    subject="client",
    needs=("request",),
    source=(schema("ChatCompletionRequestAssistantMessage"), docs("guides/function-calling")),
    violating=conversation(CALLED, _sent(_called(call(arguments='{"city":"Rome"}')), _result("call_1"))),
    conforming=conversation(CALLED, _sent(_called(call()), _result("call_1"))),
    consequence="the model reads that it said what it never said, and no prompt cache holds",
)
def unchanged(history: History) -> Iterator[Violation]:
    """An answer that goes back in the history has the calls that were made, with their arguments.

    Arguments are compared as JSON: a client may write them anew, and give calls and results other ids.
    """
    for place, turns in history.answers.items():
        sent = _calls(history.messages[place].parts)
        made = [_calls(turn.parts) for turn in turns]
        if sent not in made:
            yield history.wrong(place, f"the calls {_told(made[-1])}", f"the calls {_told(sent)}")


def _calls(parts: Sequence[Part]) -> list[tuple[str, object]]:
    """The functions called, each with its arguments as JSON, or as text where they are none."""
    calls = [part for part in parts if isinstance(part, ToolCall)]
    return [(one.name, read_json(one.arguments or "{}").value or one.arguments) for one in calls]


def _told(calls: Sequence[tuple[str, object]]) -> str:
    return ", ".join(f"{name}({arguments})" for name, arguments in calls) or "none"


def _thought() -> Exchanges:
    """A question that is answered with sealed reasoning and a call."""
    asked = anthropic.history(anthropic.user(anthropic.text("Weather?"))) | anthropic.THINKING
    blocks = (anthropic.thinking(), anthropic.tool_use())
    return anthropic.answer(*blocks, asked=asked, expect="either")


def _resumed(*blocks: Any) -> Exchanges:
    """The next request, in which the answer is these blocks."""
    told = anthropic.history(
        anthropic.user(anthropic.text("Weather?")),
        anthropic.assistant(*blocks),
        anthropic.user(anthropic.tool_result()),
    )
    return anthropic.answer(asked=told | anthropic.THINKING, expect="either", id="msg_2")


@rule(
    "client.reasoning-goes-back",
    wires=SEALING,
    level="SHOULD",
    basis="prose",
    subject="client",
    needs=("request", "values"),
    source=(
        anthropic_docs("build-with-claude/extended-thinking"),
        gemini_docs("thought-signatures"),
        docs("guides/reasoning"),
    ),
    violating=conversation(_thought(), _resumed(anthropic.tool_use())),
    conforming=conversation(_thought(), _resumed(anthropic.thinking(), anthropic.tool_use())),
    consequence="Anthropic and Gemini 3 refuse the request with 400; others think anew at each step",
)
def reasoning_goes_back(history: History) -> Iterator[Violation]:
    """While calls are answered, the sealed reasoning before them goes back as it came.

    Anthropic's signed thinking, Gemini's thought signatures, the reasoning items of Responses. Judged in the
    last turn of calls, whose results the request brings. A reasoning item that only has an id can't go back
    where the server stores nothing. JSON of protocol buffers may spell bytes in either base64 alphabet, and
    names in either case: google-genai sends back other letters than it got.
    """
    place = next(
        (n for n in range(len(history.messages) - 1, -1, -1) if history.messages[n].role != "tool"), 0
    )
    if not history.is_whole or place == len(history.messages) - 1 or place not in history.answers:
        return
    over = history.reading.exchange.wire
    asked = history.reading.asked
    by_id = not (isinstance(asked, dict) and asked.get("store") is False)
    back = {seal for message in history.messages for part in message.parts for seal in _seals(part, over)}
    back |= _signatures(asked)
    turn = history.answers[place][-1]
    lost = [part for part in turn.parts if (seals := _seals(part, over, by_id)) and back.isdisjoint(seals)]
    if lost and turn.calls:
        yield history.wrong(place, "the sealed reasoning of the answer", f"{len(lost)} parts without theirs")


def _seals(part: Part, over: WireName, by_id: bool = True) -> frozenset[str]:
    """What tells a sealed part: its signature; of a reasoning item its id, or what is encrypted."""
    own = (part.opaque or {}).get(over, {})
    found = [own.get(name) for name in _SEALS]
    item = own.get("item")
    if isinstance(part, Reasoning) and isinstance(item, dict) and (by_id or item.get("encrypted_content")):
        found += [item.get("id"), item.get("encrypted_content")]
    return frozenset(_spelt(seal) for seal in found if isinstance(seal, str) and seal)


def _signatures(asked: Any) -> set[str]:
    """The thought signatures of a Gemini request whose names are in the case of protocol buffers."""
    contents = lookup(asked, ("contents",))
    found: set[str] = set()
    for content in contents if isinstance(contents, list) else ():
        parts = lookup(content, ("parts",))
        for part in parts if isinstance(parts, list) else ():
            seal = lookup(part, ("thought_signature",))
            if isinstance(seal, str):
                found.add(_spelt(seal))
    return found


def _spelt(seal: str) -> str:
    """A seal in the letters of plain base64, unpadded."""
    return seal.replace("-", "+").replace("_", "/").rstrip("=")
