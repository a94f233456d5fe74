"""What the rules say about openai-python holds for the installed one: programs that use it show it.

The table is the record of what was checked; a consequence about a client that is not installed names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import pytest

from conformance.rules import RULES, check
from conformance.rules.examples import Exchanges
from conformance.rules.views import OPENAI_WIRES
from conformance.types import HttpResponse

from .calls import CALLS
from .claims import Claim, Client, Raised
from .framing import FRAMING
from .refusals import REFUSALS
from .replay import replaying
from .responses import RESPONSES
from .streams import STREAMS
from .whole import WHOLE

CHECKED = "3.57"
"""The versions of openai-python that the consequences were written for."""

CLAIMS = (*WHOLE, *STREAMS, *CALLS, *FRAMING, *REFUSALS, *RESPONSES)
ABOUT_CODE = re.compile(
    r"openai-python|\bSDK|\bhelper\b|[A-Z]\w+Error\b|\braises?\b|json\.loads|typed clients"
)

ELSEWHERE = {
    "sse.space-after-colon": "about google-genai: test_native_python.py shows it",
}
"""Rules whose consequence is about another client."""


def violating(claim: Claim) -> Exchanges:
    return claim.violating or RULES[claim.rule].violating


def answer_to(claim: Claim) -> HttpResponse:
    response = violating(claim)[-1].response
    assert response is not None
    return response


@pytest.fixture(scope="session")
def go() -> Iterator[Callable[[Claim], Any]]:
    """Goes a claim's way and gives what was seen: a value, or the exception."""
    import openai

    answers = {str(number): answer_to(claim) for number, claim in enumerate(CLAIMS)}
    with (
        replaying(answers) as replay,
        openai.DefaultHttpxClient(trust_env=False) as connections,
        openai.OpenAI(
            api_key="none", base_url=replay.origin, max_retries=0, http_client=connections
        ) as client,
    ):

        def going(claim: Claim) -> Any:
            url = replay.base_url(str(CLAIMS.index(claim)))
            try:
                return claim.way(Client(openai, client.with_options(base_url=url), answer_to(claim)))
            except Exception as raised:
                return raised

        yield going


# The SDK's helper warns of what it then mishandles.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
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
    assert version("openai").startswith(f"{CHECKED}.")


def test_every_consequence_about_code_is_checked() -> None:
    openais = [rule for rule in RULES.values() if set(rule.wires) & set(OPENAI_WIRES)]
    about_code = {rule.id for rule in openais if ABOUT_CODE.search(rule.consequence)}
    assert about_code - {claim.rule for claim in CLAIMS} == ELSEWHERE.keys()
