"""The registry and the HTTP binding."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import WIRES
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


@pytest.mark.parametrize("name", [name for name in WIRES if name != "openai-chat"])
def test_a_wire_that_is_not_there_yet_says_so(name: Any) -> None:
    with pytest.raises(LookupError, match=rf"{name}.* not implemented yet"):
        wire(name)


def test_an_unknown_wire_is_named_with_the_known_ones() -> None:
    unknown: Any = "smoke-signals"
    with pytest.raises(LookupError, match=r"smoke-signals.*openai-chat"):
        wire(unknown)
