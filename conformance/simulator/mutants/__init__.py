"""The mutation proof's other half: for every rule an endpoint that breaks it and, if it can, nothing else.

Written against the wire alone: a rule is known here by its id only, so that a misreading of what it demands
shows as a mutant that it does not catch.
"""

from __future__ import annotations

from conformance.simulator.mutants.across import ACROSS
from conformance.simulator.mutants.anthropic import ANTHROPIC
from conformance.simulator.mutants.anthropic_requests import ANTHROPIC_REQUESTS
from conformance.simulator.mutants.anthropic_stream import ANTHROPIC_STREAM
from conformance.simulator.mutants.details import DETAILS
from conformance.simulator.mutants.errors import BAD_REQUESTS, CREDENTIALS, CROWDS, ERRORS, HEADERS
from conformance.simulator.mutants.gemini import (
    GEMINI_ACCOUNTS,
    GEMINI_ENVELOPE,
    GEMINI_FORMATS,
    GEMINI_PARTS,
    GEMINI_STREAM,
)
from conformance.simulator.mutants.gemini_requests import (
    GEMINI_CONVERSATIONS,
    GEMINI_ERRORS,
    GEMINI_MODELS,
)
from conformance.simulator.mutants.history import HISTORY
from conformance.simulator.mutants.logprobs import PROBABILITIES
from conformance.simulator.mutants.models import MODELS
from conformance.simulator.mutants.mutant import Mutant
from conformance.simulator.mutants.ollama import (
    OLLAMA_CONVERSATIONS,
    OLLAMA_ENVELOPE,
    OLLAMA_ERRORS,
    OLLAMA_MESSAGES,
    OLLAMA_MODELS,
    OLLAMA_STREAM,
)
from conformance.simulator.mutants.parsing import PARSING
from conformance.simulator.mutants.peers import PEERS
from conformance.simulator.mutants.response import MESSAGES, RESPONSE, USAGE
from conformance.simulator.mutants.responses import CHOICE, CONVERSATIONS, ENVELOPE, ITEMS
from conformance.simulator.mutants.responses_stream import AS_A_WHOLE, STREAMED_CALLS, STREAMED_ITEMS, TEXTS
from conformance.simulator.mutants.sse import SSE
from conformance.simulator.mutants.stream import STREAM, STREAM_END, STREAM_USAGE
from conformance.simulator.mutants.stream_details import STREAM_DETAILS
from conformance.simulator.mutants.stream_tools import STREAM_TOOLS
from conformance.simulator.mutants.structured import STRUCTURED
from conformance.simulator.mutants.tool_calls import TOOL_CALLS, TOOL_CHOICE
from conformance.simulator.mutants.variants import (
    ERROR_VARIANTS,
    MODEL_VARIANTS,
    RESPONSE_VARIANTS,
    TOOL_VARIANTS,
)

MUTANTS: tuple[Mutant, ...] = (
    *RESPONSE,
    *MESSAGES,
    *USAGE,
    *DETAILS,
    *PROBABILITIES,
    *TOOL_CALLS,
    *TOOL_CHOICE,
    *STREAM,
    *STREAM_END,
    *STREAM_USAGE,
    *STREAM_TOOLS,
    *STREAM_DETAILS,
    *SSE,
    *STRUCTURED,
    *ERRORS,
    *CREDENTIALS,
    *BAD_REQUESTS,
    *HEADERS,
    *CROWDS,
    *HISTORY,
    *MODELS,
    *PEERS,
    *ACROSS,
    *PARSING,
    *RESPONSE_VARIANTS,
    *TOOL_VARIANTS,
    *ERROR_VARIANTS,
    *MODEL_VARIANTS,
    *ENVELOPE,
    *ITEMS,
    *CHOICE,
    *CONVERSATIONS,
    *AS_A_WHOLE,
    *STREAMED_ITEMS,
    *TEXTS,
    *STREAMED_CALLS,
    *ANTHROPIC,
    *ANTHROPIC_STREAM,
    *ANTHROPIC_REQUESTS,
    *GEMINI_ENVELOPE,
    *GEMINI_PARTS,
    *GEMINI_ACCOUNTS,
    *GEMINI_FORMATS,
    *GEMINI_STREAM,
    *GEMINI_ERRORS,
    *GEMINI_CONVERSATIONS,
    *GEMINI_MODELS,
    *OLLAMA_ENVELOPE,
    *OLLAMA_STREAM,
    *OLLAMA_MESSAGES,
    *OLLAMA_ERRORS,
    *OLLAMA_CONVERSATIONS,
    *OLLAMA_MODELS,
)
"""Every mutant; their names are distinct."""

__all__ = ["MUTANTS", "Mutant"]
