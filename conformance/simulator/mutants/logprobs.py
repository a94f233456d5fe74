"""Mutants of log probabilities, whole and streamed."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import body, drop, each, only, put, rewrite, to
from conformance.simulator.mutants.mutant import Change, Mutant

WHOLE = "parameters.logprobs"
STREAMED = "stream.logprobs"
LOGPROBS = ("choices", 0, "logprobs")
ENTRY = (*LOGPROBS, "content", 0)
TOP = (*ENTRY, "top_logprobs")


def _first(edit: Any) -> Change:
    """Only the answer that has alternatives."""
    return only(to(f"{WHOLE}/0"), body(edit))


def _four(top: list[Any]) -> list[Any]:
    return [*top, top[-1] | {"logprob": -9.0}]


def _another_token(document: Any) -> None:
    listed = (document["choices"][0]["logprobs"] or {}).get("content")
    if listed:
        listed[0]["token"], listed[0]["bytes"] = "Oops", list(b"Oops")


def _of_one_choice(document: Any) -> None:
    usage, told = document["usage"], len(document["choices"][0]["logprobs"]["content"])
    usage["completion_tokens"] = told
    usage["total_tokens"] = usage["prompt_tokens"] + told


PROBABILITIES = (
    Mutant("chat.response.logprobs-when-requested", WHOLE, _first(put(*LOGPROBS, value=None))),
    Mutant("chat.response.logprobs-entry-shape", WHOLE, _first(drop(*ENTRY, "bytes"))),
    Mutant("chat.response.logprobs-nonpositive", WHOLE, _first(put(*ENTRY, "logprob", value=0.7))),
    Mutant("chat.response.logprobs-top-count", WHOLE, _first(rewrite(*TOP, by=_four))),
    Mutant("chat.response.logprobs-top-sorted", WHOLE, _first(rewrite(*TOP, by=lambda top: top[::-1]))),
    Mutant("chat.response.logprobs-bytes-rebuild-content", WHOLE, _first(_another_token)),
    Mutant("chat.response.logprobs-counted", "parameters.counted-choices", body(_of_one_choice)),
    Mutant("chat.stream.logprobs-match-delta", STREAMED, each(_another_token)),
)
