"""Real servers and gateways on this machine: recipes, their environments, what runs of them."""

from conformance.lab.errors import LabError, Unavailable
from conformance.lab.recipe import NodeEnvironment, PythonEnvironment, Recipe, Row, recipes
from conformance.lab.recorded import config_of
from conformance.lab.running import Bench, Running

__all__ = [
    "Bench",
    "LabError",
    "NodeEnvironment",
    "PythonEnvironment",
    "Recipe",
    "Row",
    "Running",
    "Unavailable",
    "config_of",
    "recipes",
]
