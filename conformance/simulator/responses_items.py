"""Items of a Responses request: what the input is made of.

Source: ``ResponseInputParam`` of openai-python 3.57.0 and what it unites. Items of built-in tools are
refused: this endpoint has none.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.simulator import seal
from conformance.simulator.answer import refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.messages import PastCall

_MOST = 100_000
_KINDS = ("message", "function_call", "function_call_output", "reasoning", "item_reference")
_MEMBERS = {
    "message": ("type", "id", "role", "content", "status", "phase"),
    "function_call": ("type", "id", "call_id", "name", "arguments", "status", "caller", "namespace"),
    "function_call_output": ("type", "id", "call_id", "output", "status", "caller", "name", "namespace"),
    "reasoning": ("type", "id", "summary", "content", "encrypted_content", "status"),
    "item_reference": ("type", "id"),
}
_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_STATUSES = ("in_progress", "completed", "incomplete")
_ROLES = ("assistant", "system", "developer", "user")
_INPUT = ("input_text", "input_image", "input_file")
_OUTPUT = ("output_text", "refusal")
_PARTS = {
    "input_text": ("type", "text", "prompt_cache_breakpoint"),
    "input_image": ("type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"),
    "input_file": (
        "type",
        "file_data",
        "file_id",
        "file_url",
        "filename",
        "detail",
        "prompt_cache_breakpoint",
    ),
    "output_text": ("type", "text", "annotations", "logprobs"),
    "refusal": ("type", "refusal"),
}
_DETAILS = ("low", "high", "auto", "original")
_CALL_ID_CHARACTERS = 64
SEALED = "gAAAAAB"
"""What encrypted reasoning begins with."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a conversation. ``after`` is the id of the reasoning item that it must not be without.

    ``unseen``: a reasoning item that came without its encrypted content, and must be one of ours. ``thought``
    is what can be read of reasoning.
    """

    kind: str
    param: str = ""
    id: str = ""
    role: str = ""
    text: str = ""
    images: int = 0
    call: PastCall | None = None
    call_id: str = ""
    after: str = ""
    unseen: bool = False
    thought: str = ""

    @property
    def spoken_by_model(self) -> bool:
        """Whether the model made it."""
        return self.role == "assistant" or self.kind in ("function_call", "reasoning")


def read_items(body: Fields) -> tuple[Item, ...]:
    """The items of ``input``; a string is one user message.

    Raises:
        Refused: OpenAI would refuse them with 400.
    """
    given = body.raw("input")
    if given is None:
        return ()
    if isinstance(given, str):
        return (Item("message", "input", role="user", text=given),)
    if not isinstance(given, list):
        raise wrong_type("input", "a string or an array of items", given)
    return tuple(_item(item) for item in body.objects("input", 0, _MOST) or ())


def _item(item: Fields) -> Item:
    kind = item.choice("type", _KINDS) or _untyped(item)
    item.closed(_MEMBERS[kind])
    item.choice("status", _STATUSES)
    param = item.param("type").removesuffix(".type")
    item_id = _id(item, kind)
    match kind:
        case "message":
            return _message(item, param, item_id)
        case "function_call":
            return _call(item, param, item_id)
        case "function_call_output":
            return _output(item, param, item_id)
        case "reasoning":
            return _reasoning(item, param, item_id)
        case _:
            return Item(kind, param, item.needed_text("id"))


def _untyped(item: Fields) -> str:
    if item.has("role"):
        return "message"
    if set(item.names()) <= {"id", "type"} and item.has("id"):
        return "item_reference"
    raise missing(item.param("type"))


def _id(item: Fields, kind: str) -> str:
    given = item.text("id") or ""
    prefix = _PREFIXES.get(kind, "")
    if given and not given.startswith(prefix):
        raise wrong_value(item.param("id"), f"expected an ID that begins with '{prefix}'")
    return given


# ------------------------------------------------------------------------------------------ messages


def _message(item: Fields, param: str, item_id: str) -> Item:
    role = item.choice("role", _ROLES)
    if role is None:
        raise missing(item.param("role"))
    item.choice("phase", ("commentary", "final_answer"))
    text, images = _content(item, "content", _OUTPUT if role == "assistant" else _INPUT)
    return Item("message", param, item_id, role, text, images)


def _content(item: Fields, name: str, kinds: Sequence[str]) -> tuple[str, int]:
    content = item.raw(name)
    if content is None:
        raise missing(item.param(name))
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        raise wrong_type(item.param(name), "a string or an array of content parts", content)
    read = [_part(part, kinds) for part in item.objects(name, 0, _MOST) or ()]
    return "".join(text for text, _ in read), sum(images for _, images in read)


def _part(part: Fields, kinds: Sequence[str]) -> tuple[str, int]:
    kind = part.choice("type", kinds)
    if kind is None:
        raise missing(part.param("type"))
    part.closed(_PARTS[kind])
    match kind:
        case "input_image":
            part.choice("detail", _DETAILS)
            _source(part, "image_url", ("https://", "http://", "data:image/"))
            return "", 1
        case "input_file":
            part.text("filename")
            if part.has("file_url"):
                _source(part, "file_url", ("https://", "http://"))
            else:
                _source(part, "file_data", ("data:",))
            return "", 1
        case "refusal":
            return _needed(part, "refusal"), 0
        case _:
            return _needed(part, "text"), 0


def _source(part: Fields, name: str, begins: tuple[str, ...]) -> None:
    if part.has("file_id"):
        file_id = part.needed_text("file_id")[:100]
        raise refusal(f"No such file: '{file_id}'.", param=part.param("file_id"), code="file_not_found")
    url = part.needed_text(name)
    if not url.startswith(begins):
        raise wrong_value(part.param(name), f"it must begin with one of {', '.join(begins)}")
    head, _, data = url.partition(";base64,")
    if not head.startswith("data:"):
        return
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise wrong_value(part.param(name), "its data is not base64", "invalid_base64") from None


def _needed(item: Fields, name: str) -> str:
    text = item.text(name)
    if text is None:
        raise missing(item.param(name))
    return text


# --------------------------------------------------------------------------------- calls, reasoning


def _call(item: Fields, param: str, item_id: str) -> Item:
    call = PastCall(_call_id(item), item.needed_text("name"), _needed(item, "arguments"))
    return Item("function_call", param, item_id, call=call, call_id=call.id)


def _call_id(item: Fields) -> str:
    given = item.needed_text("call_id")
    if len(given) > _CALL_ID_CHARACTERS:
        wanted = f"string too long, expected at most {_CALL_ID_CHARACTERS} characters"
        raise wrong_value(item.param("call_id"), wanted, "string_above_max_length")
    return given


def _output(item: Fields, param: str, item_id: str) -> Item:
    text, images = _content(item, "output", _INPUT)
    return Item("function_call_output", param, item_id, text=text, images=images, call_id=_call_id(item))


def _reasoning(item: Fields, param: str, item_id: str) -> Item:
    thought: list[str] = []
    for name, kind in (("summary", "summary_text"), ("content", "reasoning_text")):
        for part in item.objects(name, 0, _MOST) or ():
            part.closed(("type", "text"))
            if part.choice("type", (kind,)) is None:
                raise missing(part.param("type"))
            thought.append(_needed(part, "text"))
    if not item.has("summary"):
        raise missing(item.param("summary"))
    encrypted = item.text("encrypted_content")
    if encrypted is None:
        return Item("reasoning", param, item.needed_text("id"), unseen=True, thought="".join(thought))
    if not encrypted.startswith(SEALED) or not seal.genuine(encrypted.removeprefix(SEALED), "reasoning"):
        message = f"The encrypted content for item {(item_id or param)[:100]} could not be verified."
        raise refusal(message, param=item.param("encrypted_content"), code="invalid_encrypted_content")
    return Item("reasoning", param, item_id, thought="".join(thought))
