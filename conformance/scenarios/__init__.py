"""The scenarios, one module per chapter; importing the package fills the registry."""

from conformance.scenarios import chat, errors, models, reasoning, stream, structured, tools
from conformance.scenarios.base import SCENARIOS, Scenario, scripts

__all__ = [
    "SCENARIOS",
    "Scenario",
    "chat",
    "errors",
    "models",
    "reasoning",
    "scripts",
    "stream",
    "structured",
    "tools",
]
