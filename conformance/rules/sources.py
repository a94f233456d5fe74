"""The published texts that rules cite, and how a citation is written."""

from __future__ import annotations

OPENAPI = "openai/openai-openapi@f85dbe22"
SDK = "openai-python 3.57.0"
ANTHROPIC_SDK = "anthropic-sdk-python 2.14.0"
GEMINI_SDK = "google-genai 3.6.1"
OLLAMA_SDK = "ollama-python 0.6.3"
OLLAMA = "ollama/ollama@fb307609"
PROTO_JSON = "Protocol Buffers docs ProtoJSON Format"
WHATWG = "WHATWG HTML Living Standard"
OPEN_RESPONSES = "openresponses/openresponses"


def schema(name: str) -> str:
    """A schema of OpenAI's published OpenAPI document (API version 2.3.0), and what in it."""
    return f"{OPENAPI} #/components/schemas/{name}"


def sdk(where: str) -> str:
    """A place in the official Python SDK: file, then the name in it."""
    return f"{SDK} openai/{where}"


def docs(page: str) -> str:
    """A page of OpenAI's documentation."""
    return f"OpenAI docs {page}"


def open_responses(section: str) -> str:
    """A section of the Open Responses specification (2026-04-24)."""
    return f"{OPEN_RESPONSES}@05d5f819 src/pages/specification.mdx section {section}"


def open_schema(model: str) -> str:
    """A model of the Open Responses schema (2026-04-24), and what in it."""
    return f"{OPEN_RESPONSES}@3533b213 schema {model}"


def anthropic_sdk(where: str) -> str:
    """A place in Anthropic's official Python SDK, whose types are generated from its OpenAPI document."""
    return f"{ANTHROPIC_SDK} anthropic/{where}"


def anthropic_docs(page: str) -> str:
    """A page of Anthropic's documentation."""
    return f"Anthropic docs {page}"


def gemini_sdk(where: str) -> str:
    """A place in Google's official Python SDK: the file, then the name in it."""
    return f"{GEMINI_SDK} google/genai/{where}"


def gemini_docs(page: str) -> str:
    """A page of the Gemini API's documentation."""
    return f"Gemini API docs {page}"


def ollama(where: str) -> str:
    """A file in Ollama's repository: its API document, its documentation, its server."""
    return f"{OLLAMA} {where}"


def ollama_sdk(where: str) -> str:
    """A place in Ollama's official Python SDK: the file, then the name in it."""
    return f"{OLLAMA_SDK} ollama/{where}"
