"""Mutants of what stands beside the essentials of a stream."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import DELTA, each, event, events, put
from conformance.simulator.mutants.mutant import Mutant

PLAIN = "stream.plain"
FIRST, SECOND, FINISH = 1, 2, -2


def _idle(given: list[Any]) -> None:
    empty = given[FIRST] | {"choices": [given[FIRST]["choices"][0] | {"delta": {}}]}
    given[SECOND:SECOND] = [empty] * 20


def _saying(document: Any, text: str) -> Any:
    return document | {"choices": [document["choices"][0] | {"delta": {"content": text}}]}


def _bookkeeping(given: list[Any]) -> None:
    given.insert(SECOND, given[FIRST] | {"choices": []})


def _reasoning_late(given: list[Any]) -> None:
    thoughts = [e for e in given[FIRST:FINISH] if "reasoning_content" in e["choices"][0]["delta"]]
    words = [e for e in given[FIRST:FINISH] if e not in thoughts]
    given[FIRST:FINISH] = words + thoughts


def _failure_as_text(given: list[Any]) -> None:
    given.insert(FINISH, _saying(given[FIRST], "Error: out of memory"))


STREAM_DETAILS = (
    Mutant("chat.stream.model-constant", PLAIN, event(FIRST, put("model", value="other"))),
    Mutant("chat.stream.fingerprint-constant", PLAIN, event(FIRST, put("system_fingerprint", value="fp_b"))),
    Mutant("chat.stream.choices-empty-only-bookkeeping", PLAIN, events(_bookkeeping)),
    Mutant("chat.stream.refusal-string", PLAIN, event(FIRST, put(*DELTA, "refusal", value=7))),
    Mutant("chat.stream.refusal-xor-content", PLAIN, event(FIRST, put(*DELTA, "refusal", value="No."))),
    Mutant(
        "chat.stream.logprobs-shape",
        "stream.logprobs",
        event(FINISH, put("choices", 0, "logprobs", value=[])),
    ),
    Mutant("chat.stream.obfuscation-string", PLAIN, event(FIRST, put("obfuscation", value=7))),
    Mutant(
        "chat.stream.obfuscation-off",
        "stream.obfuscation-off",
        event(FIRST, put("obfuscation", value="k3Zp")),
    ),
    Mutant(
        "chat.stream.no-call-markup-leak",
        "stream.arguments",
        events(lambda given: given.insert(FIRST, _saying(given[0], "<tool_call>\n"))),
    ),
    Mutant(
        "chat.stream.delta-extra-lists-indexed",
        PLAIN,
        each(put(*DELTA, "citations", value=[{"url": "https://example.com"}])),
    ),
    Mutant("chat.stream.delta-extra-numbers", PLAIN, each(put(*DELTA, "speed", value=12))),
    Mutant("chat.stream.reasoning-before-content", "reasoning.stream", events(_reasoning_late)),
    Mutant("chat.stream.error-not-as-content", PLAIN, events(_failure_as_text)),
    Mutant("chat.stream.no-empty-chunk-flood", PLAIN, events(_idle)),
)
