"""``conformance check-request``: the request, who refuses it, and what scripts can trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import cli

ALPHA = {"type": "function", "function": {"name": "alpha", "parameters": {"type": "object"}}}
TWICE = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [ALPHA, ALPHA]}
PLAIN = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def check(request: Any, *options: str) -> Result:
    text = request if isinstance(request, str) else json.dumps(request)
    return CliRunner().invoke(cli, ["check-request", *options], input=text)


def test_a_request_that_somebody_refuses_exits_1_and_says_where_why_and_what_to_do() -> None:
    result = check(TWICE)
    assert result.exit_code == 1
    for word in ("refused: duplicate-tool-names-rejected", "/tools/1/function/name", "workaround", "source"):
        assert word in result.output


def test_a_request_that_nobody_refuses_exits_0() -> None:
    result = check(PLAIN, "--profile", "deepseek")
    assert result.exit_code == 0
    assert "0 refuse it" in result.output


def test_only_the_providers_asked_about_are_asked() -> None:
    result = check(TWICE, "--profile", "groq", "--json")
    assert "duplicate-tool-names-rejected" not in result.output


def test_json_holds_the_same_for_scripts() -> None:
    found = json.loads(check(TWICE, "--profile", "deepseek", "--json").output)
    (entry,) = [e for e in found["objections"] if e["quirk"] == "duplicate-tool-names-rejected"]
    assert found["wire"] == "openai-chat"
    assert entry["providers"] == ["deepseek"]
    assert entry["effect"] == "refused"
    assert entry["status"] == 400


@pytest.mark.parametrize(
    "wrapped",
    [
        {"url": "https://h/v1/chat/completions", "body": TWICE},
        {"url": "https://h/v1/chat/completions", "body": json.dumps(TWICE)},
        {"request": {"method": "POST", "url": "https://h/v1/chat/completions", "headers": [], "body": TWICE}},
    ],
    ids=["with its url", "body as text", "line of a log"],
)
def test_a_whole_request_is_read_too(wrapped: Any) -> None:
    assert "duplicate-tool-names-rejected" in check(wrapped).output


@pytest.mark.parametrize(
    ("body", "wire"),
    [
        (PLAIN, "openai-chat"),
        ({"model": "m", "input": "hi"}, "openai-responses"),
        ({"contents": []}, "gemini"),
        ({**PLAIN, "system": "s"}, "anthropic-messages"),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]},
            "anthropic-messages",
        ),
        ({**PLAIN, "options": {}}, "ollama"),
        ({"url": "https://h/v1/messages", "body": PLAIN}, "anthropic-messages"),
    ],
)
def test_the_wire_is_told_by_the_url_or_by_the_members(body: Any, wire: str) -> None:
    assert json.loads(check(body, "--json").output)["wire"] == wire


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[]", "JSON object"),
        ("{}", "--wire"),
        ("[" * 100_000, "not JSON"),
        ('"x"', "object"),
    ],
)
def test_what_is_no_request_exits_2_in_one_line(text: str, words: str) -> None:
    result = check(text)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_provider_that_is_not_known_exits_2_with_a_hint() -> None:
    result = check(PLAIN, "--profile", "deepsek")
    assert result.exit_code == 2
    assert "deepseek" in result.stderr


def test_a_file_is_read_and_a_missing_one_named(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(TWICE))
    assert check("", str(tmp_path / "r.json")).exit_code == 1
    missing = check("", str(tmp_path / "none.json"))
    assert missing.exit_code == 2
    assert "none.json" in missing.stderr
