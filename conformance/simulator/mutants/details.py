"""Mutants of what stands beside the essentials of a whole answer: refusals, leaks, extras."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import MESSAGE, body, both, drop, put, rewrite
from conformance.simulator.mutants.mutant import Mutant

PLAIN = "chat.plain"
TEN_DAYS = 864_000


def _over_the_cap(document: Any) -> None:
    usage = document["usage"]
    usage["completion_tokens"] = 5000
    usage["total_tokens"] = usage["prompt_tokens"] + 5000


def _upside_down(document: Any) -> None:
    document["choices"].reverse()


DETAILS = (
    Mutant("chat.response.choice-order", "parameters.n", body(_upside_down)),
    Mutant(
        "chat.response.finish-length-at-cap",
        "parameters.max-tokens",
        body(put("choices", 0, "finish_reason", value="stop")),
    ),
    Mutant(
        "chat.response.finish-length-at-cap",
        "tools.cut-call",
        body(put("choices", 0, "finish_reason", value="tool_calls")),
        variant="call",
        also=("chat.response.tool-call-arguments-json",),
        because="what the cap left of the arguments is no JSON, and nothing says that they were cut",
    ),
    Mutant(
        "chat.response.stop-sequence-excluded",
        "parameters.stop",
        body(rewrite(*MESSAGE, "content", by=lambda text: f"{text}Thursday")),
    ),
    Mutant(
        "chat.response.created-plausible",
        PLAIN,
        body(rewrite("created", by=lambda seconds: seconds - TEN_DAYS)),
    ),
    Mutant("chat.response.choice-no-delta", PLAIN, body(put("choices", 0, "delta", value={}))),
    Mutant("chat.response.token-cap-respected", PLAIN, body(_over_the_cap)),
    Mutant("chat.response.message-refusal-key", PLAIN, body(drop(*MESSAGE, "refusal"))),
    Mutant("chat.response.refusal-xor-content", PLAIN, body(put(*MESSAGE, "refusal", value="No."))),
    Mutant("chat.response.message-not-empty", PLAIN, body(put(*MESSAGE, "content", value=""))),
    Mutant(
        "chat.response.reasoning-not-only",
        PLAIN,
        body(
            both(
                put(*MESSAGE, "content", value=""),
                put(*MESSAGE, "reasoning_content", value="Hm."),
                drop("usage", "completion_tokens_details"),
            )
        ),
    ),
    Mutant(
        "chat.response.no-special-token-leak",
        PLAIN,
        body(rewrite(*MESSAGE, "content", by=lambda text: f"{text}<|im_end|>")),
    ),
    Mutant(
        "chat.response.no-special-token-leak",
        PLAIN,
        body(put(*MESSAGE, "reasoning_content", value="Hm.<|im_end|>")),
        also=("chat.response.usage-reasoning-counted",),
        because="the honest answer has no reasoning, and counts none",
        variant="reasoning",
    ),
    Mutant(
        "chat.response.reasoning-field-string",
        PLAIN,
        body(put(*MESSAGE, "reasoning_content", value={"text": "Hm."})),
    ),
    Mutant("chat.response.logprobs-key", PLAIN, body(drop("choices", 0, "logprobs"))),
    Mutant(
        "chat.response.logprobs-not-when-off",
        PLAIN,
        body(put("choices", 0, "logprobs", value={"content": [], "refusal": None})),
    ),
    Mutant("chat.response.service-tier-enum", PLAIN, body(put("service_tier", value="gold"))),
    Mutant("chat.response.system-fingerprint-type", PLAIN, body(put("system_fingerprint", value=7))),
    Mutant(
        "chat.response.annotations-shape",
        PLAIN,
        body(put(*MESSAGE, "annotations", value=[{"type": "url_citation"}])),
    ),
    Mutant(
        "chat.response.legacy-function-call-only-on-request",
        PLAIN,
        body(put(*MESSAGE, "function_call", value={"name": "get_weather", "arguments": "{}"})),
    ),
    Mutant(
        "chat.response.content-no-echoed-prompt",
        PLAIN,
        body(rewrite(*MESSAGE, "content", by=lambda text: f"assistant\n{text}")),
    ),
    Mutant(
        "chat.response.content-unicode-intact",
        PLAIN,
        body(rewrite(*MESSAGE, "content", by=lambda text: f"{text}\ufffd")),
    ),
)
