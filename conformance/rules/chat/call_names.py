"""Names of called functions that hold what belongs to the machinery behind."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import Call
from conformance.rules.examples import answer, call
from conformance.rules.markup import control_tokens
from conformance.rules.registry import rule
from conformance.rules.views import Violation


@rule(
    "chat.response.tool-call-name-no-tokens",
    level="SHOULD",
    basis="convention",
    source=("vllm-project/vllm issue 32587", "openai/harmony PR 114"),
    violating=answer(calls=[call(name="get_weather<|channel|>commentary")]),
    conforming=answer(calls=[call(name="get_weather")]),
    consequence="no function has that name: the call fails, and the model makes it again",
    also=("chat.response.tool-call-name-declared",),
)
def name_without_tokens(one: Call) -> Iterator[Violation]:
    """function.name holds no control tokens of a chat template."""
    for token in control_tokens(one.name):
        yield one.found(
            "function", "name", wanted="a name without control tokens", saw=f"{token} in {one.name}"
        )
        return
