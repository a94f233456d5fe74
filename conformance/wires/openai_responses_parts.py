"""Canonical parts as Responses items: what requests and answers write alike.

Where a part's own opaque slot goes is told in ``openai_responses_items``. Neighbouring texts and refusals
with the same item members share one message item; calls and reasoning are items of their own, in order.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from conformance.types import Audio, File, Image, Loss, Message, Part, Reasoning, Refusal, Text, ToolCall
from conformance.wires.losses import bound_elsewhere, own, said_elsewhere
from conformance.wires.openai_responses_items import CALL_TEXTS, IDENTITY, WIRE

SPELLINGS = ("summary_text", "reasoning_text")
"""How reasoning is spelled that came from this wire."""

MAX_CALL_ID = 64
"""Longest ``call_id`` in characters (Open Responses schema, FunctionCallItemParam)."""


class CallIds:
    """One request's call ids, as this wire takes them: 1 to 64 characters, the same for call and result.

    A longer id becomes its beginning and a hash of all of it. A missing one is made from the call's
    position; results without an id answer such calls in order. Each is a loss of form.
    """

    def __init__(self, given: Iterable[str | None], losses: list[Loss]) -> None:
        self._taken = {call_id for call_id in given if call_id and len(call_id) <= MAX_CALL_ID}
        self._cut: dict[str, str] = {}
        self._waiting: deque[str] = deque()
        self._losses = losses

    def of_call(self, given: str, at: str) -> str:
        """The id of a call."""
        if given:
            return self._fitting(given, at)
        minted = self._free("call", at)
        self._waiting.append(minted)
        self._losses.append(Loss(at, f"no call id: {minted}", "form"))
        return minted

    def of_result(self, given: str | None, at: str) -> str:
        """The id of a result; ``""`` where it has none, and no call without one is waiting for it."""
        if given:
            return self._fitting(given, at)
        found = self._waiting.popleft() if self._waiting else ""
        if found:
            self._losses.append(Loss(at, f"no call id: {found}", "form"))
        return found

    def _fitting(self, given: str, at: str) -> str:
        if len(given) <= MAX_CALL_ID:
            return given
        if given not in self._cut:
            self._cut[given] = self._free(given[: MAX_CALL_ID - 25], given)
        self._losses.append(Loss(at, f"a call id of more than {MAX_CALL_ID} characters, cut", "form"))
        return self._cut[given]

    def _free(self, head: str, source: str) -> str:
        digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
        while (candidate := f"{head}_{digest[:24]}") in self._taken:
            digest = hashlib.sha256(digest.encode()).hexdigest()
        self._taken.add(candidate)
        return candidate


class Writer:
    """Writes parts of assistant messages as items.

    ``answer``: items of an answer, with ids and a status each, and with reasoning whoever it is bound to
    (an answer is shown, not sent back to a provider). Otherwise items of a request, with ``id`` and
    ``status`` only where reasoning is echoed.
    """

    def __init__(self, ids: CallIds, losses: list[Loss], *, echo_reasoning: bool, answer: bool) -> None:
        self.items: list[dict[str, Any]] = []
        self.custom: set[str] = set()
        self._ids = ids
        self._losses = losses
        self._echo = echo_reasoning
        self._answer = answer
        self._open: dict[str, Any] | None = None
        self._messages: list[dict[str, Any]] = []

    def write(self, parts: Sequence[Part], at: str) -> None:
        """Add the items of one message; ``at`` is where it is."""
        self._open = None
        before = len(self.items)
        for j, part in enumerate(parts):
            self._write_part(part, f"{at}/parts/{j}")
        if len(self.items) == before and not parts and not self._answer:
            self.items.append({"type": "message", "role": "assistant", "content": ""})
        for item in self._messages:
            self._finish(item)
        self._messages.clear()

    def _write_part(self, part: Part, at: str) -> None:
        if isinstance(part, Reasoning):
            self._write_reasoning(part, at)
            return
        if said_elsewhere(part, WIRE, at, self._losses):
            return
        opaque = own(part.opaque, WIRE, at, self._losses)
        item = _object(opaque.pop("item", None))
        whole = isinstance(item.get("type"), str)
        if isinstance(part, ToolCall):
            self._write_call(part, item | opaque, at)
        elif whole and isinstance(part, Text | Image):
            data = {"result": part.url.partition("base64,")[2]} if isinstance(part, Image) else {}
            self._add(item | data)
        elif isinstance(part, Text) and (part.text or opaque or item):
            self._say(
                _object(opaque.get("part")) or {"type": "output_text", "text": part.text} | opaque, item
            )
        elif isinstance(part, Refusal):
            self._say({"type": "refusal", "refusal": part.text} | opaque, item)
        elif not isinstance(part, Text):
            self._losses.append(Loss(at, f"{described(part)} of the assistant's"))

    def _write_reasoning(self, part: Reasoning, at: str) -> None:
        if not self._echo:
            return
        if not self._answer and bound_elsewhere(part, WIRE, at, self._losses):
            return
        opaque = own(part.opaque, WIRE, at, self._losses)
        item = _object(opaque.pop("item", None))
        if not item and not opaque and not part.text:
            return
        if not (item or opaque or self._answer or part.spelling in SPELLINGS):
            # The API takes back no reasoning but its own: it looks the item up, 404 (openai.com, Reasoning).
            self._losses.append(Loss(at, "reasoning of another wire: only its own goes back"))
            return
        if not item:
            kind = "summary_text" if part.spelling == "summary_text" else "reasoning_text"
            text = [{"type": kind, "text": part.text}]
            item = {"type": "reasoning", "summary": text if kind == "summary_text" else []}
            item |= {"content": text} if kind == "reasoning_text" else {}
        self._add(item | opaque)

    def _write_call(self, call: ToolCall, item: dict[str, Any], at: str) -> None:
        kind = item.get("type")
        if kind not in CALL_TEXTS:
            kind = "function_call"
        call_id = self._ids.of_call(call.id, at)
        if kind != "function_call":
            self.custom.add(call_id)
        said = {"type": kind, "call_id": call_id, "name": call.name, CALL_TEXTS[kind]: call.arguments}
        self._add(said | self._kept(item) | {"type": kind})

    def _say(self, part: dict[str, Any], item: dict[str, Any]) -> None:
        kept = self._kept(item)
        if self._open is None or {k: v for k, v in self._open.items() if k not in _MESSAGE} != kept:
            message = {"type": "message", "role": "assistant", "content": []} | kept
            self._add(message)
            self._messages.append(message)
            self._open = message
        self._open["content"].append(part)

    def _finish(self, message: dict[str, Any]) -> None:
        """Content as a string where the schema lets it be one, else with the members that it requires."""
        if not self._answer and "id" not in message:
            message["content"] = folded(message["content"], "output_text")
        for part in message["content"] if isinstance(message["content"], list) else ():
            if part.get("type") == "output_text":
                part.setdefault("annotations", [])
                if self._answer:
                    part.setdefault("logprobs", [])

    def _kept(self, item: dict[str, Any]) -> dict[str, Any]:
        keep_all = self._echo or self._answer
        return {key: value for key, value in item.items() if keep_all or key not in IDENTITY}

    def _add(self, item: dict[str, Any]) -> None:
        self._open = None
        self.items.append(item)


_MESSAGE = ("type", "role", "content")


def input_item(
    message: Message, ids: CallIds, custom: set[str], at: str, losses: list[Loss]
) -> dict[str, Any]:
    """A message that is not the assistant's as one item; ``custom``: the ids of custom calls.

    This wire has no error flag for results: it is told in words. It takes no sound (openai SDK,
    ``response_input_content_param``).
    """
    item: dict[str, Any] = {}
    content: list[dict[str, Any]] = []
    for j, part in enumerate(message.parts):
        where = f"{at}/parts/{j}"
        if isinstance(part, Reasoning | ToolCall):
            losses.append(Loss(where, f"{described(part)} in a message of the {message.role}"))
            continue
        if said_elsewhere(part, WIRE, where, losses):
            continue
        opaque = own(part.opaque, WIRE, where, losses)
        item |= _object(opaque.pop("item", None))
        said = _input_part(part, opaque)
        if said is None:
            losses.append(Loss(where, f"{described(part)} in a message of the {message.role}"))
        elif opaque or not isinstance(part, Text) or part.text:
            content.append(said)
    if message.role != "tool":
        if isinstance(item.get("type"), str):
            return item
        return {"type": "message", "role": message.role, "content": folded(content), **item}
    kind = item.pop("type", None)
    if isinstance(kind, str) and kind not in RESULTS:
        return {"type": kind, **item}
    if message.is_error:
        losses.append(Loss(f"{at}/is_error", 'told in words: "Error: "', "form"))
        plain = bool(content) and content[0].keys() == {"type", "text"}
        text = "Error: " + (content[0]["text"] if plain else "")
        content = [{"type": "input_text", "text": text}, *content[1 if plain else 0 :]]
    call_id = ids.of_result(message.tool_call_id, f"{at}/tool_call_id")
    kind = kind or ("custom_tool_call_output" if call_id in custom else "function_call_output")
    return {"type": kind, "call_id": call_id, "output": folded(content), **item}


RESULTS = ("function_call_output", "custom_tool_call_output")


def folded(content: list[dict[str, Any]], kind: str = "input_text") -> str | list[dict[str, Any]]:
    """Content as a string where it is nothing, or one plain text of that kind."""
    if not content:
        return ""
    only = content[0]
    plain = len(content) == 1 and only.keys() == {"type", "text"} and only["type"] == kind
    return str(only["text"]) if plain else content


def described(part: Part) -> str:
    """What a part is, in words for a loss."""
    names = {Text: "a text", Reasoning: "reasoning", ToolCall: "a call", Refusal: "a refusal"}
    return {**names, Image: "an image", Audio: "a sound", File: "a document"}[type(part)]


def _input_part(part: Part, opaque: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(part, Text):
        return _object(opaque.get("part")) or {"type": "input_text", "text": part.text} | opaque
    if isinstance(part, Image):
        url = {"image_url": part.url} if part.url else {}
        return {"type": "input_image", **url, "detail": "auto"} | opaque
    if isinstance(part, File):
        key = "file_data" if part.url.startswith("data:") else "file_url"
        url = {key: part.url} if part.url else {}
        return {"type": "input_file", **({"filename": part.name} if part.name else {}), **url} | opaque
    return None


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}
