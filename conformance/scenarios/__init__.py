"""The scenarios, one module per chapter; importing the package fills the registry."""

from conformance.scenarios import (
    chat,
    errors,
    history,
    limits,
    models,
    parameters,
    reasoning,
    stream,
    structured,
    tools,
    tools_results,
)
from conformance.scenarios.base import SCENARIOS, Scenario, scripts

# Imports are sorted by name; chapters come from the plain to the particular.
_CHAPTERS = (
    "chat",
    "parameters",
    "tools",
    "stream",
    "reasoning",
    "structured",
    "history",
    "errors",
    "limits",
    "models",
)
for _scenario in sorted(SCENARIOS.values(), key=lambda s: _CHAPTERS.index(s.chapter)):
    SCENARIOS[_scenario.id] = SCENARIOS.pop(_scenario.id)

__all__ = [
    "SCENARIOS",
    "Scenario",
    "chat",
    "errors",
    "history",
    "limits",
    "models",
    "parameters",
    "reasoning",
    "scripts",
    "stream",
    "structured",
    "tools",
    "tools_results",
]
