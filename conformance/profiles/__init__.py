"""Profiles: what a client does for one provider family, each a few overridden hooks. No ``if provider``
elsewhere.

``profile(name)`` is the registry; ``profile_of`` finds the one for a provider as the catalogue names it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from conformance.profiles.alibaba import AlibabaDashScope, QwenPortal
from conformance.profiles.answers import repaired, told_as_stream
from conformance.profiles.anthropic import Anthropic
from conformance.profiles.azure import Azure
from conformance.profiles.cerebras import Cerebras
from conformance.profiles.clouds import (
    Bedrock,
    ByteDance,
    Cohere,
    Gateway,
    GitHubCopilot,
    LiteLLM,
    NvidiaNim,
    Perplexity,
    Snowflake,
)
from conformance.profiles.compatible import Compatible
from conformance.profiles.deepseek import DeepSeek
from conformance.profiles.fireworks import Fireworks
from conformance.profiles.gemini import GoogleGemini
from conformance.profiles.groq import Groq
from conformance.profiles.llama_cpp import LlamaCpp, LlamaCppPython
from conformance.profiles.lm_studio import LMStudio
from conformance.profiles.minimax import MiniMax
from conformance.profiles.mistral import Mistral
from conformance.profiles.moonshot import Moonshot
from conformance.profiles.ollama import Ollama
from conformance.profiles.openai import ChatGptCodex, OpenAI
from conformance.profiles.opencode import OpenCode
from conformance.profiles.openrouter import Aggregator, NousPortal, OpenRouter
from conformance.profiles.outcomes import Outcome, outcome
from conformance.profiles.profile import Again, Asked, Profile
from conformance.profiles.transformers import Transformers
from conformance.profiles.vllm import TGI, VLLM, SGLang
from conformance.profiles.xai import XAI
from conformance.profiles.xiaomi_mimo import XiaomiMimo
from conformance.profiles.zai import ZAI
from conformance.types import WireName

__all__ = [
    "PROFILES",
    "Again",
    "Asked",
    "Outcome",
    "Profile",
    "guess_of",
    "outcome",
    "profile",
    "profile_of",
    "repaired",
    "told_as_stream",
]

PROFILES: Mapping[str, Profile] = {
    made.name: made
    for made in (
        Profile(),
        Compatible(),
        OpenAI(),
        ChatGptCodex(),
        Anthropic(),
        GoogleGemini(),
        OpenRouter(),
        NousPortal(),
        Aggregator(),
        VLLM(),
        SGLang(),
        Ollama(),
        LMStudio(),
        TGI(),
        LlamaCpp(),
        LlamaCppPython(),
        Transformers(),
        AlibabaDashScope(),
        QwenPortal(),
        DeepSeek(),
        Moonshot(),
        XiaomiMimo(),
        Mistral(),
        ByteDance(),
        Groq(),
        Cerebras(),
        XAI(),
        MiniMax(),
        ZAI(),
        Azure(),
        Bedrock(),
        Perplexity(),
        Cohere(),
        GitHubCopilot(),
        Fireworks(),
        NvidiaNim(),
        LiteLLM(),
        Gateway(),
        OpenCode(),
        Snowflake(),
    )
}
"""Every profile by its name. ``reference`` changes nothing; ``compatible`` is for endpoints nothing is known
of.
"""

_OF_PROVIDER = {provider: made for made in PROFILES.values() for provider in made.providers}
_OF_WIRE: Mapping[WireName, str] = {"anthropic-messages": "anthropic", "gemini": "google-gemini"}
"""Wires that hardly anyone but their owner serves."""


def profile(name: str) -> Profile:
    """The profile of that name. Raises ``LookupError`` that says which one comes close."""
    known = PROFILES.get(name)
    if known is not None:
        return known
    close = difflib.get_close_matches(name, list(PROFILES), n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise LookupError(f"no profile {name}{hint}; there are {', '.join(PROFILES)}")


def profile_of(provider: str) -> Profile | None:
    """The profile for a provider of the catalogue, where there is one."""
    return PROFILES.get(provider) or _OF_PROVIDER.get(provider)


def guess_of(wire: WireName) -> Profile:
    """The profile for an endpoint of which no more is known than its wire."""
    return PROFILES[_OF_WIRE.get(wire, "compatible")]
