"""Conformance suite for endpoints that call themselves OpenAI-compatible."""

__version__ = "0.1.0"
