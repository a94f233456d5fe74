"""What a Responses endpoint remembers is bounded."""

from __future__ import annotations

from conformance.simulator.responses_items import Item
from conformance.simulator.responses_store import ResponseStore


def said(text: str, item_id: str = "") -> list[Item]:
    return [Item("message", id=item_id, role="user", text=text)]


def test_a_chain_is_told_in_order() -> None:
    store = ResponseStore()
    store.keep("p", "r1", None, [], said("one"))
    store.keep("p", "r2", "r1", said("two"), [])
    items = store.conversation("p", "r2")
    assert items is not None
    assert [item.text for item in items] == ["one", "two"]


def test_the_oldest_are_forgotten_with_their_items() -> None:
    store = ResponseStore()
    for i in range(2_001):
        store.keep("p", f"r{i}", None, [], said("x", f"i{i}"))
    assert store.conversation("p", "r0") is None
    assert store.item("p", "i0") is None
    assert store.conversation("p", "r1") is not None
    assert store.item("p", "i2000") is not None


def test_long_texts_are_forgotten_sooner() -> None:
    store = ResponseStore()
    for i in range(20):
        store.keep("p", f"r{i}", None, said("x" * 4 * 1024 * 1024), [])
    assert store.conversation("p", "r3") is None
    assert store.conversation("p", "r4") is not None


def test_what_went_on_from_a_forgotten_response_is_forgotten_with_it() -> None:
    store = ResponseStore()
    store.keep("p", "r0", None, said("x"), [])
    store.keep("p", "later", "r0", said("y"), [])
    for i in range(1, 2_000):
        store.keep("p", f"r{i}", None, said("x"), [])
    assert store.conversation("p", "later") is None
