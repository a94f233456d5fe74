"""What may be sent, and what must be refused: members of the request, tool results, thinking sent back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.anthropic.envelope import PARAMS
from conformance.rules.anthropic.examples import (
    QUESTION,
    THINKING,
    WIRES,
    answer,
    assistant,
    error,
    history,
    text,
    thinking,
    tool_result,
    tool_use,
    user,
)
from conformance.rules.examples import Exchanges
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Probe, Violation

CALLS = anthropic_docs("agents-and-tools/tool-use/handle-tool-calls")
RESULT = anthropic_sdk("types/tool_result_block_param.py")
REFUSED = (400, 422)
CALLED = assistant(tool_use())
GAP = history(QUESTION, CALLED, user(text("Well?")), assistant(text("Wait.")), user(tool_result()))
PARTIAL = history(QUESTION, assistant(tool_use(1), tool_use(2)), user(tool_result(1)))
LATE = history(QUESTION, CALLED, user(text("Here it is:"), tool_result()))
ORPHAN = history(QUESTION, assistant(text("Hello.")), user(tool_result()))
THOUGHT = {**history(QUESTION, assistant(thinking(), tool_use()), user(tool_result())), **THINKING}


def _no(asked: dict[str, Any], probe: str) -> Exchanges:
    return error(asked=asked, probe=probe)


def _yes(asked: dict[str, Any], probe: str) -> Exchanges:
    return answer(asked=asked, probe=probe, expect="refusal")


# ------------------------------------------------------------------------------------------ the request


@rule(
    "anth.request.max-tokens-required",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{PARAMS} max_tokens: Required",
    probe="max-tokens-missing",
    violating=_yes({"max_tokens": ABSENT}, "max-tokens-missing"),
    conforming=_no({"max_tokens": ABSENT}, "max-tokens-missing"),
    consequence="a client that forgot it works here and is refused by Anthropic",
)
def max_tokens_required(probe: Probe) -> Iterator[Violation]:
    """A request without max_tokens is refused with 400.

    422 is accepted.
    """
    yield from probe.refused_with(*REFUSED)


@rule(
    "anth.request.system-top-level",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{PARAMS} system",
    probe="system-forms",
    violating=error(asked={"system": [text("You are brief.")]}, probe="system-forms", expect="answer"),
    conforming=answer(asked={"system": "You are brief."}, probe="system-forms"),
    consequence="agents that mark their instructions for the cache, which takes blocks, cannot be used",
)
def system_forms(probe: Probe) -> Iterator[Violation]:
    """system is a top-level string or an array of text blocks.

    Corrected: schema; both forms are in the type of the member.
    """
    yield from probe.accepted()


@rule(
    "anth.request.version-header",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=anthropic_sdk("_constants.py ANTHROPIC_API_VERSION (2.14.0 sends 2026-10-21, 1.17.0 2023-06-01)"),
    probe="version-header",
    violating=error(probe="version-header", expect="answer"),
    conforming=answer(probe="version-header"),
    consequence="an update of the official SDK breaks every request",
)
def version_header(probe: Probe) -> Iterator[Violation]:
    """Requests with any known anthropic-version are accepted.

    Asked with 2023-06-01 and with 2026-10-21. That a Bearer token is as good as x-api-key is not asked: each
    endpoint is configured with its own credentials.
    """
    yield from probe.accepted()


# ----------------------------------------------------------------------------------------- tool results


@rule(
    "anth.mt.tool-result-adjacent",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=CALLS,
    probe="result-gap",
    violating=_yes(GAP, "result-gap"),
    conforming=_no(GAP, "result-gap"),
    consequence="a client that mixes up its history works here and is refused by Anthropic",
)
def adjacent(probe: Probe) -> Iterator[Violation]:
    """tool_use blocks are answered in the very next user message.

    Corrected in what is asked: a text of the user in between would be merged with the results, so an answer
    of the assistant stands there too. 422 is accepted.
    """
    yield from probe.refused_with(*REFUSED)


@rule(
    "anth.mt.tool-result-all",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=CALLS,
    probe="result-partial",
    violating=_yes(PARTIAL, "result-partial"),
    conforming=_no(PARTIAL, "result-partial"),
    consequence="a client that lost a result goes unnoticed here and is refused by Anthropic",
)
def all_answered(probe: Probe) -> Iterator[Violation]:
    """Every tool_use id has a tool_result in that message.

    422 is accepted.
    """
    yield from probe.refused_with(*REFUSED)


@rule(
    "anth.mt.tool-result-first",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=CALLS,
    probe="result-after-text",
    violating=_yes(LATE, "result-after-text"),
    conforming=_no(LATE, "result-after-text"),
    consequence="a client that puts a text before its results works here and is refused by Anthropic",
)
def first(probe: Probe) -> Iterator[Violation]:
    """In that message tool_result blocks come before any text.

    That a text may follow them is anth.request.accepted's. 422 is accepted.
    """
    yield from probe.refused_with(*REFUSED)


@rule(
    "anth.mt.tool-result-orphan",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=CALLS,
    probe="orphan-tool-result",
    violating=_yes(ORPHAN, "orphan-tool-result"),
    conforming=_no(ORPHAN, "orphan-tool-result"),
    consequence="a result that answers nothing reaches the model as a fact from nowhere",
)
def orphan(probe: Probe) -> Iterator[Violation]:
    """A tool_result without a matching preceding tool_use is refused.

    422 is accepted.
    """
    yield from probe.refused_with(*REFUSED)


@rule(
    "anth.mt.tool-result-content-forms",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=RESULT,
    probe="result-forms",
    violating=error(
        asked=history(QUESTION, CALLED, user(tool_result(content=ABSENT))),
        probe="result-forms",
        expect="answer",
    ),
    conforming=answer(
        asked=history(QUESTION, CALLED, user(tool_result(content=[text("18 degrees")]))), probe="result-forms"
    ),
    consequence="tools that return nothing, or pictures, cannot be used",
)
def result_forms(probe: Probe) -> Iterator[Violation]:
    """tool_result content may be a string, an array of blocks, or absent."""
    yield from probe.accepted()


@rule(
    "anth.mt.tool-result-is-error",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=RESULT,
    probe="result-is-error",
    violating=error(
        asked=history(QUESTION, CALLED, user(tool_result(is_error=True))),
        probe="result-is-error",
        expect="answer",
    ),
    conforming=answer(
        asked=history(QUESTION, CALLED, user(tool_result(is_error=True))), probe="result-is-error"
    ),
    consequence="a client cannot tell the model that its tool failed",
)
def result_is_error(probe: Probe) -> Iterator[Violation]:
    """is_error true is accepted."""
    yield from probe.accepted()


# --------------------------------------------------------------------------------------------- thinking


@rule(
    "anth.mt.thinking-echo",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=anthropic_sdk("types/thinking_block_param.py"),
    probe="reasoning-echo",
    violating=error(asked=THOUGHT, probe="reasoning-echo", expect="answer"),
    conforming=answer(asked=THOUGHT, probe="reasoning-echo"),
    consequence="no agent can use tools with thinking: the second request of each turn is refused",
)
def thinking_echo(probe: Probe) -> Iterator[Violation]:
    """With thinking and tools, thinking blocks are accepted back unmodified in place.

    Redacted ones too. That a modified one is refused is anth.mt.thinking-altered's.
    """
    yield from probe.accepted()


@rule(
    "anth.mt.thinking-altered",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=anthropic_sdk("types/thinking_block_param.py"),
    probe="altered-thinking",
    violating=_yes(THOUGHT, "altered-thinking"),
    conforming=_no(THOUGHT, "altered-thinking"),
    consequence="a client that changes what it should only carry works here and is refused by Anthropic",
)
def thinking_altered(probe: Probe) -> Iterator[Violation]:
    """A thinking block with an altered signature is refused with 400.

    Split off from anth.mt.thinking-echo, and SHOULD: a server that signs nothing has nothing to verify. 422
    is accepted.
    """
    yield from probe.refused_with(*REFUSED)


# --------------------------------------------------------------------------------------------- messages


@rule(
    "anth.mt.consecutive-roles-merged",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{PARAMS} messages",
    probe="roles-in-a-row",
    violating=error(asked={"messages": [QUESTION, QUESTION]}, probe="roles-in-a-row", expect="answer"),
    conforming=answer(asked={"messages": [QUESTION, QUESTION]}, probe="roles-in-a-row"),
    consequence="clients that add to a conversation without merging are refused",
)
def in_a_row(probe: Probe) -> Iterator[Violation]:
    """Consecutive messages of one role are accepted and merged."""
    yield from probe.accepted()


@rule(
    "anth.mt.string-and-block-content",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=f"{PARAMS} messages",
    probe="content-forms",
    violating=error(asked={"messages": [user(text("Hi."))]}, probe="content-forms", expect="answer"),
    conforming=answer(asked={"messages": [user(text("Hi."))]}, probe="content-forms"),
    consequence="half of all clients, those that send the other form, cannot be used",
)
def content_forms(probe: Probe) -> Iterator[Violation]:
    """String content equals one text block: both are accepted."""
    yield from probe.accepted()


@rule(
    "anth.mt.prefill",
    wires=WIRES,
    level="MAY",
    basis="prose",
    source=f"{PARAMS} messages",
    probe="assistant-last",
    violating=error(
        500, "api_error", asked={"messages": [QUESTION, assistant(text("I"))]}, probe="assistant-last"
    ),
    conforming=error(asked={"messages": [QUESTION, assistant(text("I"))]}, probe="assistant-last"),
    consequence="clients that give the beginning of the answer see a crash, and retry it in vain",
)
def prefill(probe: Probe) -> Iterator[Violation]:
    """A final assistant message is continued, or refused with 400 on models without prefill."""
    if probe.turned_down and probe.status != 400:
        yield probe.found("status", wanted="2xx, or 400 where the model has no prefill")
