"""Tokens from llama.cpp for the workers of frontends that do the rest themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp  # type: ignore[import-not-found]

PATIENCE = aiohttp.ClientTimeout(total=280)
PAUSE_S = 0.002
"""Between two tokens that a worker hands on: an engine makes them one by one, and so they are streamed."""


@dataclass(frozen=True, slots=True)
class Completion:
    """How llama.cpp went on; ``probable`` is as long as ``tokens``, or empty where nobody asked."""

    tokens: tuple[int, ...]
    finish_reason: str
    probable: tuple[dict[str, Any], ...]


class LlamaCpp:
    """A llama.cpp server, asked for tokens alone: nothing is constrained, no text stops it."""

    def __init__(self, origin: str, key: str) -> None:
        self._url = f"{origin}/completion"
        self._headers = {"Authorization": f"Bearer {key}"}

    async def complete(
        self, prompt: list[int], *, temperature: float, most: int | None, likely: int | None
    ) -> Completion:
        """Go on from ``prompt``. Raises `ValueError` with llama.cpp's words where it refuses."""
        body = {
            "prompt": prompt,
            # Its stream leaves out the tokens in the midst of a character, its answer does not.
            "stream": False,
            "return_tokens": True,
            "temperature": temperature,
            "n_predict": -1 if most is None else most,
            "n_probs": 0 if likely is None else max(likely, 1),
        }
        async with (
            aiohttp.ClientSession(timeout=PATIENCE, headers=self._headers) as session,
            session.post(self._url, json=body) as answer,
        ):
            if answer.status != 200:
                raise ValueError((await answer.text())[:500])
            said = await answer.json()
        tokens = tuple(said["tokens"])
        return Completion(
            tokens,
            "length" if said.get("stop_type") == "limit" else "stop",
            tuple(said.get("completion_probabilities") or ())[: len(tokens)],
        )
