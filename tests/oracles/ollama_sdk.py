"""ollama-python over ``/api/chat``."""

from __future__ import annotations

from typing import Any

from conformance.types import Usage, WireName
from conformance.wires import ErrorInfo

from .oracle import Question, Raised
from .said import Said, Words, call, said


class OllamaSdk:
    """``client.chat``; the SDK leaves it to its user to put lines together."""

    sdk = "ollama"
    wire: WireName = "ollama"
    ordered = False

    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, question: Question) -> tuple[Said, ...]:
        answered = self._client.chat(**question.body)
        return (_read(list(answered) if question.streamed else [answered]),)

    def ask_in_vain(self, question: Question) -> Raised:
        import ollama

        try:
            answer = self.ask(question)
        except ollama.ResponseError as error:
            return Raised(type(error).__name__, error.status_code, ErrorInfo(error.error))
        raise AssertionError(f"no error but {answer}")

    def unsaid(self, question: Question) -> tuple[str, ...]:
        """Nothing: what its types don't know is not sent, which the body that it sends shows."""
        return ()


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
    return reason


def _usage(prompt: int | None, completion: int | None) -> Usage | None:
    if prompt is None or completion is None:
        return None
    return Usage(prompt, completion, prompt + completion)
