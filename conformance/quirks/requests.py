"""What catalogued quirks make of a request, told before it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from conformance.quirks.catalogue import Quirk
from conformance.quirks.declarations import Answer
from conformance.quirks.paths import Place, places
from conformance.types import WireName

Effect: TypeAlias = Literal["refused", "ignored", "changed"]


@dataclass(frozen=True, slots=True)
class Objection:
    """What a quirk makes of a request: ``places`` are the culprits, ``answer`` comes back where refused."""

    quirk: Quirk
    effect: Effect
    places: tuple[Place, ...]
    answer: Answer | None = None


def objections(
    quirks: Iterable[Quirk], wire: WireName, body: Mapping[str, Any], model: str | None = None
) -> Iterator[Objection]:
    """What each of the quirks makes of ``body``, the JSON of a request over ``wire``.

    ``model`` is the model asked for where the body does not name it. What comes back whatever is asked is no
    objection to a request.
    """
    for quirk in quirks:
        for refuses in quirk.refuses:
            spoken = (refuses.wire or quirk.wire) == wire and refuses.when is not None
            if spoken and (found := refuses.culprits(body, model)):
                yield Objection(quirk, "refused", found, refuses.answer)
                break
        for alters in quirk.alters:
            if (alters.wire or quirk.wire) == wire and (found := alters.when.culprits(body, model)):
                yield Objection(quirk, alters.effect, found)


_ANTHROPIC_ONLY = ("/system", "/anthropic_version", "/tools/*/input_schema", "/thinking/budget_tokens")
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_OLLAMA_ONLY = ("/options", "/keep_alive", "/messages/*/tool_name", "/messages/*/images")


def wire_of(body: Mapping[str, Any]) -> WireName | None:
    """The wire over which this JSON asks something, by its members; ``None`` where it asks nothing.

    What could be said over several wires is taken for ``openai-chat``.
    """
    if "contents" in body:
        return "gemini"
    if "messages" not in body:
        return "openai-responses" if "input" in body or "previous_response_id" in body else None
    blocks = {place.value for place in places(body, "/messages/*/content/*/type") if _is_text(place.value)}
    if blocks & _ANTHROPIC_BLOCKS or any(_has(body, path) for path in _ANTHROPIC_ONLY):
        return "anthropic-messages"
    arguments = places(body, "/messages/*/tool_calls/*/function/arguments")
    if any(isinstance(place.value, dict) for place in arguments) or any(
        _has(body, path) for path in _OLLAMA_ONLY
    ):
        return "ollama"
    return "openai-chat"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _has(body: Mapping[str, Any], path: str) -> bool:
    return next(places(body, path), None) is not None
