"""From the exchanges of a scenario to what was observed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from conformance.policies.answers import Answer, read
from conformance.policies.policy import INCONCLUSIVE, CannotTell, Policy
from conformance.types import Exchange, Observation


def hangs(exchange: Exchange, exchanges: Sequence[Exchange]) -> bool:
    """Whether the endpoint did not answer in time, or stopped in the midst of its answer, and answered others
    of the ``exchanges``: this is what was to be seen then, and no failure.
    """
    failure = exchange.failure
    hanging = exchange.ending == "stalled" if failure is None else failure.kind == "timeout"
    return hanging and any(one.response is not None for one in exchanges)


def observe(
    policy: Policy, exchanges: Sequence[Exchange], *, lost: Collection[int] = (), reason: str = ""
) -> tuple[Observation, ...]:
    """One observation per aspect that the wire has, in their order; none of no exchanges.

    ``lost`` are the places of exchanges that tell nothing of the endpoint. ``reason`` is why the scenario
    ended before its end, where it did.
    """
    if not exchanges:
        return ()
    answers: dict[str, Answer] = {}
    for index, exchange in enumerate(exchanges):
        owner, _, step = (exchange.probe or "").partition("/")
        if owner == f"policy:{policy.id}" and index not in lost:
            answers[step] = read(index, exchange)
    last = f"/exchanges/{len(exchanges) - 1}"
    observed = []
    for aspect in policy.aspects_on(exchanges[0].wire):
        try:
            seen = policy.observer(aspect, answers)
        except CannotTell as why:
            observed.append(Observation(policy.id, aspect, INCONCLUSIVE, last, reason or str(why)))
            continue
        answer = seen.answer
        observed.append(Observation(policy.id, aspect, seen.outcome, answer.path, seen.detail, seen.status))
    return tuple(observed)
