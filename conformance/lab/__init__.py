"""Real servers and gateways on this machine: recipes, their environments, what runs of them."""

from conformance.lab.errors import LabError, Unavailable
from conformance.lab.recipe import Recipe, recipes
from conformance.lab.rows import endpoints_of, to_yaml
from conformance.lab.running import Bench, Running, keys_of

__all__ = [
    "Bench",
    "LabError",
    "Recipe",
    "Running",
    "Unavailable",
    "endpoints_of",
    "keys_of",
    "recipes",
    "to_yaml",
]
