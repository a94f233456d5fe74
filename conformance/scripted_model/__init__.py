"""A language model whose weights are computed, not trained: it says what a script says, token by token.

A prompt that carries the marker ``[[name]]`` makes the model emit ``scripts[name]`` and end its turn; the
last marker wins, and without one it is the first script. A real inference server then runs its own chat
template, sampler, tool parser and streamer over a text we chose, on a CPU, with no model in the way.
"""

from __future__ import annotations

from conformance.scripted_model.build import Built, MissingExtra, Settings, build
from conformance.scripted_model.checkpoints import CHECKPOINTS
from conformance.scripted_model.cutting import ScriptError, Split
from conformance.scripted_model.library import Scripted, from_file, from_scenarios, unwritable

__all__ = [
    "CHECKPOINTS",
    "Built",
    "MissingExtra",
    "ScriptError",
    "Scripted",
    "Settings",
    "Split",
    "build",
    "from_file",
    "from_scenarios",
    "unwritable",
]
