"""A forward pass of the Qwen2 architecture in numpy: the proof that computed weights do what they should.

Nothing here knows how the weights were made. Architecture as in ``transformers`` (``modeling_qwen2.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from conformance.scripted_model.weights import HEAD_SIZE, HEADS, HIDDEN, RMS_EPS, Model

if TYPE_CHECKING:
    import numpy as np

    from conformance.scripted_model.weights import Array

    Places = np.ndarray[tuple[int, ...], np.dtype[np.intp]]

LAYER = "model.layers.0"
ROWS = 256

Precision = Literal["single", "half-cache", "half", "bfloat"]
"""What engines round to: nothing, the KV cache to half precision, or all that is stored to 16 bits."""


class Network:
    """A model that runs, in a given precision."""

    def __init__(self, model: Model, precision: Precision = "single") -> None:
        self.model = model
        self.precision = precision
        self._linear = {
            name.removesuffix(".weight"): _Linear.of(
                self._stored(weight), model.tensors.get(name.removesuffix("weight") + "bias")
            )
            for name, weight in model.tensors.items()
            if weight.ndim == 2 and "embed" not in name
        }

    def logits(self, ids: Sequence[int], *, last: int) -> Array:
        """The logits after each of the ``last`` last tokens of ``ids``: an array ``[last, vocab]``."""
        import numpy as np

        tensors, base = self.model.tensors, self.model.shape.rope_base
        x = self._stored(tensors["model.embed_tokens.weight"][list(ids)])
        positions = np.arange(len(ids), dtype=np.float32)
        normed = self._stored(_rms_norm(x, tensors[f"{LAYER}.input_layernorm.weight"]))
        query = _rope(_heads(self._run("self_attn.q_proj", normed[-last:])), positions[-last:], base)
        key = _rope(_heads(self._run("self_attn.k_proj", normed)), positions, base)
        value = _heads(self._run("self_attn.v_proj", normed))
        query, key, value = self._cached(query), self._cached(key), self._cached(value)
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(HEAD_SIZE))
        scores = np.where(positions <= positions[-last:, None], scores, np.float32(-np.inf))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attended = self._stored(scores / scores.sum(axis=-1, keepdims=True) @ value)
        attended = attended.transpose(1, 0, 2).reshape(last, HIDDEN)
        x = self._stored(x[-last:] + self._run("self_attn.o_proj", attended))

        normed = self._stored(_rms_norm(x, tensors[f"{LAYER}.post_attention_layernorm.weight"]))
        gate, up = self._run("mlp.gate_proj", normed), self._run("mlp.up_proj", normed)
        with np.errstate(over="ignore"):  # a gate far below zero is shut, and e to its negative is infinite
            opened = self._stored(self._stored(gate / (1 + np.exp(-gate))) * up)
        x = self._stored(x + self._run("mlp.down_proj", opened))
        return self._linear["lm_head"](self._stored(_rms_norm(x, tensors["model.norm.weight"])))

    def generate(self, prompt: str, *, limit: int) -> str:
        """What the model says after ``prompt``, greedily, until a script's end or ``limit`` tokens."""
        vocabulary = self.model.vocabulary
        ids = vocabulary.encode(prompt)
        said: list[int] = []
        while len(said) < limit:
            token = int(self.logits([*ids, *said], last=1)[0].argmax())
            if token in vocabulary.ends.values():
                break
            said.append(token)
        return vocabulary.decode(said)

    def smallest_gap(self, prompt: str, name: str) -> float:
        """The least logit gap, over all tokens of a script, between the one it wants and the best other one.

        Positive means: after ``prompt`` the model emits exactly this script, each token following from the
        last.
        """
        import numpy as np

        vocabulary = self.model.vocabulary
        before = vocabulary.encode(prompt)
        whole = [*before, *vocabulary.chains[name], vocabulary.ends[name]]
        gap = np.inf
        for since in range(len(before), len(whole), ROWS):  # the scores of all at once would fill the memory
            wanted = whole[since : since + ROWS]
            logits = self.logits(whole[: since + len(wanted) - 1], last=len(wanted))
            rows = np.arange(len(wanted))
            right = logits[rows, wanted].copy()
            logits[rows, wanted] = -np.inf
            gap = min(gap, float((right - logits.max(axis=-1)).min()))
        return gap

    def _run(self, name: str, x: Array) -> Array:
        return self._stored(self._linear[f"{LAYER}.{name}"](x))

    def _stored(self, x: Array) -> Array:
        return x if self.precision in ("single", "half-cache") else _rounded(x, self.precision)

    def _cached(self, x: Array) -> Array:
        return x if self.precision == "single" else _rounded(x, self.precision)


@dataclass(frozen=True, slots=True)
class _Linear:
    """A linear map without its rows and columns of zeros: most of these matrices are little else."""

    size: int
    rows: Places
    columns: Places
    weight: Array
    bias: Array | None

    @classmethod
    def of(cls, weight: Array, bias: Array | None) -> _Linear:
        import numpy as np

        rows, columns = (np.flatnonzero(np.abs(weight).max(axis=axis)) for axis in (1, 0))
        return cls(len(weight), rows, columns, weight[rows][:, columns].T.copy(), bias)

    def __call__(self, x: Array) -> Array:
        import numpy as np

        y = np.zeros((len(x), self.size), np.float32)
        y[:, self.rows] = x[:, self.columns] @ self.weight
        return y if self.bias is None else y + self.bias


def _heads(x: Array) -> Array:
    return x.reshape(len(x), HEADS, HEAD_SIZE).transpose(1, 0, 2)  # [head, token, HEAD_SIZE]


def _rounded(x: Array, precision: Precision) -> Array:
    """To half precision, or to bfloat16 (the upper 16 bits of a float, to the nearest, ties to even)."""
    import numpy as np

    if precision != "bfloat":
        return x.astype(np.float16).astype(np.float32)
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    rounded: Array = upper.astype(np.uint32).view(np.float32)
    return rounded


def _rms_norm(x: Array, weight: Array) -> Array:
    import numpy as np

    normed: Array = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(RMS_EPS)) * weight
    return normed


def _rope(x: Array, positions: Array, base: float) -> Array:
    """Rotate ``[head, token, HEAD_SIZE]`` by position, dimension ``i`` paired with ``i + HEAD_SIZE / 2``."""
    import numpy as np

    half = HEAD_SIZE // 2
    angles = positions[:, None] * base ** (-np.arange(half) / half)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    a, b = x[..., :half], x[..., half:]
    rotated: Array = np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)
    return rotated
