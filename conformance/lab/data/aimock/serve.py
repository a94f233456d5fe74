"""aimock with a fixture for each ideal turn of the scenarios, which are written at every start."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.scenarios.base import scripts
from conformance.types import Text, ToolCall, Turn

_FIXED = '{"fixed": true}'


def fixtures(turns: Mapping[str, Turn]) -> list[dict[str, Any]]:
    """aimock's fixtures of scripted turns by the names of their markers.

    aimock takes the first that fits. A tool's result is looked at first: it is then the last message, and the
    user's text before it carries the marker of the turn before. What no fixture is meant for is answered with
    JSON, so that the mock is not blamed for our text where a format was asked for.
    """
    marked = {f"[[{name}]]": _response(turn) for name, turn in turns.items()}
    return [
        {"match": {key: mark}, "response": response}
        for key in ("toolResultContains", "userMessage")
        for mark, response in marked.items()
    ] + [{"match": {}, "response": {"content": _FIXED}}]


def _response(turn: Turn) -> dict[str, Any]:
    calls = [{"name": call.name, "arguments": call.arguments} for call in turn.calls]
    said: dict[str, Any] = {"reasoning": turn.reasoning} if turn.reasoning else {}
    if not calls:
        return {**said, "content": turn.text}
    if not turn.text:
        return {**said, "toolCalls": calls}
    spoken = [part for part in turn.parts if isinstance(part, Text | ToolCall)]
    if isinstance(spoken[0], Text):
        return {**said, "content": turn.text, "toolCalls": calls}
    return {**said, "blocks": [_block(part) for part in spoken]}


def _block(part: Text | ToolCall) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "toolCall", "name": part.name, "arguments": part.arguments}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixtures", required=True, help="the file that is written")
    parser.add_argument("command", nargs="+", help="aimock's own command, started in this process's place")
    options = parser.parse_args()
    Path(options.fixtures).write_text(json.dumps({"fixtures": fixtures(scripts())}), "utf-8")
    os.execvp(options.command[0], [*options.command, f"--fixtures={options.fixtures}"])  # noqa: S606


if __name__ == "__main__":
    main()
