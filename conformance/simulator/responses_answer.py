"""Responses and their streams, written from a canonical turn.

This is the suite's second, independent reading of OpenAI's specification (the types of openai-python 3.57.0
and recordings of the API): it shares no code with the wire that decodes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from conformance.simulator import chance, seal
from conformance.simulator.chat import fresh_id
from conformance.simulator.messages import PastCall
from conformance.simulator.responses_items import SEALED, Item
from conformance.simulator.responses_request import ResponsesRequest
from conformance.simulator.responses_tools import told_text, told_tools
from conformance.simulator.tokens import tokens
from conformance.simulator.turns import count, spent
from conformance.types import Part, Reasoning, Refusal, Text, ToolCall, Turn


@dataclass(frozen=True, slots=True)
class Answer:
    """A response to be written: its document as it begins and as it ends."""

    begun: dict[str, Any]
    ended: dict[str, Any]

    @property
    def event(self) -> str:
        """The name of the event that ends its stream."""
        return f"response.{self.ended['status']}"


def answer(turn: Turn, request: ResponsesRequest) -> Answer:
    """The honest response that says ``turn``."""
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(turn.finish_reason or "")
    output = list(_output(turn.parts, request))
    if output and reason is not None:
        output[-1]["status"] = "incomplete"
    begun = _envelope(request)
    ended = begun | {
        "status": "completed" if reason is None else "incomplete",
        "completed_at": chance.now_s() if reason is None else None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": output,
        "service_tier": "default",
        "usage": _usage(turn, request),
    }
    return Answer(begun, ended)


def items_of(output: Sequence[dict[str, Any]]) -> tuple[Item, ...]:
    """The items of an ``output`` as they are remembered."""
    items = []
    reasoning = ""
    for item in output:
        match item["type"]:
            case "reasoning":
                thought = "".join(part["text"] for part in item["summary"])
                items.append(Item("reasoning", "input", item["id"], after=reasoning, thought=thought))
                reasoning = item["id"]
                continue
            case "message":
                text = "".join(part.get("text", part.get("refusal", "")) for part in item["content"])
                items.append(Item("message", "input", item["id"], "assistant", text, after=reasoning))
            case _:
                call = PastCall(item["call_id"], item["name"], item["arguments"])
                items.append(
                    Item("function_call", "input", item["id"], call=call, call_id=call.id, after=reasoning)
                )
        reasoning = ""
    return tuple(items)


def _envelope(request: ResponsesRequest) -> dict[str, Any]:
    """The response as it begins; the penalties are in recordings, and required by Open Responses."""
    body = request.body

    def told(name: str, default: Any = None) -> Any:
        return default if body.get(name) is None else body[name]

    reasoning = told("reasoning", {})
    summary = reasoning.get("summary") or reasoning.get("generate_summary")
    return {
        "id": _fresh("resp"),
        "object": "response",
        "created_at": chance.now_s(),
        "status": "in_progress",
        "background": False,
        "completed_at": None,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": None,
        "instructions": told("instructions"),
        "max_output_tokens": request.cap,
        "max_tool_calls": told("max_tool_calls"),
        "model": request.model,
        "moderation": None,
        "output": [],
        "parallel_tool_calls": request.parallel,
        "presence_penalty": 0.0,
        "previous_response_id": request.previous,
        "prompt_cache_key": told("prompt_cache_key"),
        "prompt_cache_retention": told("prompt_cache_retention"),
        "reasoning": {"effort": reasoning.get("effort") or "medium", "summary": summary},
        "safety_identifier": told("safety_identifier"),
        "service_tier": told("service_tier", "auto"),
        "store": request.store,
        "temperature": told("temperature", 1.0),
        "text": told_text(body),
        "tool_choice": told("tool_choice", "auto"),
        "tools": told_tools(body, request.tools),
        "top_logprobs": request.top_logprobs,
        "top_p": told("top_p", 1.0),
        "truncation": told("truncation", "disabled"),
        "usage": None,
        "user": told("user"),
        "metadata": told("metadata", {}),
    }


def _fresh(kind: str) -> str:
    return f"{kind}_{chance.token_hex(25)}"


def _usage(turn: Turn, request: ResponsesRequest) -> dict[str, Any]:
    written = spent(turn)
    thought = count(part for part in turn.parts if isinstance(part, Reasoning))
    return {
        "input_tokens": request.prompt_tokens,
        "input_tokens_details": {"cached_tokens": request.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": request.prompt_tokens + written,
    }


# -------------------------------------------------------------------------------------------- output


def _output(parts: Sequence[Part], request: ResponsesRequest) -> Iterator[dict[str, Any]]:
    """Neighbouring texts and refusals are the parts of one message."""
    for spoken, run in groupby(parts, key=lambda part: isinstance(part, (Text, Refusal))):
        if spoken:
            content = [_content(part, request) for part in run if isinstance(part, (Text, Refusal))]
            yield {
                "id": _fresh("msg"),
                "type": "message",
                "status": "completed",
                "content": content,
                "role": "assistant",
            }
            continue
        for part in run:
            match part:
                case Reasoning(text):
                    yield _reasoning(text, request)
                case ToolCall(_, name, arguments):
                    yield {
                        "id": _fresh("fc"),
                        "type": "function_call",
                        "status": "completed",
                        "arguments": arguments,
                        "call_id": fresh_id("call_", 24),
                        "name": name,
                    }


def _content(part: Text | Refusal, request: ResponsesRequest) -> dict[str, Any]:
    if isinstance(part, Refusal):
        return {"type": "refusal", "refusal": part.text}
    logprobs = logprobs_of(tokens(part.text), request)
    return {"type": "output_text", "annotations": [], "logprobs": logprobs, "text": part.text}


def _reasoning(text: str, request: ResponsesRequest) -> dict[str, Any]:
    encrypted = {"encrypted_content": SEALED + seal.sealed("reasoning")} if request.encrypted else {}
    summary = [{"type": "summary_text", "text": text}] if request.summary and text else []
    return {"id": _fresh("rs"), "type": "reasoning", "summary": summary, "status": "completed", **encrypted}


def logprobs_of(shown: Sequence[str], request: ResponsesRequest) -> list[dict[str, Any]]:
    """The log probabilities of tokens, where they are asked for."""
    if not request.logprobs:
        return []
    entries = []
    for token in shown:
        rivals = [token, *(f"{token}{i}" for i in range(1, 20))][: request.top_logprobs]
        top = [_logprob(rival, -0.01 - 2.0 * i) for i, rival in enumerate(rivals)]
        entries.append({**_logprob(token, -0.01), "top_logprobs": top})
    return entries


def _logprob(token: str, value: float) -> dict[str, Any]:
    return {"token": token, "logprob": value, "bytes": list(token.encode())}
