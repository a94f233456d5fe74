"""The conversation in a Gemini request, held to Gemini's rules about turns of calls and turns of responses.

Source: google-genai 3.6.1, ``types.Content``, ``types.Part``, ``types.FunctionResponse``; Gemini API guides
"Function calling" and "Thought signatures"; refusals are worded as in google-gemini/gemini-cli issues 3814
and 17208.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.simulator import gemini_signatures
from conformance.simulator.answer import Refused, refusal
from conformance.simulator.gemini_fields import PART_DATA
from conformance.simulator.gemini_json import invalid
from conformance.simulator.messages import PastCall, PastMessage

_Part = Mapping[str, Any]
_Content = Mapping[str, Any]
_MEDIA = ("inlineData", "fileData")
_MODEL_ONLY = ("functionCall", "executableCode", "toolCall")
_PLAIN_KEYS = ("output", "result", "error")


def read_contents(contents: Sequence[_Content]) -> tuple[PastMessage, ...]:
    """The conversation: a content of responses becomes a tool message each, its text a user message after.

    Raises:
        Refused: 400 for a role, a part or an order of turns that Gemini refuses.
    """
    if not contents:
        raise invalid("contents", "contents is not specified")
    for index, content in enumerate(contents):
        _check_content(content, f"contents[{index}]")
    _check_signatures(contents)
    messages: list[PastMessage] = []
    waiting: tuple[PastCall, ...] = ()
    given: list[_Part] = []
    for index, content in enumerate(contents):
        responses = _all(content, "functionResponse")
        calls = _all(content, "functionCall")
        path = f"contents[{index}]"
        if responses and not waiting:
            raise _order("function response turn comes immediately after a function call turn", path)
        if len(responses) != len(waiting):
            raise _uneven(path)
        if calls and (index == 0 or contents[index - 1].get("role") == "model"):
            rule = "function call turn comes immediately after a user turn or after a function response turn"
            raise _order(rule, path)
        if responses:
            messages += _answers(responses, waiting, given, path)
        waiting, given = tuple(_call(call, place) for place, call in enumerate(calls)), calls
        spoken = _spoken(content, waiting)
        if spoken.text or spoken.images or spoken.calls or not responses:
            messages.append(spoken)
    if waiting:
        raise _uneven(f"contents[{len(contents) - 1}]")
    return tuple(messages)


def read_instruction(content: _Content) -> tuple[PastMessage, ...]:
    """The system instruction, whose role does not matter.

    Raises:
        Refused: 400, it has no parts, or other parts than text.
    """
    parts = content.get("parts", ())
    if not parts:
        raise invalid("system_instruction.parts", "contents.parts must not be empty.")
    if any("text" not in part for part in parts):
        raise invalid("system_instruction", "only text is allowed in a system instruction.")
    return (PastMessage("system", "".join(part["text"] for part in parts)),)


# ------------------------------------------------------------------------------------------- parts


def _check_content(content: _Content, path: str) -> None:
    role = content.get("role", "user")
    if role not in ("user", "model", "function"):
        raise refusal("Please use a valid role: user, model.", param=f"{path}.role", code="invalid_value")
    parts = content.get("parts", ())
    if not parts:
        raise invalid(f"{path}.parts", "contents.parts must not be empty.")
    for index, part in enumerate(parts):
        inner = f"{path}.parts[{index}]"
        if PART_DATA.isdisjoint(part):
            raise invalid(f"{inner}.data", "required oneof field 'data' must have one initialized field")
        if role != "model" and not part.keys().isdisjoint(_MODEL_ONLY):
            raise invalid(inner, "calls and code must have the role 'model'.")
        if role == "model" and "functionResponse" in part:
            raise invalid(inner, "a function response must have the role 'user'.")
        _check_data(part, inner)


def _check_data(part: _Part, path: str) -> None:
    if "functionCall" in part and not part["functionCall"].get("name"):
        raise invalid(f"{path}.function_call.name", "Name cannot be empty.")
    if "functionResponse" in part:
        if not part["functionResponse"].get("name"):
            raise invalid(f"{path}.function_response.name", "Name cannot be empty.")
        if "response" not in part["functionResponse"]:
            raise invalid(f"{path}.function_response.response", "missing field.")
        for index, inner in enumerate(part["functionResponse"].get("parts", ())):
            _check_media(inner, f"{path}.function_response.parts[{index}]")
    _check_media(part, path)


def _check_media(part: _Part, path: str) -> None:
    if "inlineData" in part and not part["inlineData"].get("mimeType"):
        raise invalid(f"{path}.inline_data.mime_type", "it must not be empty.")
    if "inlineData" in part and not part["inlineData"].get("data"):
        raise invalid(f"{path}.inline_data.data", "it must not be empty.")
    if "fileData" in part and not part["fileData"].get("fileUri"):
        raise invalid(f"{path}.file_data.file_uri", "it must not be empty.")


def _all(content: _Content, member: str) -> list[_Part]:
    return [part[member] for part in content["parts"] if member in part]


def _call(call: _Part, place: int) -> PastCall:
    """A call under an id of its own: the one that came may be missing."""
    arguments = json.dumps(call.get("args", {}), ensure_ascii=False, separators=(",", ":"))
    return PastCall(str(place), call["name"], arguments)


def _spoken(content: _Content, calls: tuple[PastCall, ...]) -> PastMessage:
    parts = content["parts"]
    said = "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))
    images = sum(name in part for part in parts for name in _MEDIA)
    if content.get("role") != "model":
        return PastMessage("user", said, images=images)
    thought = any(part.get("thought") for part in parts)
    members = frozenset({"reasoning_content"}) if thought else frozenset[str]()
    return PastMessage("assistant", said, calls, images=images, members=members)


# ------------------------------------------------------------------------------------- calls' answers


def _answers(
    responses: Sequence[_Part], calls: Sequence[PastCall], given: Sequence[_Part], path: str
) -> list[PastMessage]:
    """Each response as a tool message: paired by the id of a call where it has it, else by name in order."""
    places: dict[tuple[str, str], list[int]] = {}
    for place in reversed(range(len(given))):
        places.setdefault(("name", given[place]["name"]), []).append(place)
        if given[place].get("id"):
            places.setdefault(("id", given[place]["id"]), []).append(place)
    answered: set[int] = set()
    messages = []
    for index, response in enumerate(responses):
        by_id = _next(places.get(("id", response.get("id", "")), []), answered)
        found = by_id if by_id is not None else _next(places.get(("name", response["name"]), []), answered)
        if found is None or given[found]["name"] != response["name"]:
            inner = f"{path}.parts[{index}].function_response.name"
            raise invalid(inner, f"no function call is waiting for a response of '{response['name'][:128]}'.")
        answered.add(found)
        images = len(response.get("parts", ()))
        messages.append(
            PastMessage("tool", _told(response["response"]), tool_call_id=calls[found].id, images=images)
        )
    return messages


def _next(places: list[int], answered: set[int]) -> int | None:
    while places:
        place = places.pop()
        if place not in answered:
            return place
    return None


def _told(response: Mapping[str, Any]) -> str:
    """The text of a response: what it holds under the one key that stands for all of it, else its JSON."""
    if len(response) == 1:
        key, value = next(iter(response.items()))
        if key in _PLAIN_KEYS and isinstance(value, str):
            return value
    return json.dumps(response, ensure_ascii=False, separators=(",", ":"))


# ----------------------------------------------------------------------------------------- signatures


def _check_signatures(contents: Sequence[_Content]) -> None:
    """Every signature is genuine, and the calls of the current turn that were signed still are."""
    current = 0
    for index, content in enumerate(contents):
        if content.get("role") != "model" and not _all(content, "functionResponse"):
            current = index
    for index, content in enumerate(contents):
        for place, part in enumerate(content["parts"]):
            path = f"contents[{index}].parts[{place}].thought_signature"
            if "thoughtSignature" in part:
                if not gemini_signatures.genuine(part["thoughtSignature"]):
                    raise refusal("Corrupted thought signature.", param=path, why="400 altered-signature")
                continue
            call = part.get("functionCall", {})
            if index > current and gemini_signatures.was_signed(call.get("id", "")):
                message = (
                    "Function call is missing a thought_signature in functionCall parts. Additional data, "
                    f"function call `default_api:{call['name'][:128]}`, position {index + 1}."
                )
                raise refusal(message, param=path, why="400 missing-signature")


def _order(rule: str, path: str) -> Refused:
    return refusal(f"Please ensure that {rule}.", param=path, why="400 turn-order")


def _uneven(path: str) -> Refused:
    message = (
        "Please ensure that the number of function response parts is equal to the number of function call "
        "parts of the function call turn."
    )
    return refusal(message, param=path, why="400 response-count")
