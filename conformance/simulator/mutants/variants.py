"""Second ways to break a rule: what it demands in one sentence can go wrong in several places."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import (
    ARGUMENTS,
    CALL,
    CALLS,
    DELTA,
    MESSAGE,
    Edit,
    accepted,
    accepted_with,
    body,
    both,
    crashed,
    cut,
    drop,
    each,
    event,
    events,
    header,
    only,
    put,
    refusal,
    refused,
    rewrite,
    status,
    to,
    via,
)
from conformance.simulator.mutants.logprobs import ENTRY, STREAMED, TOP, WHOLE
from conformance.simulator.mutants.mutant import Answer, Change, Mutant

PLAIN = "chat.plain"
ONE = "tools.single-call"
BAD = "errors.malformed-json"
LIST, RETRIEVE = "models.list", "models.retrieve"
LIMITS = "structured.schema-limits"
CONTEXT = "limits.context-length"
FIRST, FINISH = 1, -2


def _as_stream(answer: Answer) -> None:
    """An answer in one chunk that nobody asked to have streamed."""
    whole = answer.body
    choice = whole["choices"][0]
    delta = {"role": "assistant", "content": choice["message"]["content"]}
    chunk = {k: v for k, v in whole.items() if k != "usage"} | {"object": "chat.completion.chunk"}
    said = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    ended = said | {"delta": {}, "finish_reason": choice["finish_reason"]}
    answer.events = [chunk | {"choices": [said]}, chunk | {"choices": [ended]}, "[DONE]"]
    answer.headers["content-type"] = "text/event-stream"


def _models(edit: Edit) -> Change:
    return only(via("GET", "/models"), body(edit))


def _model(change: Change) -> Change:
    return only(via("GET", "/models/reference"), change)


def _models_are(document: Any) -> Change:
    def change(answer: Answer) -> None:
        if via("GET", "/models")(answer):
            answer.body = document

    return change


def _refused_as(document: Any) -> Change:
    def change(answer: Answer) -> None:
        if answer.status >= 400:
            answer.body = document

    return change


CITED = {
    "type": "url_citation",
    "url_citation": {"start_index": 0, "end_index": 5, "url": "https://e.example", "title": "E"},
}


def _cited(**members: Any) -> Any:
    return [CITED | {"url_citation": {**CITED["url_citation"], **members}}]  # type: ignore[dict-item]


def _scored(edit: Edit) -> Change:
    return only(to(f"{WHOLE}/0"), body(edit))


def _echoed(answer: Answer) -> None:
    said = answer.asked["messages"][-1]["content"]
    answer.body["choices"][0]["message"]["content"] = f"{said}\nassistant: Hello."


def _spaced(given: list[Any]) -> None:
    given[-1] = f" {given[-1]}"


def _custom(call_type: str, **members: str) -> Change:
    return body(rewrite(*CALL, by=lambda call: {"id": call["id"], "type": call_type, "custom": members}))


RESPONSE_VARIANTS = (
    Mutant("chat.response.body-single-json-object", PLAIN, cut, variant="cut"),
    Mutant("sse.done-sentinel", "stream.plain", cut, variant="cut"),
    Mutant("sse.done-sentinel", "stream.plain", events(_spaced), variant="spaced"),
    Mutant("chat.response.content-type-json", PLAIN, status(202), variant="status"),
    Mutant("chat.response.content-no-echoed-prompt", PLAIN, _echoed, variant="prompt"),
    Mutant(
        "chat.response.message-content-key",
        PLAIN,
        body(put("choices", 0, "message", value="Hi.")),
        variant="message",
    ),
    Mutant(
        "chat.response.reasoning-field-string",
        PLAIN,
        body(
            both(
                put(*MESSAGE, "reasoning_content", value="Hm."),
                put(*MESSAGE, "reasoning", value="Oh."),
                drop("usage", "completion_tokens_details"),
            )
        ),
        variant="two-names",
    ),
    Mutant(
        "chat.response.annotations-shape",
        PLAIN,
        body(put(*MESSAGE, "annotations", value=_cited(url=None))),
        variant="url",
    ),
    Mutant(
        "chat.response.annotations-shape",
        PLAIN,
        body(put(*MESSAGE, "annotations", value=_cited(end_index=999))),
        variant="index",
    ),
    Mutant(
        "chat.response.usage-nonnegative-int",
        PLAIN,
        body(put("usage", "prompt_tokens_details", "cached_tokens", value=0.5)),
        variant="detail",
    ),
    Mutant("chat.stream.is-sse-when-asked", PLAIN, _as_stream, variant="unasked"),
    Mutant("chat.response.logprobs-entry-shape", WHOLE, _scored(drop(*TOP)), variant="no-alternatives"),
    Mutant(
        "chat.response.logprobs-entry-shape", WHOLE, _scored(put(*TOP, 0, value="Hi")), variant="alternative"
    ),
    Mutant(
        "chat.response.logprobs-entry-shape", WHOLE, _scored(put(*ENTRY, "token", value=7)), variant="token"
    ),
    Mutant(
        "chat.response.logprobs-entry-shape",
        WHOLE,
        _scored(put(*ENTRY, "logprob", value=None)),
        variant="logprob",
    ),
    Mutant(
        "chat.response.logprobs-when-requested",
        STREAMED,
        each(put("choices", 0, "logprobs", value=None)),
        variant="stream",
    ),
    Mutant(
        "chat.stream.logprobs-shape",
        STREAMED,
        event(FINISH, put("choices", 0, "logprobs", value={"content": {}})),
        variant="list",
    ),
    Mutant(
        "chat.stream.obfuscation-string",
        "stream.plain",
        event(FIRST, put(*DELTA, "obfuscation", value="k3Zp")),
        variant="in-delta",
    ),
)

TOOL_VARIANTS = (
    Mutant("chat.response.tool-call-function-object", ONE, body(drop(*CALL, "function")), variant="missing"),
    Mutant(
        "chat.response.custom-tool-call-shape",
        ONE,
        body(rewrite(*CALL, by=lambda call: {"id": call["id"], "type": "custom"})),
        variant="missing",
    ),
    Mutant(
        "chat.response.custom-tool-call-shape",
        ONE,
        _custom("function", name="get_weather", input=""),
        variant="type",
    ),
    Mutant("chat.response.custom-tool-call-shape", ONE, _custom("custom", name="", input=""), variant="name"),
    Mutant(
        "chat.response.tool-choice-named",
        "tools.choice-named",
        body(
            both(
                put(*MESSAGE, "content", value="It is late."),
                drop(*CALLS),
                put("choices", 0, "finish_reason", value="stop"),
            )
        ),
        variant="text",
    ),
    Mutant(
        "so.strict-tool-arguments",
        "tools.strict",
        body(rewrite(*ARGUMENTS, by=lambda text: text[:-1])),
        also=("chat.response.tool-call-arguments-json",),
        because="what is not JSON fits no schema",
        variant="not-json",
    ),
    Mutant(
        "so.tools-and-format-together",
        "structured.with-tools",
        only(to("structured.with-tools/1"), body(put(*MESSAGE, "content", value="It is 18 degrees."))),
        also=("so.json-schema-parses",),
        because="prose is no JSON, with and without tools",
        variant="prose",
    ),
    Mutant(
        "so.strict-needs-closed-objects",
        LIMITS,
        only(to(f"{LIMITS}/1"), accepted_with('{"city": "Lomé", "wind": 4}')),
        variant="extra-member",
    ),
)

ERROR_VARIANTS = (
    Mutant("err.error-object", BAD, _refused_as(["Bad."]), variant="array"),
    Mutant("err.error-object", BAD, _refused_as(b"Bad."), variant="page"),
    Mutant("err.retry-after-format", "errors.unknown-model", header("retry-after-ms", "soon"), variant="ms"),
    Mutant(
        "err.wrong-method-405",
        "errors.unknown-route",
        only(via("PUT"), header("allow", None)),
        variant="allow",
    ),
    Mutant("err.context-length-400", CONTEXT, accepted, variant="cut"),
    Mutant("err.context-length-400", CONTEXT, refusal(put("error", "code", value=None)), variant="code"),
    Mutant(
        "err.failed-generation",
        "errors.unknown-model",
        refusal(put("error", "failed_generation", value="<function=f>{}</function>")),
        variant="status",
    ),
    Mutant(
        "err.content-filter",
        "errors.unknown-model",
        refusal(put("error", "code", value="content_policy_violation")),
        variant="status",
    ),
    Mutant(
        "err.unsupported-param-not-silent",
        "errors.unsupported-parameters",
        only(to("errors.unsupported-parameters/1"), accepted),
        variant="function-call",
    ),
    Mutant(
        "chat.response.own-answer",
        "limits.concurrent",
        only(to("limits.concurrent/0"), refused),
        variant="refused",
    ),
)

MODEL_VARIANTS = (
    Mutant("models.list.shape", LIST, _models_are([]), variant="array"),
    Mutant("models.list.shape", LIST, _models(put("data", value={})), variant="data"),
    Mutant("models.list.shape", LIST, only(via("GET", "/models"), crashed), variant="failed"),
    Mutant(
        "models.list.entry-shape", LIST, _models(lambda listed: listed["data"].append("gpt")), variant="text"
    ),
    Mutant(
        "models.list.entry-shape",
        LIST,
        _models(lambda listed: listed["data"].append(listed["data"][0] | {"id": ""})),
        variant="id",
    ),
    Mutant(
        "models.list.entry-shape", LIST, _models(put("data", 0, "object", value="engine")), variant="object"
    ),
    Mutant("models.list.entry-shape", LIST, _models(put("data", 0, "owned_by", value=None)), variant="owner"),
    Mutant("models.retrieve", RETRIEVE, _model(body(put("id", value="other"))), variant="id"),
    Mutant("models.retrieve", RETRIEVE, _model(body(put("object", value="engine"))), variant="object"),
    Mutant("models.retrieve", RETRIEVE, _model(crashed), variant="failed"),
)
