"""Refusals that have to be asked for: requests with one thing wrong, and what an endpoint makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from conformance.rules.chat.views import Choice
from conformance.rules.examples import answer, error
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import docs, schema, sdk
from conformance.rules.views import TRANSIENT, ErrorAnswer, Probe, Run, Violation

REQUEST = schema("CreateChatCompletionRequest")
CODES = docs("guides/error-codes")
INVALID = (400, 422)
RETRIED = frozenset({408, 409, 500})

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "missing-model": "model",
        "missing-messages": "messages",
        "bad-role": "messages",
        "out-of-range": "temperature",
        "wrong-type": "max_tokens",
    }
)
"""What is wrong in the request of each of these probes."""


@dataclass(frozen=True, slots=True)
class OneFieldWrong(ErrorAnswer):
    """The refusal of a request in which one known field is wrong; ``field`` is its name."""

    field: str = ""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for one in run.views(ErrorAnswer):
            field = FIELDS.get(one.reading.exchange.probe or "")
            if field and one.reading.status in INVALID:
                yield cls(one.reading, one.at, one.value, field=field)


# ------------------------------------------------------------------------------- what the schema forbids


@rule(
    "err.missing-model-400",
    level="MUST",
    basis="schema",
    source=schema("CreateChatCompletionRequest required"),
    probe="missing-model",
    violating=answer(asked={"model": ABSENT}, probe="missing-model", expect="refusal"),
    conforming=error(asked={"model": ABSENT}, error={"param": "model"}, probe="missing-model"),
    consequence="a client that forgot the model is answered by one it never chose, and nobody notices",
)
def missing_model(probe: Probe) -> Iterator[Violation]:
    """A request without model is refused with 400.

    Required by the published schema. 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


ROBOT = {"messages": [{"role": "robot", "content": "Beep."}]}


@rule(
    "err.bad-role-400",
    level="MUST",
    basis="schema",
    source=schema("ChatCompletionRequestMessage"),
    probe="bad-role",
    violating=error(500, asked=ROBOT, probe="bad-role"),
    conforming=error(asked=ROBOT, error={"param": "messages[0].role"}, probe="bad-role"),
    consequence="a misspelt role becomes a text that the model has no name for, or a 5xx retried in vain",
)
def bad_role(probe: Probe) -> Iterator[Violation]:
    """An unknown message role is refused with 400.

    Required by the published schema. 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.out-of-range-400",
    level="MUST",
    basis="schema",
    source=schema("ModelResponseProperties temperature maximum 2"),
    probe="out-of-range",
    violating=answer(asked={"temperature": 9}, probe="out-of-range", expect="refusal"),
    conforming=error(asked={"temperature": 9}, error={"param": "temperature"}, probe="out-of-range"),
    consequence="a client's mistake shows as poor answers and never as an error",
)
def out_of_range(probe: Probe) -> Iterator[Violation]:
    """A parameter outside its documented range is refused.

    Required by the published schema. Asked with temperature 9; 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.wrong-type-400",
    level="MUST",
    basis="schema",
    source=REQUEST,
    probe="wrong-type",
    violating=answer(asked={"max_tokens": "ten"}, probe="wrong-type", expect="refusal"),
    conforming=error(asked={"max_tokens": "ten"}, error={"param": "max_tokens"}, probe="wrong-type"),
    consequence="the limit that a client meant to set is not there, and the bill is",
)
def wrong_type(probe: Probe) -> Iterator[Violation]:
    """A parameter of the wrong type is refused.

    Required by the published schema. Asked with max_tokens "ten"; 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.param-names-field",
    level="SHOULD",
    basis="convention",
    needs=("purpose",),
    source=(schema("Error param"), sdk("_exceptions.py APIError.param")),
    violating=error(asked={"temperature": 9}, error={"param": None}, probe="out-of-range"),
    conforming=error(asked=ROBOT, error={"param": "messages[0].role"}, probe="bad-role"),
    consequence="openai-python's error.param is None: a form cannot mark the field, a proxy cannot drop it",
)
def names_field(refusal: OneFieldWrong) -> Iterator[Violation]:
    """error.param names the offending request field.

    Either the field or a place in it, such as messages[0].role. Corrected: convention, not prose; the schema
    has the member and no word on what it holds. An error without the member is err.param-key's.
    """
    if refusal.error is None or "param" not in refusal.error:
        return
    param = refusal.error["param"]
    if not (isinstance(param, str) and _heads(param) == refusal.field):
        yield refusal.found("error", "param", wanted=f'"{refusal.field}"')


def _heads(param: str) -> str:
    """The first name in a path, be it ``messages[0].role``, ``/messages/0`` or ``$.messages``."""
    return param.lstrip("$./").replace("[", ".").replace("/", ".").partition(".")[0]


# ---------------------------------------------------------------------- what may be ignored, and what not


@rule(
    "err.unknown-field-tolerated",
    level="MAY",
    basis="convention",
    source=REQUEST,
    probe="unknown-field",
    violating=error(500, asked={"x_unknown": 1}, probe="unknown-field", expect="either"),
    conforming=error(400, asked={"x_unknown": 1}, probe="unknown-field", expect="either"),
    consequence="a client that is ahead of the server sees it crash in place of an answer or a plain no",
)
def unknown_field(probe: Probe) -> Iterator[Violation]:
    """Unknown request members may be ignored or refused with 400, never with 5xx."""
    yield from _no_crash(probe)


@rule(
    "err.stream-options-without-stream-400",
    level="SHOULD",
    basis="prose",
    source=schema("ChatCompletionStreamOptions"),
    probe="stream-options-without-stream",
    violating=error(
        500, asked={"stream_options": {}}, probe="stream-options-without-stream", expect="either"
    ),
    conforming=answer(asked={"stream_options": {}}, probe="stream-options-without-stream", expect="either"),
    consequence="a client that always sends the options fails as soon as it does not stream",
)
def stream_options(probe: Probe) -> Iterator[Violation]:
    """stream_options with stream false is refused or ignored, never a 5xx."""
    yield from _no_crash(probe)


SPEECH = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}
FORCED = {"functions": [{"name": "get_weather"}], "function_call": {"name": "get_weather"}}


@rule(
    "err.unsupported-param-not-silent",
    level="SHOULD",
    basis="convention",
    source=f"{CODES} 400",
    probe="unsupported-param",
    violating=answer(asked=SPEECH, probe="unsupported-param", expect="either"),
    conforming=error(asked=SPEECH, error={"param": "modalities"}, probe="unsupported-param", expect="either"),
    consequence="a client waits for what it asked for, and cannot tell that it will never come",
)
def unsupported(choice: Choice) -> Iterator[Violation]:
    """A known parameter the server cannot honour is refused or documented, not ignored.

    Corrected in what is asked: n, logprobs, response_format and tool_choice have rules of their own, so this
    asks for speech (modalities) and by the older function_call, whose effect shows in the message.
    """
    asked = choice.asked
    if asked is None or choice.finish_reason in ("length", "content_filter"):
        return
    modalities, forced = asked.body.get("modalities"), asked.body.get("function_call")
    spoken = isinstance(choice.get("message", "audio"), dict)
    if isinstance(modalities, list) and "audio" in modalities and not spoken:
        yield choice.found("message", "audio", wanted="audio, or a refusal (it was asked for)")
    if isinstance(forced, dict) and not _called(choice):
        yield choice.found("message", "function_call", wanted="a call, or a refusal (it was forced)")


def _called(choice: Choice) -> bool:
    return bool(choice.calls) or isinstance(choice.get("message", "function_call"), dict)


@rule(
    "err.retryable-statuses",
    level="SHOULD",
    basis="sdk",
    source=sdk("_base_client.py _should_retry"),
    probe="invalid-tool-schema",
    violating=error(500, probe="invalid-tool-schema"),
    conforming=error(error={"code": "invalid_function_parameters"}, probe="invalid-tool-schema"),
    consequence="openai-python sends the same bad request two times more, after a pause each",
)
def retryable(probe: Probe) -> Iterator[Violation]:
    """Only transient faults use 408, 409, 429 or 5xx.

    The SDK retries these twice by default. Asked with a tool whose parameters are no JSON Schema; the other
    probes' own rules say which status their fault has.
    """
    if probe.status in RETRIED or (probe.status > 500 and probe.status not in TRANSIENT):
        yield probe.found("status", wanted="a status that is not retried, such as 400")


# ------------------------------------------------------------------------------------------------ tools


@rule(
    "err.tool-name-invalid-400",
    level="SHOULD",
    basis="schema",
    source=schema("FunctionObject name"),
    probe="tool-name-invalid",
    violating=answer(probe="tool-name-invalid", expect="refusal"),
    conforming=error(error={"param": "tools[0].function.name"}, probe="tool-name-invalid"),
    consequence="a tool that works here is refused by the next endpoint",
)
def tool_name(probe: Probe) -> Iterator[Violation]:
    """A function name outside [A-Za-z0-9_-]{1,64} is refused.

    Required by the published schema. 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.tool-choice-unknown-400",
    level="SHOULD",
    basis="convention",
    source=schema("ChatCompletionNamedToolChoice"),
    probe="tool-choice-unknown",
    violating=answer(probe="tool-choice-unknown", expect="refusal"),
    conforming=error(error={"param": "tool_choice"}, probe="tool-choice-unknown"),
    consequence="a forced call that can never be made is quietly not forced",
)
def choice_unknown(probe: Probe) -> Iterator[Violation]:
    """tool_choice naming an undeclared function is refused.

    422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.tool-choice-without-tools-400",
    level="SHOULD",
    basis="convention",
    source=schema("ChatCompletionToolChoiceOption"),
    probe="tool-choice-without-tools",
    violating=answer(probe="tool-choice-without-tools", expect="refusal"),
    conforming=error(error={"param": "tool_choice"}, probe="tool-choice-without-tools"),
    consequence="a client that lost its tools gets prose and takes it for the model's choice",
)
def choice_without_tools(probe: Probe) -> Iterator[Violation]:
    """tool_choice required without tools is refused.

    422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


def _no_crash(probe: Probe) -> Iterator[Violation]:
    if probe.status >= 500 and probe.status not in TRANSIENT:
        yield probe.found("status", wanted="below 500")
