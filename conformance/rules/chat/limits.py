"""What a request limits: how many tokens, and the texts to stop at."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.views import Counted, Message
from conformance.rules.examples import USAGE, answer, call, piece, start, stream
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Probe, Run, Violation

REQUEST = schema("CreateChatCompletionRequest")
FULL = USAGE | {"completion_tokens": 16, "total_tokens": 25}
CAP_PROBE = "token-cap"
"""The purpose of a step that asks for far more text than its cap leaves room for."""


@rule(
    "chat.response.token-cap-respected",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(f"{REQUEST} max_completion_tokens", f"{REQUEST} max_tokens"),
    violating=answer(
        asked={"max_tokens": 16},
        usage=USAGE | {"completion_tokens": 40, "total_tokens": 49},
        choice={"finish_reason": "length"},
    ),
    conforming=answer(asked={"max_tokens": 16}, usage=FULL, choice={"finish_reason": "length"}),
    consequence="the bill is higher than the request allows",
)
def cap_respected(usage: Counted) -> Iterator[Violation]:
    """completion_tokens does not exceed the requested cap.

    The cap holds for each choice, the count for all n of them. Of the two names that a cap may have, the
    larger counts, for a server that knows only one of them.
    """
    spent = usage.count("completion_tokens")
    if spent is None or usage.asked is None:
        return
    caps = [usage.asked.body.get(name) for name in ("max_completion_tokens", "max_tokens")]
    bound = max((cap for cap in caps if type(cap) is int and cap > 0), default=None)
    if bound is not None and spent > bound * usage.asked.n:
        yield usage.found("completion_tokens", wanted=f"at most {bound * usage.asked.n}")


@rule(
    "chat.response.finish-length-at-cap",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=schema("CreateChatCompletionResponse finish_reason"),
    violating=answer(asked={"max_tokens": 16}, calls=[call(arguments='{"city":"Os')], usage=FULL),
    conforming=answer(
        asked={"max_tokens": 16},
        calls=[call(arguments='{"city":"Os')],
        usage=FULL,
        choice={"finish_reason": "length"},
    ),
    also=("chat.response.tool-call-arguments-json",),
    consequence="a cut answer looks like an ended one: half a call is run, half a text is believed",
)
def length_at_cap(run: Run) -> Iterator[Violation]:
    """Output cut by the token cap finishes with length.

    An answer may come to its own end exactly at the cap, so that the count alone proves nothing: it must
    have been asked for more than the cap allows, or stop in the middle of a call's arguments.
    """
    for probe in run.views(Probe):
        if probe.reading.exchange.probe == CAP_PROBE:
            yield from probe.accepted()
    spent = {usage.reading.index: usage for usage in run.views(Counted)}
    for message in run.views(Message):
        usage = spent.get(message.reading.index)
        count = usage.count("completion_tokens") if usage else None
        cap = message.asked.cap if message.asked and message.asked.n == 1 else None
        if cap is None or count is None or count < cap or message.finish_reason in (None, "length"):
            continue
        if message.finish_reason == "content_filter" or not message.settled:
            continue
        half = any(one.arguments and one.parsed.problem and not one.parsed.beyond for one in message.calls)
        if half or message.reading.exchange.probe == CAP_PROBE:
            yield message.found(
                wanted='finish_reason "length"',
                saw=f'"{message.finish_reason}" after {count} of {cap} tokens',
            )


@rule(
    "chat.response.stop-sequence-excluded",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=schema("StopConfiguration"),
    violating=answer(asked={"stop": ["END"]}, message={"content": "a END"}),
    conforming=stream(start(), piece(content="a "), piece("stop"), asked={"stop": "END"}),
    consequence="clients that asked for the text up to a mark get the mark too, or what follows it",
)
def stop_excluded(message: Message) -> Iterator[Violation]:
    """With stop sequences the text ends before the sequence and finishes with stop.

    Judged is that no sequence is in the text; whether the model wrote one, only the server knows.
    """
    asked = message.asked
    if asked is None or asked.body.get("include_stop_str_in_output") is True:
        return
    for sequence in asked.stop:
        if sequence in message.content:
            at = message.content.index(sequence)
            around = message.content[max(0, at - 40) : at + len(sequence) + 40]
            yield message.found("content", wanted=f"text that ends before {sequence}", saw=around)
            return
