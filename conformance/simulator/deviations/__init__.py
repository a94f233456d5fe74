"""Deviations of real providers that the catalogue of quirks names: a behaviour from its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.simulator.behaviour import Behaviour

DEVIATIONS: Mapping[str, Callable[..., Behaviour]] = {}
