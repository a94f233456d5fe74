"""``conformance check-request``: the request, who refuses it, and what scripts can trust."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import cli
from conformance.quirks import catalogue
from conformance.types import WIRES

ALPHA = {"type": "function", "function": {"name": "alpha", "parameters": {"type": "object"}}}
TWICE = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [ALPHA, ALPHA]}
PLAIN: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def check(request: Any, *options: str) -> Result:
    text = request if isinstance(request, str) else json.dumps(request)
    return CliRunner().invoke(cli, ["check-request", *options], input=text)


def test_a_request_that_somebody_refuses_exits_1_and_says_where_why_and_what_to_do() -> None:
    result = check(TWICE)
    assert result.exit_code == 1
    for word in ("refused: duplicate-tool-names-rejected", "/tools/1/function/name", "workaround", "source"):
        assert word in result.output


def test_a_request_that_nobody_objects_to_exits_0() -> None:
    result = check(PLAIN)
    assert result.exit_code == 0
    assert re.search(r"^  refused by +nobody$", result.output, re.M)
    assert re.search(r"^  altered by +nobody$", result.output, re.M)


def test_what_comes_back_whatever_is_asked_is_no_objection() -> None:
    assert [q for q in catalogue().values() for refuses in q.refuses if refuses.when is None]
    for wire in WIRES:
        found = json.loads(check({**PLAIN, "messages": []}, "--wire", wire, "--json").output)["objections"]
        assert all(catalogue()[entry["quirk"]].refuses[0].when for entry in found if entry["status"])


def test_what_only_some_routes_refuse_is_told_but_fails_no_script() -> None:
    result = check({**PLAIN, "tools": [ALPHA]}, "--profile", "openrouter")
    assert result.exit_code == 0
    assert "may be refused: openrouter-no-tool-endpoints-404" in result.output
    assert re.search(r"^  refused by +nobody$", result.output, re.M)
    assert re.search(r"^  perhaps by +openrouter$", result.output, re.M)


def test_objections_to_one_place_stand_together_the_certain_ones_first() -> None:
    forced = {**PLAIN, "tools": [ALPHA], "tool_choice": "required"}
    lines = check(forced).output.splitlines()
    assert lines.count('/tool_choice: "required"') == 1
    group = lines[lines.index('/tool_choice: "required"') + 1 :]
    effects = [line.strip().partition(":")[0] for line in group[: group.index("")] if line[2:3] != " "]
    assert effects[:2] == ["refused", "refused"]
    assert set(effects[2:]) == {"may be refused", "may be changed", "may be ignored"}


def test_a_place_that_is_missing_is_told_to_be() -> None:
    history = [
        *PLAIN["messages"],
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {}}]},
    ]
    text = check({**PLAIN, "messages": history}, "--profile", "deepseek").output
    assert "/messages/1/reasoning_content: missing\n" in text


def test_no_request_can_write_to_the_terminal() -> None:
    request = {**PLAIN, "tool_choice": "\x1b]0;owned\x07\r\nfake", "messages": [{"\x1b[31m": 1}]}
    result = check(request)
    assert "owned" in result.output
    assert all(c.isprintable() or c == "\n" for c in result.output)
    assert not any(line.startswith("fake") for line in result.output.splitlines())


def test_a_profile_asks_about_its_providers() -> None:
    entries = json.loads(check(TWICE, "--profile", "opencode", "--json").output)["objections"]
    assert {name for entry in entries for name in entry["providers"]} == {"opencode-go"}
    assert check(PLAIN, "--profile", "sglang").exit_code == 0


def test_only_the_providers_asked_about_are_asked() -> None:
    result = check(TWICE, "--profile", "groq", "--json")
    assert "duplicate-tool-names-rejected" not in result.output


def test_json_holds_the_same_for_scripts() -> None:
    found = json.loads(check(TWICE, "--profile", "deepseek", "--json").output)
    (entry,) = [e for e in found["objections"] if e["quirk"] == "duplicate-tool-names-rejected"]
    assert found["wire"] == "openai-chat"
    assert entry["providers"] == ["deepseek"]
    assert entry["effect"] == "refused"
    assert entry["always"] == ["deepseek"]
    assert (entry["status"], entry["body"]["error"]["message"]) == (400, "Tool names must be unique.")


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
        ("[" * 100_000, "nested over 200 levels deep"),
        ('"x"', "object"),
        ('{"messages": [], "x": ' + "[" * 300 + "]" * 300 + "}", "nested over 200 levels deep"),
        ('{"messages": [], "temperature": NaN}', "NaN is no number"),
        ('{"messages": []}\n{"messages": []}', "give one line of it"),
        ('{"body": "\\ud800"}', "not JSON"),
    ],
)
def test_what_is_no_request_exits_2_in_one_line(text: str, words: str) -> None:
    result = check(text)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_numbers_and_texts_of_any_size_are_read() -> None:
    asked = '{"messages": [{"role": "user", "content": "hi"}], "max_tokens": '
    assert check(asked + "9" * 5_000 + "}").exit_code == 0
    assert check({**PLAIN, "model": "qwen" * 100_000}).exit_code == 0
    told = {"model": "m", "input": "a" * 100_000 + " json", "text": {"format": {"type": "json_object"}}}
    assert "responses-json-object-needs-word" not in check(told).output


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
