"""Which part of a prompt was read before: OpenAI's prompt cache.

Source: OpenAI's guide "Prompt caching": prompts of 1,024 tokens or more, hits in steps of 128 tokens.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

from conformance.simulator.answer import encode
from conformance.simulator.request import ChatRequest

_LEAST = 1024
_STEP = 128
_STEP_BYTES = _STEP * 4
_ENTRIES = 20_000


class PromptCache:
    """The prefixes of the prompts seen so far, the newest 20,000 of them."""

    def __init__(self) -> None:
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()

    def read(self, persona: str, request: ChatRequest) -> int:
        """How many tokens of the prompt were read before; what is new is remembered."""
        if request.prompt_tokens < _LEAST:
            return 0
        asked = {"tools": request.body.get("tools"), "messages": _messages(request)}
        prompt = encode(asked)
        steps = min(len(prompt) // _STEP_BYTES, request.prompt_tokens // _STEP)
        hashed = hashlib.sha256(persona.encode())
        hits = 0
        for step in range(steps):
            hashed.update(prompt[step * _STEP_BYTES : (step + 1) * _STEP_BYTES])
            prefix = hashed.digest()
            if prefix in self._prefixes and hits == step:
                hits += 1
            self._prefixes[prefix] = None
            self._prefixes.move_to_end(prefix)
        while len(self._prefixes) > _ENTRIES:
            self._prefixes.popitem(last=False)
        return hits * _STEP if hits * _STEP >= _LEAST else 0


def _messages(request: ChatRequest) -> Any:
    """The conversation as sent; of wires that send only a part of it, as the model reads it."""
    given = request.body.get("messages")
    if given is not None:
        return given
    return [
        (message.role, message.text, [(call.name, call.arguments) for call in message.calls])
        for message in request.messages
    ]
