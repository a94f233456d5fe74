"""What the inputs of public bug reports are made of.

The reports are facts about real software, named by project and number; the inputs are written anew, as small
as shows the bug, with neutral names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CALL = {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}
USER, RESULT = {"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def tool(name: str = "alpha", **parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", **parameters}}}


def chat(*messages: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages or (USER,)), **members}
