"""What a Responses endpoint remembers: responses by id, each with the one that it goes on from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.simulator.responses_items import Item

_RESPONSES = 2_000
_CHARACTERS = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Stored:
    previous: str | None
    items: tuple[Item, ...]
    characters: int


class ResponseStore:
    """The newest 2,000 responses of all personas, or fewer where their texts exceed ``characters``.

    A response is found by the persona that made it only.
    """

    def __init__(self, characters: int = _CHARACTERS) -> None:
        self._most = characters
        self._responses: OrderedDict[tuple[str, str], _Stored] = OrderedDict()
        self._items: dict[tuple[str, str], Item] = {}
        self._characters = 0

    def keep(
        self,
        owner: str,
        response_id: str,
        previous: str | None,
        given: Sequence[Item],
        output: Sequence[Item],
    ) -> None:
        """Remember a response: its own input and output, and what it went on from."""
        items = (*given, *output)
        size = sum(len(item.text) + (len(item.call.arguments) if item.call else 0) for item in items)
        self._responses[owner, response_id] = _Stored(previous, items, size)
        self._items |= {(owner, item.id): item for item in output}
        self._characters += size
        while len(self._responses) > _RESPONSES or self._characters > self._most:
            (forgetting, _), stored = self._responses.popitem(last=False)
            self._characters -= stored.characters
            for item in stored.items:
                self._items.pop((forgetting, item.id), None)

    def conversation(self, owner: str, response_id: str) -> tuple[Item, ...] | None:
        """All items up to and with those of the response; ``None`` if it, or one before it, is not there."""
        parts: list[tuple[Item, ...]] = []
        step: str | None = response_id
        while step is not None:
            stored = self._responses.get((owner, step))
            if stored is None:
                return None
            parts.append(stored.items)
            step = stored.previous
        return tuple(item for items in reversed(parts) for item in items)

    def item(self, owner: str, item_id: str) -> Item | None:
        """The item of that id that was in the output of a response."""
        return self._items.get((owner, item_id))
