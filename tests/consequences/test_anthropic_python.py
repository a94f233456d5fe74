"""What the rules say about Anthropic's SDK holds for the installed one: programs that use it show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import pytest

from conformance.rules import RULES, check
from conformance.rules.examples import Exchanges
from conformance.types import HttpResponse

from .anthropic_claims import ANSWERS, STREAMS
from .claims import Claim, Client, Raised
from .replay import replaying

CLIENT = "anthropic 2.14.0"
"""How a consequence names the client that it was checked with."""
CLAIMS = (*ANSWERS, *STREAMS)


def violating(claim: Claim) -> Exchanges:
    return claim.violating or RULES[claim.rule].violating


def answer_to(claim: Claim) -> HttpResponse:
    response = violating(claim)[-1].response
    assert response is not None
    return response


@pytest.fixture(scope="session")
def go() -> Iterator[Callable[[Claim], Any]]:
    """Goes a claim's way and gives what was seen: a value, or the exception."""
    sdk = pytest.importorskip("anthropic", reason="the anthropic SDK is not installed")
    answers = {str(number): answer_to(claim) for number, claim in enumerate(CLAIMS)}
    with (
        replaying(answers) as replay,
        sdk.DefaultHttpxClient(trust_env=False) as connections,
        sdk.Anthropic(
            api_key="none", base_url=replay.origin, max_retries=0, http_client=connections
        ) as client,
    ):

        def going(claim: Claim) -> Any:
            url = f"{replay.origin}/{CLAIMS.index(claim)}"
            try:
                return claim.way(Client(sdk, client.with_options(base_url=url), answer_to(claim)))
            except Exception as raised:
                return raised

        yield going


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.rule}: {claim.words}")
def test_what_breaks_is_what_the_rule_says(claim: Claim, go: Callable[[Claim], Any]) -> None:
    assert claim.words in RULES[claim.rule].consequence
    assert claim.rule in {finding.rule for finding in check(violating(claim))}
    seen = go(claim)
    if isinstance(claim.sees, Raised):
        assert type(seen).__name__ == claim.sees.kind, seen
        assert claim.sees.text in str(seen)
    else:
        assert seen == claim.sees


def test_the_installed_version_is_the_one_that_the_rules_name() -> None:
    pytest.importorskip("anthropic", reason="the anthropic SDK is not installed")
    assert version("anthropic").startswith("2.14.")


def test_every_consequence_that_names_the_client_is_checked() -> None:
    named = {rule.id for rule in RULES.values() if CLIENT in rule.consequence}
    assert named == {claim.rule for claim in CLAIMS}
