"""Mutants of what may be sent and what must be refused, of refusals, and of the list of models."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.anthropic_edits import accepted, failed_with, has, over, refused
from conformance.simulator.mutants.edits import (
    Edit,
    body,
    drop,
    only,
    put,
    refusal,
    to,
    via,
)
from conformance.simulator.mutants.mutant import Answer, Change

FORMS = "anthropic.content-forms"
RESULTS = "anthropic.result-forms"
BROKEN = "anthropic.broken-results"
SIGNED = "anthropic.thinking-signature"
UNKNOWN = "errors.unknown-model"
MODELS = "anthropic.models"
BURST = "limits.rate-limit"
ENTRY = ("data", 0)


def _not_an_object(answer: Answer) -> None:
    answer.body = [answer.body]


def _failure_under_200(answer: Answer) -> None:
    refused(answer)
    answer.status = 200


def _limited(answer: Answer) -> None:
    failed_with(429, "rate_limit_error")(answer)


def _listed(change: Change) -> Change:
    return only(via("GET", "/v1/models"), change)


def _edited(edit: Edit) -> Change:
    return _listed(body(edit))


def _whole(value: Any) -> Change:
    def change(answer: Answer) -> None:
        answer.body = value

    return _listed(change)


REQUESTS = (
    over("anth.request.max-tokens-required", "anthropic.required-members", accepted),
    over("anth.request.system-top-level", FORMS, only(has(b'"You are brief."}'), refused)),
    over(
        "anth.request.version-header",
        "anthropic.versions",
        only(to("anthropic.versions/1"), refused),
    ),
    over("anth.mt.tool-result-adjacent", BROKEN, only(has(b"Well?"), accepted)),
    over("anth.mt.tool-result-all", BROKEN, only(has(b"Lund"), accepted)),
    over("anth.mt.tool-result-first", BROKEN, only(has(b"Here it is:"), accepted)),
    over("anth.mt.tool-result-orphan", BROKEN, only(has(b"I know no wind code."), accepted)),
    over("anth.mt.tool-result-content-forms", RESULTS, only(has(b"HERON"), refused)),
    over("anth.mt.tool-result-is-error", RESULTS, only(has(b"is_error"), refused)),
    over("anth.mt.thinking-echo", "reasoning.echo", only(to("reasoning.echo/2"), refused)),
    over("anth.mt.thinking-altered", SIGNED, accepted),
    over("anth.mt.consecutive-roles-merged", FORMS, only(has(b"My name is Ada."), refused)),
    over("anth.mt.string-and-block-content", FORMS, only(has(b"twice."), refused)),
    over(
        "anth.mt.prefill",
        "anthropic.prefill",
        only(to("anthropic.prefill/0"), failed_with(500, "api_error")),
    ),
)

REFUSALS = (
    over("anth.error.shape", UNKNOWN, refusal(drop("type"))),
    over("anth.error.shape", UNKNOWN, refusal(put("error", "message", value="")), "message"),
    over("anth.error.shape", UNKNOWN, _not_an_object, "list"),
    over("anth.error.type-status-map", UNKNOWN, refusal(put("error", "type", value="api_error"))),
    over("anth.error.status", "chat.plain", _failure_under_200),
    over("anth.error.retry-after", BURST, only(to(f"{BURST}/39"), _limited)),
)

LISTS = (
    over("anth.models.list-shape", MODELS, _listed(failed_with(404, "not_found_error"))),
    over("anth.models.list-shape", MODELS, _whole([]), "list"),
    over("anth.models.list-shape", MODELS, _edited(drop("has_more")), "more"),
    over("anth.models.list-shape", MODELS, _edited(put("data", value={})), "data"),
    over("anth.models.list-shape", MODELS, _edited(put("last_id", value=None)), "last"),
    over("anth.models.list-shape", MODELS, _edited(put(*ENTRY, "type", value="llm")), "type"),
    over("anth.models.list-shape", MODELS, _edited(drop(*ENTRY, "display_name")), "name"),
    over("anth.models.list-shape", MODELS, _edited(put(*ENTRY, "created_at", value=1_764_000_000)), "time"),
)

ANTHROPIC_REQUESTS = (*REQUESTS, *REFUSALS, *LISTS)
