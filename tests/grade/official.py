"""What the official SDKs make of a recorded answer: their clients get its bytes from a stub of a network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.types import Turn, WireName

Call = tuple[str, Any]
"""Name, and the value of the arguments: JSON where they are some, else their text."""


@dataclass(frozen=True, slots=True)
class Said:
    """One assistant message, as far as both sides tell it: ``finish`` in OpenAI Chat's words."""

    text: str
    calls: tuple[Call, ...]
    finish: str | None


def ours(turn: Turn) -> Said:
    """Our turn."""
    return Said(
        turn.text, tuple((call.name, value(call.arguments)) for call in turn.calls), turn.finish_reason
    )


def value(arguments: str | None) -> Any:
    """Arguments as a value; none at all are an empty object."""
    try:
        return json.loads(arguments) if arguments and arguments.strip() else {}
    except ValueError:
        return arguments


class Sdks:
    """The three SDKs, each answering with the body that was put last."""

    def __init__(self) -> None:
        import anthropic
        import httpx
        import httpx2
        import openai
        from google import genai

        def answer(kit: Any) -> Any:
            return kit.MockTransport(
                lambda _: kit.Response(200, headers={"content-type": self._type}, content=self._body)
            )

        newer = httpx2.Client(transport=answer(httpx2))
        self._body, self._type = b"", ""
        self._openai: Any = openai.OpenAI(
            api_key="k", base_url="http://recorded", max_retries=0, http_client=newer
        )
        self._anthropic: Any = anthropic.Anthropic(
            api_key="k", base_url="http://recorded", max_retries=0, http_client=newer
        )
        options: Any = {"httpx_client": httpx.Client(transport=answer(httpx)), "base_url": "http://recorded"}
        self._gemini: Any = genai.Client(api_key="k", http_options=options)

    def read(self, wire: WireName, body: bytes, streamed: bool) -> list[Said]:
        """The messages of an answer. Raises whatever the SDK raises."""
        if wire == "gemini" and body.lstrip().startswith(b"["):
            # Without alt=sse the chunks of a stream come as an array; the SDK only ever asks for events.
            chunks = json.loads(body)
            body, streamed = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks), True
        self._body = body
        self._type = "text/event-stream" if streamed else "application/json"
        readers: Mapping[str, Callable[[bool], Iterator[Said]]] = {
            "openai-chat": self._chat,
            "openai-responses": self._responses,
            "anthropic-messages": self._messages,
            "gemini": self._contents,
        }
        return list(readers[wire](streamed))

    def _chat(self, streamed: bool) -> Iterator[Said]:
        from openai.lib.streaming.chat import ChatCompletionStreamState

        answer = self._openai.chat.completions.create(model="m", messages=[], stream=streamed)
        if streamed:
            state: Any = ChatCompletionStreamState()
            for chunk in answer:
                state.handle_chunk(chunk)
            answer = state.current_completion_snapshot
        for choice in sorted(answer.choices, key=lambda choice: choice.index or 0):
            message = choice.message
            calls = [_chat_call(call) for call in message.tool_calls or ()]
            if message.function_call is not None:
                calls.append((message.function_call.name, value(message.function_call.arguments)))
            yield Said(message.content or "", tuple(calls), choice.finish_reason)

    def _responses(self, streamed: bool) -> Iterator[Said]:
        from openai import omit
        from openai.lib.streaming.responses._responses import ResponseStreamState

        answer = last = self._openai.responses.create(model="m", input="", stream=streamed)
        if streamed:
            state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
            last = None
            for event in answer:
                state.handle_event(event)
                last = getattr(event, "response", last)
            answer = state._completed_response
            if answer is None or not answer.output:  # ChatGPT's Codex backend ends with an empty output
                answer = state._ResponseStreamState__current_snapshot
        calls = tuple(
            (item.name, value(item.arguments if item.type == "function_call" else item.input))
            for item in answer.output
            if item.type in ("function_call", "custom_tool_call")
        )
        yield Said(answer.output_text, calls, _responses_finish(last, bool(calls)))

    def _messages(self, streamed: bool) -> Iterator[Said]:
        if streamed:
            with self._anthropic.messages.stream(model="m", max_tokens=1, messages=[]) as stream:
                answer = stream.get_final_message()
        else:
            answer = self._anthropic.messages.create(model="m", max_tokens=1, messages=[])
        calls = tuple((block.name, block.input) for block in answer.content if block.type == "tool_use")
        text = "".join(block.text for block in answer.content if block.type == "text")
        yield Said(text, calls, STOP_REASONS.get(answer.stop_reason, answer.stop_reason))

    def _contents(self, streamed: bool) -> Iterator[Said]:
        models = self._gemini.models
        ask = models.generate_content_stream if streamed else models.generate_content
        answer = ask(model="m", contents="")
        parts: dict[int, list[Any]] = {}
        finishes: dict[int, str] = {}
        for chunk in answer if streamed else [answer]:
            for place, candidate in enumerate(chunk.candidates or ()):
                index = candidate.index or place
                said = (candidate.content.parts if candidate.content else None) or []
                parts.setdefault(index, []).extend(said)
                if candidate.finish_reason is not None:
                    finishes[index] = candidate.finish_reason.value
        for index, said in sorted(parts.items()):
            calls = tuple(
                (part.function_call.name, part.function_call.args or {})
                for part in said
                if part.function_call is not None
            )
            text = "".join(part.text for part in said if part.text and not part.thought)
            finish = FINISH_REASONS.get(finishes.get(index, ""), finishes.get(index))
            yield Said(text, calls, "tool_calls" if finish == "stop" and calls else finish)


STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Anthropic's words in OpenAI Chat's."""

FINISH_REASONS = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}
"""Gemini's words in OpenAI Chat's."""


def _chat_call(call: Any) -> Call:
    if call.type == "custom":
        return call.custom.name, value(call.custom.input)
    return call.function.name, value(call.function.arguments)


def _responses_finish(answer: Any, called: bool) -> str | None:
    if answer.status == "incomplete":
        reason = answer.incomplete_details.reason if answer.incomplete_details else None
        return "length" if reason == "max_output_tokens" else reason
    return ("tool_calls" if called else "stop") if answer.status == "completed" else None
