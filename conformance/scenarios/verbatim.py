"""Histories in each wire's own words, sent as they are: no encoder repairs what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.scenarios.kit import WEATHER
from conformance.types import JSON, WIRES, WireName

Message = dict[str, Any]
Form = Literal["null", "empty", "absent", "list"]
FORMS: tuple[Form, ...] = ("null", "empty", "absent", "list")
"""How a message can be without content."""

CITY = '{"city": "Narvik"}'
RESULT = "KESTREL"
CALL_ID = "call_1"
AND_NOW = "And now?"
ELSEWHERE = "skip_thought_signature_validator"
"""Gemini's documented signature of a call that another endpoint made."""


def without(form: Form, message: Message, member: str, nothing: JSON = None) -> Message:
    """``message`` with a ``member`` that holds nothing; ``nothing`` is what stands for a list."""
    if form == "absent":
        return {name: value for name, value in message.items() if name != member}
    forms: Mapping[Form, JSON] = {"null": None, "empty": "", "list": [] if nothing is None else nothing}
    return {**message, member: forms[form]}


def _said(role: str) -> Callable[[str], Message]:
    return lambda text: {"role": role, "content": text}


def _emptied(role: str) -> Callable[[Form], Message]:
    return lambda form: without(form, {"role": role, "content": ""}, "content")


_USER, _ASSISTANT = _said("user"), _said("assistant")
_EMPTY_USER, _EMPTY_ASSISTANT = _emptied("user"), _emptied("assistant")


@dataclass(frozen=True, slots=True)
class Words:
    """The messages of one wire. ``arguments`` is the JSON of the call's arguments, or a text that is none.

    ``history`` is the member that holds them. Most wires have a role and a content in what people say.
    """

    call: Callable[[JSON], Message]
    result: Callable[[str, str], Message]
    empty_assistant: Callable[[Form], Sequence[Message]]
    empty_result: Callable[[Form], Message]
    history: str = "messages"
    user: Callable[[str], Message] = _USER
    assistant: Callable[[str], Message] = _ASSISTANT
    empty_user: Callable[[Form], Message] = _EMPTY_USER


def native(say: Callable[[Words], Sequence[Message]]) -> Mapping[WireName, Mapping[str, JSON]]:
    """The history that ``say`` tells, in the words of every wire."""
    return {wire: {_WORDS[wire].history: list(say(_WORDS[wire]))} for wire in WIRES}


# ---------------------------------------------------------------------------------------------- Chat


def _chat_call(arguments: JSON, content: JSON = None) -> Message:
    function = {"name": WEATHER.name, "arguments": arguments}
    calls = [{"id": CALL_ID, "type": "function", "function": function}]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def _chat_result(text: str, call_id: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


_CHAT = Words(
    call=_chat_call,
    result=_chat_result,
    empty_assistant=lambda form: (without(form, _chat_call(CITY), "content"), _chat_result(RESULT, CALL_ID)),
    empty_result=lambda form: without(form, _chat_result("", CALL_ID), "content"),
)

# ----------------------------------------------------------------------------------------- Responses


def _output(text: str, call_id: str) -> Message:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def _output_message(content: JSON) -> Message:
    return {"type": "message", "role": "assistant", "content": content}


_RESPONSES = Words(
    history="input",
    assistant=lambda text: _output_message([{"type": "output_text", "text": text, "annotations": []}]),
    call=lambda arguments: {
        "type": "function_call",
        "call_id": CALL_ID,
        "name": WEATHER.name,
        "arguments": arguments,
    },
    result=_output,
    empty_assistant=lambda form: (without(form, _output_message(""), "content"), _USER(AND_NOW)),
    empty_result=lambda form: without(form, _output("", CALL_ID), "output"),
)

# ------------------------------------------------------------------------------------------ Messages


def _used(arguments: JSON) -> Message:
    use = {"type": "tool_use", "id": CALL_ID, "name": WEATHER.name, "input": _object(arguments)}
    return {"role": "assistant", "content": [use]}


def _tool_result(text: str, call_id: str) -> Message:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}]}


def _empty_tool_result(form: Form) -> Message:
    (block,) = _tool_result("", CALL_ID)["content"]
    return {"role": "user", "content": [without(form, block, "content")]}


_MESSAGES = Words(
    call=_used,
    result=_tool_result,
    empty_assistant=lambda form: (_EMPTY_ASSISTANT(form), _USER(AND_NOW)),
    empty_result=_empty_tool_result,
)

# -------------------------------------------------------------------------------------------- Gemini


def _content(role: str, part: Message) -> Message:
    return {"role": role, "parts": [part]}


def _responded(text: str, call_id: str) -> Message:
    return _content(
        "user",
        {"functionResponse": {"id": call_id, "name": WEATHER.name, "response": {"output": text}}},
    )


def _empty_parts(role: str) -> Callable[[Form], Message]:
    """A text is a part: an empty one is content with nothing in it."""
    return lambda form: (
        _content(role, {"text": ""}) if form == "empty" else without(form, {"role": role}, "parts")
    )


def _empty_response(form: Form) -> Message:
    response = {"id": CALL_ID, "name": WEATHER.name, "response": {"output": ""}}
    emptied = response if form == "empty" else without(form, response, "response", {})
    return _content("user", {"functionResponse": emptied})


_GEMINI = Words(
    history="contents",
    user=lambda text: _content("user", {"text": text}),
    assistant=lambda text: _content("model", {"text": text}) if text else {"role": "model", "parts": []},
    call=lambda arguments: _content(
        "model",
        {
            "functionCall": {"id": CALL_ID, "name": WEATHER.name, "args": _object(arguments)},
            "thoughtSignature": ELSEWHERE,
        },
    ),
    result=_responded,
    empty_user=_empty_parts("user"),
    empty_assistant=lambda form: (_empty_parts("model")(form), _content("user", {"text": AND_NOW})),
    empty_result=_empty_response,
)

# -------------------------------------------------------------------------------------------- Ollama


def _ollama_call(arguments: JSON) -> Message:
    function = {"name": WEATHER.name, "arguments": _object(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": CALL_ID, "function": function}]}


def _ollama_result(text: str, call_id: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "tool_name": WEATHER.name, "content": text}


_OLLAMA = Words(
    call=_ollama_call,
    result=_ollama_result,
    empty_assistant=lambda form: (
        without(form, _ollama_call(CITY), "content"),
        _ollama_result(RESULT, CALL_ID),
    ),
    empty_result=lambda form: without(form, _ollama_result("", CALL_ID), "content"),
)


def _object(arguments: JSON) -> JSON:
    """The arguments as an object, where they are the good ones; what is cut short stays the text it is."""
    return {"city": "Narvik"} if arguments == CITY else arguments


_WORDS: Mapping[WireName, Words] = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic-messages": _MESSAGES,
    "gemini": _GEMINI,
    "ollama": _OLLAMA,
}
