"""Histories: what a server said, sent back to it, with results and reasoning."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.examples import answer, call, error
from conformance.rules.registry import rule
from conformance.rules.sources import schema, sdk
from conformance.rules.views import Probe, Violation

ASSISTANT = {"role": "assistant", "content": None, "tool_calls": [call()]}
QUESTION = {"role": "user", "content": "How warm is it in Oslo?"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}
WITH_RESULT = {"messages": [QUESTION, ASSISTANT, RESULT]}
ORPHAN = {"messages": [QUESTION, RESULT]}
THOUGHT = {"messages": [QUESTION, ASSISTANT | {"reasoning_content": "Look it up."}, RESULT]}
ECHO = {"messages": [QUESTION, {"role": "assistant", "content": "18 degrees."}, QUESTION]}


@rule(
    "mt.echo-own-message",
    level="MUST",
    basis="derived",
    source=(
        schema("ChatCompletionRequestAssistantMessage"),
        sdk("types/chat/chat_completion_message.py"),
    ),
    probe="history",
    violating=error(400, asked=ECHO, probe="history", expect="answer"),
    conforming=answer(asked=ECHO, probe="history"),
    consequence="no conversation gets past its first turn: clients append the message that they got",
)
def echo(probe: Probe) -> Iterator[Violation]:
    """The server accepts its own assistant message appended verbatim to messages."""
    yield from probe.accepted()


@rule(
    "mt.tool-result-accepted",
    level="MUST",
    basis="schema",
    source=schema("ChatCompletionRequestToolMessage"),
    probe="tool-result",
    violating=error(400, asked=WITH_RESULT, probe="tool-result", expect="answer"),
    conforming=answer(asked=WITH_RESULT, probe="tool-result"),
    consequence="tools can be called but never answered",
)
def tool_result(probe: Probe) -> Iterator[Violation]:
    """An assistant message with tool_calls followed by one tool message per id is accepted.

    Required by the published schema. Whether the model then uses the result is the model's part: scenarios
    look for a canary, and it is never a violation.
    """
    yield from probe.accepted()


@rule(
    "mt.tool-result-orphan-400",
    level="SHOULD",
    basis="convention",
    source="mistral-common 1.13.1 mistral_common/protocol/instruct/validator.py (unexpected tool call id)",
    probe="orphan-tool-result",
    violating=answer(asked=ORPHAN, probe="orphan-tool-result", expect="either"),
    conforming=error(400, asked=ORPHAN, probe="orphan-tool-result", expect="either"),
    consequence="a history that lost a call goes unnoticed, and the model sees a result out of nowhere",
)
def orphan(probe: Probe) -> Iterator[Violation]:
    """A tool message whose id matches no preceding call is refused with 400.

    422 is accepted.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "mt.reasoning-echo-accepted",
    level="SHOULD",
    basis="convention",
    source="ollama/ollama@fb307609 openai/openai.go",
    probe="reasoning-echo",
    violating=error(400, asked=THOUGHT, probe="reasoning-echo", expect="answer"),
    conforming=answer(asked=THOUGHT, probe="reasoning-echo"),
    consequence="a client that keeps reasoning, as DeepSeek demands, fails here",
)
def reasoning(probe: Probe) -> Iterator[Violation]:
    """An assistant message carrying reasoning_content or reasoning is accepted."""
    yield from probe.accepted()
