"""Mutants of whole answers: envelope, choices, finish reasons, the message, usage."""

from __future__ import annotations

import copy
from typing import Any

from conformance.simulator.mutants.edits import (
    MESSAGE,
    Edit,
    body,
    both,
    drop,
    header,
    only,
    put,
    raw,
    refused,
    rewrite,
    to,
)
from conformance.simulator.mutants.mutant import Mutant

A_CALL = {
    "id": "call_mutant",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}
MARKUP = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'


def _two_choices(document: Any) -> None:
    second = copy.deepcopy(document["choices"][0])
    document["choices"].append(second | {"index": 1})


def _prompt_tokens(count: int) -> Edit:
    def edit(document: Any) -> None:
        usage = document["usage"]
        usage["prompt_tokens"], usage["total_tokens"] = count, count + usage["completion_tokens"]

    return edit


def _apart_from_cached(document: Any) -> None:
    """As a vendor counts who does not count cached tokens among the prompt's."""
    usage = document["usage"]
    usage["prompt_tokens"] -= 10
    usage["total_tokens"] -= 10


RESPONSE = (
    Mutant("chat.request.accepted", "chat.plain", refused),
    Mutant("chat.request.extension", "parameters.unknown-member", refused),
    Mutant("chat.response.content-type-json", "chat.plain", header("content-type", "text/plain")),
    Mutant("chat.response.body-single-json-object", "chat.plain", raw(lambda text: text + b"\n{}")),
    Mutant("chat.response.body-single-json-object", "chat.plain", raw(lambda _: b"[]"), variant="array"),
    Mutant(
        "chat.response.no-duplicate-keys",
        "chat.plain",
        raw(lambda text: text.replace(b'{"id":', b'{"id":"other","id":', 1)),
    ),
    Mutant("chat.response.required-keys", "chat.plain", body(drop("created"))),
    Mutant("chat.response.id-nonempty-string", "chat.plain", body(put("id", value=""))),
    Mutant("chat.response.id-unique", "chat.multi-turn", body(put("id", value="chatcmpl-1"))),
    Mutant("chat.response.object-literal", "chat.plain", body(put("object", value="text_completion"))),
    Mutant(
        "chat.response.created-unix-seconds",
        "chat.plain",
        body(rewrite("created", by=lambda seconds: seconds + 0.5)),
    ),
    Mutant("chat.response.model-nonempty-string", "chat.plain", body(put("model", value=""))),
    Mutant("chat.response.choices-array", "chat.plain", body(put("choices", value={}))),
    Mutant("chat.response.choices-count-n", "chat.plain", body(_two_choices)),
    Mutant("chat.response.choice-required-keys", "chat.plain", body(drop("choices", 0, "index"))),
    Mutant("chat.response.choice-index-contiguous", "chat.plain", body(put("choices", 0, "index", value=1))),
    Mutant(
        "chat.response.finish-reason-enum",
        "chat.plain",
        body(put("choices", 0, "finish_reason", value="eos")),
    ),
    Mutant(
        "chat.response.finish-reason-not-null",
        "chat.plain",
        body(put("choices", 0, "finish_reason", value=None)),
    ),
    Mutant(
        "chat.response.finish-tool-calls-when-called",
        "tools.single-call",
        body(put("choices", 0, "finish_reason", value="stop")),
    ),
    Mutant(
        "chat.response.finish-tool-calls-needs-calls",
        "chat.plain",
        body(put("choices", 0, "finish_reason", value="tool_calls")),
    ),
)

MESSAGES = (
    Mutant("chat.response.message-role", "chat.plain", body(put(*MESSAGE, "role", value="model"))),
    Mutant("chat.response.message-content-key", "chat.plain", body(put(*MESSAGE, "content", value=["Hi."]))),
    Mutant(
        "chat.response.no-call-markup-leak", "tools.choice-none", body(put(*MESSAGE, "content", value=MARKUP))
    ),
    Mutant(
        "chat.response.no-think-leak",
        "chat.plain",
        body(rewrite(*MESSAGE, "content", by=lambda text: f"<think>Hm.</think>{text}")),
    ),
    Mutant(
        "chat.response.tool-calls-nonempty-or-absent",
        "chat.plain",
        body(put(*MESSAGE, "tool_calls", value=[])),
    ),
    Mutant(
        "chat.response.no-tools-no-calls",
        "chat.plain",
        body(
            both(
                put(*MESSAGE, "tool_calls", value=[A_CALL]),
                put("choices", 0, "finish_reason", value="tool_calls"),
            )
        ),
    ),
)

USAGE = (
    Mutant("chat.response.usage-present", "chat.plain", body(drop("usage"))),
    Mutant("chat.response.usage-required-keys", "chat.plain", body(drop("usage", "total_tokens"))),
    Mutant(
        "chat.response.usage-nonnegative-int",
        "chat.plain",
        body(rewrite("usage", "prompt_tokens", by=float)),
    ),
    Mutant(
        "chat.response.usage-total-sum",
        "chat.plain",
        body(rewrite("usage", "total_tokens", by=lambda total: total + 1)),
    ),
    Mutant(
        "chat.response.usage-details-bounds",
        "chat.plain",
        body(put("usage", "completion_tokens_details", "reasoning_tokens", value=999)),
    ),
    Mutant(
        "chat.request.image-not-ignored", "chat.image", only(to("chat.image/0"), body(_prompt_tokens(10)))
    ),
    Mutant(
        "chat.response.usage-prompt-includes-cached",
        "chat.repeated-prompt",
        only(to("chat.repeated-prompt/1"), body(_apart_from_cached)),
    ),
    Mutant("chat.response.usage-nonzero", "chat.plain", body(_prompt_tokens(0))),
)
