"""Mutants of what Gemini makes of requests: refusals, histories, lists of models."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import (
    body,
    drop,
    failed,
    header,
    only,
    put,
    refusal,
    to,
    together,
    via,
)
from conformance.simulator.mutants.gemini_edits import (
    accepted,
    asking,
    counting,
    crashed,
    mutant,
    refused,
    says,
    unsigned,
)
from conformance.simulator.mutants.mutant import Answer, Change

BAD, KEY = "errors.malformed-json", "errors.bad-key"
REQUESTS, TOOLS = "gemini.bad-requests", "gemini.bad-tools"
ROUND, ECHO, PAIRS = "tools.result-round-trip", "reasoning.echo", "history.tool-results"
BROKEN, FORMS, RESULTS = "history.broken-pairing", "gemini.request-forms", "gemini.function-results"
PICTURE, LIST = "gemini.multimodal-result", "gemini.models"


def _first(asked: dict[str, Any], *path: str | int) -> Any:
    value: Any = asked
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _declares(asked: dict[str, Any], member: str, value: Any) -> bool:
    found = _first(asked, "tools", 0, "functionDeclarations", 0, member)
    return bool(found == value)


def _result(asked: dict[str, Any]) -> Any:
    return _first(asked, "contents", 2, "parts", 0, "functionResponse", "response")


def _listed(change: Any) -> Change:
    return only(via("GET", "/v1beta/models"), change)


def _found(answer: Answer) -> None:
    answer.status = 200
    answer.body = {"name": "models/no-such-model-conformance", "supportedGenerationMethods": []}


GEMINI_ERRORS = (
    mutant("gem.error.shape", BAD, refusal(put("error", value="Bad."))),
    mutant("gem.error.shape", BAD, refusal(put("error", "code", value="400")), variant="code"),
    mutant("gem.error.shape", BAD, refusal(put("error", "message", value="")), variant="message"),
    mutant("gem.error.status-map", BAD, refusal(put("error", "status", value="NOT_FOUND"))),
    mutant("gem.error.json-content-type", BAD, header("content-type", "text/plain", where=failed)),
    mutant("gem.error.wrong-key", KEY, only(to(f"{KEY}/0"), accepted)),
    mutant("gem.error.wrong-key-reason", KEY, only(to(f"{KEY}/0"), refusal(drop("error", "details")))),
    mutant("gem.error.no-key", KEY, only(to(f"{KEY}/1"), accepted)),
    mutant("gem.error.unknown-model-404", "errors.unknown-model", accepted),
    mutant("gem.error.malformed-json-400", BAD, accepted),
    mutant(
        "gem.error.missing-contents-400", REQUESTS, only(asking(lambda a: not a.get("contents")), accepted)
    ),
    mutant(
        "gem.error.wrong-type-400",
        REQUESTS,
        only(asking(lambda a: isinstance(a.get("contents"), str)), accepted),
    ),
    mutant(
        "gem.error.unknown-member-400",
        REQUESTS,
        only(asking(lambda a: "xConformanceUnknown" in a), accepted),
    ),
    mutant(
        "gem.error.bad-role-400",
        REQUESTS,
        only(asking(lambda a: _first(a, "contents", 0, "role") == "robot"), accepted),
    ),
    mutant(
        "gem.error.out-of-range-400",
        REQUESTS,
        only(asking(lambda a: _first(a, "generationConfig", "temperature") == 9), accepted),
    ),
    mutant(
        "gem.mt.function-name-pattern",
        TOOLS,
        only(asking(lambda a: _declares(a, "name", "1st_weather")), accepted),
    ),
    mutant(
        "gem.error.invalid-schema-400",
        TOOLS,
        only(asking(lambda a: _declares(a, "parameters", {"type": "OBJEKT"})), accepted),
    ),
    mutant(
        "gem.error.mode-without-functions-400",
        TOOLS,
        only(asking(lambda a: "toolConfig" in a and "tools" not in a), accepted),
    ),
    mutant(
        "gem.error.unknown-allowed-function-400",
        TOOLS,
        only(asking(lambda a: "toolConfig" in a and "tools" in a), accepted),
        also=("gem.response.mode-any",),
        because="the mode demands a call, and there is none that it would allow",
    ),
)

GEMINI_CONVERSATIONS = (
    mutant("gem.mt.tool-result-accepted", ROUND, together(unsigned, only(to(f"{ROUND}/1"), refused))),
    mutant("gem.mt.signature-echo", ROUND, only(to(f"{ROUND}/1"), refused)),
    mutant("gem.mt.reasoning-echo", ECHO, together(unsigned, only(to(f"{ECHO}/2"), refused))),
    mutant("gem.mt.tool-results-accepted", PAIRS, only(to(f"{PAIRS}/0"), refused)),
    mutant("gem.mt.tool-results-pairing", PAIRS, only(to(f"{PAIRS}/0"), body(says("Rome has HERON.")))),
    mutant("gem.mt.function-response-count", BROKEN, only(to(f"{BROKEN}/0"), accepted)),
    mutant("gem.mt.function-response-count", BROKEN, only(to(f"{BROKEN}/1"), accepted), variant="twice"),
    mutant("gem.mt.function-response-orphan", "errors.orphan-tool-result", accepted),
    mutant(
        "gem.mt.function-response-shape",
        RESULTS,
        only(asking(lambda a: isinstance(_result(a), str)), accepted),
    ),
    mutant(
        "gem.mt.function-response-forms",
        RESULTS,
        only(asking(lambda a: "degrees" in (_result(a) or ())), refused),
    ),
    mutant("gem.mt.multimodal-result", PICTURE, only(to(f"{PICTURE}/1"), crashed)),
    mutant(
        "gem.request.media-not-ignored",
        "chat.image",
        only(to("chat.image/0"), body(counting(promptTokenCount=5))),
    ),
    mutant(
        "gem.request.media-not-ignored",
        PICTURE,
        only(to(f"{PICTURE}/1"), body(counting(promptTokenCount=5))),
        variant="result",
    ),
    mutant(
        "gem.request.media-not-ignored",
        "chat.document",
        only(to("chat.document/0"), crashed),
        variant="crash",
    ),
    mutant(
        "gem.request.snake-case-accepted",
        FORMS,
        only(asking(lambda a: "generation_config" in a), refused),
    ),
    mutant(
        "gem.request.role-optional",
        FORMS,
        only(asking(lambda a: "role" not in (_first(a, "contents", 0) or {})), refused),
    ),
)

GEMINI_MODELS = (
    mutant("gem.models.shape", LIST, _listed(body(put("models", value={})))),
    mutant("gem.models.shape", LIST, _listed(crashed), variant="crash"),
    mutant("gem.models.entry-shape", LIST, _listed(body(put("models", 0, "name", value="reference")))),
    mutant(
        "gem.models.entry-shape",
        LIST,
        _listed(body(put("models", 0, "supportedGenerationMethods", value="all"))),
        variant="methods",
    ),
    mutant("gem.models.tested-present", LIST, _listed(body(put("models", 0, "name", value="models/other")))),
    mutant(
        "gem.models.tested-present",
        LIST,
        _listed(body(put("models", 0, "supportedGenerationMethods", value=["embedContent"]))),
        variant="methods",
    ),
    mutant(
        "gem.models.retrieve",
        LIST,
        only(via("GET", "/models/reference"), body(put("name", value="models/other"))),
    ),
    mutant("gem.models.retrieve", LIST, only(via("GET", "/models/reference"), crashed), variant="crash"),
    mutant("gem.models.retrieve-unknown-404", LIST, only(via("GET", "conformance"), _found)),
)
