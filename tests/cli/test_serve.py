"""``conformance serve`` as a user meets it: what it prints, writes and says, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from openai import APIConnectionError, BadRequestError, OpenAI

from conformance.grade.jsonl import exchange_schema
from conformance.quirks import catalogue
from conformance.simulator import PERSONAS
from tests.cli.support import clean_environment, conformance

KEY = "sk-reference"
QUIRK = "duplicate-tool-names-rejected"
TOOL: Any = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


@dataclass
class Serving:
    """A running ``serve``: where it is, what it prints; after the context also how it ended."""

    process: subprocess.Popen[str]
    origin: str
    printed: list[str] = field(default_factory=list)
    errors: str = ""

    def client(self, persona: str) -> OpenAI:
        return OpenAI(base_url=f"{self.origin}/p/{persona}/v1", api_key=KEY, max_retries=0)

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        self.printed.append(self.process.stdout.readline())
        return self.printed[-1].rstrip("\n")


def read_out(process: subprocess.Popen[str]) -> list[str]:
    """The lines that are left, unless the reader has left."""
    return process.stdout.readlines() if process.stdout is not None else []


@contextmanager
def serving(folder: Path, *words: str, stop: signal.Signals = signal.SIGINT) -> Iterator[Serving]:
    command = [sys.executable, "-m", "conformance", "serve", "--port", "0", "--gap", "0", *words]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    guard = threading.Timer(120, process.kill)
    guard.start()
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        found = re.match(r"listening on (http://127\.0\.0\.1:\d+) ", first)
        assert found, process.communicate(timeout=60)
        running = Serving(process, found[1], [first])
        yield running
        process.send_signal(stop)
        # communicate() would lose what readline() has read ahead.
        running.printed += read_out(process)
        running.errors = process.stderr.read()
        process.wait(timeout=60)
    finally:
        guard.cancel()
        process.kill()
        process.communicate()


def hello(client: OpenAI, **members: Any) -> Any:
    messages: Any = [{"role": "user", "content": "Hello"}]
    return client.chat.completions.create(model="reference", messages=messages, **members)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_with_0_even_while_a_stream_hangs(tmp_path: Path, stop: signal.Signals) -> None:
    with serving(tmp_path, "--persona", "reference", stop=stop) as served:
        httpx.post(f"{served.origin}/__conformance/faults", json={"fault": "hang"})
        with socket.create_connection(("127.0.0.1", int(served.origin.rpartition(":")[2]))) as open_one:
            body = b'{"model":"reference","messages":[{"role":"user","content":"Hi"}]}'
            head = f"POST /p/reference/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}"
            open_one.sendall(head.encode() + b"\r\n\r\n" + body)
            while "fault: hang" not in served.line():
                pass
    assert served.process.returncode == 0
    assert served.errors == ""
    assert served.printed[-1] == "stopped after 1 requests\n"


def test_it_tells_where_every_persona_is_and_what_it_serves(tmp_path: Path) -> None:
    with serving(tmp_path, "--quirk", QUIRK) as served:
        pass
    text = "".join(served.printed)
    assert "every persona is simulated" in text
    assert f"key {KEY}; the SDKs of Anthropic, Google and Ollama take the base URL as it stands" in text
    for name in (*PERSONAS, "custom"):
        assert re.search(
            rf"^{re.escape(name)} +{served.origin}/p/{re.escape(name)} +\d+ +reference", text, re.M
        )
    assert re.search(r"^deepseek .* reference, deepseek-\*$", text, re.M)
    assert all(len(line) < 180 for line in served.printed)


def test_few_personas_are_told_with_their_quirks(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference", "--persona", "hermes-text", "--quirk", QUIRK) as served:
        pass
    quirks = [line.rstrip() for line in served.printed if line.startswith("  ")]
    assert quirks == ["  calls-as-hermes-text", f"  {QUIRK}  {catalogue()[QUIRK].title}"]


def test_every_request_is_a_line_that_says_what_was_done_and_why(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference", "--quirk", QUIRK) as served:
        with pytest.raises(BadRequestError):
            hello(served.client("reference"), tools=[TOOL, TOOL])
        hello(served.client("reference"), extra_headers={"X-Conformance-Run": "mine"})
    lines = [line.rstrip("\n") for line in served.printed if re.match(r"\d\d:\d\d:\d\d ", line)]
    assert re.sub(r"^\S+ ", "", lines[0]) == (
        f"reference openai-chat POST /v1/chat/completions 400 refused: {QUIRK}"
    )
    assert lines[1].endswith("200 answered improvised run mine")


def test_a_hostile_path_can_not_write_to_the_terminal(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference") as served:
        httpx.get(f"{served.origin}/p/%1b]0;owned%07%0d%0afake/v1/models")
    assert "owned" in "".join(served.printed)
    assert all("\x1b" not in line and "\x07" not in line for line in served.printed)
    assert not any(line.startswith("fake") for line in served.printed)


def test_what_an_sdk_did_is_logged_for_grade_without_keys(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference", "--quirk", QUIRK, "--log", "log/t.jsonl") as served:
        client = served.client("reference")
        hello(client)
        for _ in hello(client, stream=True):
            pass
        with pytest.raises(BadRequestError):
            hello(client, tools=[TOOL, TOOL])
    assert served.printed[-1] == "stopped after 3 requests; written: log/t.jsonl\n"
    text = (tmp_path / "log" / "t.jsonl").read_text()
    assert KEY not in text
    lines = [json.loads(line) for line in text.splitlines()]
    validator = jsonschema_rs.Draft202012Validator(exchange_schema())
    for line in lines:
        validator.validate(line)
    assert [(line["endpoint"], line["response"]["status"]) for line in lines] == [
        ("simulated:reference", 200),
        ("simulated:reference", 200),
        ("simulated:reference", 400),
    ]
    assert len(lines[1]["response"]["parts"]) > 3
    graded = conformance("grade", "log/t.jsonl", "--json", cwd=tmp_path)
    document = json.loads(graded.stdout)
    assert document["endpoints"] == [
        {"endpoint": "simulated:reference", "wire": "openai-chat", "exchanges": 3, "graded": 3}
    ]
    assert (graded.returncode, document["deviations"]) == (0, [])


def test_a_cut_stream_is_logged_as_cut(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference", "--log", "t.jsonl") as served:
        httpx.post(f"{served.origin}/__conformance/faults", json={"fault": "stream-cut"})
        with pytest.raises(APIConnectionError):
            list(hello(served.client("reference"), stream=True))
    (line,) = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert line["response"]["ending"] == "cut"


def test_a_seed_brings_the_same_log_but_for_times(tmp_path: Path) -> None:
    def bodies(name: str) -> list[Any]:
        with serving(tmp_path, "--persona", "reference", "--seed", "5", "--log", name) as served:
            for _ in range(2):
                hello(served.client("reference"))
        lines = (tmp_path / name).read_text().splitlines()
        return [json.loads(line)["response"]["body"] for line in lines]

    assert bodies("a.jsonl") == bodies("b.jsonl")


def test_a_script_fixes_the_turns(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text("turns: [{text: first}, {text: second}]")
    with serving(tmp_path, "--persona", "reference", "--script", "turns.yaml") as served:
        said = [hello(served.client("reference")).choices[0].message.content for _ in range(3)]
    assert said == ["first", "second", "You wrote: Hello"]
    assert any("200 answered turns.yaml:1" in line for line in served.printed)


def test_any_model_and_any_key_by_asking(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference", "--model", "gpt-*", "--no-key") as served:
        client = OpenAI(base_url=f"{served.origin}/p/reference/v1", api_key="sk-whatever")
        messages: Any = [{"role": "user", "content": "Hello"}]
        assert client.chat.completions.create(model="gpt-5", messages=messages).model == "gpt-5"


def test_latency_is_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference", "--latency", "300") as served:
        answer = httpx.get(
            f"{served.origin}/p/reference/v1/models", headers={"authorization": f"Bearer {KEY}"}
        )
    assert answer.elapsed.total_seconds() >= 0.3


def test_a_reader_who_leaves_does_not_end_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--persona", "reference") as served:
        assert served.process.stdout is not None
        served.process.stdout.close()
        served.process.stdout = None
        assert [hello(served.client("reference")).choices[0].index for _ in range(3)] == [0, 0, 0]
    assert (served.process.returncode, served.errors) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--persona", "deepsek"], "persona deepsek: there is none of that name (did you mean deepseek?)"),
        (["--quirk", "no-such-quirk"], "quirk no-such-quirk: there is none of that id"),
        (["--script", "none.yaml"], "none.yaml: no such file"),
        (["--script", "bad.yaml"], "bad.yaml:1: turns.0.txt: unknown key (did you mean text?)"),
        (["--log", "bad.yaml/t.jsonl"], "--log bad.yaml/t.jsonl: can't be written to"),
        (["--port", "70000"], "--port"),
        (["--latency", "-1"], "--latency"),
    ],
)
def test_a_mistake_exits_2_and_says_what_to_change(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "bad.yaml").write_text("turns: [{txt: Hello}]")
    done = conformance("serve", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_told_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = conformance("serve", "--port", str(port), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"error: --port {port}: is taken; --port 0 takes a free one\n"


def test_help_teaches_with_examples(tmp_path: Path) -> None:
    text = conformance("serve", "--help", cwd=tmp_path).stdout
    assert all(word in text for word in ("Examples:", "Exit codes:", "/__conformance/journal", "turns:"))
