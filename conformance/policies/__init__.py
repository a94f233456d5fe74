"""Policies: what endpoints do where the reference leaves room. Observed, reported, and never failed.

A scenario with a ``policy`` sends requests that differ in one thing, each with a probe that names its step.
``observe`` compares what came back. It sees no clock and no socket. Only that streams and whole answers agree
is for rules (``parity.*``).
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.policies.choice import CHOICE
from conformance.policies.duplicates import DUPLICATES
from conformance.policies.echo import ECHO
from conformance.policies.histories import CONTENT, HISTORIES
from conformance.policies.observing import hangs, observe
from conformance.policies.policy import Policy, Reference

POLICIES: Mapping[str, Policy] = {
    policy.id: policy for policy in (ECHO, DUPLICATES, HISTORIES, CHOICE, CONTENT)
}
"""Every policy by id."""

__all__ = ["POLICIES", "Policy", "Reference", "hangs", "observe"]
