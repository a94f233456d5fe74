"""The scenarios, one module per chapter; importing the package fills the registry."""

from conformance.scenarios import (
    anthropic,
    anthropic_betas,
    chat,
    errors,
    gemini,
    history,
    limits,
    models,
    ollama,
    parameters,
    parser,
    policies,
    policies_histories,
    reasoning,
    responses,
    stream,
    structured,
    tools,
    tools_results,
)
from conformance.scenarios.base import SCENARIOS, Scenario, scripts, written

# Imports are sorted by name; chapters come from the plain to the particular.
_CHAPTERS = (
    "chat",
    "parameters",
    "tools",
    "stream",
    "parser",
    "reasoning",
    "structured",
    "history",
    "errors",
    "limits",
    "models",
    "responses",
    "anthropic",
    "gemini",
    "ollama",
    "policies",
)
for _scenario in sorted(SCENARIOS.values(), key=lambda s: _CHAPTERS.index(s.chapter)):
    SCENARIOS[_scenario.id] = SCENARIOS.pop(_scenario.id)

__all__ = [
    "SCENARIOS",
    "Scenario",
    "anthropic",
    "anthropic_betas",
    "chat",
    "errors",
    "gemini",
    "history",
    "limits",
    "models",
    "ollama",
    "parameters",
    "parser",
    "policies",
    "policies_histories",
    "reasoning",
    "responses",
    "scripts",
    "stream",
    "structured",
    "tools",
    "tools_results",
    "written",
]
