"""A language model whose weights are computed, not trained: it says what a script says, token by token.

A prompt that carries the marker ``[[name]]`` makes the model emit ``scripts[name]`` and end its turn; the
last marker wins, and without one it is the first script. A real inference server then runs its own chat
template, sampler, tool parser and streamer over a text we chose, on a CPU, with no model in the way.
"""

from __future__ import annotations

from conformance.scripted_model.build import build
from conformance.scripted_model.render import render_hermes
from conformance.scripted_model.cutting import ScriptError
from conformance.scripted_model.template import hermes_template

__all__ = ["ScriptError", "build", "hermes_template", "render_hermes"]
