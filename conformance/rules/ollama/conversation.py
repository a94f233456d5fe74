"""Conversations: calls and their results, thoughts sent back, pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.rules.examples import Exchanges, conversation
from conformance.rules.ollama.asked import Asked, asked_in, is_chat
from conformance.rules.ollama.examples import WIRES, answer, call, error, history, result, said, user
from conformance.rules.ollama.views import Message
from conformance.rules.pairing import by_question
from conformance.rules.reading import Reading
from conformance.rules.registry import rule
from conformance.rules.sources import ollama
from conformance.rules.views import Probe, Run, Violation, lookup

TOOLS = ollama("docs/capabilities/tool-calling.mdx")
VISION = ollama("docs/capabilities/vision.mdx")
QUESTION = user("Which code has Oslo?")
OSLO, LIMA = call(1), call(2, function={"arguments": {"city": "Lima"}})
ONE = history(QUESTION, said(OSLO), result("wind code KESTREL"))
BOTH = history(user(), said(OSLO, LIMA), result("KESTREL"), result("HERON"), QUESTION)
THOUGHT = history(QUESTION, said(OSLO, thinking="They want Oslo."), result())
SEEN, UNSEEN = {"messages": [user(images=["iVBORw0KGgo="])]}, {"messages": [user()]}
CODE = re.compile(r"\b[A-Z]{5,}\b")
"""A word that no model guesses: what the suite's results have for it to repeat."""
MOST_CODES = 20
WITHOUT = "without-"
"""How the probes begin that ask what the request before asked, less what was attached."""


@rule(
    "oll.mt.tool-result-accepted",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=TOOLS,
    probe="tool-result",
    violating=error(400, asked=ONE, probe="tool-result", expect="answer"),
    conforming=answer(asked=ONE, message={"content": "KESTREL"}, probe="tool-result"),
    consequence="tools can be called but never answered",
)
def result_accepted(probe: Probe) -> Iterator[Violation]:
    """A tool result, {role: tool, tool_name, content} after the message with the call, is accepted.

    The half of the catalogue's oll.mt.tool-result that is the endpoint's.
    """
    yield from probe.accepted()


@rule(
    "oll.mt.tool-result",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=TOOLS,
    subject="model",
    probe="tool-result",
    violating=answer(asked=ONE, message={"content": "I do not know."}, probe="tool-result"),
    conforming=answer(asked=ONE, message={"content": "It is KESTREL."}, probe="tool-result"),
    consequence="the model answers as if no tool had been run",
)
def result_used(one: Message) -> Iterator[Violation]:
    """The answer to a tool result uses it.

    Judges the model: where the last result has a word in capitals that stands nowhere else in the history,
    the answer has it too. Answers that call again are left alone.
    """
    if not one.settled or one.calls:
        return
    words = _codes(one.asked)
    if words and not any(word in one.content for word in words):
        first = one.first_with("content") or one.last
        yield first.found("message", "content", wanted=f"what the tool returned: {' or '.join(words)}")


@rule(
    "oll.mt.tool-results-accepted",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=f"{TOOLS} (parallel tool calling)",
    probe="tool-results",
    violating=error(400, asked=BOTH, probe="tool-results", expect="answer"),
    conforming=answer(asked=BOTH, message={"content": "KESTREL"}, probe="tool-results"),
    consequence="no client can answer parallel calls",
)
def results_accepted(probe: Probe) -> Iterator[Violation]:
    """The results of several calls, one message each, are accepted.

    Not in the catalogue, which has the same rule for Chat.
    """
    yield from probe.accepted()


@rule(
    "oll.mt.tool-results-pairing",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{TOOLS} (parallel tool calling)",
    subject="model",
    probe="tool-results",
    violating=answer(asked=BOTH, message={"content": "HERON"}, probe="tool-results"),
    conforming=answer(asked=BOTH, message={"content": "KESTREL"}, probe="tool-results"),
    consequence="results of parallel calls are swapped, and nothing in the answer tells",
)
def results_paired(one: Message) -> Iterator[Violation]:
    """Results belong to the calls of their tool, in order.

    Not in the catalogue. It takes an answer to see that, so it judges the model: the question names what one
    call was about, and the answer must not hold the result of another one in its place.
    """
    right, wrong = _results_by_question(one.asked)
    content = one.content
    if right and any(text in content for text in wrong) and not any(text in content for text in right):
        first = one.first_with("content") or one.last
        yield first.found("message", "content", wanted=f"what that call returned: {' or '.join(right)}")


@rule(
    "oll.mt.reasoning-echo",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{TOOLS} (examples append the whole message)",
    probe="reasoning-echo",
    violating=error(400, asked=THOUGHT, probe="reasoning-echo", expect="answer"),
    conforming=answer(asked=THOUGHT, probe="reasoning-echo"),
    consequence="the manual's own loop, which sends the message back as it came, fails here",
)
def reasoning_echo(probe: Probe) -> Iterator[Violation]:
    """A message is accepted back with its thinking.

    Not in the catalogue.
    """
    yield from probe.accepted()


def _pair(tokens: int) -> Exchanges:
    return conversation(
        answer(asked=SEEN, prompt_eval_count=tokens),
        answer(asked=UNSEEN, probe="without-image", expect="either"),
    )


@rule(
    "oll.request.images-not-ignored",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=VISION,
    violating=_pair(9),
    conforming=_pair(265),
    consequence="the model describes a picture that it never saw",
)
def images_ignored(run: Run) -> Iterator[Violation]:
    """Pictures in a request are read or refused with a 4xx, never dropped.

    Not in the catalogue. They cost tokens: an answer whose prompt_eval_count is no more than that of the same
    request without them was made without them.
    """
    for one, other in pairwise(run.readings):
        if not (other.exchange.probe or "").startswith(WITHOUT) or not (is_chat(one) and is_chat(other)):
            continue
        seen, unseen = _prompt(one), _prompt(other)
        if asked_in(one).has_pictures and seen is not None and unseen is not None and seen <= unseen:
            probe = Probe(one, f"/exchanges/{one.index}/response/body")
            wanted = f"more than {unseen}, which the same request costs without its picture"
            yield probe.found("prompt_eval_count", wanted=wanted, saw=str(seen))


def _prompt(reading: Reading) -> int | None:
    count = lookup(reading.body.value, ("prompt_eval_count",))
    return count if reading.succeeded and type(count) is int else None


def _codes(asked: Asked) -> list[str]:
    """The words in capitals of the last message, a tool's, that stand nowhere else."""
    last = asked.messages[-1] if asked.messages else None
    content = lookup(last, ("content",))
    if lookup(last, ("role",)) != "tool" or not isinstance(content, str):
        return []
    return [
        word
        for word in list(dict.fromkeys(CODE.findall(content)))[:MOST_CODES]
        if asked.text.count(word) == content.count(word)
    ]


def _results_by_question(asked: Asked) -> tuple[list[str], list[str]]:
    """The results of the calls that the last user message is about, and those of the other calls.

    A result is of the first call of its tool that has none.
    """
    open_calls: dict[str, list[Any]] = {}
    question = ""
    pairs: list[tuple[Any, str]] = []
    for one in asked.messages:
        role, content = lookup(one, ("role",)), lookup(one, ("content",))
        if role == "user" and isinstance(content, str):
            question = content
        calls = lookup(one, ("tool_calls",))
        for each in reversed(calls if isinstance(calls, list) else []):
            name = lookup(each, ("function", "name"))
            if isinstance(name, str):
                open_calls.setdefault(name, []).append(lookup(each, ("function", "arguments")))
        name = lookup(one, ("tool_name",))
        waiting = open_calls.get(name) if isinstance(name, str) else None
        if role == "tool" and waiting and isinstance(content, str) and content:
            pairs.append((waiting.pop(), content))
    return by_question(question, pairs)
