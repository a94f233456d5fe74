"""Deviations of real providers that the catalogue of quirks names: a behaviour from its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.access import ACCESS
from conformance.simulator.deviations.answers import ANSWERS
from conformance.simulator.deviations.call_ids import CALL_IDS
from conformance.simulator.deviations.calls import CALLS
from conformance.simulator.deviations.chunks import CHUNKS
from conformance.simulator.deviations.disobeyed import DISOBEYED
from conformance.simulator.deviations.finishes import FINISHES
from conformance.simulator.deviations.framing import FRAMING
from conformance.simulator.deviations.markup import MARKUP
from conformance.simulator.deviations.members import MEMBERS
from conformance.simulator.deviations.reasoning import REASONING
from conformance.simulator.deviations.streamed_calls import STREAMED_CALLS
from conformance.simulator.deviations.unchecked import UNCHECKED
from conformance.simulator.deviations.usage import USAGE
from conformance.simulator.deviations.whole_calls import WHOLE_CALLS

DEVIATIONS: Mapping[str, Callable[..., Behaviour]] = {
    **ACCESS,
    **ANSWERS,
    **CALL_IDS,
    **CALLS,
    **CHUNKS,
    **DISOBEYED,
    **FINISHES,
    **FRAMING,
    **MARKUP,
    **MEMBERS,
    **REASONING,
    **STREAMED_CALLS,
    **UNCHECKED,
    **USAGE,
    **WHOLE_CALLS,
}
