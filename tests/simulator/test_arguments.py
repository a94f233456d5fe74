"""Arguments as objects: what JSON in UTF-8 can carry, and what the wires do with the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.simulator import Persona, Simulator, running
from conformance.simulator.arguments import as_object
from conformance.types import ToolCall, Turn

from .gemini_support import TOOLS as FUNCTIONS
from .gemini_support import Gemini, parts
from .ollama_support import TOOLS, Ollama

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    LEAVES | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8
)


@given(st.dictionaries(TEXTS, VALUES))
def test_an_object_is_what_its_text_says(value: dict[str, Any]) -> None:
    assert as_object(json.dumps(value)) == value


@given(st.text())
def test_any_text_is_an_object_or_none(text: str) -> None:
    found = as_object(text)
    assert found is None or json.dumps(found, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("text", ["", " \n", "{}"])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    assert as_object(text) == {}


NO_OBJECTS = [
    "{",
    "[]",
    "null",
    "1",
    '"x"',
    '{"a":NaN}',
    '{"a":1e400}',
    '{"a":"\\ud83d"}',
    "[" * 100_000,
    "x",
]


@pytest.mark.parametrize("text", NO_OBJECTS)
def test_what_is_no_object_is_none(text: str) -> None:
    assert as_object(text) is None


@pytest.fixture(scope="module")
def broken() -> Iterator[Simulator]:
    scripts = {"broken": Turn((ToolCall("", "get_weather", '{"city":'),), "tool_calls")}
    with running(Simulator([Persona("reference")], scripts)) as simulator:
        yield simulator


def test_gemini_says_that_a_call_is_malformed(broken: Simulator, client: httpx.Client) -> None:
    candidate = Gemini(broken, client).candidate("[[broken]]", tools=FUNCTIONS)
    assert (parts(candidate), candidate["finishReason"]) == ([], "MALFORMED_FUNCTION_CALL")
    assert "get_weather" in candidate["finishMessage"]


def test_ollama_leaves_a_malformed_call_in_the_content(broken: Simulator, client: httpx.Client) -> None:
    message = Ollama(broken, client).answer("[[broken]]", tools=TOOLS)["message"]
    assert message == {"role": "assistant", "content": '{"name": "get_weather", "arguments": {"city":}'}
