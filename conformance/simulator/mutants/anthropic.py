"""Mutants of whole messages: the envelope, the blocks, why a message stopped, what it counts."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.anthropic_edits import (
    BLOCK,
    call,
    of_type,
    over,
    refused,
    says,
)
from conformance.simulator.mutants.edits import (
    body,
    drop,
    header,
    only,
    put,
    raw,
    rewrite,
    status,
    to,
    together,
)

PLAIN = "chat.plain"
CALL = "tools.single-call"
CAP = "parameters.max-tokens"
STOP = "parameters.stop"
EFFORT = "reasoning.effort"
CACHED = "anthropic.cached-prefix"
SCHEMA = "structured.json-schema"
TWICE = "stream.same-as-whole"
THINKS = to(f"{EFFORT}/0")
EDITING = "anthropic.context-editing"
TEXT = {"type": "text", "text": "Hello."}
SAME_ID = put("content_block", "id", value="toolu_1")
HALF = {"type": "clear_tool_uses_20250919", "cleared_input_tokens": 7}


def _edits(applied: Any) -> Any:
    return body(put("context_management", value={"applied_edits": applied}))


def _backwards(document: Any) -> None:
    document["content"].reverse()


def _searched(document: Any) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": ""}}
    document["content"].insert(0, search)


def _one_more(document: Any) -> None:
    document["content"].append(call())


def _cached_twice(document: Any) -> None:
    usage = document["usage"]
    usage["input_tokens"] += usage["cache_read_input_tokens"]


def _cheaper(document: Any) -> None:
    document["usage"]["input_tokens"] -= 1


def _cheap(document: Any) -> None:
    document["usage"]["input_tokens"] = 1


def _thinks(document: Any) -> None:
    document["content"].insert(0, {"type": "thinking", "thinking": "Hm.", "signature": "EqQ="})


ENVELOPE = (
    over("anth.request.accepted", PLAIN, refused),
    over("anth.response.content-type-json", PLAIN, header("content-type", "text/plain")),
    over("anth.response.content-type-json", PLAIN, status(201), "status"),
    over("anth.response.body-single-json-object", PLAIN, raw(lambda text: text + b"}")),
    over("anth.response.required-keys", PLAIN, body(drop("model"))),
    over("anth.response.type-role-literals", PLAIN, body(put("type", value="completion"))),
    over("anth.response.content-array", PLAIN, body(put("content", value="Hello."))),
    over("anth.response.content-array", PLAIN, body(drop(*BLOCK, "type")), "block"),
    over("anth.response.stop-reason-enum", PLAIN, body(put("stop_reason", value="stop"))),
    over("anth.response.stop-reason-not-null", PLAIN, body(put("stop_reason", value=None))),
    over("anth.response.usage-keys", PLAIN, body(drop("usage", "output_tokens"))),
    over("anth.response.request-id-header", PLAIN, header("request-id", None)),
)

BLOCKS = (
    over("anth.response.text-block", PLAIN, body(drop(*BLOCK, "text"))),
    over("anth.response.text-not-empty", PLAIN, body(put(*BLOCK, "text", value=""))),
    over("anth.response.tool-use-block", CALL, body(put(*BLOCK, "id", value=""))),
    over("anth.response.tool-use-block", CALL, body(put(*BLOCK, "input", value="{}")), "input"),
    over(
        "anth.response.tool-use-id-unique",
        "stream.parallel-calls",
        together(*(of_type("content_block_start", SAME_ID, place) for place in (0, 1))),
    ),
    over("anth.response.tool-name-declared", CALL, body(put(*BLOCK, "name", value="get_moon"))),
    over("anth.response.server-tool-offered", PLAIN, body(_searched)),
    over("anth.response.thinking-block", EFFORT, only(THINKS, body(drop(*BLOCK, "thinking")))),
    over("anth.response.thinking-block", EFFORT, only(THINKS, body(drop(*BLOCK, "signature"))), "unsigned"),
    over(
        "anth.response.redacted-thinking-block",
        EFFORT,
        only(THINKS, body(put(*BLOCK, value={"type": "redacted_thinking"}))),
    ),
    over("anth.response.thinking-first", EFFORT, only(THINKS, body(_backwards))),
)

STOPPING = (
    over("anth.response.stop-tool-use-iff", PLAIN, body(put("stop_reason", value="tool_use"))),
    over("anth.response.stop-tool-use-iff", CALL, body(put("stop_reason", value="end_turn")), "called"),
    over("anth.response.stop-max-tokens", CAP, body(put("stop_reason", value="end_turn"))),
    over(
        "anth.response.max-tokens-respected",
        CAP,
        body(rewrite("usage", "output_tokens", by=lambda count: count + 9)),
    ),
    over("anth.response.stop-sequence-value", PLAIN, body(put("stop_sequence", value="END"))),
    over("anth.response.stop-sequence-value", STOP, body(put("stop_sequence", value=None)), "missing"),
    over(
        "anth.response.stop-sequence-excluded",
        STOP,
        body(rewrite(*BLOCK, "text", by=lambda text: text + "Thursday")),
    ),
    over(
        "anth.response.usage-cache-disjoint",
        CACHED,
        only(
            to(f"{CACHED}/1"),
            body(_cached_twice),
        ),
    ),
    over(
        "anth.response.usage-thinking-bound",
        PLAIN,
        body(put("usage", "output_tokens_details", "thinking_tokens", value=999)),
    ),
)

CHOICE = (
    over("anth.response.tool-choice-any", "tools.choice-required", says(TEXT)),
    over("anth.response.tool-choice-tool", "tools.choice-named", says(TEXT)),
    over(
        "anth.response.tool-choice-tool",
        "tools.choice-named",
        body(put(*BLOCK, "name", value="get_weather")),
        "other",
    ),
    over("anth.response.tool-choice-none", "tools.choice-none", says(call(), reason="tool_use")),
    over("anth.response.disable-parallel", "tools.parallel-false", body(_one_more)),
    over(
        "anth.response.computer-action",
        "anthropic.computer-use",
        only(to("anthropic.computer-use/2"), body(put(*BLOCK, "input", "action", value="press"))),
    ),
    over("anth.response.applied-edits", PLAIN, _edits({})),
    over("anth.response.applied-edits", PLAIN, _edits([{}]), "type"),
    over("anth.response.applied-edits", PLAIN, _edits([HALF]), "count"),
    over("anth.response.edits-applied", EDITING, body(put("context_management", value=None))),
)

SHAPED = (
    over("anth.response.output-format-json", SCHEMA, body(put(*BLOCK, "text", value="It is warm."))),
    over("anth.response.output-format-valid", SCHEMA, body(put(*BLOCK, "text", value="{}"))),
    over("anth.response.strict-tool-input", "tools.strict", body(put(*BLOCK, "input", value={}))),
    over("anth.response.tool-input-schema", CALL, body(put(*BLOCK, "input", value={"town": "Oslo"}))),
)

TOGETHER = (
    over("anth.stream.usage-equals-whole", TWICE, only(to(f"{TWICE}/0"), body(_cheaper))),
    over(
        "anth.stream.text-equals-whole",
        TWICE,
        only(to(f"{TWICE}/0"), body(put(*BLOCK, "text", value="Salt is white."))),
    ),
    over(
        "anth.response.own-answer",
        "limits.concurrent",
        only(to("limits.concurrent/0"), body(put(*BLOCK, "text", value="canary-b04d82f6"))),
    ),
    over("anth.request.attachment-not-ignored", "chat.image", only(to("chat.image/0"), body(_cheap))),
    over("anth.response.thinking-off", EFFORT, only(to(f"{EFFORT}/1"), body(_thinks))),
)

ANTHROPIC = (*ENVELOPE, *BLOCKS, *STOPPING, *CHOICE, *SHAPED, *TOGETHER)
