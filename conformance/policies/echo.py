"""Reasoning sent back: in which field an endpoint wants it, reads it, passes it over or refuses it."""

from __future__ import annotations

from conformance.policies.answers import SAME_TOKENS
from conformance.policies.policy import Answers, CannotTell, Policy, Reference, Seen, needed, not_answered
from conformance.types import WireName

CODE_WORD = "CURLEW"
"""What stands in made-up reasoning alone."""

_MEMBERS: tuple[WireName, ...] = ("openai-chat", "ollama")
_FIELDS = {
    "reasoning_content": "a member of the message (DeepSeek, Moonshot, Qwen, SGLang)",
    "reasoning": "a member of the message (OpenRouter, Groq, vLLM)",
    "reasoning_details": "a list of the message (OpenRouter)",
    "thinking": "a member of the message (Ollama)",
    "thinking-part": "a part of the content (Mistral)",
    "think-markup": "<think> tags in the text (Cerebras, MiniMax)",
}
_BLOCKS: dict[WireName, dict[str, tuple[str, str]]] = {
    "anthropic-messages": {
        "thinking-block": ("as-it-came", "the thinking block as it came"),
        "thinking-block-unsigned": ("unsealed", "the thinking block without its signature"),
        "thinking-block-altered": ("altered", "the thinking block with another signature"),
    },
    "openai-responses": {
        "reasoning-item": ("as-it-came", "the reasoning item as it came"),
        "reasoning-item-unsealed": ("unsealed", "the reasoning item without its encrypted content"),
        "reasoning-item-altered": ("altered", "the reasoning item with other encrypted content"),
    },
    "gemini": {
        "thought-signature": ("as-it-came", "the parts as they came, with their thoughtSignature"),
        "thought-unsigned": ("unsealed", "the parts without their thoughtSignature"),
        "thought-signature-altered": ("altered", "the parts with another thoughtSignature"),
    },
}
_STEPS = {name: step for blocks in _BLOCKS.values() for name, (step, _) in blocks.items()}


def _see(aspect: str, answers: Answers) -> Seen:
    without, sent = needed(answers, "without"), needed(answers, _STEPS.get(aspect, aspect))
    if without.state == "hang":
        raise CannotTell(f"without reasoning: {without.said}")
    if refused := not_answered(sent):
        if without.state == sent.state and without.said == sent.said:
            return Seen("ignored", sent, f"refused as if it were not there: {sent.said}")
        return refused
    if without.state == "refused":
        return Seen("required", without, f"without it {without.said}")
    if CODE_WORD in sent.words and CODE_WORD not in without.words:
        return Seen("used", sent, f"the model repeats {CODE_WORD}, which stands nowhere else")
    before, after = without.prompt_tokens, sent.prompt_tokens
    if before is None or after is None:
        raise CannotTell("no token counts, and the answer does not repeat the word in the reasoning")
    grown = after - before
    if grown > SAME_TOKENS:
        return Seen("used", sent, f"the prompt costs {grown} tokens more ({before} to {after})")
    return Seen("ignored", sent, f"the prompt costs no more ({before} and {after} tokens)")


ECHO = Policy(
    id="reasoning-echo",
    title="Reasoning of a turn with calls, sent back with the results",
    evidence=(
        "One history with and without the reasoning. Used: the prompt costs more tokens, or the model "
        "repeats a word that only the reasoning has. Required: without it the request is refused."
    ),
    aspects=_FIELDS | {name: about for blocks in _BLOCKS.values() for name, (_, about) in blocks.items()},
    own_outcomes={
        "required": "without it the request is refused, with it answered",
        "used": "it is accepted and reaches the model",
        "ignored": "it is accepted, or passed over, and reaches nobody",
    },
    reference=(
        Reference(
            "openai-chat",
            "OpenAI",
            {
                "reasoning_content": "ignored",
                "reasoning": "ignored",
                "reasoning_details": "ignored",
                "thinking": "ignored",
                "thinking-part": "refused",
                "think-markup": "used",
            },
            "openai/openai-openapi ChatCompletionRequestAssistantMessage has no member for it, and content "
            "parts of the types text and refusal alone; unknown members are ignored: janhq/jan issue 8136",
        ),
        Reference(
            "openai-responses",
            "OpenAI",
            {
                "reasoning-item": "used",
                "reasoning-item-unsealed": "used",
                "reasoning-item-altered": "refused",
            },
            "OpenAI guide Reasoning models (items between the last user message and a function call's output "
            "are kept in context, stored ones by their id), code invalid_encrypted_content",
        ),
        Reference(
            "anthropic-messages",
            "Anthropic",
            {
                "thinking-block": "required",
                "thinking-block-unsigned": "refused",
                "thinking-block-altered": "refused",
            },
            "Anthropic guide Extended thinking, Preserving thinking blocks (type enabled, results being due)",
        ),
        Reference(
            "gemini",
            "Google",
            {
                "thought-signature": "required",
                "thought-unsigned": "ignored",
                "thought-signature-altered": "refused",
            },
            "Gemini API guide Thought signatures (Gemini 3: calls of the current turn)",
        ),
        Reference(
            "ollama",
            "Ollama",
            {
                "reasoning_content": "ignored",
                "reasoning": "ignored",
                "reasoning_details": "ignored",
                "thinking": "used",
                "thinking-part": "refused",
                "think-markup": "used",
            },
            "ollama/ollama api/types.go Message (thinking goes to the template, content is a string); which "
            "turns a template shows is the model's: qwen3's shows those after the last user message",
        ),
    ),
    observer=_see,
    wires=dict.fromkeys(_FIELDS, _MEMBERS)
    | {name: (wire,) for wire, blocks in _BLOCKS.items() for name in blocks},
)
