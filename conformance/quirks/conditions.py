"""When a request meets a quirk: conditions on its JSON, as data.

One declaration serves twice: ``check-request`` reads a request against it, and the simulator refuses by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from conformance.quirks import histories, tool_schemas
from conformance.quirks.paths import Place, as_text, kept, places

JsonType: TypeAlias = Literal["null", "boolean", "number", "string", "array", "object"]


def _compiles(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text


Pattern: TypeAlias = Annotated[str, AfterValidator(_compiles)]
"""A regular expression as text."""

_MAX_MATCHED = 10_000
_MAX_MODEL = 500
_MAX_PLACES = 1_000
CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Place]]] = {
    **histories.CHECKS,
    **tool_schemas.CHECKS,
}
"""What paths can't say, by name."""


class Clause(BaseModel):
    """One condition: the values ``at`` a path for which everything said beside it holds.

    Its places are those values; with ``missing`` and ``other_keys``, the members that lack or are too many.
    It holds when there is such a place, or with ``is_not: true`` when there is none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: str | None = Field(default=None, description="A path, see paths.py.")
    one_of: tuple[Any, ...] | None = Field(default=None, description="The value is one of these.")
    not_one_of: tuple[Any, ...] | None = Field(default=None, description="The value is none of these.")
    not_matches: Pattern | None = Field(
        default=None, description="A text that this pattern doesn't match whole."
    )
    contains: Pattern | None = Field(
        default=None,
        description="A text of any length in which this pattern, a word or a character, is found.",
    )
    type: tuple[JsonType, ...] | None = Field(default=None, description="The value has one of these types.")
    above: float | None = Field(default=None, description="A number above this.")
    items_above: int | None = Field(default=None, description="More items or members than this.")
    characters_above: int | None = Field(default=None, description="A text of more characters than this.")
    empty: bool | None = Field(default=None, description="True for '', [] and {}; false for others.")
    missing: str | None = Field(default=None, description="An object without this member.")
    other_keys: tuple[str, ...] | None = Field(default=None, description="Members not in this list.")
    more_than: int | None = Field(default=None, description="There are more such values than this.")
    repeated: Literal[True] | None = Field(default=None, description="A value that occurs more than once.")
    after: str | None = Field(default=None, description="Filters that the item before it passes.")
    not_after: str | None = Field(default=None, description="Filters that the item before it, if any, fails.")
    check: str | None = Field(default=None, description="A check by name, see CHECKS; needs no path.")
    model: Pattern | None = Field(default=None, description="A pattern that the model's name matches whole.")
    is_not: bool = Field(default=False, description="The clause holds where it finds nothing.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        subjects = [name for name in ("at", "check", "model") if getattr(self, name) is not None]
        if len(subjects) != 1:
            raise ValueError("a clause has exactly one of at, check and model")
        if subjects != ["at"] and self.model_fields_set - {subjects[0], "is_not"}:
            raise ValueError(f"beside {subjects[0]} only is_not may stand")
        if self.check is not None and self.check not in CHECKS:
            raise ValueError(f"there is no check {self.check!r}; there are {', '.join(sorted(CHECKS))}")
        list(places(None, self.at or ""))
        for filters in (self.after, self.not_after):
            kept(None, filters or "")
        return self

    def found(self, body: Mapping[str, Any], model: str) -> tuple[Place, ...]:
        """The places in ``body`` that it names; ``model`` is the model asked for, wherever it was said."""
        if self.model is not None:
            return (Place(("model",), model),) if re.fullmatch(self.model, model[:_MAX_MODEL]) else ()
        if self.check is not None:
            return _first(CHECKS[self.check](body))
        chosen = [place for place in places(body, self.at or "") if self._fits(place, body)]
        return _first(self._told(chosen))

    def _told(self, chosen: Sequence[Place]) -> Iterator[Place]:
        if self.other_keys is not None:
            for place in chosen:
                for key in place.value:
                    if key not in self.other_keys:
                        yield Place((*place.path, key), place.value[key])
        elif self.repeated:
            texts = [as_text(place.value) for place in chosen]
            counts = Counter(texts)
            yield from (place for place, text in zip(chosen, texts, strict=True) if counts[text] > 1)
        elif self.more_than is not None and len(chosen) <= self.more_than:
            return
        elif self.missing is not None:
            yield from (Place((*place.path, self.missing), None) for place in chosen)
        else:
            yield from chosen

    def _fits(self, place: Place, body: Mapping[str, Any]) -> bool:
        return (
            self._fits_value(place.value) and self._fits_size(place.value) and self._fits_order(place, body)
        )

    def _fits_value(self, value: Any) -> bool:
        return (
            (self.type is None or json_type(value) in self.type)
            and (self.one_of is None or any(_same(value, other) for other in self.one_of))
            and (self.not_one_of is None or not any(_same(value, other) for other in self.not_one_of))
            and (self.not_matches is None or _differs(self.not_matches, value))
            and (self.contains is None or (isinstance(value, str) and bool(re.search(self.contains, value))))
        )

    def _fits_size(self, value: Any) -> bool:
        number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        items = len(value) if isinstance(value, (list, dict)) else None
        characters = len(value) if isinstance(value, str) else None
        size = items if characters is None else characters
        return (
            _exceeds(number, self.above)
            and _exceeds(items, self.items_above)
            and _exceeds(characters, self.characters_above)
            and (self.empty is None or (size is not None and (size == 0) is self.empty))
            and (self.missing is None or (isinstance(value, dict) and self.missing not in value))
            and (self.other_keys is None or isinstance(value, dict))
        )

    def _fits_order(self, place: Place, body: Mapping[str, Any]) -> bool:
        if self.after is None and self.not_after is None:
            return True
        before = _sibling_before(place, body)
        if self.after is not None and (before is None or not kept(before.value, self.after)):
            return False
        return self.not_after is None or before is None or not kept(before.value, self.not_after)


class Condition(BaseModel):
    """Clauses that all hold: the first says where the culprit is, the others under which circumstances."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    all: tuple[Clause, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        return {"all": value} if isinstance(value, (list, tuple)) else value

    def culprits(self, body: Mapping[str, Any], model: str | None = None) -> tuple[Place, ...]:
        """The places that meet the condition in ``body``, the request's JSON; none where it doesn't hold.

        ``model`` is the model where the body does not name it (Gemini names it in the path). Never raises.
        """
        named = body.get("model") if model is None else model
        asked = named if isinstance(named, str) else ""
        culprits: tuple[Place, ...] = ()
        # What asks for the model's name alone costs least, and most often settles it.
        for number in sorted(range(len(self.all)), key=lambda n: self.all[n].model is None):
            clause = self.all[number]
            found = clause.found(body, asked)
            if bool(found) is clause.is_not:
                return ()
            if number == 0:
                culprits = found or (Place((), body),)
        return culprits


def json_type(value: Any) -> JsonType:
    """The JSON type of a decoded value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _first(found: Iterator[Place]) -> tuple[Place, ...]:
    return tuple(place for place, _ in zip(found, range(_MAX_PLACES), strict=False))


def _same(value: Any, other: Any) -> bool:
    return json_type(value) == json_type(other) and bool(value == other)


def _differs(pattern: str, value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value[:_MAX_MATCHED]) is None


def _exceeds(size: float | None, limit: float | None) -> bool:
    return limit is None or (size is not None and size > limit)


def _sibling_before(place: Place, body: Mapping[str, Any]) -> Place | None:
    position = next((n for n in range(len(place.path) - 1, -1, -1) if isinstance(place.path[n], int)), None)
    if position is None or place.path[position] == 0:
        return None
    holder: Any = body
    for key in place.path[:position]:
        holder = holder[key]
    index = int(place.path[position]) - 1
    return Place((*place.path[:position], index), holder[index])
