"""Behaviours by name that take no options: calls as text, and faults."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.simulator.behaviour import Behaviour
from conformance.simulator.faults import FAULTS_BY_NAME
from conformance.simulator.texts import TEXTS

BEHAVIOURS: Mapping[str, Behaviour] = {**{text.name: text for text in TEXTS}, **FAULTS_BY_NAME}
