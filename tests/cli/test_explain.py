"""``conformance explain`` of quirks: complete, readable, and to be tried out."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from conformance.cli import cli
from conformance.cli.explain import explain_quirk
from conformance.quirks import Quirk, catalogue

QUIRKS = list(catalogue().values())


def rows(text: str) -> dict[str, str]:
    """What stands beside each heading."""
    found: dict[str, str] = {}
    heading = ""
    for line in text.splitlines()[2:]:
        heading = line[:12].strip() or heading
        found[heading] = f"{found.get(heading, '')}\n{line[12:]}".strip("\n")
    return found


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.id)
def test_every_quirk_tells_all_that_is_known_of_it(quirk: Quirk) -> None:
    told = rows(explain_quirk(quirk.id))
    wanted = {"trigger", "observed", "expected", "providers", "workaround", "sources", "review by"}
    wanted |= {name for name, known in (("request", quirk.example), ("since", quirk.since)) if known}
    assert wanted <= told.keys()
    assert told["sources"].splitlines() == list(quirk.sources)
    assert " ".join(told["trigger"].split()) == " ".join(quirk.trigger.split())


@pytest.mark.parametrize("quirk", [q for q in QUIRKS if q.example], ids=lambda quirk: quirk.id)
def test_its_request_is_json_that_can_be_sent(quirk: Quirk) -> None:
    assert quirk.example is not None
    sent = json.loads(rows(explain_quirk(quirk.id))["request"])
    assert "{{model}}" not in json.dumps(sent)
    assert sent.keys() == quirk.example.request.keys()


def test_the_wires_of_a_declaration_are_told_beside_its_own() -> None:
    told = rows(explain_quirk("duplicate-tool-names-rejected"))
    assert told["wires"] == "openai-chat, openai-responses, anthropic-messages"


def test_it_tells_which_personas_have_it_and_which_profiles_mend_it() -> None:
    told = rows(explain_quirk("deepseek-reasoning-echo-required"))
    assert told["personas"] == "deepseek"
    assert told["profiles"] == "deepseek, opencode (conformance run --adapted)"
    assert rows(explain_quirk("http-200-error-body"))["personas"].startswith("by asking alone")


def test_where_an_answer_breaks_off_is_told_beside_the_rules_that_a_quirk_shows_by() -> None:
    told = rows(explain_quirk("litellm-responses-stream-broken-off"))
    assert told["shows as"] == "an answer that breaks off, or none, in parser.list-in-one-block"


def test_what_comes_back_whatever_is_asked_is_told_so() -> None:
    assert rows(explain_quirk("http-200-error-body"))["simulated"].startswith("refuses whatever is asked")
    assert rows(explain_quirk("xai-no-allof"))["simulated"].startswith("refuses such a request")


def test_quirks_and_profiles_are_listed_with_their_providers() -> None:
    quirks = CliRunner().invoke(cli, ["list", "quirks"]).output
    assert re.search(r"^qwen-thinking-nonstream-rejected .* alibaba, modelscope$", quirks, re.M)
    profiles = CliRunner().invoke(cli, ["list", "profiles"]).output
    assert re.search(r"^opencode +opencode-zen, opencode-go$", profiles, re.M)
