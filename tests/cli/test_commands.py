"""The command line as a user meets it: output, exit codes, files."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance.report.jsonfile import schema
from conformance.scenarios import SCENARIOS
from conformance.simulator import PERSONAS
from conformance.simulator.personas import persona
from tests.cli.support import ROOT, clean_environment, conformance
from tests.engine.support import at, configure, served

ALL = sum(not scenario.intrusive for scenario in SCENARIOS.values())
"""How many scenarios run when nothing is said."""
JUDGED = sum(not s.intrusive and "openai-chat" in s.wires for s in SCENARIOS.values())
"""How many of them are about Chat; the others are unsupported there."""
KEY = {"KEY": PERSONAS["reference"].key}
REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}
DEEPSEEK = {**REFERENCE, "persona": "deepseek"}


def test_version_and_help(tmp_path: Path) -> None:
    assert conformance("--version", cwd=tmp_path).stdout.startswith("conformance, version ")
    text = conformance("--help", cwd=tmp_path).stdout
    assert "Exit codes:" in text
    assert all(word in text for word in ("run", "certify", "explain", "list", "doctor", "schema"))


@pytest.mark.parametrize("command", ["run", "certify", "explain", "list", "doctor", "schema"])
def test_every_command_explains_itself(tmp_path: Path, command: str) -> None:
    done = conformance(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "Usage: " in done.stdout


def test_run_prints_the_matrix_and_writes_every_report(tmp_path: Path) -> None:
    configure(tmp_path, reference=REFERENCE)
    done = conformance("run", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"judged {JUDGED} of {ALL} cells" in done.stdout
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"matrix.json", "matrix.md", "junit.xml", "allure-results"}
    assert "\x1b" not in done.stdout


def test_json_is_the_only_thing_on_stdout_and_follows_the_schema(tmp_path: Path) -> None:
    configure(tmp_path, reference=REFERENCE)
    done = conformance("run", "--json", "--scenario", "chat.[pm]*", cwd=tmp_path)
    document = json.loads(done.stdout)
    jsonschema_rs.Draft202012Validator(schema()).validate(document)
    assert [cell["scenario"] for cell in document["cells"]] == ["chat.plain", "chat.multi-turn"]
    assert "judged 2 of 2" in done.stderr


def test_a_violation_exits_1_and_a_known_one_0(tmp_path: Path) -> None:
    configure(tmp_path, e=DEEPSEEK)
    words = ("run", "--scenario", "tools.duplicate-names")
    assert conformance(*words, cwd=tmp_path).returncode == 1
    (tmp_path / "known.yaml").write_text(
        "- {endpoint: e, scenario: tools.duplicate-names, rule: chat.request.accepted, link: l, "
        "review_by: 2100-01-01}"
    )
    done = conformance(*words, "--known", "known.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0
    (cell,) = json.loads(done.stdout)["cells"]
    assert (cell["verdict"], "known" in cell["flags"]) == ("violates", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "providers.yaml: no such file"),
        (("run", "--config", "bad.yaml"), "bad.yaml:2: endpoints.a.base_ur: unknown key (did you mean"),
        (("run", "--config", "notyaml.yaml"), "notyaml.yaml:1: not YAML"),
        (("run", "--config", "good.yaml", "--endpoint", "refernce"), "did you mean reference?"),
        (("run", "--config", "good.yaml", "--scenario", "nope.*"), "no scenario nope.*"),
        (("run", "--config", "good.yaml", "--known", "missing.yaml"), "missing.yaml: no such file"),
        (("run", "--nope",), "No such option"),
        (("certify", "http://127.0.0.1:9/v1"), "Missing option '--model'"),
        (("certify", "127.0.0.1:9/v1", "--model", "m"), "must begin with http:// or https://"),
        (("certify", "http://127.0.0.1:9", "--model", "m", "--key-env", "UNSET_KEY"), "UNSET_KEY"),
        (("certify", "http://127.0.0.1:9", "--model", "m", "--wire", "opena-chat"), "wire"),
        (("certify", "http://127.0.0.1:9", "--model", "m", "--dialect", "hermse"), "did you mean hermes?"),
        (("explain", "chat.plan"), "did you mean chat.plain?"),
        (
            ("explain", "hermes"),
            "hermes is a dialect, and only rules, scenarios, quirks and policies are explained",
        ),
        (("explain", "gemini"), "conformance list wires shows it"),
        (("certify", "simulator:refernce", "--model", "m"), "no such persona"),
        (("run", "--config", "empty.yaml"), "empty.yaml:1: endpoints:"),
        (("run", "--config", "date.yaml"), "date.yaml:2: endpoints.a.extra_body: holds something JSON has"),
        (("run", "--config", "ca.yaml"), "ca.yaml:2: endpoints.a.ca_file: no such file nope.pem"),
        (("run", "--config", "socks.yaml"), "endpoints.a.proxy: must begin with http:// or https://"),
    ],
)  # fmt: skip
def test_usage_and_configuration_errors_exit_2_in_a_line(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "bad.yaml").write_text("endpoints:\n  a: {base_ur: http://x/v1, model: m}\n")
    (tmp_path / "empty.yaml").write_text("endpoints: {}\n")
    row = "endpoints:\n  a: {{base_url: 'http://127.0.0.1:9', model: m, {}}}\n"
    (tmp_path / "date.yaml").write_text(row.format("extra_body: {seed: 2024-01-01}"))
    (tmp_path / "ca.yaml").write_text(row.format("ca_file: nope.pem"))
    (tmp_path / "socks.yaml").write_text(row.format("proxy: 'socks5://127.0.0.1:1'"))
    (tmp_path / "notyaml.yaml").write_text("{{{{")
    (tmp_path / "good.yaml").write_text(
        "endpoints: {reference: {persona: reference, model: m, scripted: true}}"
    )
    done = conformance(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_could_not_be_judged_exits_3(tmp_path: Path) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    words = ("certify", f"http://127.0.0.1:{port}/v1", "--model", "m", "--scenario", "chat.*")
    done = conformance(*words, cwd=tmp_path)
    assert done.returncode == 3
    assert f"127.0.0.1:{port}" in done.stdout
    configure(tmp_path, e={"base_url": "http://127.0.0.1:9/v1", "model": "m", "key_env": "UNSET_KEY"})
    named = conformance("run", "--endpoint", "e", cwd=tmp_path)
    assert named.returncode == 3
    assert "UNSET_KEY" in named.stdout


def test_a_violation_beats_what_could_not_be_judged(tmp_path: Path) -> None:
    gone = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    configure(tmp_path, e=DEEPSEEK, gone=gone)
    words = ("run", "--live", "--scenario", "tools.duplicate-names")
    assert conformance(*words, cwd=tmp_path).returncode == 1


def test_min_judged_raises_the_bar(tmp_path: Path) -> None:
    configure(tmp_path, e={**REFERENCE, "unsupported": ["reasoning"]})
    words = ("run", "--scenario", "reasoning.stream", "--scenario", "chat.plain")
    assert conformance(*words, "--min-judged", "50", cwd=tmp_path).returncode == 0
    assert conformance(*words, "--min-judged", "51", cwd=tmp_path).returncode == 3


def test_certify_says_what_it_costs_then_records_and_can_be_replayed(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        url = simulator.base_url("reference")
        words = ("certify", url, "--model", "reference", "--key-env", "KEY", "--out", "cert", "--scripted")
        dry = conformance(*words, "--dry-run", cwd=tmp_path, env=KEY)
        assert dry.returncode == 0
        assert f"{ALL} scenarios, " in dry.stdout
        assert re.search(
            r" requests, at most [\d,]+ output and about [\d,]+ prompt tokens; with repeats", dry.stdout
        )
        assert not simulator.journal
        done = conformance(*words, cwd=tmp_path, env=KEY)
    assert done.returncode == 0, done.stdout
    assert len(list((tmp_path / "cert" / "cassettes").rglob("*.yaml"))) == JUDGED
    again = conformance("run", "--config", "cert/providers.yaml", "--out", "again", cwd=tmp_path)
    assert again.returncode == 0
    assert f"judged {JUDGED} of {ALL} cells" in again.stdout


def test_certify_groups_what_failed_by_rule_with_the_excerpt_that_proves_it(tmp_path: Path) -> None:
    with served(persona("bad", "missing-ids")) as simulator:
        done = conformance(
            "certify", simulator.base_url("bad"), "--model", "reference", "--key-env", "KEY", "--scripted",
            "--scenario", "tools.single-call", "--scenario", "tools.no-arguments", cwd=tmp_path, env=KEY,
        )  # fmt: skip
    assert done.returncode == 1
    for said in (
        "chat.response.tool-call-id",
        "/exchanges/0/response/body/choices/0/message",
        "wanted",
        "got",
    ):
        assert said in done.stdout


def test_certify_judges_only_the_rules_it_is_given(tmp_path: Path) -> None:
    with served(persona("bad", "missing-ids")) as simulator:
        done = conformance(
            "certify", simulator.base_url("bad"), "--model", "reference", "--key-env", "KEY", "--scripted",
            "--scenario", "tools.single-call", "--rule", "chat.response.object-literal",
            cwd=tmp_path, env=KEY,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_certify_never_sends_more_than_it_may(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        done = conformance(
            "certify", simulator.base_url("reference"), "--model", "reference", "--key-env", "KEY",
            "--max-requests", "3", cwd=tmp_path, env=KEY,
        )  # fmt: skip
        assert len(simulator.journal) == 3
    assert done.returncode == 3


def test_v_shows_the_exchange_and_plain_output_does_not(tmp_path: Path) -> None:
    configure(tmp_path, e=DEEPSEEK)
    words = ("run", "--scenario", "tools.duplicate-names")
    assert "POST simulator:deepseek/chat/completions" not in conformance(*words, cwd=tmp_path).stdout
    assert "POST simulator:deepseek/chat/completions" in conformance(*words, "-v", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    "id", ["chat.response.tool-call-id", "tools.parallel-calls", "duplicate-tool-names-rejected"]
)
def test_explain_knows_rules_scenarios_and_quirks(tmp_path: Path, id: str) -> None:
    done = conformance("explain", id, cwd=tmp_path)
    assert done.returncode == 0
    assert id in done.stdout.splitlines()[0]
    assert len(done.stdout.splitlines()) > 8


def test_explain_a_rule_shows_requirement_source_and_both_examples(tmp_path: Path) -> None:
    text = conformance("explain", "chat.response.tool-call-id", cwd=tmp_path).stdout
    for said in ("level    MUST", "source", "breaks", "violating:", "conforming:", "wanted", "got"):
        assert said in text


def test_a_row_with_a_dialect_is_listed_with_it(tmp_path: Path) -> None:
    configure(tmp_path, e={**REFERENCE, "dialect": "hermes"})
    assert "openai-chat + hermes" in conformance("list", "endpoints", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    "what", ["rules", "scenarios", "quirks", "profiles", "policies", "wires", "dialects", "endpoints"]
)
def test_list_as_text_and_as_json(tmp_path: Path, what: str) -> None:
    configure(tmp_path, reference=REFERENCE)
    rows = json.loads(conformance("list", what, "--json", cwd=tmp_path).stdout)
    lines = conformance("list", what, cwd=tmp_path).stdout.splitlines()
    assert len(rows) == len(lines) > 0


def test_schema_prints_both_schemas(tmp_path: Path) -> None:
    providers = json.loads(conformance("schema", cwd=tmp_path).stdout)
    assert "endpoints" in providers["properties"]
    assert json.loads(conformance("schema", "matrix", cwd=tmp_path).stdout) == schema()


def test_doctor_checks_the_installation_and_the_keys(tmp_path: Path) -> None:
    configure(tmp_path, e={"base_url": "https://api.example.com/v1", "model": "m", "key_env": "UNSET_KEY"})
    done = conformance("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Python 3." in done.stdout
    assert "libyaml" in done.stdout
    assert "UNSET_KEY is not set" in done.stdout


def test_no_color_in_a_terminal_is_respected(tmp_path: Path) -> None:
    configure(tmp_path, reference=REFERENCE)
    words = ("run", "--scenario", "chat.plain")
    tty = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "80"}
    assert "\x1b[" in conformance(*words, cwd=tmp_path, env=tty).stdout
    coloured = conformance(*words, cwd=tmp_path, env={**tty, "NO_COLOR": "1"}).stdout
    assert "\x1b[3" not in coloured
    assert "\x1b[9" not in coloured


def test_ctrl_c_writes_what_is_finished_and_exits_130(tmp_path: Path) -> None:
    slow: dict[str, Any] = {"timeout": 60, "concurrency": 1}
    with served(PERSONAS["reference"], persona("stuck", "hang")) as simulator:
        configure(tmp_path, good=at(simulator, "reference"), stuck=at(simulator, "stuck", **slow))
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance", "run", "--live", "--out", "out"],
            cwd=tmp_path, env=clean_environment(KEY), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8",
        )  # fmt: skip
        assert process.stderr is not None
        # The line comes when the good endpoint is finished; the other one never will be.
        assert f"good: {ALL}/{ALL}" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    document = json.loads((tmp_path / "out" / "matrix.json").read_text())
    assert len([c for c in document["cells"] if c["endpoint"] == "good"]) == ALL
    assert f"judged {JUDGED} of" in stdout


def test_without_live_nothing_but_loopback_is_reached_and_no_key_is_needed(tmp_path: Path) -> None:
    config = str(ROOT / "providers.yaml")
    done = conformance("run", "--config", config, "--scenario", "chat.plain", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    document = json.loads((tmp_path / "out" / "matrix.json").read_text())
    sources = {row["name"]: row["source"] for row in document["endpoints"]}
    assert sources["openai"] == "none"
    assert "live" not in sources.values()


def test_a_dry_run_writes_nothing_and_no_run_overwrites_a_file_of_the_user(tmp_path: Path) -> None:
    words = ("certify", "simulator:reference", "--model", "m", "--scenario", "chat.plain", "--out", ".")
    assert conformance(*words, "--dry-run", cwd=tmp_path).returncode == 0
    assert not list(tmp_path.iterdir())
    (tmp_path / "providers.yaml").write_text("mine")
    done = conformance(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "choose another --out" in done.stderr
    assert (tmp_path / "providers.yaml").read_text() == "mine"


def test_a_bad_base_url_leaves_nothing_behind_and_speaks_of_no_file(tmp_path: Path) -> None:
    done = conformance("certify", "notaurl", "--model", "m", cwd=tmp_path)
    assert done.stderr.startswith("error: base_url: must begin with http:// or https://")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["run", "certify"])
def test_an_impossible_out_is_refused_before_anything_is_sent(tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("x")
    with served(PERSONAS["reference"]) as simulator:
        configure(tmp_path, e=at(simulator, "reference"))
        url = simulator.base_url("reference")
        words = ("run", "--live") if command == "run" else ("certify", url, "--model", "m")
        done = conformance(*words, "--out", "file/deep", cwd=tmp_path, env=KEY)
        assert not simulator.journal
    assert done.returncode == 2
    assert "--out file/deep: can't be written to" in done.stderr


def test_a_reader_that_leaves_changes_no_exit_code(tmp_path: Path) -> None:
    configure(tmp_path, e=REFERENCE)
    command = f"set -o pipefail; {sys.executable} -m conformance run --scenario chat.plain | true"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_plain_pytest_runs_the_configuration(tmp_path: Path) -> None:
    configure(tmp_path, reference=REFERENCE, bad=DEEPSEEK)
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "conformance.engine.plugin", "providers.yaml", "-k",
            "tools", "--junitxml=j.xml", "--alluredir=allure", "-n", "2", "-p", "no:cacheprovider",
        ],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "providers.yaml::bad::tools.duplicate-names" in done.stdout
    assert "MUST chat.request.accepted" in done.stdout
    assert "Traceback" not in done.stdout
    assert "20 passed" not in done.stdout
    junit = (tmp_path / "j.xml").read_text()
    assert 'name="tools.single-call"' in junit
    results = [json.loads(path.read_text()) for path in (tmp_path / "allure").glob("*-result.json")]
    statuses = {result["name"]: result["status"] for result in results if "bad" in result["fullName"]}
    assert statuses["tools.duplicate-names"] == "failed"


def test_stdout_closed_early_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m conformance list rules | head -1"
    done = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
