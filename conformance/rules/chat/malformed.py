"""Requests that the published schema forbids, beside those of ``error_probes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.error_probes import INVALID
from conformance.rules.examples import Exchanges, answer, error
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import OPENAI_WIRES, Probe, Violation

NUMBER = {"messages": [{"role": "user", "content": 7}]}
NAMELESS = {"tools": [{"type": "function", "function": {"description": "Weather."}}]}
YAML = {"response_format": {"type": "yaml"}}
EFFORT = {"reasoning_effort": "enormous"}
NO_TOOLS: dict[str, Any] = {"tools": []}


def _accepted(asked: dict[str, Any], probe: str) -> Exchanges:
    return answer(asked=asked, probe=probe, expect="refusal")


@rule(
    "err.malformed-messages-400",
    level="MUST",
    basis="schema",
    source=schema("ChatCompletionRequestMessage"),
    probe="malformed-messages",
    violating=_accepted(NUMBER, "malformed-messages"),
    conforming=error(asked=NUMBER, error={"param": "messages[0].content"}, probe="malformed-messages"),
    consequence="half a conversation is read, and the answer to it looks like one to the whole",
)
def messages(probe: Probe) -> Iterator[Violation]:
    """Messages that the schema forbids are refused with 400.

    The rule is this suite's own. Asked with a list that is a text or holds one, and with a role, a content or
    a part that is missing or of a wrong type. 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.malformed-tools-400",
    level="MUST",
    basis="schema",
    source=(schema("ChatCompletionTool"), schema("ChatCompletionToolChoiceOption")),
    probe="malformed-tools",
    violating=_accepted(NAMELESS, "malformed-tools"),
    conforming=error(asked=NAMELESS, error={"param": "tools[0].function.name"}, probe="malformed-tools"),
    consequence="a misspelt tool is not there, and that the model never calls it looks like its choice",
)
def tools(probe: Probe) -> Iterator[Violation]:
    """Tools, and a tool_choice, that the schema forbids are refused with 400.

    The rule is this suite's own. Asked with a tool without a name, without a function, of an unknown type,
    and with parameters that are a text; and with a tool_choice that is no word of the schema's. 422 is
    accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.malformed-format-400",
    level="MUST",
    basis="schema",
    source=schema("CreateChatCompletionRequest response_format"),
    probe="malformed-format",
    violating=_accepted(YAML, "malformed-format"),
    conforming=error(asked=YAML, error={"param": "response_format.type"}, probe="malformed-format"),
    consequence="a client parses prose as the format it asked for",
)
def response_format(probe: Probe) -> Iterator[Violation]:
    """A response_format that the schema forbids is refused with 400.

    The rule is this suite's own. Asked with a text, with an unknown type, and with json_schema that has no
    schema. 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.unknown-value-400",
    level="SHOULD",
    basis="schema",
    source=schema("ReasoningEffort"),
    probe="unknown-value",
    violating=_accepted(EFFORT, "unknown-value"),
    conforming=error(asked=EFFORT, error={"param": "reasoning_effort"}, probe="unknown-value"),
    consequence="a misspelt setting is quietly the default, in quality and on the bill",
)
def unknown_value(probe: Probe) -> Iterator[Violation]:
    """A value outside a parameter's enumeration is refused with 400.

    The rule is this suite's own, and SHOULD: who does not know the parameter at all may ignore it. Asked with
    reasoning_effort "enormous"; 422 is accepted.
    """
    yield from probe.refused_with(*INVALID)


@rule(
    "err.empty-tools-tolerated",
    level="SHOULD",
    basis="convention",
    source=schema("CreateChatCompletionRequest tools"),
    probe="empty-tools",
    violating=error(500, asked=NO_TOOLS, probe="empty-tools", expect="either"),
    conforming=answer(asked=NO_TOOLS, probe="empty-tools", expect="either"),
    consequence="clients that always send the members fail without tools, with an error retried in vain",
)
def empty_tools(probe: Probe) -> Iterator[Violation]:
    """An empty tools list, and a tool_choice of null, count as left out or are refused with 400, never 5xx.

    The rule is this suite's own: the schema allows neither, clients send both, OpenAI refuses the empty list.
    """
    yield from probe.survived()


@rule(
    "err.content-coding-415",
    wires=(*OPENAI_WIRES, "anthropic-messages", "gemini", "ollama"),
    level="SHOULD",
    basis="spec",
    source=("RFC 9110 section 8.4", "RFC 9110 section 15.5.16"),
    probe="content-coding",
    violating=error(500, probe="content-coding"),
    conforming=error(415, probe="content-coding"),
    consequence="a client that compresses its requests is told to try again, in vain, and not to stop that",
)
def content_coding(probe: Probe) -> Iterator[Violation]:
    """A request body in a content coding that the server does not read is refused with 415, never 5xx.

    The rule is this suite's own. 400 is tolerated, and so is any answer of a server that reads the coding.
    Asked with zstd, in which clients of local servers compress large requests.
    """
    yield from probe.survived()
