"""``conformance lab`` as a user meets it, with the simulator as the server: nothing is installed."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from conformance.dialects import DIALECTS
from tests.cli.support import conformance

CONFIG = """\
endpoints:
  simulator:
    base_url: http://127.0.0.1:18081/p/reference/v1
    model: reference
    key_env: SIMULATOR_API_KEY
    scripted: true
    attempts: 1
"""


class Lab:
    """A lab in a folder of its own, and a free port for its server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = f"simulator={probe.getsockname()[1]}"

    def run(self, *words: str, code: int = 0) -> str:
        done = conformance("lab", *words, cwd=self.folder, env={"CONFORMANCE_LAB": str(self.folder / "lab")})
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stdout + done.stderr

    def record(self, *words: str, code: int = 0) -> str:
        scenario = ("--scenario", "chat.plain", "--scenario", "tools.single-call")
        return self.run("record", "simulator", *scenario, "--port", self.port, *words, code=code)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path)
    yield made
    made.run("down")


def test_list_tells_of_every_recipe_and_its_state(lab: Lab) -> None:
    listed = {entry["name"]: entry for entry in json.loads(lab.run("list", "--json"))}
    assert listed["simulator"]["state"] == "installed"
    assert listed["llamacpp"]["endpoints"][0] == "llamacpp"
    assert "llama.cpp" in lab.run("list")


def test_rows_are_a_configuration(lab: Lab) -> None:
    rows = yaml.safe_load(lab.run("rows", "portkey"))["endpoints"]
    assert rows["portkey"]["server"].endswith(f"in front of {rows['portkey']['server'].rpartition('of ')[2]}")
    assert rows["portkey-responses"]["same_server_as"] == "portkey"


def test_what_is_up_is_told_and_is_down_afterwards(lab: Lab) -> None:
    assert "simulator: http://127.0.0.1:" in lab.run("up", "simulator", "--port", lab.port)
    assert lab.run("status").startswith("simulator: ")
    assert json.loads(lab.run("status", "--json"))[0]["name"] == "simulator"
    assert "stopped process" in lab.run("down", "simulator")
    assert lab.run("status") == "nothing runs\n"


def test_a_recording_is_kept_and_the_next_shows_no_difference(lab: Lab) -> None:
    first = lab.record("--cassettes", "tapes")
    assert "2 cassettes written" in first
    assert {path.name for path in (lab.folder / "tapes" / "simulator").iterdir()} == {
        "chat.plain.yaml",
        "tools.single-call.yaml",
    }
    assert "2 cells judged in both: nothing changed" in lab.record("--cassettes", "tapes", "--check")


def test_what_was_only_brought_up_to_be_recorded_is_down_afterwards(lab: Lab) -> None:
    lab.record("--cassettes", "tapes")
    assert lab.run("status") == "nothing runs\n"


def test_a_check_writes_nothing(lab: Lab) -> None:
    lab.record("--cassettes", "tapes", "--check")
    assert not (lab.folder / "tapes").exists()


def test_a_check_that_differs_exits_with_1_and_says_how(lab: Lab) -> None:
    lab.record("--cassettes", "tapes")
    tape = lab.folder / "tapes" / "simulator" / "chat.plain.yaml"
    text = tape.read_text("utf-8")
    assert '"finish_reason":"stop"' in text
    tape.write_text(text.replace('"finish_reason":"stop"', '"finish_reason":"halt"'), "utf-8")
    said = lab.record("--cassettes", "tapes", "--check", code=1)
    assert "fix (1): a rule holds again" in said
    assert tape.read_text("utf-8") != text


@pytest.mark.parametrize(("times", "code"), [(1, 0), (50, 3)])
def test_what_could_not_be_judged_is_asked_again_and_no_more_than_thrice(
    lab: Lab, times: int, code: int
) -> None:
    lab.run("up", "simulator", "--port", lab.port)
    fault = json.dumps({"fault": "html-502", "times": times}).encode()
    port = lab.port.partition("=")[2]
    urllib.request.urlopen(f"http://127.0.0.1:{port}/__conformance/faults", fault).close()
    said = lab.record("--cassettes", "tapes", "--endpoint", "simulator", code=code)
    assert said.count("asked again, as it could not be judged") == (1 if code == 0 else 3)
    assert ("2 cassettes written" in said) is (code == 0)


def test_rows_of_the_configuration_count_with_another_port(lab: Lab) -> None:
    (lab.folder / "providers.yaml").write_text(CONFIG, "utf-8")
    lab.record()
    assert (lab.folder / "cassettes" / "simulator" / "chat.plain.yaml").is_file()


def test_an_endpoint_the_recipe_does_not_have_is_an_error(lab: Lab) -> None:
    assert "simulator has the rows simulator" in lab.record("--endpoint", "nope", code=2)


def test_an_unknown_recipe_is_an_error_that_names_those_there_are(lab: Lab) -> None:
    said = lab.run("up", "nope", code=2)
    assert said.startswith("error: no recipe nope")
    assert "litellm" in said


@pytest.mark.parametrize("word", ["simulator", "simulator=", "simulator=80", "simulator=x", "=1"])
def test_a_port_that_is_none_is_an_error(lab: Lab, word: str) -> None:
    assert f"--port {word}: wanted NAME=PORT" in lab.run("up", "simulator", "--port", word, code=2)


def test_what_this_machine_cannot_have_is_skipped_with_the_reason(tmp_path: Path) -> None:
    done = conformance(
        "lab", "install", "portkey", cwd=tmp_path, env={"CONFORMANCE_LAB": "lab", "PATH": str(tmp_path)}
    )
    assert done.returncode == 3
    assert done.stdout == "portkey: skipped: needs Node.js 20 or newer with npm; there is none on the PATH\n"


def test_rows_of_dialects_are_a_configuration(lab: Lab) -> None:
    rows = yaml.safe_load(lab.run("rows", "llamacpp", "--dialect", "kimi-k2"))["endpoints"]
    assert rows["llamacpp-kimi-k2"]["scripted"] == "kimi-k2"
    everything = yaml.safe_load(lab.run("rows", "llamacpp", "--dialect", "all"))["endpoints"]
    assert len(everything) == len(DIALECTS)


def test_a_server_that_loads_no_model_has_no_dialect(lab: Lab) -> None:
    assert "simulator loads no model" in lab.run("up", "simulator", "--dialect", "kimi-k2", code=2)
    assert "its recipe names no dialects" in lab.run("record", "simulator", "--dialect", "all", code=2)


def test_a_model_that_is_built_already_has_its_dialect(lab: Lab) -> None:
    said = lab.run("up", "llamacpp", "--dialect", "kimi-k2", "--model", "m", code=2)
    assert "--model is a model that is built already" in said


def test_what_runs_is_not_recorded_with_another_model(lab: Lab) -> None:
    lab.run("up", "simulator", "--port", lab.port)
    said = lab.run("record", "simulator", "--dialect", "kimi-k2", code=2)
    assert "simulator runs already, with another model" in said
