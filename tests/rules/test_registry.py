"""A rule is one function: what it takes to register one, and what is refused at import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.rules import RULES, check, rule_of
from conformance.rules.chat.views import Answer
from conformance.rules.examples import answer, conversation, error
from conformance.rules.registry import rule
from conformance.rules.views import Probe, Violation


def good(reply: Answer) -> Iterator[Violation]:
    """The model is an example.

    Because examples
    are easy.
    """
    if reply.get("model") != "example-model":
        yield reply.found("model", wanted='"example-model"')


def undocumented(reply: Answer) -> Iterator[Violation]:
    yield from ()


def unviewed(reply) -> Iterator[Violation]:  # type: ignore[no-untyped-def]
    """Something."""
    yield from ()


def registered(judge: Callable[..., Iterator[Violation]] = good, id: str = "test.rule", **more: Any) -> None:
    facts: dict[str, Any] = {
        "level": "MUST",
        "basis": "schema",
        "source": "here",
        "violating": answer(model="other"),
        "conforming": answer(),
    }
    rule(id, **(facts | more))(judge)


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An empty registry in place of the real one."""
    table: dict[str, Any] = {}
    monkeypatch.setattr("conformance.rules.registry._RULES", table)
    return table


def test_a_function_with_a_docstring_and_a_view_is_a_rule(rules: dict[str, Any]) -> None:
    registered()
    assert rules["test.rule"].requirement == "The model is an example."
    assert rules["test.rule"].reason == "Because examples are easy."
    assert rules["test.rule"].view is Answer
    assert [f.got for f in check(answer(model="m"), rules=rules.values())] == ['"m"']


def test_a_rule_without_a_reason_gives_the_meaning_of_its_basis(rules: dict[str, Any]) -> None:
    def short(reply: Answer) -> Iterator[Violation]:
        """Something."""
        yield from ()

    registered(short)
    assert rules["test.rule"].reason == "required by the published schema"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"id": "err.error-object"}, "twice"),
        ({"judge": undocumented}, "no docstring"),
        ({"judge": unviewed}, "annotated with a view"),
        ({"basis": "convention"}, "no ground for a MUST"),
        ({"source": ()}, "no source"),
    ],
)
def test_a_rule_that_says_too_little_is_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        registered(**change)


@pytest.mark.parametrize(
    ("basis", "kind"),
    [
        ("schema", "contract"),
        ("prose", "contract"),
        ("spec", "contract"),
        ("sdk", "interop"),
        ("derived", "interop"),
        ("convention", "interop"),
    ],
)
def test_the_basis_tells_contract_from_interop(rules: dict[str, Any], basis: str, kind: str) -> None:
    registered(basis=basis, level="SHOULD")
    assert rules["test.rule"].kind == kind


def test_a_rule_with_a_probe_judges_exchanges_of_that_purpose_alone(rules: dict[str, Any]) -> None:
    def refused(probe: Probe) -> Iterator[Violation]:
        """It is refused."""
        yield from probe.refused_with(400)

    registered(refused, probe="mine")
    run = conversation(answer(probe="mine"), answer(probe="other"), answer(), error(400, probe="mine"))
    assert [f.path for f in check(run, rules=rules.values())] == ["/exchanges/0/response/status"]


def test_a_rule_is_found_by_its_id() -> None:
    assert rule_of("sse.done-sentinel").id == "sse.done-sentinel"
    with pytest.raises(KeyError):
        rule_of("sse.no-such-rule")


def test_the_rules_of_the_first_issue_are_there() -> None:
    assert len(RULES) >= 60
    assert not [rule.id for rule in RULES.values() if rule.level == "MUST" and rule.basis == "convention"]
