"""The list of models."""

from __future__ import annotations

from conformance.scenarios.base import scenario
from conformance.types import Raw, Script


@scenario("models.list", needs=("models",))
def list_models() -> Script:
    """The endpoint lists its models, the one under test among them."""
    yield Raw("GET", "@models", probe="models-list", expect="answer")
