"""The catalogue of quirks: deviations of real providers, with evidence. Data, never ``if provider``."""

from conformance.quirks.catalogue import Act, Quirk, QuirkError, catalogue

__all__ = ["Act", "Quirk", "QuirkError", "catalogue"]
