"""``conformance translate``."""

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

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 64}
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
}
TO_ANTHROPIC = ("translate", "--from", "openai-chat", "--to", "anthropic-messages")


def run(*words: str, said: Any = REQUEST) -> Result:
    body = said if isinstance(said, bytes | str) else json.dumps(said)
    return CliRunner().invoke(cli, [*words], input=body)


def test_a_request_from_standard_input_is_written_as_json() -> None:
    result = run(*TO_ANTHROPIC)
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "model": "m",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_an_answer_is_recognised() -> None:
    result = run(*TO_ANTHROPIC, "-", said=ANSWER)
    assert json.loads(result.stdout)["stop_reason"] == "end_turn"


def test_langchain_messages_become_a_request() -> None:
    messages = [{"type": "human", "data": {"content": "hi"}}]
    result = run(
        "translate", "--from", "langchain", "--to", "anthropic-messages", "--model", "m", said=messages
    )
    assert json.loads(result.stdout)["messages"] == [{"role": "user", "content": "hi"}]
    assert result.exit_code == 0


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--strict",), 1)])
def test_losses_are_told_a_line_each_and_count_under_strict(words: tuple[str, ...], code: int) -> None:
    result = run(*TO_ANTHROPIC, *words, said=REQUEST | {"seed": 7, "n": 2})
    assert result.exit_code == code
    lines = result.stderr.splitlines()
    assert {line.split(": ")[0] for line in lines} == {"/n", "/extra/seed"}
    assert all(line.endswith("(meaning)") for line in lines)
    assert json.loads(result.stdout)["max_tokens"] == 64


def test_strict_is_content_where_nothing_is_lost() -> None:
    assert run(*TO_ANTHROPIC, "--strict").exit_code == 0


def test_what_was_odd_in_an_answer_is_a_note_and_no_loss() -> None:
    odd = json.loads(json.dumps(ANSWER))
    odd["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}]
    result = run(*TO_ANTHROPIC, "--strict", said=odd)
    assert "note: /body/choices/0/message/content: content-list" in result.stderr.splitlines()


def test_a_loss_stays_on_its_line_whatever_the_input_calls_it() -> None:
    result = run(*TO_ANTHROPIC, said=REQUEST | {"a\nb\u2028c\x1b[0m": 1})
    assert len(result.stderr.splitlines()) == 1
    assert "\x1b" not in result.stderr


def test_half_a_surrogate_pair_comes_out_as_it_went_in() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud83d"}], "max_tokens": 9}'
    result = run("translate", "--from", "openai-chat", "--to", "openai-chat", said=body)
    assert json.loads(result.stdout)["messages"][0]["content"] == "\ud83d"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("{", "error: standard input: not JSON"),
        ("", "error: standard input: nothing in it"),
        ('{"messages": 1}', "error: standard input: no request of openai-chat: messages: not a list"),
        ('{"a": 1}', "error: standard input: no answer of openai-chat in it"),
        ('{"error": {"message": "no"}}', "error: standard input: an error, not an answer: no"),
        ('{"messages": []}', "error: standard input: no model"),
    ],
)
def test_unusable_input_exits_2_and_says_why(body: str, says: str) -> None:
    result = run("translate", "--from", "openai-chat", "--to", "openai-chat", said=body)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(says)
    assert len(result.stderr.splitlines()) == 1


def test_a_missing_file_exits_2_and_is_named(tmp_path: Path) -> None:
    result = run(*TO_ANTHROPIC, str(tmp_path / "nope.json"))
    assert (result.exit_code, result.stderr) == (
        2,
        f"error: {tmp_path / 'nope.json'}: No such file or directory\n",
    )


def test_more_than_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.cli.inputs.MAX_INPUT", 10)
    result = run(*TO_ANTHROPIC)
    assert (result.exit_code, result.stderr) == (2, "error: standard input: larger than 10 bytes\n")


def test_an_unknown_wire_exits_2_and_lists_the_known_ones() -> None:
    result = run("translate", "--from", "smoke", "--to", "openai-chat")
    assert result.exit_code == 2
    assert "'openai-chat'" in result.stderr


def test_a_file_is_translated_by_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text(json.dumps(REQUEST | {"seed": 7}))
    result = conformance(*TO_ANTHROPIC, "--strict", "request.json", cwd=tmp_path)
    assert (result.returncode, json.loads(result.stdout)["model"]) == (1, "m")
    assert result.stderr.startswith("/extra/seed: ")


def test_the_example_in_the_help_runs() -> None:
    text = run("translate", "--help").stdout
    example = text[text.index("echo") : text.index("Exit codes")]
    script = example.replace("conformance translate", f"{sys.executable} -m conformance translate")
    done = subprocess.run(
        ["sh", "-c", script], env=clean_environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize("name", ["no\x1b[31m.json", "no\nsuch.json"])
def test_a_files_name_does_not_reach_the_terminal_raw(name: str) -> None:
    result = run(*TO_ANTHROPIC, name)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.isprintable()


def test_a_closed_standard_input_is_an_error_in_a_line() -> None:
    command = [sys.executable, "-c", "import os, sys; os.close(0); os.execv(sys.argv[1], sys.argv[1:])"]
    words = [sys.executable, "-m", "conformance", *TO_ANTHROPIC]
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, env=clean_environment(), check=False
    )
    assert (done.returncode, done.stderr) == (2, "error: standard input: closed\n")


def test_a_loss_of_the_whole_input_has_a_place() -> None:
    body = json.dumps(REQUEST | {"temperature": 0.5}).replace("0.5", "0.12345678901234567890")
    assert run(*TO_ANTHROPIC, said=body).stderr.startswith("/: in the input: digits")
