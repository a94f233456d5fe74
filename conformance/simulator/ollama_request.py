"""A request to Ollama's ``/api/chat``, validated as Ollama does.

Source: ollama/ollama, ``docs/openapi.yaml`` (``ChatRequest``) and ``api/types.go``. A member of another type
is refused, an unknown one is ignored, ``tool_choice`` among them: Ollama has none. Ollama cuts a prompt that
is too long, unasked; this endpoint cuts it only when ``truncate`` is true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator import schemas
from conformance.simulator.answer import Refused, refusal
from conformance.simulator.fields import Fields, wrong_type
from conformance.simulator.ollama_messages import read_messages
from conformance.simulator.request import CONTEXT_TOKENS, ChatRequest, prompt_tokens_of
from conformance.types import JsonSchemaFormat, Tool

_INTEGERS = (
    "num_ctx", "num_batch", "num_gpu", "main_gpu", "num_thread", "num_keep", "seed", "num_predict", "top_k",
    "repeat_last_n", "mirostat",
)  # fmt: skip
_NUMBERS = (
    "top_p", "min_p", "tfs_z", "typical_p", "temperature", "repeat_penalty", "presence_penalty",
    "frequency_penalty", "mirostat_tau", "mirostat_eta",
)  # fmt: skip
_BOOLEANS = (
    "numa",
    "low_vram",
    "f16_kv",
    "logits_all",
    "vocab_only",
    "use_mmap",
    "use_mlock",
    "penalize_newline",
)
_LEVELS = ("high", "medium", "low", "max")
_LARGE = 2**63
_DURATION = re.compile(r"-?(\d{1,15}(\.\d{0,15})?(ns|us|µs|ms|s|m|h))+|-?0")
_MAX_ITEMS = 100_000


@dataclass(frozen=True, slots=True)
class OllamaRequest(ChatRequest):
    """A valid request. ``only``: the model is only loaded or unloaded, since there are no messages."""

    only: Literal["load", "unload"] | None = None


def read_model(fields: Fields, model: str) -> str:
    """The model that is asked for, which must be ``model``, with its tag or without.

    Raises:
        Refused: 400 without one, 404 for another.
    """
    asked = fields.text("model")
    if not asked:
        raise refusal("model is required", param="model")
    if asked.removesuffix(":latest") != model.removesuffix(":latest"):
        raise refusal(f"model '{asked[:200]}' not found", status=404, param="model", code="model_not_found")
    return asked


def read_ollama_request(body: Mapping[str, Any], model: str) -> OllamaRequest:
    """The request in ``body`` to an endpoint that serves ``model``.

    Raises:
        Refused: 400 for an invalid request, 404 for another model.
    """
    fields = Fields(body)
    asked = read_model(fields, model)
    messages = read_messages(fields)
    tools = tuple(_tool(item) for item in fields.objects("tools", 0, _MAX_ITEMS) or ())
    options = fields.object("options") or Fields({}, "options")
    _check_options(options)
    prompt_tokens = prompt_tokens_of(messages, tools)
    limit = _context(options)
    if prompt_tokens > limit:
        if not fields.boolean("truncate"):
            raise refusal("the input length exceeds the context length", code="context_length_exceeded")
        prompt_tokens = limit
    stays = _keep_alive(fields)
    stream = fields.boolean("stream")
    return OllamaRequest(
        body=body,
        model=asked,
        messages=messages,
        tools=tools,
        choice="auto" if tools else None,
        allowed=frozenset(tool.name for tool in tools),
        parallel=True,
        format=_format(fields),
        stream=stream is not False and bool(messages),
        include_usage=True,
        cap=_cap(options),
        stop=_stop(options),
        n=1,
        logprobs=fields.boolean("logprobs") or False,
        top_logprobs=fields.integer("top_logprobs", 0, 20) or 0,
        prompt_tokens=prompt_tokens,
        obfuscate=False,
        think=_thinks(fields),
        only=None if messages else ("load" if stays else "unload"),
    )


# ------------------------------------------------------------------------------------------- options


def _check_options(options: Fields) -> None:
    """The known options have their types; an unknown one is only warned of, in Ollama's log."""
    for name in _INTEGERS:
        value = options.raw(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise _option(name, "integer")
    for name in _NUMBERS:
        value = options.raw(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise _option(name, "float32")
    for name in _BOOLEANS:
        if not isinstance(options.raw(name), bool | None):
            raise _option(name, "boolean")


def _option(name: str, kind: str) -> Refused:
    return refusal(f'option "{name}" must be of type {kind}', param=f"options.{name}")


def _context(options: Fields) -> int:
    """The tokens that prompt and answer may have together."""
    asked = options.raw("num_ctx")
    return min(int(asked), CONTEXT_TOKENS) if asked is not None and asked >= 1 else CONTEXT_TOKENS


def _cap(options: Fields) -> int | None:
    """``num_predict``; nothing caps the answer when it is not positive (-1: none, -2: the context)."""
    asked = options.raw("num_predict")
    return int(min(asked, _LARGE)) if asked is not None and asked >= 1 else None


def _stop(options: Fields) -> tuple[str, ...]:
    value = options.raw("stop")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _option("stop", "array")
    if not all(isinstance(text, str) for text in value):
        raise refusal('option "stop" must be of an array of strings', param="options.stop")
    return tuple(text for text in value if text)


def _thinks(fields: Fields) -> bool:
    """A model that can think does, unless told not to (docs/capabilities/thinking.mdx)."""
    value = fields.raw("think")
    if value is None or isinstance(value, bool):
        return value is not False
    if value in _LEVELS:
        return True
    allowed = ", ".join(f'"{level}"' for level in _LEVELS)
    shown = f'"{value[:40]}"' if isinstance(value, str) else str(value)[:40]
    raise refusal(f"invalid think value: {shown} (must be {allowed}, true, or false)", param="think")


def _keep_alive(fields: Fields) -> bool:
    """Whether the model stays in memory: zero unloads it."""
    value = fields.raw("keep_alive")
    if value is None:
        return True
    if isinstance(value, str):
        if not _DURATION.fullmatch(value):
            raise refusal(f'time: invalid duration "{value[:40]}"', param="keep_alive")
        return value.strip("-0.nuµmsh") != ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type("keep_alive", "a number or a duration", value)
    return value != 0


# -------------------------------------------------------------------------------- tools and formats


def _tool(item: Fields) -> Tool:
    """A tool; Ollama checks the types of its members and nothing else."""
    item.text("type")
    function = item.needed_object("function")
    parameters = function.object("parameters")
    if parameters is not None:
        parameters.text("type")
        parameters.object("properties")
        required = parameters.raw("required")
        if required is not None and not (
            isinstance(required, list) and all(isinstance(name, str) for name in required)
        ):
            raise wrong_type(parameters.param("required"), "an array of strings", required)
    return Tool(
        function.text("name") or "", function.text("description") or "", function.raw("parameters") or {}
    )


def _format(fields: Fields) -> JsonSchemaFormat | Literal["json_object"] | None:
    """``"json"`` or a JSON Schema; an empty text is as good as none."""
    value = fields.raw("format")
    if value is None or value == "":
        return None
    if value == "json":
        return "json_object"
    if not isinstance(value, dict):
        message = f'invalid format: {str(value)[:40]!r}; expected "json" or a valid JSON Schema object'
        raise refusal(message, param="format")
    wrong = schemas.problem(value)
    if wrong is not None:
        raise refusal(f"invalid JSON schema in format: {wrong}", param="format")
    return JsonSchemaFormat("format", value)
