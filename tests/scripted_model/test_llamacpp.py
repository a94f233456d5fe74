"""The law of the construction in a real engine: llama.cpp emits the tokens that were scripted."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.dialects import DIALECTS, dialect
from conformance.lab.recipe import recipes
from conformance.lab.running import Bench
from conformance.scripted_model import CHECKPOINTS, Scripted, Settings, Split
from conformance.scripted_model.build import compute_model
from conformance.scripted_model.gguf_file import write_gguf
from conformance.scripted_model.render import script, written
from conformance.types import Reasoning, Text, ToolCall, Turn

CALL = ToolCall("", "get_weather", '{"city": "Zürich 🌦"}')
TURNS = {
    "text": Turn((Text("Hello there, nice to meet you."),)),
    "call": Turn((Text("I look."), CALL)),
    "reasoning": Turn((Reasoning("Hm."), Text("It is 42."))),
}
RECIPE = recipes()["llamacpp"]


def engine() -> str:
    """A Python that has the wheel: this one, or that of the lab."""
    if importlib.util.find_spec("xllamacpp"):
        return sys.executable
    lab = Bench(say=lambda _: None).environment(RECIPE) / "bin" / "python"
    if not lab.is_file():
        pytest.skip("llama.cpp is not installed: conformance lab install llamacpp")
    return str(lab)


@contextmanager
def served(model: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [engine(), RECIPE.folder / "serve.py", "--model", model, "--alias", "scripted", "--port", port]
    command += ["--ctx", 2048, "--parallel", 1]
    with (model.parent / "log").open("w") as log:
        server = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + 60
            while not is_ready(port):
                assert server.poll() is None, (model.parent / "log").read_text()[-1000:]
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait()


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def post(url: str, body: Mapping[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


SETTINGS = [
    *(
        Settings("hermes", tokens, Split.read(split), ctx=2048)
        for tokens in ("special", "text")
        for split in ("random:1", "char", "whole")
    ),
    *(Settings(name, ctx=2048) for name in DIALECTS if name != "hermes"),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: f"{s.dialect}-{s.tokens}-{s.split.kind}")
def test_every_script_comes_token_by_token_and_ends_at_temperature_1(
    settings: Settings, tmp_path: Path
) -> None:
    engine()
    grammar = dialect(settings.dialect)
    said = {
        name: script(written(turn, grammar), grammar, calls=bool(turn.calls)) for name, turn in TURNS.items()
    }
    model = compute_model({name: Scripted(one) for name, one in said.items()}, settings)
    words, checkpoint = model.vocabulary, CHECKPOINTS[settings.dialect]
    write_gguf(model, tmp_path / "model.gguf", template=checkpoint.template)
    with served(tmp_path / "model.gguf") as url:
        for name, one in said.items():
            prompt = f"[[text]] or [[call]]? No: [[{name}]].{checkpoint.prompt}"
            body = {
                "prompt": prompt,
                "temperature": 1,
                "n_predict": 500,
                "return_tokens": True,
                "cache_prompt": False,
            }
            answer = post(f"{url}/completion", body)
            tokens = [token for token in answer["tokens"] if token != words.ends[name]]
            assert tokens == list(words.chains[name])
            assert words.decode(tokens) == one.text
            assert answer["stop_type"] == "eos"
