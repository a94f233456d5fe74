"""Places where a recording of a reference endpoint breaks a MUST, each with why that is not its fault."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.types import WIRES, WireName

SignedOff = Mapping[tuple[str, str], str]

CHAT: SignedOff = {
    (
        "chat_completion_image_input.yaml",
        "chat.response.choice-required-keys",
    ): "gpt-4-vision-preview (2023) sent finish_details in place of finish_reason",
}

SIGNED_OFF: Mapping[WireName, SignedOff] = {**{wire: {} for wire in WIRES}, "openai-chat": CHAT}
"""By wire: file name and rule, and the reason."""
