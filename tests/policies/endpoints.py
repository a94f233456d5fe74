"""Endpoints with policies of their own, over any wire: each says what it does with a request, and no more."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.simulator import Behaviour
from conformance.simulator.answer import JSON_TYPE, Actions, Hang, Respond
from conformance.types import HttpRequest, WireName

SEAL = "c2VhbGVkIGhlcmUgYW5kIG5vd2hlcmUgZWxzZQ=="
"""The seal of the endpoint's own reasoning."""

_ROUTES: Mapping[str, WireName] = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic-messages",
    ":generateContent": "gemini",
    "/api/chat": "ollama",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as these endpoints look at it."""

    wire: WireName
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All of it."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools, each as the wire has it."""
        given: list[dict[str, Any]] = self.body.get("tools", [])
        if self.wire == "gemini":
            return [one for tool in given for one in tool.get("functionDeclarations", [])]
        return given

    @property
    def history(self) -> list[dict[str, Any]]:
        """The messages, as the wire has them."""
        found: list[dict[str, Any]] = next(
            self.body[key] for key in ("messages", "input", "contents") if key in self.body
        )
        return found

    @property
    def choice(self) -> str:
        """What binds the model: none, auto, required, named, allowed; nothing is the empty text."""
        if self.wire == "gemini":
            calling = self.body.get("toolConfig", {}).get("functionCallingConfig", {})
            mode = {"NONE": "none", "AUTO": "auto", "ANY": "required", "VALIDATED": "allowed"}
            found = mode.get(calling.get("mode"), "")
            return "named" if found == "required" and "allowedFunctionNames" in calling else found
        given = self.body.get("tool_choice", "")
        if isinstance(given, str):
            return given
        kinds = {"function": "named", "tool": "named", "allowed_tools": "allowed", "any": "required"}
        return str(kinds.get(given["type"], given["type"]))

    @property
    def wants_tool(self) -> bool:
        """Whether the question wants a tool."""
        return "Look up" in self.text


@dataclass(frozen=True, slots=True)
class Says:
    """An answer. ``tokens`` is what the prompt cost; without it there is no usage."""

    text: str = "Well."
    call: str = ""
    arguments: Mapping[str, Any] = field(default_factory=lambda: {"city": "Narvik"})
    tokens: int | None = None
    thought: str = ""
    told_choice: str = "auto"


@dataclass(frozen=True, slots=True)
class Refuses:
    """An error; with status 200 it is one inside a good answer."""

    status: int = 400
    message: str = "No."


Does = Says | Refuses | None
"""``None`` is a hang."""

Act = Callable[[Asked], Does]


@dataclass(frozen=True, slots=True)
class Acting(Behaviour):
    """An endpoint that does what ``act`` says, whatever the reference would do."""

    act: Act = lambda _: Says()

    def first(self, request: HttpRequest) -> Actions:
        path = request.url.partition("?")[0]
        wire = next(wire for end, wire in _ROUTES.items() if path.endswith(end))
        done = self.act(Asked(wire, json.loads(request.body)))
        if done is None:
            return [Hang()]
        if isinstance(done, Refuses):
            return [Respond(done.status, JSON_TYPE, {"error": {"message": done.message, "type": "bad"}})]
        return [Respond(200, JSON_TYPE, _DOCUMENTS[wire](done))]


def _chat(says: Says) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text}
    if says.call:
        function = {"name": says.call, "arguments": json.dumps(says.arguments)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if says.call else "stop"}
    usage = {"prompt_tokens": says.tokens, "completion_tokens": 1, "total_tokens": (says.tokens or 0) + 1}
    return {"id": "c", "object": "chat.completion", "choices": [choice], **_usage("usage", says, usage)}


def _responses(says: Says) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if says.thought:
        summary = [{"type": "summary_text", "text": says.thought}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": SEAL})
    if says.text:
        content = [{"type": "output_text", "text": says.text, "annotations": []}]
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
    if says.call:
        call = {"call_id": "call_1", "name": says.call, "arguments": json.dumps(says.arguments)}
        output.append({"type": "function_call", "id": "fc_1", **call})
    usage = {"input_tokens": says.tokens, "output_tokens": 1, "total_tokens": (says.tokens or 0) + 1}
    head = {"id": "r", "object": "response", "status": "completed", "tool_choice": says.told_choice}
    return {**head, "output": output, **_usage("usage", says, usage)}


def _messages(says: Says) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if says.thought:
        content.append({"type": "thinking", "thinking": says.thought, "signature": SEAL})
    if says.text:
        content.append({"type": "text", "text": says.text})
    if says.call:
        content.append({"type": "tool_use", "id": "call_1", "name": says.call, "input": says.arguments})
    head = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": says.tokens, "output_tokens": 1}
    stop = "tool_use" if says.call else "end_turn"
    return {**head, "content": content, "stop_reason": stop, **_usage("usage", says, usage)}


def _gemini(says: Says) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if says.thought:
        parts.append({"text": says.thought, "thought": True})
    if says.text:
        parts.append({"text": says.text})
    if says.call:
        signature = {"thoughtSignature": SEAL} if says.thought else {}
        call = {"name": says.call, "args": says.arguments}
        parts.append({"functionCall": call, **signature})
    usage = {"promptTokenCount": says.tokens, "candidatesTokenCount": 1}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], **_usage("usageMetadata", says, usage)}


def _ollama(says: Says) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text}
    if says.call:
        message["tool_calls"] = [{"function": {"name": says.call, "arguments": says.arguments}}]
    counts = {} if says.tokens is None else {"prompt_eval_count": says.tokens, "eval_count": 1}
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop"}
    return {**head, "message": message, **counts}


def _usage(name: str, says: Says, usage: Mapping[str, Any]) -> dict[str, Any]:
    return {} if says.tokens is None else {name: usage}


_DOCUMENTS: Mapping[WireName, Callable[[Says], dict[str, Any]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
    "gemini": _gemini,
    "ollama": _ollama,
}
