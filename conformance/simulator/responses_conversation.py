"""The conversation of a Responses request, held to OpenAI's rules about what belongs together.

Source: OpenAI's guides "Conversation state", "Reasoning models" and "Function calling"; continuedev/continue
issue 10092 and 0xPlaygrounds/rig issue 751 (an output without its call, a call without its reasoning),
deepseek-ai/awesome-deepseek-integration issue 740 (a call and its output may stand apart).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from conformance.simulator.answer import Refused, refusal
from conformance.simulator.messages import PastMessage
from conformance.simulator.responses_items import Item
from conformance.simulator.responses_store import ResponseStore


def resolved(given: Sequence[Item], store: ResponseStore, owner: str) -> tuple[Item, ...]:
    """The items that the client sent, references replaced by what they refer to.

    Raises:
        Refused: 404 for what is not there, 400 for what is without what it belongs to.
    """
    items = tuple(_resolved(item, store, owner) for item in given)
    for item, after in pairwise((*items, Item("end"))):
        if item.kind == "reasoning" and not after.spoken_by_model:
            raise _lonely(item, "its required following item")
    return items


def _resolved(item: Item, store: ResponseStore, owner: str) -> Item:
    known = store.item(owner, item.id) if item.id else None
    if item.kind != "item_reference" and not item.unseen:
        return replace(item, after=known.after) if known is not None else item
    if known is None:
        message = (
            f"Item with id '{item.id[:100]}' not found. Items are not persisted when `store` is set to false."
            " Try again with `store` set to true, or remove this item from your input."
        )
        raise refusal(message, status=404, param=f"{item.param}.id", why="404 unknown-item")
    return replace(known, param=item.param)


def check(items: Sequence[Item]) -> None:
    """Refuse a conversation that OpenAI would refuse.

    Raises:
        Refused: 400.
    """
    ids: set[str] = set()
    called: set[str] = set()
    waiting: dict[str, None] = {}  # in the order of the calls
    for item in items:
        if item.id in ids:
            message = f"Duplicate item found with id {item.id[:100]}. Remove duplicate items from your input."
            raise refusal(message, param="input", why="400 duplicate-item")
        if item.after and item.after not in ids:
            raise _lonely(item, f"its required 'reasoning' item: '{item.after}'")
        ids |= {item.id} - {""}
        if item.kind == "function_call":
            _check_fresh(item, waiting)
            called.add(item.call_id)
            waiting[item.call_id] = None
        elif item.kind == "function_call_output":
            _check_called(item, called, waiting)
            del waiting[item.call_id]
    if waiting:
        missing_id = next(iter(waiting))
        message = f"No tool output found for function call {missing_id}."
        raise refusal(message, param="input", why="400 missing-tool-result")


def _lonely(item: Item, without: str) -> Refused:
    message = f"Item '{item.id[:100]}' of type '{item.kind}' was provided without {without}."
    return refusal(message, param="input", why="400 lonely-item")


def _check_fresh(item: Item, waiting: dict[str, None]) -> None:
    if item.call_id in waiting:
        message = f"Duplicate function call with call_id {item.call_id}."
        raise refusal(message, param="input", why="400 duplicate-call")


def _check_called(item: Item, called: set[str], waiting: dict[str, None]) -> None:
    if item.call_id not in called:
        message = f"No tool call found for function call output with call_id {item.call_id}."
        raise refusal(message, param="input", why="400 orphan-tool-result")
    if item.call_id not in waiting:
        message = f"Duplicate function call output with call_id {item.call_id}."
        raise refusal(message, param="input", why="400 duplicate-tool-result")


def past_messages(instructions: str | None, items: Sequence[Item]) -> tuple[PastMessage, ...]:
    """The conversation as the model reads it: its own neighbouring items are one message, outputs follow.

    It reads reasoning of the current turn only: what stands after the last user message (guide "Reasoning
    models", keeping reasoning items in context).
    """
    outputs: dict[str, deque[tuple[int, Item]]] = defaultdict(deque)
    for position, item in enumerate(items):
        if item.kind == "function_call_output":
            outputs[item.call_id].append((position, item))
    past = [PastMessage("system", instructions)] if instructions else []
    left = sum(item.role == "user" for item in items)
    for by_model, run in groupby(items, key=lambda item: item.spoken_by_model):
        if by_model:
            past += _turn(list(run), outputs, current=not left)
        else:
            said = [item for item in run if item.kind == "message"]
            left -= sum(item.role == "user" for item in said)
            past += [PastMessage(item.role, item.text, images=item.images) for item in said]
    return tuple(past)


def _turn(
    run: Sequence[Item], outputs: dict[str, deque[tuple[int, Item]]], *, current: bool
) -> Iterable[PastMessage]:
    calls = tuple(item.call for item in run if item.call)
    members = frozenset({"reasoning_content"} if any(item.kind == "reasoning" for item in run) else ())
    text = "".join(item.text for item in run)
    thought = "".join(item.thought for item in run) if current else ""
    yield PastMessage("assistant", text, calls, members=members, thought=thought)
    answered = sorted((outputs[call.id].popleft() for call in calls), key=lambda found: found[0])
    for _, item in answered:
        yield PastMessage("tool", item.text, tool_call_id=item.call_id, images=item.images)


def shortened(
    messages: Sequence[PastMessage], costs: Sequence[int], room: int
) -> tuple[PastMessage, ...] | None:
    """The conversation from the first user message on from which it fits in ``room``, after its instructions.

    ``costs`` are those of the messages; ``None`` where even the last user message is too much.
    """
    users = [i for i, message in enumerate(messages) if message.role == "user"]
    leading = range(users[0] if users else 0)
    kept = [i for i in leading if messages[i].role in ("system", "developer")]
    left = room - sum(costs[i] for i in kept)
    costs_from = list(accumulate(reversed(costs)))[::-1]
    start = next((i for i in users if costs_from[i] <= left), None)
    return None if start is None else (*(messages[i] for i in kept), *messages[start:])
