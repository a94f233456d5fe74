"""The closed vocabularies: words with one meaning each."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"

WireName = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini", "ollama"]
WIRES: tuple[WireName, ...] = get_args(WireName)

Level = Literal["MUST", "SHOULD", "MAY"]
Basis = Literal["schema", "prose", "spec", "sdk", "derived", "convention"]
Mode = Literal["strict", "adapted"]
Rulebook = Literal["default", "literal"]
VerdictName = Literal[
    "conforms",
    "warns",
    "quirk",
    "violates",
    "refused",
    "inconclusive",
    "unsupported",
    "not-run",
    "error",
]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
JUDGED: frozenset[VerdictName] = frozenset({"conforms", "warns", "quirk", "violates", "refused"})
"""The verdicts that say something about the endpoint; the others say why nothing could be said."""
Flag = Literal["stale", "flaky", "simulated", "old", "known"]
Flavour = Literal["openai", "open-responses"]
"""Published readings of one wire that disagree in places: OpenAI's Responses, and Open Responses."""
Ending = Literal["complete", "cut", "stalled", "closed-by-us", "too-large"]
FailureKind = Literal["connect", "tls", "timeout", "protocol", "no-cassette", "older-scenario", "request-cap"]
Expect = Literal["answer", "refusal", "either"]
Auth = Literal["own", "wrong", "none"]
Role = Literal["system", "developer", "user", "assistant", "tool"]
