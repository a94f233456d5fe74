"""Mutants of the rules on what other suites check: malformed requests, requests that are alike, effort."""

from __future__ import annotations

from conformance.simulator.mutants.edits import (
    ARGUMENTS,
    MESSAGE,
    Edit,
    accepted,
    accepted_with,
    body,
    both,
    crashed,
    drop,
    header,
    only,
    put,
    to,
    via,
)
from conformance.simulator.mutants.mutant import Answer, Mutant

DETAILS = ("usage", "completion_tokens_details")
SPENT = (*DETAILS, "reasoning_tokens")
THOUGHT = put(*MESSAGE, "reasoning_content", value="Hm.")
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'


def _text(text: str) -> Edit:
    return put(*MESSAGE, "content", value=text)


def _prompt_tokens(count: int) -> Edit:
    """The prompt costs this many tokens, and the sum is right."""

    def edit(document: dict[str, dict[str, int]]) -> None:
        usage = document["usage"]
        usage["prompt_tokens"] = count
        usage["total_tokens"] = count + usage["completion_tokens"]

    return edit


def _raw(answer: Answer) -> bool:
    """Requests that are sent as they are carry no marker."""
    return b"[[" not in answer.request.body


def _coded(answer: Answer) -> bool:
    return any(name.lower() == "content-encoding" for name, _ in answer.request.headers)


def _streamed(answer: Answer) -> bool:
    return answer.events is not None


PEERS = (
    Mutant("chat.response.model-as-asked", "chat.plain", body(put("model", value="another"))),
    Mutant("chat.response.no-call-json-leak", "tools.choice-none", body(_text(CALL))),
    Mutant(
        "chat.response.reasoning-off",
        "reasoning.effort",
        only(to("reasoning.effort/1"), body(both(THOUGHT, drop(*DETAILS)))),
    ),
    Mutant(
        "chat.response.reasoning-off",
        "reasoning.effort",
        only(to("reasoning.effort/1"), body(put(*SPENT, value=1))),
        variant="counted",
    ),
    Mutant(
        "chat.response.usage-reasoning-counted",
        "reasoning.effort",
        only(to("reasoning.effort/0"), body(put(*SPENT, value=0))),
    ),
    Mutant(
        "chat.response.seed-repeats",
        "parameters.seed",
        only(to("parameters.seed/0"), body(_text("The coin shows tails."))),
    ),
    Mutant(
        "chat.stream.text-equals-whole",
        "stream.same-as-whole",
        only(to("stream.same-as-whole/0"), body(_text("Salt is white."))),
    ),
    Mutant(
        "chat.stream.text-equals-whole",
        "stream.same-as-whole",
        only(to("stream.same-as-whole/2"), body(put(*ARGUMENTS, value='{"city": "Nuuk"}'))),
        variant="calls",
    ),
    Mutant(
        "chat.stream.usage-equals-whole",
        "stream.same-as-whole",
        only(to("stream.same-as-whole/0"), body(_prompt_tokens(99))),
    ),
    Mutant("sse.no-content-length", "stream.plain", header("content-length", "100000", where=_streamed)),
    Mutant(
        "models.list.content-type-json",
        "models.list",
        header("content-type", "text/plain", where=via("GET", "/models")),
    ),
    Mutant(
        "chat.request.attachment-not-ignored",
        "chat.sound",
        only(to("chat.sound/0"), body(_prompt_tokens(10))),
    ),
    Mutant(
        "chat.request.attachment-not-ignored",
        "chat.document",
        only(to("chat.document/0"), crashed),
        variant="crash",
    ),
    Mutant("err.malformed-messages-400", "errors.malformed-messages", accepted),
    Mutant("err.malformed-tools-400", "errors.bad-tools", only(_raw, accepted)),
    Mutant("err.malformed-format-400", "structured.schema-limits", only(_raw, accepted_with("{}"))),
    Mutant("err.unknown-value-400", "errors.bad-parameters", only(to("errors.bad-parameters/5"), accepted)),
    Mutant("err.empty-tools-tolerated", "errors.bad-tools", only(to("errors.bad-tools/4"), crashed)),
    Mutant("err.content-coding-415", "errors.malformed-json", only(_coded, crashed)),
    Mutant("mt.assistant-last", "history.user-messages", only(to("history.user-messages/2"), crashed)),
)
