"""The catalogue of quirks: deviations of real providers, with evidence. Data, never ``if provider``."""

from conformance.quirks.catalogue import Quirk, QuirkError, catalogue

__all__ = ["Quirk", "QuirkError", "catalogue"]
