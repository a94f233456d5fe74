"""Configuration: what is refused, and how clearly."""

from __future__ import annotations

from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.config import ConfigError, json_schema, load, parse

ROOT = Path(__file__).parent.parent

GOOD = """\
endpoints:
  groq:
    base_url: https://api.groq.com/openai/v1/
    model: m
    key_env: GROQ_API_KEY
    headers: {x-team: a, x-team-token: {env: TEAM_TOKEN}}
  reference: {persona: reference, model: reference}
"""


def test_a_row_becomes_an_endpoint_with_its_name_and_without_the_trailing_slash() -> None:
    groq, reference = parse(GOOD, "p.yaml")
    assert (groq.name, groq.base_url, groq.wire) == ("groq", "https://api.groq.com/openai/v1", "openai-chat")
    assert reference.shown_url == "simulator:reference"


URL = "base_url: http://x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "endpoints: {a: {base_ur: http://x/v1, model: m}}",
            "p.yaml:1: endpoints.a.base_ur: unknown key (did you mean base_url?)",
        ),
        ("endpoint: {}", "p.yaml:1: endpoint: unknown key (did you mean endpoints?)"),
        ("endpoints:\n  a: {base_url: http://x}\n", "p.yaml:2: endpoints.a.model: is missing"),
        (
            "endpoints:\n  a:\n    model: m\n    base_url: http://x\n    timeout: soon\n",
            "p.yaml:5: endpoints.a.timeout:",
        ),
        ("endpoints:\n  a: {model: m}\n", "p.yaml:2: endpoints.a: needs either base_url or persona"),
        (f"endpoints:\n  a: {{model: m, {URL}, persona: p}}\n", "needs either base_url or persona"),
        ("endpoints:\n  a: {model: m, base_url: ftp://x}\n", "must begin with http:// or https://"),
        ("endpoints:\n  a: {model: m, base_url: 'http://me:pw@x'}\n", "hold no user name or password"),
        (f"endpoints:\n  a: {{model: m, {URL}, wire: openai}}\n", "p.yaml:2: endpoints.a.wire:"),
        (f"endpoints:\n  a: {{model: m, {URL}, headers: {{Authorization: k}}}}\n", "write {env: NAME}"),
        (f"endpoints:\n  A B: {{model: m, {URL}}}\n", "p.yaml:2: endpoints.A B: a name is made of"),
        (f"endpoints:\n  a: {{model: m, {URL}}}\n  a: {{}}\n", "p.yaml:3: a: this key occurs twice"),
        ("endpoints: [\n", "p.yaml:2: not YAML:"),
        ("? [a, b]\n: 1\n", "p.yaml:1: a key must be plain text"),
        ("- a\n", "this is a list"),
        ("", "this is a blank file"),
        ("<html><body>no</body></html>", "this is a text"),
        ("a: \x00", "not YAML"),
    ],
)
def test_a_bad_file_is_refused_naming_file_line_and_key(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, "p.yaml")
    assert said in str(error.value)


def test_a_missing_file_says_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no such file.*conformance certify"):
        load(tmp_path / "providers.yaml")


def test_a_secret_in_a_refused_header_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as error:
        parse(
            "endpoints: {a: {base_url: http://x, model: m, headers: {x-api-key: hunter2hunter2}}}", "p.yaml"
        )
    assert "hunter2" not in str(error.value)


def test_a_password_in_a_refused_url_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as error:
        parse("endpoints: {a: {base_url: 'https://me:hunter2@x', model: m}}", "p.yaml")
    assert "hunter2" not in str(error.value)


def test_a_file_of_nested_aliases_is_answered_at_once() -> None:
    lines = ["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}" for n in range(1, 40)]
    with pytest.raises(ConfigError):
        parse("\n".join(lines), "p.yaml")


@given(st.text())
def test_any_text_is_a_configuration_or_a_clear_error(text: str) -> None:
    said = "p.yaml:"
    try:
        parse(text, "p.yaml")
    except ConfigError as error:
        said = str(error)
    assert said.startswith("p.yaml:")


def test_the_published_schema_accepts_our_own_file_and_refuses_unknown_keys() -> None:
    validator = jsonschema_rs.validator_for(json_schema())
    ours = yaml.safe_load((ROOT / "providers.yaml").read_text("utf-8"))
    assert validator.is_valid(ours)
    ours["endpoints"]["openai"]["base_ur"] = "x"
    assert not validator.is_valid(ours)


def test_every_endpoint_that_the_mission_names_has_a_row() -> None:
    rows = {row.name for row in load(ROOT / "providers.yaml")}
    wanted = """openai openai-responses anthropic openrouter vllm ollama lmstudio tgi llamacpp gemini
    gemini-compat qwen deepseek moonshot xiaomi-mimo mistral bytedance groq private-gateway"""
    assert set(wanted.split()) <= rows


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ("parity: true", "needs scripted"),
        ("parity: true, scripted: true, dialect: hermes", "neither dialect nor unsupported"),
        ("parity: true, scripted: true, unsupported: [streaming]", "neither dialect nor unsupported"),
    ],
)
def test_parity_where_nothing_can_be_compared_is_an_error(members: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse(f"endpoints:\n  a: {{base_url: 'http://127.0.0.1:1/v1', model: m, {members}}}\n", "p.yaml")


@pytest.mark.parametrize(
    ("members", "both"),
    [
        ("base_url: 'http://127.0.0.1:1/v1'", False),
        ("base_url: 'http://127.0.0.1:1/v1', scripted: true", True),
        ("base_url: 'http://127.0.0.1:1/v1', scripted: qwen3-coder", True),
        ("base_url: 'http://127.0.0.1:1/v1', scripted: true, parity: false", False),
        ("base_url: 'http://127.0.0.1:1/v1', scripted: true, unsupported: [streaming]", False),
        ("persona: reference, scripted: true", False),
        ("persona: reference, scripted: true, parity: true", True),
    ],
)
def test_a_scripted_model_that_is_no_persona_is_asked_both_ways(members: str, both: bool) -> None:
    (row,) = parse(f"endpoints:\n  a: {{model: m, {members}}}\n", "p.yaml")
    assert row.asks_both_ways is both
