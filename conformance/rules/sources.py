"""The published texts that rules cite, and how a citation is written."""

from __future__ import annotations

OPENAPI = "openai/openai-openapi@f85dbe22"
SDK = "openai-python 3.57.0"
WHATWG = "WHATWG HTML Living Standard"


def schema(name: str) -> str:
    """A schema of OpenAI's published OpenAPI document (API version 2.3.0), and what in it."""
    return f"{OPENAPI} #/components/schemas/{name}"


def sdk(where: str) -> str:
    """A place in the official Python SDK: file, then the name in it."""
    return f"{SDK} openai/{where}"


def docs(page: str) -> str:
    """A page of OpenAI's documentation."""
    return f"OpenAI docs {page}"
