"""The registry and the HTTP binding."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import WIRES, WireName
from conformance.wires import wire


def test_the_chat_wire_binds_to_its_paths() -> None:
    chat = wire("openai-chat")
    assert (chat.name, chat.path("m", True), chat.models_path) == (
        "openai-chat",
        "/chat/completions",
        "/models",
    )


def test_a_key_is_a_bearer_token_and_no_key_is_no_header() -> None:
    chat = wire("openai-chat")
    assert chat.auth_headers("k") == (("Authorization", "Bearer k"),)
    assert chat.auth_headers("") == ()


@pytest.mark.parametrize("name", WIRES)
def test_every_wire_of_the_vocabulary_is_there_under_its_name(name: WireName) -> None:
    assert wire(name).name == name


def test_an_unknown_wire_is_named_with_the_known_ones() -> None:
    unknown: Any = "smoke-signals"
    with pytest.raises(LookupError, match=r"smoke-signals.*openai-chat"):
        wire(unknown)
