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
Aspect = Literal[
    "request",  # the request's body is there
    "status",  # the HTTP status is the one that was received
    "headers",  # the response's headers are those that were received
    "all-headers",  # and none of them was left out
    "framing",  # an event stream has its own lines: event and data fields, blank lines, end marker
    "spelling",  # JSON is spelt as it came: repeated members, numbers, white space, order of members
    "presence",  # a member that is absent was absent, and one that is null was null
    "values",  # ids, times of creation and model names are those that were sent
    "arrival",  # times and sizes of what the network brought
    "purpose",  # what the request was sent for (``Exchange.probe``): only our own recordings tell
]
"""What a recording may have kept. A rule can only be judged on what it needs of these."""
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
