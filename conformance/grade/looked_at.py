"""What the rules look at in exchanges: on which of them a rule had something to judge.

A rule over a view judges the exchanges that have one. A rule over a whole run judges those that have a view
of a kind that it asks the run for; which kinds these are shows when it judges its own examples. Where several
exchanges are compared, one alone is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from conformance.rules import Rule, rule_of
from conformance.rules.reading import Reading
from conformance.rules.views import ErrorAnswer, Run, View, Viewable
from conformance.types import Exchange

V = TypeVar("V", bound=Viewable)
Counts = Callable[[Rule, int], bool]


def looks_at(rule: Rule) -> str:
    """What has to be among the names that `names_of` gives an exchange, if the rule was judged on it."""
    return rule.id if _is_special(rule) else _name(rule.view)


def names_of(run: Run, rules: Iterable[Rule], counts: Counts) -> list[frozenset[str]]:
    """For each exchange of a run, names of what the rules look at in it.

    ``counts`` says whether what a rule finds in an exchange (by its index) counts; of the rules over one kind
    of view it says the same.
    """
    found: list[set[str]] = [set() for _ in run.readings]
    plain: dict[type[Viewable], Rule] = {}
    for rule in rules:
        if not _is_special(rule):
            plain[rule.view] = rule
            continue
        for index in _judged_by(rule, run):
            if counts(rule, index):
                found[index].add(rule.id)
    for kind, rule in plain.items():
        for index in _with_view(run, kind):
            if counts(rule, index):
                found[index].add(_name(kind))
    return [frozenset(names) for names in found]


def is_of_errors(rule: Rule) -> bool:
    """Whether a rule is on the form that an error has, whatever it was an error of."""
    return issubclass(rule.view, ErrorAnswer) and rule.probe is None


def is_own_error(reading: Reading) -> bool:
    """Whether an exchange ended with an error whose body is JSON: not the page of something in front."""
    run = Run((reading,))
    return any(isinstance(view.value, dict | list) for view in run.views(ErrorAnswer))


def _is_special(rule: Rule) -> bool:
    """Whether more than its kind of view decides on what exchanges a rule is judged."""
    plain = rule.probe is None and rule.flavour is None and rule.subject != "client"
    return not plain or not issubclass(rule.view, View) or _compares(rule.id)


def _judged_by(rule: Rule, run: Run) -> set[int]:
    probes = {rule.probe} if rule.probe else _probes(rule.id)
    if probes and not any(reading.exchange.probe in probes for reading in run.readings):
        return set()
    kinds = _kinds(rule.id)
    found = set().union(*(_with_view(run, kind) for kind in kinds))
    if rule.probe is not None:
        found = {index for index in found if run.readings[index].exchange.probe == rule.probe}
    elif not kinds:  # it looks at the exchanges themselves
        found = set(range(len(run.readings)))
    return found if len(run.readings) > 1 or not _compares(rule.id) else set()


def _with_view(run: Run, kind: type[Viewable]) -> set[int]:
    return {view.reading.index for view in run.views(kind) if isinstance(view, View)}


@cache
def _compares(id: str) -> bool:
    """Whether a rule compares exchanges: of those that break it together, none does so alone."""
    rule = rule_of(id)
    several = len(rule.violating) > 1 and rule.flavour is None
    return several and not any(_breaks(rule, (one,)) for one in rule.violating)


@cache
def _probes(id: str) -> frozenset[str]:
    """The purposes of which one must be known where a rule compares exchanges."""
    purposes = (one.probe for one in rule_of(id).violating if _compares(id))
    return frozenset(purpose for purpose in purposes if purpose)


@cache
def _kinds(id: str) -> frozenset[type[Viewable]]:
    """The kinds of view that a rule asks for: its own, or those it asks a whole run for."""
    rule = rule_of(id)
    if issubclass(rule.view, View):
        return frozenset({rule.view})
    asked: set[type[Any]] = set()
    for examples in (rule.violating, rule.conforming):
        run = _Watched(Run.read(examples).readings, asked=asked)
        for view in (run,) if rule.view is Run else rule.view.of(run):
            list(rule.judge(view))
    return frozenset(asked)


def _breaks(rule: Rule, exchanges: Iterable[Exchange]) -> bool:
    return next(rule.violations(Run.read(tuple(exchanges))), None) is not None


@dataclass(frozen=True, slots=True)
class _Watched(Run):
    """A run that notes which kinds of view it is asked for, but not which kinds these are made of."""

    asked: set[type[Any]] = field(default_factory=set)

    def views(self, kind: type[V]) -> tuple[V, ...]:
        self.asked.add(kind)
        return Run(self.readings, self._views).views(kind)


def _name(kind: type[Viewable]) -> str:
    return f"{kind.__module__}.{kind.__name__}"
