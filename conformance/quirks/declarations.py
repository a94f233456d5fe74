"""What a quirk declares about requests: which it refuses and how, which it alters, and one that shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from conformance.quirks.conditions import Condition
from conformance.quirks.paths import Place, as_text
from conformance.types import WireName

_SHOWN = 200


class Answer(BaseModel):
    """What comes back in place of an answer.

    In ``body``, ``{pointer}`` stands for the culprit's JSON Pointer, ``{dotted}`` for the same as servers
    write it (``messages[1].content``), ``{index}`` for the index nearest the end of the path, ``{key}`` for
    its last segment, ``{value}`` for what is there (200 characters) and ``{model}`` for the model asked for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: int = Field(default=400, ge=200, le=599)
    body: Any = Field(default=None, description="The JSON body, or text where content_type is no JSON.")
    content_type: str = "application/json"
    headers: dict[str, str] = Field(default_factory=dict)
    hangs: bool = Field(default=False, description="No byte comes back; status and body say nothing.")

    def body_at(self, culprit: Place, model: str) -> Any:
        """The body for this culprit."""
        index = next((key for key in reversed(culprit.path) if isinstance(key, int)), 0)
        words = {
            "{pointer}": culprit.pointer,
            "{dotted}": culprit.dotted,
            "{index}": str(index),
            "{key}": str(culprit.path[-1]) if culprit.path else "",
            "{value}": as_text(culprit.value)[:_SHOWN],
            "{model}": model[:_SHOWN],
        }
        return filled(self.body, words)


class Refuses(BaseModel):
    """A request that is refused although the wire's reference takes it, and the refusal.

    Without ``when`` it is what comes back now and then whatever is asked: no request is to blame for it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    wire: WireName | None = Field(default=None, description="The quirk's own, if nothing is said.")
    when: Condition | None = None
    answer: Answer = Answer()

    def culprits(self, body: Mapping[str, Any], model: str | None = None) -> tuple[Place, ...]:
        """The places of ``body`` for which it is refused; the whole of it where no request is to blame."""
        return (Place((), body),) if self.when is None else self.when.culprits(body, model)


class Alters(BaseModel):
    """A request that is answered, but not as it asks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wire: WireName | None = Field(default=None, description="The quirk's own, if nothing is said.")
    when: Condition
    effect: Literal["ignored", "changed"]


class Example(BaseModel):
    """The smallest request that shows the quirk, and what comes back.

    ``extension``: the request holds members that the reference doesn't know either, so that refusing it
    breaks no rule. ``probe``: the reference refuses it, too, and the rules of this probe say how. ``answer``
    is the body that comes back, as JSON, or as text (the lines of a stream).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    wire: WireName | None = Field(default=None, description="The quirk's own, if nothing is said.")
    request: dict[str, Any]
    model: str | None = Field(default=None, description="The model, where the path names it.")
    extension: bool = False
    probe: str | None = None
    status: int | None = None
    answer: Any = None

    @model_validator(mode="after")
    def _is_json(self) -> Self:
        json.dumps(self.request, allow_nan=False)
        return self


def filled(value: Any, words: Mapping[str, Any]) -> Any:
    """``value``, JSON, with its words filled in: one that is a text's all keeps its type."""
    if isinstance(value, str):
        if value in words:
            return words[value]
        for word, said in words.items():
            value = value.replace(word, as_text(said))
        return value
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    if isinstance(value, dict):
        return {key: filled(member, words) for key, member in value.items()}
    return value
