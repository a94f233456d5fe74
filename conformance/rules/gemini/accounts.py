"""How an answer ends and what it costs: finish reasons, counts, caps, stop sequences, probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.gemini.answers import Answer
from conformance.rules.gemini.examples import (
    USAGE,
    WIRES,
    answer,
    call,
    config,
    said,
    stream,
    text,
    thought,
)
from conformance.rules.gemini.views import Candidate, Usage
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import gemini_docs, gemini_sdk
from conformance.rules.views import Violation

REASONS = gemini_sdk("types.py FinishReason")
COUNTS = gemini_sdk("types.py GenerateContentResponseUsageMetadata")
CONFIG = gemini_sdk("types.py GenerationConfig")
FINISH = frozenset(
    {
        *("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER"),
        *("BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY"),
        *("IMAGE_PROHIBITED_CONTENT", "IMAGE_OTHER", "NO_IMAGE", "IMAGE_RECITATION", "UNEXPECTED_TOOL_CALL"),
        *("TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "ESCALATION"),
        *("PUP_LIMITED_DISABLED", "CONTINUATION", "MODEL_ARMOR"),
    }
)
COUNTED = (
    *("promptTokenCount", "candidatesTokenCount", "totalTokenCount", "thoughtsTokenCount"),
    *("cachedContentTokenCount", "toolUsePromptTokenCount"),
)
CAP_PROBE = "token-cap"
"""The purpose of a step that asks for far more text than its cap leaves room for."""
CAPPED = config(maxOutputTokens=16)
FULL = {"promptTokenCount": 9, "candidatesTokenCount": 16, "totalTokenCount": 25}
LOGPROBS = config(responseLogprobs=True, logprobs=1)
TOKEN = {"token": "Hello.", "tokenId": 9259, "logProbability": -0.01}
TOKENS = {"chosenCandidates": [TOKEN], "topCandidates": [{"candidates": [TOKEN]}], "logProbabilitySum": -0.01}


@rule(
    "gem.response.finish-reason-enum",
    wires=WIRES,
    level="MUST",
    basis="schema",
    needs=("request",),
    source=REASONS,
    violating=answer(more={"finishReason": "length"}),
    conforming=answer(more={"finishReason": "MAX_TOKENS"}),
    consequence="google-genai makes up a member for a word that it does not know, so that no comparison "
    "holds, and raises AttributeError for a number",
)
def finish_enum(one: Candidate) -> Iterator[Violation]:
    """finishReason is one of the published words, in upper case.

    A number is right where the request asked for enumerations as numbers.
    """
    finish = one.finish
    if finish is None or (one.asked.numbered and type(finish.finish) is int):
        return
    if not isinstance(finish.finish, str) or finish.finish not in FINISH:
        yield finish.found("finishReason", wanted="one of " + ", ".join(sorted(FINISH)))


@rule(
    "gem.response.finish-reason-with-calls",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=f"{REASONS} (has no word for calls)",
    violating=answer(call(), more={"finishReason": "FINISH_REASON_UNSPECIFIED"}),
    conforming=answer(call()),
    consequence="adapters that go by STOP take the turn for a failed one",
)
def finish_with_calls(one: Candidate) -> Iterator[Violation]:
    """A turn of calls that came to its end finishes with STOP, not with a word of its own for calls.

    A cap, a filter and a call that went wrong have words of theirs.
    """
    finish = one.finish
    if one.calls and finish is not None and not (one.asked.numbered and type(finish.finish) is int):
        words = FINISH - {"FINISH_REASON_UNSPECIFIED"}
        if not isinstance(finish.finish, str) or finish.finish not in words:
            yield finish.found("finishReason", wanted='"STOP": the parts tell that there are calls')


@rule(
    "gem.response.max-tokens",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request", "purpose"),
    source=f"{REASONS}.MAX_TOKENS",
    violating=answer(asked=CAPPED, usageMetadata=FULL, probe=CAP_PROBE),
    conforming=answer(asked=CAPPED, usageMetadata=FULL, probe=CAP_PROBE, more={"finishReason": "MAX_TOKENS"}),
    consequence="half a text is believed to be the whole",
)
def max_tokens(one: Answer) -> Iterator[Violation]:
    """Output that maxOutputTokens cuts finishes with MAX_TOKENS.

    An answer may come to its own end exactly at the cap, so that only one that was asked for far more counts.
    """
    cap = one.asked.cap
    spent = max((_spent(chunk.get("usageMetadata")) for chunk in one.responses), default=0)
    if cap is None or spent < cap or one.reading.exchange.probe != CAP_PROBE or one.asked.n > 1:
        return
    for chunk in one.responses:
        for place, value in enumerate(chunk.candidates):
            if isinstance(value, dict) and value.get("finishReason") == "STOP":
                wanted = f'"MAX_TOKENS" after {spent} of {cap} tokens'
                yield chunk.found("candidates", place, "finishReason", wanted=wanted)


@rule(
    "gem.response.token-cap-respected",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{CONFIG}.max_output_tokens",
    violating=answer(
        asked=CAPPED,
        usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 40, "totalTokenCount": 49},
        more={"finishReason": "MAX_TOKENS"},
    ),
    conforming=answer(asked=CAPPED, usageMetadata=FULL, more={"finishReason": "MAX_TOKENS"}),
    consequence="the bill is higher than the request allows",
)
def cap_respected(one: Usage) -> Iterator[Violation]:
    """candidatesTokenCount does not exceed maxOutputTokens, for each candidate.

    Not in the catalogue.
    """
    cap, spent = one.asked.cap, one.count("candidatesTokenCount")
    if one.last and cap is not None and spent is not None and spent > cap * one.asked.n:
        yield one.found("candidatesTokenCount", wanted=f"at most {cap * one.asked.n}")


@rule(
    "gem.response.stop-sequence-excluded",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{CONFIG}.stop_sequences",
    violating=answer(text("a END"), asked=config(stopSequences=["END"])),
    conforming=stream(said(text("a "), finish="STOP"), asked=config(stopSequences=["END"])),
    consequence="clients that asked for the text up to a mark get the mark too, or what follows it",
)
def stop_excluded(one: Candidate) -> Iterator[Violation]:
    """The text has none of the stopSequences.

    Not in the catalogue.
    """
    spoken, said_text = one.spoken, one.text
    for sequence in one.asked.stop if spoken is not None else ():
        at = said_text.find(sequence)
        if at >= 0 and spoken is not None:
            around = said_text[max(0, at - 40) : at + len(sequence) + 40]
            yield spoken.found("text", wanted=f"text that ends before {sequence}", saw=around)
            return


@rule(
    "gem.response.thinking-budget-zero",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=(gemini_sdk("types.py ThinkingConfig.thinking_budget"), gemini_docs("thinking")),
    violating=answer(
        asked=config(thinkingConfig={"thinkingBudget": 0}),
        usageMetadata={**USAGE, "thoughtsTokenCount": 20, "totalTokenCount": 32},
    ),
    conforming=answer(asked=config(thinkingConfig={"thinkingBudget": 0})),
    consequence="what was switched off is waited for and paid for",
)
def budget_zero(one: Usage) -> Iterator[Violation]:
    """A thinkingBudget of 0 switches thinking off: no thoughtsTokenCount.

    Not in the catalogue. A model that can't do without refuses the budget.
    """
    if one.last and one.asked.thinks_not and one.count("thoughtsTokenCount"):
        yield one.found("thoughtsTokenCount", wanted="none (thinkingBudget was 0)")


# ------------------------------------------------------------------------------------------- usage


@rule(
    "gem.response.usage-metadata",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=COUNTS,
    violating=answer(usageMetadata={**USAGE, "promptTokenCount": 9.5}),
    conforming=answer(
        usageMetadata={"promptTokenCount": 9, "totalTokenCount": 9}, more={"finishReason": "OTHER"}
    ),
    consequence="google-genai 3.6.1 raises ValidationError for a fraction; without counts nobody knows",
)
def usage_metadata(one: Answer) -> Iterator[Violation]:
    """usageMetadata, in a stream that of the last chunk, has promptTokenCount and totalTokenCount.

    Corrected: candidatesTokenCount is left out where it is 0, as ProtoJSON does. All counts that are there
    are integers from 0. Of a blocked prompt nothing need be counted.
    """
    last = one.responses[-1] if one.complete and one.responses else None
    if last is not None and last.get("promptFeedback", "blockReason") is ABSENT:
        for name in ("promptTokenCount", "totalTokenCount"):
            if last.get("usageMetadata", name) is ABSENT:
                yield last.found("usageMetadata", name, wanted="a count of tokens")
    for chunk in one.responses:
        for name in COUNTED:
            value = chunk.get("usageMetadata", name)
            if value is not ABSENT and not (type(value) is int and value >= 0):
                yield chunk.found("usageMetadata", name, wanted="an integer from 0")


@rule(
    "gem.response.usage-sum",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{COUNTS}.total_token_count",
    violating=answer(usageMetadata={**USAGE, "totalTokenCount": 9}),
    conforming=answer(
        thought(), text(), usageMetadata={**USAGE, "thoughtsTokenCount": 4, "totalTokenCount": 16}
    ),
    consequence="budgets that rest on the total are wrong",
)
def usage_sum(one: Usage) -> Iterator[Violation]:
    """totalTokenCount is the sum of the tokens of prompt, candidates, thoughts and tool results."""
    total = one.count("totalTokenCount")
    addends = ("promptTokenCount", "candidatesTokenCount", "toolUsePromptTokenCount", "thoughtsTokenCount")
    counts = [one.count(name) for name in addends]
    if one.last and total is not None and counts[0] is not None:
        wanted = sum(count or 0 for count in counts)
        if total != wanted:
            yield one.found("totalTokenCount", wanted=f"{wanted}, the sum")


@rule(
    "gem.response.usage-cached-part",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{COUNTS}.prompt_token_count (includes the cached content)",
    violating=answer(usageMetadata={**USAGE, "cachedContentTokenCount": 40}),
    conforming=answer(usageMetadata={**USAGE, "cachedContentTokenCount": 8}),
    consequence="the price of the uncached part comes out negative",
)
def cached_part(one: Usage) -> Iterator[Violation]:
    """cachedContentTokenCount is a part of promptTokenCount.

    Not in the catalogue.
    """
    cached, prompt = one.count("cachedContentTokenCount"), one.count("promptTokenCount")
    if one.last and cached is not None and prompt is not None and cached > prompt:
        yield one.found("cachedContentTokenCount", wanted=f"at most {prompt}")


@rule(
    "gem.response.logprobs",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=(f"{CONFIG}.response_logprobs", gemini_sdk("types.py LogprobsResult")),
    violating=answer(asked=LOGPROBS),
    conforming=answer(asked=LOGPROBS, more={"logprobsResult": TOKENS, "avgLogprobs": -0.01}),
    consequence="a client that weighs answers by their probabilities finds none",
)
def logprobs(one: Candidate) -> Iterator[Violation]:
    """With responseLogprobs a candidate has logprobsResult: a token and its probability per step.

    Not in the catalogue. logProbability is 0 at most. A model that has none refuses the request.
    """
    if not one.asked.logprobs or not one.settled or one.spoken is None:
        return
    results = [(piece, piece.get("logprobsResult", "chosenCandidates")) for piece in one.pieces]
    if not any(isinstance(chosen, list) and chosen for _, chosen in results):
        yield one.pieces[-1].found("logprobsResult", wanted="the probabilities that were asked for")
    for piece, chosen in results:
        for place, step in enumerate(chosen if isinstance(chosen, list) else ()):
            if not _is_step(step):
                where = ("logprobsResult", "chosenCandidates", place)
                yield piece.found(*where, wanted="a token, and a logProbability of 0 at most")
                return


def _is_step(step: Any) -> bool:
    if not isinstance(step, dict) or not isinstance(step.get("token"), str):
        return False
    # ProtoJSON leaves a probability of 1 out: its logarithm is 0.
    value = step.get("logProbability", 0)
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= 0


def _spent(usage: Any) -> int:
    """The tokens that count against the cap: the candidate's and its thoughts'."""
    names = ("candidatesTokenCount", "thoughtsTokenCount")
    counts = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return sum(count for count in counts if type(count) is int and count > 0)
