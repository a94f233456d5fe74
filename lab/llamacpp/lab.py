"""A real llama.cpp server that serves the scripted model: ``lab.py up | down | status | smoke``.

Needs Python 3.10+ with ``venv`` and this checkout's ``.venv``. Everything else lives in
``$CONFORMANCE_LAB/llamacpp`` (default ``~/.cache/llm-wire-conformance/llamacpp``) and goes away with it.
"""

# ruff: noqa: S310, S603 -- every command and address here is our own

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
LAB = Path(os.environ.get("CONFORMANCE_LAB", "~/.cache/llm-wire-conformance")).expanduser() / "llamacpp"
PYTHON, MODEL, LOG, PID = (LAB / name for name in ("venv/bin/python", "model", "server.log", "server.pid"))
ALIAS = "scripted"
KEY_VARIABLE = "LLAMACPP_API_KEY"
KEY = os.environ.setdefault(KEY_VARIABLE, "sk-lab")  # guards nothing: the server is on loopback


class LabError(Exception):
    """One line a person can act on."""


def install() -> None:
    lock = HERE / "requirements.txt"
    stamp = LAB / "venv" / "lock.sha256"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return
    print("installing llama.cpp (xllamacpp wheel) ...", flush=True)
    venv.create(LAB / "venv", clear=True, with_pip=True)
    pip = (PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "install", "--require-hashes", "--requirement", lock)
    stamp.write_text(digest)


def build(options: argparse.Namespace) -> None:
    scripts = ["--scripts", options.scripts.resolve()] if options.scripts else []
    builder = (options.python, "-m", "conformance", "scripted-model", "build", "--format", "gguf")
    run(*builder, "--out", MODEL, "--ctx", options.ctx, *scripts)


def run(*command: object) -> None:
    line = [str(word) for word in command]
    if code := subprocess.run(line, cwd=CHECKOUT, check=False).returncode:
        raise LabError(f"failed ({code}): {' '.join(line)}")


def running() -> int | None:
    """The process id of our server, which holds a lock on the file while it lives, or ``None``.

    The number alone would not do: another process may have it by now.
    """
    try:
        with PID.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return int(PID.read_text())
    return None


def down() -> None:
    pid = running()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        if not wait(lambda: running() is None, seconds=10):
            os.kill(pid, signal.SIGKILL)
        print(f"stopped {pid}")
    PID.unlink(missing_ok=True)


def up(options: argparse.Namespace) -> None:
    LAB.mkdir(parents=True, exist_ok=True)
    down()
    install()
    build(options)
    if get("/health", options.port) is not None:
        raise LabError(f"port {options.port} is taken by another server: choose one with --port")
    command = [PYTHON, HERE / "serve.py", "--model", MODEL / "model.gguf", "--alias", ALIAS]
    command += ["--port", options.port, "--key-env", KEY_VARIABLE]
    command += ["--ctx", options.ctx, "--parallel", options.parallel]
    with LOG.open("w") as log, PID.open("w") as pid:
        fcntl.flock(pid, fcntl.LOCK_EX)  # inherited with the descriptor, and released when the server ends
        server = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[pid.fileno()],
            start_new_session=True,
        )
        pid.write(str(server.pid))
    began = time.monotonic()
    wait(lambda: server.poll() is not None or get("/health", options.port) == 200, seconds=60)
    if server.poll() is not None or get("/health", options.port) != 200:
        down()
        raise LabError(f"the server did not start; the end of {LOG}:\n" + LOG.read_text()[-1500:])
    print(f"ready in {time.monotonic() - began:.1f} s (process {server.pid}, log {LOG})")
    print(f"server: {version()}")
    print(f"base URL: http://127.0.0.1:{options.port}/v1   model: {ALIAS}   key: ${KEY_VARIABLE} ({KEY})")
    print(f"record: {KEY_VARIABLE}={KEY} conformance run --record --endpoint llamacpp")


def status() -> None:
    pid = running()
    if pid is None:
        raise LabError("not running")
    listening = [line for line in LOG.read_text().splitlines() if line.startswith("listening ")]
    print(f"process {pid} {' '.join(listening)}\nserver: {version()}")


def version() -> str:
    """llama.cpp's build by the wheel's version, whose last number it is.

    The binary itself says ``b0-unknown``. Source: ``scripts/generate-release-version.sh`` of xllamacpp.
    """
    code = "from importlib.metadata import version; print(version('xllamacpp'))"
    wheel = subprocess.run([PYTHON, "-c", code], text=True, capture_output=True, check=True).stdout.strip()
    return f"llama.cpp b{wheel.rpartition('.')[2]} (xllamacpp {wheel})"


def smoke(options: argparse.Namespace) -> None:
    """Ask for every script, as raw text and (where a message is known) through the chat parser, both ways."""
    up(options)
    wrong: list[str] = []
    milliseconds: list[float] = []

    def check(what: str, got: object, wanted: object) -> None:
        if got != wanted:
            wrong.append(f"{what}\n  wanted {wanted!r}\n  got    {got!r}")

    def ask(path: str, body: dict[str, Any]) -> Any:
        began = time.perf_counter()
        answer = post(path, {"model": ALIAS, "temperature": 1, **body}, options.port)
        milliseconds.append((time.perf_counter() - began) * 1000)
        return answer

    try:
        entries = json.loads((MODEL / "scripts.json").read_text("utf-8"))
        for name, entry in entries.items():
            prompt = f"<|im_start|>user\n[[{name}]]<|im_end|>\n<|im_start|>assistant\n"
            raw = ask("/v1/completions", {"prompt": prompt, "max_tokens": 4096})
            check(f"{name} raw", raw["choices"][0]["text"], entry["text"])
            if "message" not in entry:
                continue
            tools = [function(call["name"]) for call in entry["message"]["tool_calls"]]
            chat: dict[str, Any] = {"messages": [{"role": "user", "content": f"[[{name}]]"}]}
            chat |= {"tools": tools, "parallel_tool_calls": True} if tools else {}
            whole = ask("/v1/chat/completions", chat)
            check(f"{name} chat", plain(whole), entry["message"])
            events = ask("/v1/chat/completions", chat | {"stream": True})
            check(f"{name} stream", joined(events), entry["message"])
    finally:
        down()
    milliseconds.sort()
    print(
        f"{len(milliseconds)} requests for {len(entries)} scripts at temperature 1: {len(wrong)} wrong; "
        f"median {milliseconds[len(milliseconds) // 2]:.0f} ms, slowest {milliseconds[-1]:.0f} ms"
    )
    if wrong:
        raise LabError("\n".join(wrong))


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    message = answer["choices"][0]["message"]
    calls = [call["function"] for call in message.get("tool_calls") or []]
    reasoning = message.get("reasoning_content") or ""
    return {"content": message["content"] or "", "reasoning_content": reasoning, "tool_calls": calls}


def joined(events: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    for delta in (choice["delta"] for event in events for choice in event["choices"]):
        for field in ("content", "reasoning_content"):
            whole[field] += delta.get(field) or ""
        for call in delta.get("tool_calls") or []:
            if call["index"] == len(whole["tool_calls"]):
                whole["tool_calls"].append({"name": "", "arguments": ""})
            for field in ("name", "arguments"):
                whole["tool_calls"][call["index"]][field] += call["function"].get(field) or ""
    return whole


def get(path: str, port: int) -> int | None:
    """The status of a GET, or ``None`` when nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def post(path: str, body: dict[str, Any], port: int) -> Any:
    """The decoded answer; for a stream, the list of its events."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = response.read().decode()
    except urllib.error.HTTPError as error:
        raise LabError(f"POST {path}: {error.code} {error.read()[:500].decode(errors='replace')}") from error
    if not body.get("stream"):
        return json.loads(answer)
    lines = [line.removeprefix("data: ") for line in answer.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def wait(condition: Any, *, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("up", "down", "status", "smoke"))
    parser.add_argument("--port", type=int, default=18082)
    parser.add_argument("--ctx", type=int, default=32768, help="tokens per request; a prompt byte is a token")
    parser.add_argument("--parallel", type=int, default=4, help="requests served at once")
    parser.add_argument("--scripts", type=Path, help="JSON object of name: text; default: the scenarios")
    parser.add_argument("--python", default=".venv/bin/python", help="an interpreter with the suite")
    options = parser.parse_args()
    try:
        match options.action:
            case "up":
                up(options)
            case "down":
                down()
            case "status":
                status()
            case "smoke":
                smoke(options)
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
