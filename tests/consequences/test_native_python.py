"""What the rules say of Google's and Ollama's SDKs holds for the installed ones: programs show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import pytest

from conformance.rules import RULES, check
from conformance.rules.examples import Exchanges
from conformance.types import HttpResponse

from .claims import Claim, Client, Raised
from .native_claims import GEMINI_CLAIMS, OLLAMA_CLAIMS
from .replay import Replay, replaying

CLAIMS = (*GEMINI_CLAIMS, *OLLAMA_CLAIMS)
NAMES = {"google-genai": ("google-genai", "3.6"), "ollama-python": ("ollama", "0.6")}
"""How consequences name a client: its distribution, and the version that they were written for."""


def violating(claim: Claim) -> Exchanges:
    return claim.violating or RULES[claim.rule].violating


def answer_to(claim: Claim) -> HttpResponse:
    response = violating(claim)[-1].response
    assert response is not None
    return response


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    """A server that has the answer of each claim under the claim's number."""
    with replaying({str(number): answer_to(claim) for number, claim in enumerate(CLAIMS)}) as replay:
        yield replay


@pytest.fixture
def go(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> Callable[[Claim], Any]:
    """Goes a claim's way and gives what was seen: a value, or the exception."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    def going(claim: Claim) -> Any:
        url = f"{replay.origin}/{CLAIMS.index(claim)}"
        client = _google(url, claim) if claim in GEMINI_CLAIMS else _ollama(url, claim)
        try:
            return claim.way(client)
        except Exception as raised:
            return raised

    return going


def _google(url: str, claim: Claim) -> Client:
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed")
    options = {"base_url": url, "retry_options": {"attempts": 1}}
    return Client(genai, genai.Client(api_key="none", vertexai=False, http_options=options), answer_to(claim))


def _ollama(url: str, claim: Claim) -> Client:
    ollama = pytest.importorskip("ollama", reason="the ollama SDK is not installed")
    return Client(ollama, ollama.Client(host=url), answer_to(claim))


# The SDK warns of a word that it does not know, and then makes a member of it.
@pytest.mark.filterwarnings("ignore:.*is not a valid FinishReason")
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.rule}: {claim.words}")
def test_what_breaks_is_what_the_rule_says(claim: Claim, go: Callable[[Claim], Any]) -> None:
    assert claim.words in RULES[claim.rule].consequence
    assert claim.rule in {finding.rule for finding in check(violating(claim))}
    seen = go(claim)
    if isinstance(claim.sees, Raised):
        assert type(seen).__name__ == claim.sees.kind, seen
    else:
        assert seen == claim.sees


@pytest.mark.parametrize(("package", "checked"), NAMES.values())
def test_the_installed_version_is_the_one_that_the_rules_name(package: str, checked: str) -> None:
    pytest.importorskip(package.replace("-", "."), reason=f"{package} is not installed")
    assert version(package).startswith(f"{checked}.")


def test_every_consequence_that_names_a_client_is_checked() -> None:
    named = {rule.id for rule in RULES.values() if any(name in rule.consequence for name in NAMES)}
    assert named == {claim.rule for claim in CLAIMS}
