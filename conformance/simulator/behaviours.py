"""Deviations by name that no quirk of the catalogue stands for: dialects as text, and faults."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.simulator.behaviour import Behaviour
from conformance.simulator.faults import FAULTS
from conformance.simulator.texts import TEXTS

BEHAVIOURS: Mapping[str, Behaviour] = {behaviour.name: behaviour for behaviour in (*TEXTS, *FAULTS)}
