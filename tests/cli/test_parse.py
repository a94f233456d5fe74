"""``conformance parse``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import cli

from .support import clean_environment, conformance

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TOOL = {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}}


def run(*words: str, said: str | bytes = CALL) -> Result:
    return CliRunner().invoke(cli, ["parse", "--dialect", "hermes", *words], input=said)


def test_a_text_becomes_a_turn() -> None:
    result = run(said=f"<think>hm</think>Let me see.\n{CALL}")
    out = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    (call,) = out["message"]["tool_calls"]
    assert call["function"] == {"name": "f", "arguments": '{"a": 1}'}
    assert out == {
        "dialect": "hermes",
        "message": {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [call],
            "reasoning_content": "hm",
        },
        "finish_reason": "tool_calls",
        "parts": [
            {"type": "reasoning", "text": "hm"},
            {"type": "text", "text": "Let me see."},
            {"type": "call", "id": call["id"], "name": "f", "arguments": '{"a": 1}'},
        ],
        "flags": [],
    }


def test_a_text_without_calls_is_a_plain_turn() -> None:
    out = json.loads(run(said="Hello.\n").stdout)
    assert (out["message"], out["finish_reason"]) == ({"role": "assistant", "content": "Hello."}, "stop")


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--strict",), 1)])
def test_flags_are_told_and_count_under_strict(words: tuple[str, ...], code: int) -> None:
    result = run(*words, said=CALL.removesuffix("</tool_call>"))
    assert (result.exit_code, json.loads(result.stdout)["flags"]) == (code, ["unclosed"])


def test_markup_in_code_is_nothing_wrong() -> None:
    result = run("--strict", said=f"Write it so:\n```\n{CALL}\n```\n")
    assert (result.exit_code, json.loads(result.stdout)["flags"]) == (0, ["quoted"])


@pytest.mark.parametrize("tool", [TOOL, {"type": "function", "function": TOOL}])
@pytest.mark.parametrize(("name", "flags"), [("f", []), ("g", ["unknown-tool"])])
def test_tools_say_which_calls_are_known(
    tmp_path: Path, tool: dict[str, Any], name: str, flags: list[str]
) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([tool]))
    result = run("--tools", str(tmp_path / "tools.json"), said=CALL.replace('"f"', f'"{name}"'))
    assert json.loads(result.stdout)["flags"] == flags


def test_reasoning_that_the_prompt_opened_is_read() -> None:
    out = json.loads(run("--thinking", said="hm</think>Hello.").stdout)
    assert out["message"] == {"role": "assistant", "content": "Hello.", "reasoning_content": "hm"}


def test_an_unknown_dialect_exits_2_and_names_a_near_one() -> None:
    result = CliRunner().invoke(cli, ["parse", "--dialect", "hermse"], input=CALL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean hermes?" in result.stderr


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ("{", "tools.json: not JSON"),
        ("{}", "tools.json: not a list of tools"),
        ("[1]", "tools.json: tool 0: not a function"),
        ('[{"type": "function", "function": {"name": "f", "parameters": []}}]', "tool 0"),
    ],
)
def test_unusable_tools_exit_2_and_are_named(tmp_path: Path, tools: str, says: str) -> None:
    (tmp_path / "tools.json").write_text(tools)
    result = run("--tools", str(tmp_path / "tools.json"))
    assert result.exit_code == 2
    assert says in result.stderr


def test_every_listed_dialect_can_be_parsed() -> None:
    rows = json.loads(CliRunner().invoke(cli, ["list", "dialects", "--json"]).stdout)
    assert {"hermes", "qwen3-coder", "llama3-json", "react", "json-action"} <= {row["id"] for row in rows}
    for row in rows:
        result = CliRunner().invoke(cli, ["parse", "--dialect", row["id"]], input="Hello.")
        assert json.loads(result.stdout)["dialect"] == row["id"]


def test_text_that_is_not_utf_8_exits_2() -> None:
    result = run(said=b"a\xff")
    assert (result.exit_code, result.stderr) == (2, "error: standard input: not UTF-8: byte 1\n")


def test_a_file_is_read_by_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(CALL)
    result = conformance("parse", "--dialect", "hermes", "text.txt", cwd=tmp_path)
    assert (result.returncode, json.loads(result.stdout)["finish_reason"]) == (0, "tool_calls")


def test_the_example_in_the_help_runs() -> None:
    text = CliRunner().invoke(cli, ["parse", "--help"]).stdout
    example = text[text.index("printf") : text.index("Exit codes")]
    script = example.replace("conformance parse", f"{sys.executable} -m conformance parse")
    done = subprocess.run(
        ["sh", "-c", script], env=clean_environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert json.loads(done.stdout)["message"]["tool_calls"][0]["function"]["name"] == "f"


def test_text_and_tools_can_not_share_standard_input() -> None:
    result = run("--tools", "-", "-")
    assert result.exit_code == 2
    assert "both" in result.stderr


def test_tools_nested_without_end_are_an_error_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text("[" * 100_000)
    result = run("--tools", str(tmp_path / "tools.json"))
    assert result.exit_code == 2
    assert result.stderr.endswith("tools.json: nested too deeply\n")
