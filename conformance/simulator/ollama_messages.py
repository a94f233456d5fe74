"""The conversation in a request to Ollama: types are checked, the order of calls and results is not.

Source: ollama/ollama, ``docs/openapi.yaml`` (``ChatMessage``) and ``api/types.go`` (``Message``). Ollama
hands whatever it gets to the model's template, so results without a call are taken as well.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace

from conformance.simulator.answer import refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.messages import PastCall, PastMessage

_ROLES = ("system", "user", "assistant", "tool")
_MAX_MESSAGES = 100_000
_MAX_CALLS = 100_000


def read_messages(body: Fields) -> tuple[PastMessage, ...]:
    """The conversation, results paired with calls: by id where both have one, by name, or by order.

    A result that no call asked for becomes a user message, and a call without a result is left out. The
    thinking of the current turn alone is kept, as the template of qwen3 has it.

    Raises:
        Refused: 400, a member has the wrong type.
    """
    items = body.objects("messages", 0, _MAX_MESSAGES) or []
    read = [_message(item) for item in items]
    last = max((place for place, message in enumerate(read) if message.role == "user"), default=-1)
    shown = [replace(m, thought="") if place < last else m for place, m in enumerate(read)]
    return tuple(_paired(shown))


def _message(item: Fields) -> PastMessage:
    role = item.text("role")
    if role is None:
        raise missing(item.param("role"))
    role = role.lower()
    if role not in _ROLES:
        raise wrong_value(item.param("role"), f"supported values are {', '.join(_ROLES)}")
    text = item.text("content") or ""
    members = frozenset(item.names())
    thought = item.text("thinking") or ""
    if thought:
        members |= {"reasoning_content"}
    images = _images(item)
    if role == "tool":
        # The name stands in for the id that the call may not have had; _paired puts the call's own id here.
        label = item.text("tool_call_id") or item.text("tool_name") or item.text("name") or ""
        return PastMessage(role, text, tool_call_id=label, images=images, members=members)
    return PastMessage(role, text, _calls(item), images=images, members=members, thought=thought)


def _images(item: Fields) -> int:
    images = item.raw("images")
    if images is None:
        return 0
    if not isinstance(images, list):
        raise wrong_type(item.param("images"), "an array of strings", images)
    for image in images:
        if not isinstance(image, str):
            raise wrong_type(item.param("images"), "an array of strings", images)
        try:
            base64.b64decode(image, validate=True)
        except (binascii.Error, ValueError):
            raise refusal("illegal base64 data", param=item.param("images")) from None
    return len(images)


def _calls(item: Fields) -> tuple[PastCall, ...]:
    calls = []
    for call in item.objects("tool_calls", 0, _MAX_CALLS) or ():
        function = call.needed_object("function")
        arguments = function.object("arguments")
        written = json.dumps(function.raw("arguments") if arguments else {}, ensure_ascii=False)
        calls.append(PastCall(call.text("id") or "", function.text("name") or "", written))
    return tuple(calls)


def _paired(messages: Sequence[PastMessage]) -> list[PastMessage]:
    paired: list[PastMessage] = []
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if message.role == "tool":
            paired.append(replace(message, role="user", tool_call_id=None))
            continue
        end = position
        while message.calls and end < len(messages) and messages[end].role == "tool":
            end += 1
        paired += _answered(message, messages[position:end])
        position = end
    return paired


def _answered(turn: PastMessage, results: Sequence[PastMessage]) -> list[PastMessage]:
    """The turn with the calls that have results, those results, and what else was sent as one.

    The calls get ids of their own: those that came may be missing or the same.
    """
    places: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for place, call in enumerate(turn.calls):
        places["id", call.id].append(place)
        places["name", call.name].append(place)
    unlabelled = deque(range(len(turn.calls)))
    open_places = set(unlabelled)
    answers: list[PastMessage] = []
    others: list[PastMessage] = []
    for result in results:
        label = result.tool_call_id or ""
        found = _next(places["id", label], open_places) if label else _next(unlabelled, open_places)
        if found is None and label:
            found = _next(places["name", label], open_places)
        if found is None:
            others.append(replace(result, role="user", tool_call_id=None))
        else:
            open_places.remove(found)
            answers.append(replace(result, tool_call_id=str(found)))
    kept = [replace(call, id=str(place)) for place, call in enumerate(turn.calls) if place not in open_places]
    return [replace(turn, calls=tuple(kept)), *answers, *others]


def _next(places: deque[int], still_open: set[int]) -> int | None:
    """The first of ``places`` that is open; what stands before it is dropped: pairing stays linear."""
    while places:
        place = places.popleft()
        if place in still_open:
            return place
    return None
