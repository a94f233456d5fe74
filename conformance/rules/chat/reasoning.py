"""Reasoning that was switched off, and what reasoning costs."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import Counted, Message
from conformance.rules.examples import USAGE, answer
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Run, Violation

FIELDS = ("reasoning_content", "reasoning")
SPENT = ("completion_tokens_details", "reasoning_tokens")
THOUGHT = {"reasoning_content": "Hm."}


@rule(
    "chat.response.reasoning-off",
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=schema("ReasoningEffort"),
    violating=answer(asked={"reasoning_effort": "none"}, message=THOUGHT),
    conforming=answer(asked={"reasoning_effort": "none"}),
    consequence="the user waits, and pays, for thoughts that the client had switched off",
)
def off(run: Run) -> Iterator[Violation]:
    """With reasoning_effort none there is no reasoning, and none is counted.

    The rule is this suite's own: the schema says that "none" performs no reasoning. A server or model that
    cannot do without may refuse the value.
    """
    for message in run.views(Message):
        if message.asked and message.asked.body.get("reasoning_effort") == "none":
            for name in FIELDS:
                if isinstance(message.get(name), str) and message.get(name):
                    yield message.found(name, wanted="no reasoning (reasoning_effort was none)")
    for usage in run.views(Counted):
        if usage.asked and usage.asked.body.get("reasoning_effort") == "none" and usage.count(*SPENT):
            yield usage.found(*SPENT, wanted="0 (reasoning_effort was none)")


@rule(
    "chat.response.usage-reasoning-counted",
    level="SHOULD",
    basis="prose",
    source=schema("CompletionUsage completion_tokens_details reasoning_tokens"),
    violating=answer(message=THOUGHT, usage={**USAGE, SPENT[0]: {SPENT[1]: 0}}),
    conforming=answer(message=THOUGHT, usage={**USAGE, SPENT[0]: {SPENT[1]: 1}}),
    consequence="a client that tells thoughts from answers by their tokens books all of them as answer",
)
def counted(run: Run) -> Iterator[Violation]:
    """An answer that shows reasoning does not count its reasoning_tokens as 0.

    The rule is this suite's own. The member is optional: where it is left out, nothing is said.
    """
    thinking = {
        message.reading.index
        for message in run.views(Message)
        if any(isinstance(message.get(name), str) and message.get(name).strip() for name in FIELDS)
    }
    for usage in run.views(Counted):
        if usage.reading.index in thinking and usage.count(*SPENT) == 0:
            yield usage.found(*SPENT, wanted="more than 0: the answer shows reasoning")
