"""A Messages request, validated as Anthropic does.

Source: ``MessageCreateParams`` of anthropic-sdk-python 2.14.0; Anthropic's "Migrating to API version
2026-10-21", since which ``temperature``, ``top_p`` and ``top_k`` are no more. Unknown members are refused, as
are known ones that this endpoint can't honour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator import anthropic_editing, anthropic_schema, schemas
from conformance.simulator.answer import refusal
from conformance.simulator.anthropic_blocks import Block, cache_mark
from conformance.simulator.anthropic_cache import CacheUse, MarkedCache, check_marks
from conformance.simulator.anthropic_messages import (
    PromptMessage,
    ending,
    past_messages,
    read_conversation,
    read_system,
)
from conformance.simulator.anthropic_tools import Chosen, read_choice, read_tools
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value
from conformance.simulator.request import CONTEXT_TOKENS, ChatRequest
from conformance.types import JsonSchemaFormat, NamedChoice

OUTPUT_TOKENS = 128_000
_INTERLEAVED = "interleaved-thinking-2025-05-14"
_REDACT = (
    "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_"
    "46C9A13E193C177646C7398A98432ECCCE4C1253D5E2D82641AC0E52CC2876CB"
)
_MEMBERS = frozenset(
    {
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
        "user_profile_id",
    }
)
_SAMPLING = frozenset({"temperature", "top_k", "top_p"})
_NEWEST = "2026-10-21"
_UNSUPPORTED = ("container", "diagnostics", "user_profile_id")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Terms:
    """What the headers say: the API's ``version``, and the ``betas`` taken part in."""

    version: str
    betas: frozenset[str]

    @property
    def old(self) -> bool:
        """Whether the version is one before 2026-10-21."""
        return self.version < _NEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesRequest(ChatRequest):
    """A valid Messages request.

    ``thinking`` is how its reasoning shows: as it is, with the text ``omitted``, or ``redacted``; ``opens``
    says that every answer with calls begins with a thinking block. ``prefill`` is what the answer begins
    with already. ``edits`` are the context edits to tell of.
    """

    thinking: Literal["summarized", "omitted", "redacted"]
    opens: bool
    prefill: str
    cache: CacheUse
    edits: tuple[dict[str, Any], ...] | None


def read_messages_request(
    body: dict[str, Any], model: str, terms: Terms, cache: MarkedCache, owner: str
) -> MessagesRequest:
    """The request in ``body`` to an endpoint that serves ``model``; ``cache`` keeps the prompts of ``owner``.

    Raises:
        Refused: 400 for an invalid request, 404 for another model.
    """
    fields = Fields(body)
    asked = fields.needed_text("model")
    if asked != model:
        raise refusal(f"model: {asked[:200]}", status=404, code="model_not_found")
    editing = {"context_management"} if anthropic_editing.BETA in terms.betas else set()
    fields.closed(_MEMBERS | editing | (_SAMPLING if terms.old else set()))
    _check_plain(fields)
    cap = _cap(fields)
    tools = read_tools(fields, terms.betas)
    chosen = read_choice(fields, tools.declared)
    thinking = _thinking(fields, cap, bool(tools.declared) and _INTERLEAVED in terms.betas)
    _check_thinking(fields, thinking, chosen)
    system, conversation = read_system(fields), read_conversation(fields, terms.old)
    if thinking == "enabled":
        _check_opening(conversation)
    answer_format = _format(fields)
    after = ending(conversation)
    if after == "prefill" and (thinking or answer_format):
        what = "`thinking` is enabled" if thinking else "`output_config.format` is given"
        raise refusal(f"prefill is not supported when {what}", param="messages", why="400 prefill")
    tokens = _prompt_tokens(tools.blocks, system, conversation)
    edited = anthropic_editing.edit(fields, conversation, tokens, bool(thinking))
    conversation = edited.conversation
    tokens = _prompt_tokens(tools.blocks, system, conversation)
    if tokens > CONTEXT_TOKENS:
        message = f"prompt is too long: {tokens} tokens > {CONTEXT_TOKENS} maximum"
        raise refusal(message, code="context_length_exceeded")
    prompt = _marked(fields, (*tools.blocks, *system, *(b for m in conversation for b in m.blocks)))
    check_marks(prompt)
    return MessagesRequest(
        body=body,
        model=model,
        messages=past_messages(system, conversation),
        tools=tools.declared,
        choice=chosen.choice,
        allowed=chosen.allowed,
        parallel=chosen.parallel,
        format=answer_format,
        stream=fields.boolean("stream") or False,
        include_usage=True,
        cap=cap,
        stop=_stop(fields),
        n=1,
        logprobs=False,
        top_logprobs=0,
        prompt_tokens=tokens,
        obfuscate=False,
        think=bool(thinking),
        thinking=_shown(fields, conversation),
        opens=thinking == "enabled",
        prefill="".join(b.text for b in conversation[-1].of("text")) if after == "prefill" else "",
        cache=cache.use(owner, prompt),
        edits=edited.applied,
    )


def _check_plain(fields: Fields) -> None:
    for name in _UNSUPPORTED:
        if fields.has(name):
            raise wrong_value(name, "it is not supported with this model")
    fields.number("temperature", 0, 1)
    fields.number("top_p", 0, 1)
    fields.integer("top_k", 0, 2**31 - 1)
    fields.choice("service_tier", ("auto", "standard_only"))
    fields.choice("inference_geo", ("global",))
    if fields.choice("speed", ("standard", "fast")) == "fast":
        raise wrong_value("speed", "'fast' is not supported with this model")
    metadata = fields.object("metadata")
    if metadata is not None:
        metadata.closed(("user_id",))
        if len(metadata.text("user_id") or "") > 256:
            raise wrong_value(metadata.param("user_id"), "String should have at most 256 characters")


def _cap(fields: Fields) -> int:
    """``max_tokens``; none at all only fills the cache."""
    cap = fields.integer("max_tokens", 0, 2**63)
    if cap is None:
        raise missing("max_tokens")
    if cap > OUTPUT_TOKENS:
        message = f"{cap} > {OUTPUT_TOKENS}, which is the maximum allowed number of output tokens"
        raise refusal(message, param="max_tokens")
    return cap


def _stop(fields: Fields) -> tuple[str, ...]:
    value = fields.raw("stop_sequences")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise wrong_type("stop_sequences", "an array of strings", value)
    if not all(text.strip() for text in value):
        raise wrong_value("stop_sequences", "each stop sequence must contain non-whitespace")
    return tuple(value)


# ------------------------------------------------------------------------------------------ thinking


def _thinking(fields: Fields, cap: int, interleaved: bool) -> Literal["enabled", "adaptive"] | None:
    """With interleaved thinking the budget is of a whole turn, and may exceed ``max_tokens``."""
    given = fields.object("thinking")
    if given is None:
        return None
    match given.choice("type", ("enabled", "disabled", "adaptive")):
        case "disabled":
            given.closed(("type",))
            return None
        case "adaptive":
            given.closed(("type", "display"))
            return "adaptive"
        case "enabled":
            given.closed(("type", "budget_tokens", "display"))
            budget = given.integer("budget_tokens", 1024, 2**31 - 1)
            if budget is None:
                raise missing(given.param("budget_tokens"))
            if budget >= cap and not interleaved:
                raise refusal(
                    "`max_tokens` must be greater than `thinking.budget_tokens`", param="max_tokens"
                )
            return "enabled"
        case _:
            raise missing(given.param("type"))


def _check_thinking(fields: Fields, thinking: str | None, chosen: Chosen) -> None:
    if thinking is None:
        return
    if chosen.choice == "required" or isinstance(chosen.choice, NamedChoice):
        raise refusal(
            "Thinking may not be enabled when tool_choice forces tool use.",
            param="tool_choice",
            why="400 forced-tool-while-thinking",
        )
    if fields.raw("temperature") not in (None, 1):
        raise wrong_value("temperature", "it may only be set to 1 when thinking is enabled")
    if fields.has("top_k"):
        raise wrong_value("top_k", "it must be unset when thinking is enabled")
    if (fields.number("top_p", 0, 1) or 1) < 0.95:
        raise wrong_value("top_p", "it must be at least 0.95 when thinking is enabled")


def _check_opening(conversation: tuple[PromptMessage, ...]) -> None:
    """With a budget set by the caller, the turn that waits for results must begin with its thinking."""
    calling = next((m for m in reversed(conversation) if m.role == "assistant"), None)
    if calling is None or not conversation[-1].of("tool_result"):
        return
    if calling.blocks[0].kind not in ("thinking", "redacted_thinking"):
        message = (
            f"Expected `thinking` or `redacted_thinking`, but found `{calling.blocks[0].kind}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block"
        )
        raise refusal(message, param=f"{calling.path}.content[0].type", why="400 missing-thinking")


def _shown(
    fields: Fields, conversation: tuple[PromptMessage, ...]
) -> Literal["summarized", "omitted", "redacted"]:
    if any(_REDACT in block.text for block in conversation[-1].blocks):
        return "redacted"
    given = fields.object("thinking") or Fields({})
    return "omitted" if given.choice("display", ("summarized", "omitted")) == "omitted" else "summarized"


# ------------------------------------------------------------------------------------ output, prompt


def _format(fields: Fields) -> JsonSchemaFormat | None:
    config = fields.object("output_config")
    if config is None:
        return None
    config.closed(("effort", "format"))
    config.choice("effort", _EFFORTS)
    given = config.object("format")
    if given is None:
        return None
    given.closed(("type", "schema"))
    if given.choice("type", ("json_schema",)) is None:
        raise missing(given.param("type"))
    given.needed_object("schema")
    schema = given.raw("schema")
    wrong = schemas.problem(schema) or anthropic_schema.problem(schema)
    if wrong is not None:
        raise refusal(wrong, param=given.param("schema"), code="invalid_json_schema")
    return JsonSchemaFormat("output", schema)


def _prompt_tokens(
    tools: tuple[Block, ...], system: tuple[Block, ...], conversation: tuple[PromptMessage, ...]
) -> int:
    spoken = sum(block.tokens for message in conversation for block in message.blocks)
    return 3 + 4 * len(conversation) + spoken + sum(block.tokens for block in (*tools, *system))


def _marked(fields: Fields, prompt: tuple[Block, ...]) -> tuple[Block, ...]:
    """With a mark on the request itself, the last block has it."""
    mark = cache_mark(fields)
    if mark is None or not prompt or prompt[-1].mark:
        return prompt
    return (*prompt[:-1], Block("", "messages", "", prompt[-1].tokens, prompt[-1].raw, mark=mark))
