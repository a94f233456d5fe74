"""What breaks at a whole answer that breaks a rule."""

from __future__ import annotations

import json
from typing import Any

from conformance.rules.examples import answer, models
from conformance.rules.reading import ABSENT

from .claims import STRICT_TOOL, City, Claim, Raised, call, itself, message, parsed, typed, whole

NO_SCHEMA_HELD = answer(asked={"response_format": {"type": "json_object"}}, message={"content": '["Oslo"]'})
LOGPROBS = {"content": [{"token": "Hello.", "logprob": -0.1, "bytes": None}], "refusal": None}


def completion_type(types: Any) -> Any:
    return types.chat.ChatCompletion


def alternatives(completion: Any) -> Any:
    return list(completion.choices[0].logprobs.content[0].top_logprobs)


def kind(value: Any) -> str:
    return type(value).__name__


def first_entry(body: bytes) -> bytes:
    return json.dumps(json.loads(body)["data"][0]).encode()


WHOLE = (
    Claim(
        "chat.response.content-type-json",
        "openai-python 3.57.0 reads the JSON all the same",
        whole(kind),
        "ChatCompletion",
    ),
    Claim(
        "chat.response.content-type-json",
        "hands out a page as a str in place of a completion",
        whole(kind),
        "str",
        answer(headers={"content-type": "text/html"}, raw=b"<html>Hello.</html>"),
    ),
    Claim(
        "chat.response.required-keys",
        "builds a ChatCompletion with every missing field None and raises nothing",
        whole(lambda done: done.created),
        None,
    ),
    Claim(
        "chat.response.choice-required-keys",
        "gives None for what is missing",
        whole(lambda done: done.choices[0].finish_reason),
        None,
    ),
    Claim(
        "chat.response.choice-required-keys",
        "choice.message.content raises AttributeError",
        whole(lambda done: message(done).content),
        Raised("AttributeError"),
        answer(choice={"message": ABSENT}),
    ),
    Claim(
        "chat.response.created-unix-seconds",
        "typed clients refuse a fraction",
        typed(completion_type),
        Raised("ValidationError"),
        answer(created=1_764_000_000.5),
    ),
    Claim(
        "chat.response.service-tier-enum",
        "typed clients refuse the whole answer",
        typed(completion_type),
        Raised("ValidationError", "service_tier"),
    ),
    Claim(
        "chat.response.system-fingerprint-type",
        "typed clients refuse the whole answer",
        typed(completion_type),
        Raised("ValidationError", "system_fingerprint"),
    ),
    Claim(
        "chat.response.logprobs-key",
        "openai-python takes its absence for null",
        whole(lambda done: done.choices[0].logprobs),
        None,
    ),
    Claim(
        "chat.response.message-refusal-key",
        "openai-python takes its absence for null",
        whole(lambda done: message(done).refusal),
        None,
    ),
    Claim(
        "chat.response.refusal-xor-content",
        "openai-python does not parse content beside a refusal",
        parsed(lambda done: message(done).parsed),
        None,
    ),
    Claim(
        "chat.response.logprobs-entry-shape",
        "iterating over it raises TypeError",
        whole(alternatives),
        Raised("TypeError"),
        answer(asked={"logprobs": True}, choice={"logprobs": LOGPROBS}),
    ),
    Claim(
        "chat.response.logprobs-entry-shape",
        "typed clients refuse the whole answer",
        typed(completion_type),
        Raised("ValidationError", "top_logprobs"),
        answer(asked={"logprobs": True}, choice={"logprobs": LOGPROBS}),
    ),
    Claim(
        "chat.response.usage-required-keys",
        "adding up None raises TypeError",
        whole(lambda done: done.usage.prompt_tokens + done.usage.completion_tokens),
        Raised("TypeError"),
    ),
    Claim(
        "chat.response.usage-nonnegative-int",
        "typed clients refuse the whole answer",
        typed(completion_type),
        Raised("ValidationError", "prompt_tokens"),
    ),
    Claim(
        "chat.response.content-unicode-intact",
        "an unpaired surrogate makes encoding the text raise",
        whole(lambda done: message(done).content.encode()),
        Raised("UnicodeEncodeError"),
        answer(raw=b'{"choices":[{"index":0,"message":{"content":"\\ud83d"},"finish_reason":"stop"}]}'),
    ),
    Claim(
        "chat.response.tool-calls-nonempty-or-absent",
        "openai-python tolerates null and []",
        whole(lambda done: message(done).tool_calls),
        [],
    ),
    Claim(
        "chat.response.tool-calls-nonempty-or-absent",
        "openai-python tolerates null and []",
        whole(lambda done: message(done).tool_calls),
        None,
        answer(message={"tool_calls": None}),
    ),
    Claim(
        "chat.response.tool-call-function-object",
        "call.function.name raises AttributeError",
        whole(lambda done: call(done).function.name),
        Raised("AttributeError"),
    ),
    Claim(
        "chat.response.tool-call-arguments-string",
        "openai-python keeps the dict",
        whole(lambda done: call(done).function.arguments),
        {"city": "Oslo"},
    ),
    Claim(
        "chat.response.tool-call-arguments-string",
        "json.loads on it fails later",
        whole(lambda done: json.loads(call(done).function.arguments)),
        Raised("TypeError"),
    ),
    Claim(
        "chat.response.tool-call-arguments-empty-object",
        "json.loads fails on an empty string: strict tools in openai-python",
        parsed(itself, tools=[STRICT_TOOL]),
        Raised("JSONDecodeError"),
    ),
    Claim(
        "chat.response.custom-tool-call-shape",
        "call.custom.input raises AttributeError",
        whole(lambda done: call(done).custom.input),
        Raised("AttributeError"),
    ),
    Claim(
        "models.list.entry-shape",
        "typed clients refuse the whole list",
        typed(lambda types: types.Model, first_entry),
        Raised("ValidationError", "created"),
        models({"id": "example-model", "object": "model", "owned_by": "example"}),
    ),
    Claim(
        "so.json-object-parses",
        "json.loads fails, or gives no dict",
        whole(lambda done: kind(json.loads(message(done).content))),
        "list",
        NO_SCHEMA_HELD,
    ),
    Claim(
        "so.json-schema-strict-valid",
        "openai-python's parse helper raises ValidationError",
        parsed(itself),
        Raised("ValidationError", "city"),
    ),
    Claim(
        "so.json-schema-nonstrict-valid",
        "openai-python's parse helper raises ValidationError",
        parsed(itself),
        Raised("ValidationError", "city"),
    ),
    Claim(
        "so.refusal-escape",
        "openai-python's parse helper raises ValidationError in place of handing out the refusal",
        parsed(itself),
        Raised("ValidationError"),
    ),
    Claim(
        "so.no-code-fence",
        "json.loads fails on the fence",
        whole(lambda done: json.loads(message(done).content)),
        Raised("JSONDecodeError"),
    ),
    Claim(
        "so.truncation-marked",
        "openai-python's parse helper raises ValidationError in place of LengthFinishReasonError",
        parsed(itself),
        Raised("ValidationError"),
    ),
    Claim(
        "so.strict-tool-arguments",
        "the tool fails on its arguments",
        parsed(lambda done: City(**call(done).function.parsed_arguments), tools=[STRICT_TOOL]),
        Raised("ValidationError"),
    ),
)
