"""google-genai over generateContent and streamGenerateContent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from conformance.types import Usage, WireName
from conformance.wires import ErrorInfo

from .oracle import IN_STREAM, Question, Raised
from .said import Said, Words, call, said

FINISHES = {"MAX_TOKENS": "length", "STOP": "stop"}
"""The canonical words of ``finishReason``; the others filter content."""


class GeminiSdk:
    """``client.models``; the SDK leaves it to its user to put chunks together."""

    wire: WireName = "gemini"
    ordered = True
    identified = True

    def __init__(self, client: Any) -> None:
        # Not its models alone: the client closes when nobody holds it, also under a request.
        self._client = client

    def ask(self, question: Question) -> tuple[Said, ...]:
        arguments = arguments_of(question)
        if question.streamed:
            return _read(list(self._client.models.generate_content_stream(**arguments)))
        return _read([self._client.models.generate_content(**arguments)])

    def ask_in_vain(self, question: Question) -> Raised:
        from google.genai import errors

        try:
            answer = self.ask(question)
        except errors.APIError as error:
            info = ErrorInfo(error.message or "", error.status, error.code)
            # In a stream the SDK's response is the chunk.
            status: int = getattr(error.response, "status_code", IN_STREAM)
            return Raised(type(error).__name__, status, info)
        raise AssertionError(f"no error but {answer}")

    def unsaid(self, question: Question) -> tuple[str, ...]:
        """Nothing: its types refuse what they don't know, so that asking fails."""
        arguments_of(question)
        return ()

    def alike(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Members in lowerCamelCase and bytes in plain base64: ProtoJSON takes either spelling of both."""
        return {"generationConfig": {}, **_spelled(dict(body))}


def arguments_of(question: Question) -> dict[str, Any]:
    """The body in the SDK's types, which forbid members that they don't have."""
    from google.genai import types

    body = _spelled(dict(question.body))
    config = {**body, **body.get("generationConfig", {})}
    contents = config.pop("contents")
    config.pop("generationConfig", None)
    return {
        "model": question.model,
        "contents": [types.Content.model_validate(content) for content in contents],
        "config": types.GenerateContentConfig.model_validate(config),
    }


_FREE = frozenset({"args", "response", "parametersJsonSchema", "responseJsonSchema"})
"""Members whose values are JSON of the user's own."""
_BYTES = frozenset({"data", "thoughtSignature"})


def _spelled(value: Any) -> Any:
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for name, member in value.items():
        camel = re.sub(r"_([a-z])", lambda found: found[1].upper(), name)
        if camel in _BYTES and isinstance(member, str):
            out[camel] = member.replace("-", "+").replace("_", "/")
        else:
            out[camel] = member if camel in _FREE else _spelled(member)
    return out


def _read(chunks: list[Any]) -> tuple[Said, ...]:
    parts: dict[int, list[Words]] = {}
    finishes: dict[int, str] = {}
    usage = None
    for chunk in chunks:
        usage = chunk.usage_metadata or usage
        for candidate in chunk.candidates or ():
            told = parts.setdefault(candidate.index or 0, [])
            for part in (candidate.content and candidate.content.parts) or ():
                if part.function_call is not None:
                    told.append(call(part.function_call.id, part.function_call.name, part.function_call.args))
                elif part.text is not None:
                    told.append(("reasoning" if part.thought else "text", part.text))
                else:
                    raise AssertionError(part)
            if candidate.finish_reason is not None:
                finishes[candidate.index or 0] = candidate.finish_reason.name
    return tuple(
        Said(
            said(told, ordered=True),
            _finish(finishes.get(index), told),
            usage and _usage(usage),
            chunks[0].response_id,
            chunks[0].model_version,
        )
        for index, told in sorted(parts.items())
    )


def _finish(reason: str | None, told: list[Words]) -> str | None:
    if reason == "STOP" and any(words[0] == "call" for words in told):
        return "tool_calls"
    return reason and FINISHES.get(reason, "content_filter")


def _usage(usage: Any) -> Usage:
    spoken, thought = usage.candidates_token_count, usage.thoughts_token_count
    return Usage(
        prompt_tokens=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        completion_tokens=None if spoken is None and thought is None else (spoken or 0) + (thought or 0),
        total_tokens=usage.total_token_count,
        cached_tokens=usage.cached_content_token_count,
        reasoning_tokens=thought,
    )
