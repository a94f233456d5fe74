"""Conversations: calls and their responses, signatures, media, and forms in which a client may ask."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.rules.examples import Exchanges, conversation
from conformance.rules.gemini.answers import Reply
from conformance.rules.gemini.asked import Asked, asked_in, is_generate, member
from conformance.rules.gemini.examples import (
    SIGNATURE,
    USAGE,
    WIRES,
    answer,
    call,
    error,
    history,
    model,
    result,
    text,
    user,
)
from conformance.rules.gemini.views import Candidate
from conformance.rules.pairing import by_question
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.registry import rule
from conformance.rules.sources import PROTO_JSON, gemini_docs, gemini_sdk
from conformance.rules.views import Probe, Run, Violation, lookup

RESPONSE = gemini_sdk("types.py FunctionResponse")
GUIDE = gemini_docs("function-calling")
QUESTION = user(text("Which code has Oslo?"))
OSLO, LIMA = call(1), call(2, args={"city": "Lima"})
FROM_OSLO, FROM_LIMA = result(1, response={"output": "KESTREL"}), result(2, response={"output": "HERON"})
BOTH = history(user(), model(OSLO, LIMA), user(FROM_LIMA, FROM_OSLO, *QUESTION["parts"]))
ONE = history(QUESTION, model(OSLO), user(FROM_OSLO))
HALF = history(user(), model(OSLO, LIMA), user(FROM_OSLO, *QUESTION["parts"]))
ORPHAN = history(QUESTION, user(FROM_OSLO))
WORDY = history(QUESTION, model(OSLO), user(result(1, response="18 degrees")))
SIGNED = history(QUESTION, model(call(1, part={"thoughtSignature": SIGNATURE})), user(FROM_OSLO))
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
SHOWN = history(QUESTION, model(OSLO), user(result(1, parts=[PICTURE])))
SEEN = {"contents": [user(text("What is this?"), PICTURE)]}
UNSEEN = {"contents": [user(text("What is this?"))]}
FORMS = history(QUESTION, model(OSLO), user(result(1, response={"degrees": 18})))
SNAKE = {"system_instruction": {"parts": [text("Be brief.")]}, "generation_config": {"max_output_tokens": 64}}
ROLELESS = {"contents": [{"parts": [text("Say hello.")]}]}
UNPAIRED = ("tool-result-missing", "tool-result-duplicate")
"""Probes of calls without a result, or with two."""
WITHOUT = "without-"
"""How the probes begin that ask what the request before asked, less what was attached."""


@rule(
    "gem.mt.tool-result-accepted",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(RESPONSE, GUIDE),
    probe="tool-result",
    violating=error(400, asked=ONE, probe="tool-result", expect="answer"),
    conforming=answer(asked=ONE, probe="tool-result"),
    consequence="functions can be called but never answered",
)
def tool_result(probe: Probe) -> Iterator[Violation]:
    """A turn of calls and the turn with their functionResponse parts are accepted.

    Not in the catalogue, which has the same rule for Chat. What was signed is gem.mt.signature-echo's.
    """
    if not _signed(asked_in(probe.reading)):
        yield from probe.accepted()


@rule(
    "gem.mt.tool-results-accepted",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=GUIDE,
    probe="tool-results",
    violating=error(400, asked=BOTH, probe="tool-results", expect="answer"),
    conforming=answer(text("KESTREL"), asked=BOTH, probe="tool-results"),
    consequence="no client can answer parallel calls",
)
def tool_results(probe: Probe) -> Iterator[Violation]:
    """The responses to several calls, in one turn, are accepted.

    Not in the catalogue, which has the same rule for Chat.
    """
    yield from probe.accepted()


@rule(
    "gem.mt.tool-results-pairing",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("values",),
    source=f"{RESPONSE}.id",
    subject="model",
    probe="tool-results",
    violating=answer(text("HERON"), asked=BOTH, probe="tool-results"),
    conforming=answer(text("KESTREL"), asked=BOTH, probe="tool-results"),
    consequence="results of parallel calls are swapped, and nothing in the answer tells",
)
def pairing(one: Candidate) -> Iterator[Violation]:
    """A functionResponse belongs to the call with its id, wherever it stands.

    Not in the catalogue. It takes an answer to see that, so it judges the model: the question names what one
    call was about, and the answer must not hold the result of another one in its place.
    """
    right, wrong = _results_by_question(one.asked)
    said = one.text
    if right and any(word in said for word in wrong) and not any(word in said for word in right):
        yield one.found(wanted=f"what the call in question returned: {' or '.join(right)}", saw=said)


@rule(
    "gem.mt.function-response-count",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("purpose",),
    source="google-gemini/gemini-cli issues 3814, 17208 (error text)",
    violating=answer(asked=HALF, probe="tool-result-missing", expect="either"),
    conforming=error(400, asked=HALF, probe="tool-result-missing", expect="either"),
    consequence="a client that lost a result goes unnoticed here and is refused by Google",
)
def response_count(reply: Reply) -> Iterator[Violation]:
    """A turn of calls is followed by a turn with as many functionResponse parts, or refused with 400.

    Corrected: SHOULD, since Google says so in its refusals alone.
    """
    if reply.reading.exchange.probe in UNPAIRED and _is_uneven(reply.asked):
        yield from Probe(reply.reading, reply.at, reply.value).refused_with(400)


@rule(
    "gem.mt.function-response-orphan",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source="google-gemini/gemini-cli issues 3814, 17208 (error text)",
    probe="orphan-tool-result",
    violating=answer(asked=ORPHAN, probe="orphan-tool-result", expect="either"),
    conforming=error(400, asked=ORPHAN, probe="orphan-tool-result", expect="either"),
    consequence="a history that lost a call goes unnoticed, and the model sees a result out of nowhere",
)
def orphan(probe: Probe) -> Iterator[Violation]:
    """A functionResponse that follows no turn of calls is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.mt.function-response-shape",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{RESPONSE}.response (an object)",
    probe="function-response-text",
    violating=answer(asked=WORDY, probe="function-response-text", expect="refusal"),
    conforming=error(400, asked=WORDY, probe="function-response-text"),
    consequence="a client's mistake works here and is refused by Google",
)
def response_shape(probe: Probe) -> Iterator[Violation]:
    """The response in a functionResponse is an object; one that is a text is refused with 400."""
    yield from probe.refused_with(400)


@rule(
    "gem.mt.function-response-forms",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=f"{RESPONSE}.response",
    probe="function-result-forms",
    violating=error(400, asked=FORMS, probe="function-result-forms", expect="answer"),
    conforming=answer(asked=FORMS, probe="function-result-forms"),
    consequence="a client that hands out its results as they are has to wrap them first, and is not told",
)
def response_forms(probe: Probe) -> Iterator[Violation]:
    """A response may have its output under output, its error under error, or be the output as a whole.

    Not in the catalogue.
    """
    yield from probe.accepted()


@rule(
    "gem.mt.signature-echo",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("purpose",),
    source=gemini_docs("thought-signatures"),
    violating=error(400, asked=SIGNED, expect="answer", probe="tool-result"),
    conforming=answer(asked=SIGNED, probe="tool-result"),
    consequence="no loop gets past its first call: clients send back the signatures that they got",
)
def signature_echo(reply: Reply) -> Iterator[Violation]:
    """Signatures are accepted back on the parts that carried them.

    Judged in histories that are sent to be answered. Corrected: that models of Gemini 3's class refuse a turn
    without its signature is not asked, since nothing tells their class from outside.
    """
    exchange = reply.reading.exchange
    asked_for = exchange.expect == "answer" and exchange.probe in ("tool-result", "reasoning-echo")
    if asked_for and _signed(reply.asked):
        probe = Probe(reply.reading, reply.at, reply.value)
        yield from probe.accepted()


@rule(
    "gem.mt.reasoning-echo",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=gemini_docs("thinking"),
    probe="reasoning-echo",
    violating=error(400, asked=ONE, probe="reasoning-echo", expect="answer"),
    conforming=answer(asked=ONE, probe="reasoning-echo"),
    consequence="a client that sends the whole turn back, as the SDK's chats do, fails here",
)
def reasoning_echo(probe: Probe) -> Iterator[Violation]:
    """Thoughts are accepted back in their place before the call.

    Not in the catalogue. What was signed is gem.mt.signature-echo's.
    """
    if not _signed(asked_in(probe.reading)):
        yield from probe.accepted()


# --------------------------------------------------------------------------------- media and forms


@rule(
    "gem.mt.multimodal-result",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{RESPONSE}.parts",
    probe="multimodal-result",
    violating=error(500, asked=SHOWN, probe="multimodal-result", expect="either"),
    conforming=answer(asked=SHOWN, probe="multimodal-result", expect="either"),
    consequence="an agent that shows the model its screen is told to try again, in vain",
)
def multimodal(probe: Probe) -> Iterator[Violation]:
    """A functionResponse with parts, such as a picture, is read, or refused with a 4xx.

    Not in the catalogue. Models before Gemini 3 refuse it.
    """
    yield from probe.survived()


def _pair(tokens: int) -> Exchanges:
    with_media = {**USAGE, "promptTokenCount": tokens, "totalTokenCount": tokens + 3}
    return conversation(
        answer(asked=SEEN, usageMetadata=with_media),
        answer(asked=UNSEEN, probe="without-image", expect="either", responseId="r_2"),
    )


@rule(
    "gem.request.media-not-ignored",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=gemini_docs("tokens"),
    violating=_pair(9),
    conforming=_pair(267),
    consequence="the model describes a picture, a sound or a page that it never saw",
)
def media_ignored(run: Run) -> Iterator[Violation]:
    """Media in a request are read or refused with a 4xx, never dropped.

    Not in the catalogue. They cost tokens: an answer whose promptTokenCount is no more than that of the same
    request without them was made without them.
    """
    for one, other in pairwise(run.readings):
        if not (other.exchange.probe or "").startswith(WITHOUT) or not (
            is_generate(one) and is_generate(other)
        ):
            continue
        if not _has_media(asked_in(one)):
            continue
        if one.exchange.probe == "attachment":
            probe = Probe(one, f"/exchanges/{one.index}/response", {"status": one.status})
            yield from probe.survived()
        with_media, without = _prompt(one), _prompt(other)
        if with_media is not None and without is not None and with_media <= without:
            probe = Probe(one, f"/exchanges/{one.index}/response/body")
            yield probe.found(
                "usageMetadata",
                "promptTokenCount",
                wanted=f"more than {without}, which the same request costs without its media",
                saw=str(with_media),
            )


@rule(
    "gem.request.snake-case-accepted",
    wires=WIRES,
    level="MUST",
    basis="spec",
    source=(PROTO_JSON, f"{GUIDE} (REST examples)"),
    probe="snake-case-request",
    violating=error(400, asked=SNAKE, probe="snake-case-request", expect="answer"),
    conforming=answer(asked=SNAKE, probe="snake-case-request"),
    consequence="the manual's own REST examples do not work, or their settings are dropped",
)
def snake_case(probe: Probe) -> Iterator[Violation]:
    """Members may be spelt as their fields are named, in snake_case.

    Not in the catalogue. ProtoJSON's parsers take both spellings.
    """
    yield from probe.accepted()


@rule(
    "gem.request.role-optional",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=gemini_sdk("types.py Content.role (may be left unset)"),
    probe="roleless",
    violating=error(400, asked=ROLELESS, probe="roleless", expect="answer"),
    conforming=answer(asked=ROLELESS, probe="roleless"),
    consequence="the first example of the manual does not work",
)
def role_optional(probe: Probe) -> Iterator[Violation]:
    """A content without a role is the user's.

    Not in the catalogue.
    """
    yield from probe.accepted()


def _signed(asked: Asked) -> bool:
    return any(True for _ in asked.parts("thoughtSignature"))


def _is_uneven(asked: Asked) -> bool:
    """Whether a content with calls is not followed by one with as many responses."""
    for content, after in pairwise([*asked.contents, None]):
        calls, responses = _number(content, "functionCall"), _number(after, "functionResponse")
        if calls and calls != responses:
            return True
    return False


def _number(content: Any, kind: str) -> int:
    parts = member(content, "parts")
    return sum(member(part, kind) is not ABSENT for part in parts) if isinstance(parts, list) else 0


def _has_media(asked: Asked) -> bool:
    if any(True for kind in ("inlineData", "fileData") for _ in asked.parts(kind)):
        return True
    return any(member(one, "parts") not in (ABSENT, None, []) for one in asked.parts("functionResponse"))


def _prompt(reading: Reading) -> int | None:
    count = lookup(reading.body.value, ("usageMetadata", "promptTokenCount"))
    return count if reading.succeeded and type(count) is int else None


def _results_by_question(asked: Asked) -> tuple[list[str], list[str]]:
    """The outputs of the calls that the question is about, and those of the other calls."""
    calls: dict[str, Any] = {}
    for one in asked.parts("functionCall"):
        given = lookup(one, ("id",))
        if isinstance(given, str):
            calls[given] = lookup(one, ("args",))
    found: list[tuple[Any, str]] = []
    for one in asked.parts("functionResponse"):
        given, output = lookup(one, ("id",)), lookup(one, ("response", "output"))
        args = calls.get(given) if isinstance(given, str) else None
        if isinstance(output, str) and output and isinstance(args, dict):
            found.append((args, output))
    return by_question(asked.question, found)
