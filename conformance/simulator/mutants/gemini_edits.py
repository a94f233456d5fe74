"""The words that changes of Gemini's answers are written in, beside those of ``edits``."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.simulator.mutants.edits import Edit, Step
from conformance.simulator.mutants.mutant import Answer, Mutant

CANDIDATE: tuple[Step, ...] = ("candidates", 0)
CONTENT: tuple[Step, ...] = (*CANDIDATE, "content")
PARTS: tuple[Step, ...] = (*CONTENT, "parts")
PART: tuple[Step, ...] = (*PARTS, 0)
TEXT: tuple[Step, ...] = (*PART, "text")
CALL: tuple[Step, ...] = (*PART, "functionCall")
FINISH: tuple[Step, ...] = (*CANDIDATE, "finishReason")
JSON_TYPE = "application/json; charset=UTF-8"
A_CALL = {"functionCall": {"id": "fc_1", "name": "get_weather", "args": {"city": "Paris"}}}

mutant = partial(Mutant, wire="gemini")
"""A mutant of this wire."""


def says(text: str) -> Edit:
    """The answer is this text."""

    def edit(document: Any) -> None:
        document["candidates"][0]["content"]["parts"] = [{"text": text}]

    return edit


def counting(**counts: int) -> Edit:
    """These counts, and the total that goes with them."""

    def edit(document: Any) -> None:
        usage = document["usageMetadata"]
        usage.update(counts)
        addends = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        usage["totalTokenCount"] = sum(usage.get(name, 0) for name in addends)

    return edit


def unsigned(answer: Answer) -> None:
    """A call without a signature, as of a model that does not think."""
    if answer.status < 300 and answer.events is None:
        for number, part in enumerate(answer.body["candidates"][0]["content"].get("parts", ())):
            if part.pop("thoughtSignature", None) is not None:
                part["functionCall"]["id"] = f"fc_{number}"


def asking(picks: Callable[[dict[str, Any]], bool]) -> Callable[[Answer], bool]:
    """Answers to the requests, not of a stream, whose document this picks."""
    return lambda answer: ":streamGenerateContent" not in answer.request.url and picks(answer.asked)


def refused(answer: Answer) -> None:
    """A request is refused although it is valid."""
    if answer.status < 300:
        answer.become(400, failure(400, "INVALID_ARGUMENT"), JSON_TYPE)


def crashed(answer: Answer) -> None:
    """The server fails."""
    answer.become(500, failure(500, "INTERNAL"), JSON_TYPE)


def accepted(answer: Answer) -> None:
    """A request is answered although it is not valid."""
    if answer.status >= 400:
        answer.become(200, response("Fine."), JSON_TYPE)


def failure(code: int, status: str) -> dict[str, Any]:
    """An error."""
    return {"error": {"code": code, "message": "No.", "status": status}}


def response(text: str) -> dict[str, Any]:
    """A plain response."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
        "modelVersion": "reference",
        "responseId": secrets.token_urlsafe(17),
    }
