"""What an endpoint must do: rules as functions over views of exchanges, and ``check``, which applies them."""

from conformance.rules import (
    across,
    anthropic,
    chat,
    gemini,
    histories,
    model_probes,
    models,
    ollama,
    parity,
    parsing,
    responses,
    sse,
    sse_delivery,
)
from conformance.rules.check import check
from conformance.rules.errortext import error_text, refusal_text
from conformance.rules.explain import examples_text
from conformance.rules.registry import RULES, Rule, rule_of

__all__ = [
    "RULES",
    "Rule",
    "across",
    "anthropic",
    "chat",
    "check",
    "error_text",
    "examples_text",
    "gemini",
    "histories",
    "model_probes",
    "models",
    "ollama",
    "parity",
    "parsing",
    "refusal_text",
    "responses",
    "rule_of",
    "sse",
    "sse_delivery",
]
