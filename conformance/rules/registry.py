"""The rules there are: each a function over a view, registered with what makes it a published statement."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_type_hints

from conformance.rules.needs import usual_needs
from conformance.rules.views import Run, View, Viewable, Violation
from conformance.types import ASPECTS, Aspect, Basis, Exchange, Flavour, Level, Rulebook, WireName

Subject = Literal["protocol", "model", "client"]
Kind = Literal["contract", "interop"]

REASONS: Mapping[Basis, str] = MappingProxyType(
    {
        "schema": "required by the published schema",
        "prose": "stated in the vendor's documentation",
        "spec": "required by a base standard",
        "sdk": "the official SDK depends on it",
        "derived": "follows necessarily from the cited schema or prose",
        "convention": "reference behaviour that common clients rely on; no normative text found",
    }
)

EVERYTHING: frozenset[Aspect] = frozenset(ASPECTS)
"""What is kept of an exchange that was not recorded, or by ourselves."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One normative statement and the function that judges it.

    ``requirement`` is the function's docstring, first line; ``reason`` the rest of it, or what the basis
    means. A MAY never affects a verdict. ``subject`` is ``model`` for statements on what a model did:
    at most inconclusive, and ``client`` for what a client sent: no fault of the endpoint. A rule with a
    ``probe`` only judges exchanges of that purpose. ``also`` names rules that the violating example breaks
    too. ``wires`` are those whose exchanges it judges; with a ``flavour`` it belongs to one of several
    published readings of its wire, which disagree here. A rule that ``needs_end`` is broken by the first half
    of an answer that keeps it as a whole. ``needs`` is what a recording must have kept to be evidence for or
    against it.
    """

    id: str
    wires: tuple[WireName, ...]
    flavour: Flavour | None
    needs_end: bool
    needs: frozenset[Aspect]
    level: Level
    strict_level: Level | None
    basis: Basis
    subject: Subject
    probe: str | None
    opt_in: bool
    requirement: str
    reason: str
    source: tuple[str, ...]
    consequence: str
    violating: tuple[Exchange, ...]
    conforming: tuple[Exchange, ...]
    also: tuple[str, ...]
    view: type[Viewable]
    judge: Callable[[Any], Iterator[Violation]]

    @property
    def kind(self) -> Kind:
        """``contract`` where a published text says so, ``interop`` where clients depend on it."""
        return "contract" if self.basis in ("schema", "prose", "spec") else "interop"

    def level_in(self, rulebook: Rulebook) -> Level:
        """The level under a rulebook: ``literal`` reads the schema to the letter."""
        return self.strict_level or self.level if rulebook == "literal" else self.level

    def lacks(self, kept: frozenset[Aspect]) -> frozenset[Aspect]:
        """What it needs and a recording did not keep; nothing where it can be judged."""
        return self.needs - kept

    def violations(self, run: Run) -> Iterator[Violation]:
        """Every place of a run where this does not hold."""
        for view in run.views(self.view):
            if isinstance(view, View):
                exchange = view.reading.exchange
                if (self.probe and exchange.probe != self.probe) or exchange.wire not in self.wires:
                    continue
            for violation in self.judge(view):
                if run.readings[violation.exchange].exchange.wire in self.wires:
                    yield violation


_RULES: dict[str, Rule] = {}
RULES: Mapping[str, Rule] = MappingProxyType(_RULES)
"""Every registered rule by id, in the order of definition (import ``conformance.rules`` to fill it)."""

V = TypeVar("V", bound=Viewable)
Judge = Callable[[V], Iterator[Violation]]


def rule(
    id: str,
    *,
    level: Level,
    basis: Basis,
    source: str | tuple[str, ...],
    violating: tuple[Exchange, ...],
    conforming: tuple[Exchange, ...],
    strict_level: Level | None = None,
    subject: Subject = "protocol",
    probe: str | None = None,
    consequence: str = "",
    opt_in: bool = False,
    also: tuple[str, ...] = (),
    wires: tuple[WireName, ...] = ("openai-chat",),
    flavour: Flavour | None = None,
    needs_end: bool = False,
    needs: tuple[Aspect, ...] = (),
) -> Callable[[Judge[V]], Judge[V]]:
    """Register the decorated function as a rule.

    Its first parameter's annotation is the view it judges; its docstring's first line is the published
    requirement; ``needs`` is what it needs of a recording beyond the usual (``usual_needs``). Raises
    ``ValueError`` for an id that is taken, a missing docstring or view, a MUST without a ground for one, or
    an empty source.
    """

    def register(judge: Judge[V]) -> Judge[V]:
        requirement, _, rest = inspect.cleandoc(judge.__doc__ or "").partition("\n")
        view = next(iter(get_type_hints(judge).values()), None)
        if id in _RULES:
            raise ValueError(f"rule {id} is defined twice")
        if not requirement:
            raise ValueError(f"rule {id} has no docstring, which is its requirement")
        if not (isinstance(view, type) and hasattr(view, "of")):
            raise ValueError(f"rule {id}: its first parameter is not annotated with a view")
        if level == "MUST" and basis == "convention":
            raise ValueError(f"rule {id}: a convention is no ground for a MUST")
        if not source:
            raise ValueError(f"rule {id} has no source")
        _RULES[id] = Rule(
            id=id,
            wires=wires,
            flavour=flavour,
            needs_end=needs_end,
            needs=usual_needs(id, view, probe) | frozenset(needs),
            level=level,
            strict_level=strict_level,
            basis=basis,
            subject=subject,
            probe=probe,
            opt_in=opt_in,
            requirement=requirement,
            reason=" ".join(rest.split()) or REASONS[basis],
            source=(source,) if isinstance(source, str) else source,
            consequence=consequence,
            violating=violating,
            conforming=conforming,
            also=also,
            view=view,
            judge=judge,
        )
        return judge

    return register


def rule_of(id: str) -> Rule:
    """The rule of that id. Raises ``KeyError`` where there is none."""
    return RULES[id]
