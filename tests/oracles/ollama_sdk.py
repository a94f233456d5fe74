"""ollama-python over ``/api/chat``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import Usage, WireName
from conformance.wires import ErrorInfo

from .oracle import IN_STREAM, Question, Raised
from .said import Said, Words, call, said


class OllamaSdk:
    """``client.chat``; the SDK leaves it to its user to put lines together."""

    wire: WireName = "ollama"
    ordered = False
    identified = False

    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, question: Question) -> tuple[Said, ...]:
        answered = self._client.chat(**{**question.body, "stream": question.streamed})
        return (_read(list(answered) if question.streamed else [answered]),)

    def ask_in_vain(self, question: Question) -> Raised:
        import ollama

        try:
            answer = self.ask(question)
        except ollama.ResponseError as error:
            told: Any = error.error
            if isinstance(told, dict):  # SDK fault ollama-error-object
                told = told["message"]
            # In a stream the SDK knows no status, and says -1.
            status = IN_STREAM if error.status_code == -1 else error.status_code
            return Raised(type(error).__name__, status, ErrorInfo(told))
        raise AssertionError(f"no error but {answer}")

    def unsaid(self, question: Question) -> tuple[str, ...]:
        """Nothing: what its types don't know is not sent, which the body that it sends shows."""
        return ()

    def alike(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without what the SDK drops (see `sdk_faults`), and with what it always says."""
        out = {"stream": True, "tools": [], **body}
        out["messages"] = [_pruned_message(message) for message in body["messages"]]
        out["tools"] = [{**tool, "function": _pruned(tool["function"])} for tool in out["tools"]]
        return out


def _pruned_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = {name: value for name, value in message.items() if (name, value) != ("content", "")}
    if "tool_calls" in kept:
        called = [_only(each["function"], ("name", "arguments")) for each in kept["tool_calls"]]
        kept["tool_calls"] = [{"function": function} for function in called]
    return kept


def _pruned(function: Mapping[str, Any]) -> Mapping[str, Any]:
    schema = function.get("parameters")
    if schema is None:
        return function
    kept = _only(schema, ("type", "$defs", "items", "required", "properties"))
    if "properties" in kept:
        known = ("type", "items", "description", "enum")
        kept["properties"] = {name: _only(each, known) for name, each in kept["properties"].items()}
    return {**function, "parameters": kept}


def _only(schema: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: schema[name] for name in names if name in schema}


def _read(lines: list[Any]) -> Said:
    parts: list[Words] = []
    for line in lines:
        message = line.message
        parts += [("reasoning", message.thinking or ""), ("text", message.content or "")]
        parts += [call(None, c.function.name, c.function.arguments) for c in message.tool_calls or ()]
    told, last = said(parts, ordered=False), lines[-1]
    prompt, completion = last.prompt_eval_count, last.eval_count
    return Said(told, _finish(last.done_reason, told), _usage(prompt, completion), None, last.model)


def _finish(reason: str | None, told: tuple[Words, ...]) -> str | None:
    if reason == "stop" and any(words[0] == "call" for words in told):
        return "tool_calls"
    return "stop" if reason in ("load", "unload") else reason


def _usage(prompt: int | None, completion: int | None) -> Usage | None:
    if prompt is None or completion is None:
        return None
    return Usage(prompt, completion, prompt + completion)
