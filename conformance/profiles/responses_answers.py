"""Answers over the Responses wire, put right: ids that stay, texts that are texts, names of aliased tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.profiles.repairs import Frame
from conformance.wires.body import compact, parse

Item = dict[str, Any]

_COUNTED = re.compile(r"(?:call_?)?\d{1,4}")
"""Ids that are only counted, from nought in each response."""


def repaired(document: Any, names: Mapping[str, str], *, qualified: bool = False) -> Any:
    """A whole response. ``names``: what aliases of tools stand for. ``qualified``: its call ids bear
    its own.
    """
    if not isinstance(document, dict) or not isinstance(document.get("output"), list):
        return document
    own = document.get("id")
    qualifier = qualifier_of(own) if qualified and isinstance(own, str) else None
    out = {**document, "output": [item(given, names, qualifier) for given in document["output"]]}
    if isinstance(document.get("tools"), list):
        out["tools"] = [_by_its_name(tool, names) for tool in document["tools"]]
    return out


def _by_its_name(tool: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return tool
    return {**tool, "name": names.get(tool["name"], tool["name"])}


def item(given: Any, names: Mapping[str, str], qualifier: str | None = None) -> Any:
    """An output item."""
    if not isinstance(given, dict):
        return given
    out = dict(given)
    if out.get("type") in ("function_call", "custom_tool_call"):
        if isinstance(out.get("name"), str):
            out["name"] = names.get(out["name"], out["name"])
        if qualifier and isinstance(out.get("call_id"), str) and _COUNTED.fullmatch(out["call_id"]):
            out["call_id"] = f"{out['call_id']}_{qualifier}"
    for key in ("content", "summary"):
        if isinstance(out.get(key), list):
            out[key] = [_said(part) for part in out[key]]
    return out


def _said(part: Any) -> Any:
    """A content part whose text is a text."""
    if isinstance(part, dict) and "text" in part and part["text"] is None:
        return {**part, "text": ""}
    return part


class ResponsesStream:
    """Repairs one stream of the Responses wire; a ``Repairer``."""

    def __init__(self, names: Mapping[str, str], unique_call_ids: bool) -> None:
        self._names = names
        self._unique = unique_call_ids
        self._qualifier: str | None = None
        self._ids: dict[int, str] = {}

    def feed(self, frame: Frame) -> Sequence[Frame]:
        """Take the next event."""
        try:
            event = parse(frame.data)
        except ValueError:
            return (frame,)
        if not isinstance(event, dict):
            return (frame,)
        out = self._repaired(event)
        return (frame if out == event else Frame(compact(out), frame.name),)

    def finish(self, *, whole: bool) -> Sequence[Frame]:  # noqa: ARG002
        """Nothing is ever held."""
        return ()

    def _repaired(self, event: Item) -> Item:
        out = dict(event)
        response = out.get("response")
        if isinstance(response, dict):
            if self._unique and isinstance(response.get("id"), str):
                self._qualifier = qualifier_of(response["id"])
            told = repaired(response, self._names, qualified=self._unique)
            out["response"] = {**told, "output": self._settled(told["output"])} if "output" in told else told
        index = out.get("output_index")
        if isinstance(index, int):
            if isinstance(out.get("item"), dict):
                told = item(out["item"], self._names, self._qualifier)
                out["item"] = self._with_id(index, told)
            elif isinstance(out.get("item_id"), str):
                out["item_id"] = self._ids.setdefault(index, out["item_id"])
        if "part" in out:
            out["part"] = _said(out["part"])
        for key in ("text", "delta"):
            if key in out and out[key] is None:
                out[key] = ""
        return out

    def _with_id(self, index: int, given: Item) -> Item:
        if not isinstance(given.get("id"), str):
            return given
        return {**given, "id": self._ids.setdefault(index, given["id"])}

    def _settled(self, output: Any) -> Any:
        if not isinstance(output, list):
            return output
        return [
            self._with_id(i, one) if isinstance(one, dict) and i in self._ids else one
            for i, one in enumerate(output)
        ]


def qualifier_of(response_id: str) -> str:
    """A short name of a response, from its id."""
    return "".join(char for char in response_id if char.isalnum())[-8:]
