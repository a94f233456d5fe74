"""A forward pass of the Qwen2 architecture in numpy: the proof that computed weights do what they should.

Nothing here knows how the weights were made. Architecture as in ``transformers`` (``modeling_qwen2.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from conformance.scripted_model.weights import HEAD_SIZE, HEADS, HIDDEN, RMS_EPS, Model

if TYPE_CHECKING:
    from conformance.scripted_model.weights import Array

Precision = Literal["single", "half-cache", "half", "bfloat"]
"""What engines round to: nothing, the KV cache to half precision, or all that is stored to 16 bits."""


def forward(model: Model, ids: Sequence[int], *, last: int, precision: Precision = "single") -> Array:
    """The logits after each of the ``last`` last tokens of ``ids``: an array ``[last, vocab]``."""
    import numpy as np

    def stored(x: Array) -> Array:
        return x if precision in ("single", "half-cache") else _rounded(x, precision)

    def cached(x: Array) -> Array:
        return x if precision == "single" else _rounded(x, precision)

    def linear(x: Array, name: str) -> Array:
        y: Array = x @ stored(model.tensors[f"{name}.weight"]).T
        bias = model.tensors.get(f"{name}.bias")
        return stored(y if bias is None else y + stored(bias))

    def heads(x: Array) -> Array:
        return x.reshape(len(x), HEADS, HEAD_SIZE).transpose(1, 0, 2)  # [head, token, HEAD_SIZE]

    layer = "model.layers.0"
    x = stored(model.tensors["model.embed_tokens.weight"][list(ids)])
    positions = np.arange(len(ids), dtype=np.float32)
    normed = stored(_rms_norm(x, model.tensors[f"{layer}.input_layernorm.weight"]))
    turned = (positions, model.shape.rope_base)
    query = cached(
        _rope(heads(linear(normed[-last:], f"{layer}.self_attn.q_proj")), positions[-last:], turned[1])
    )
    key = cached(_rope(heads(linear(normed, f"{layer}.self_attn.k_proj")), *turned))
    value = cached(heads(linear(normed, f"{layer}.self_attn.v_proj")))
    scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(HEAD_SIZE))
    scores = np.where(positions <= positions[-last:, None], scores, np.float32(-np.inf))
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attended = stored(scores / scores.sum(axis=-1, keepdims=True) @ value)
    attended = attended.transpose(1, 0, 2).reshape(last, HIDDEN)
    x = stored(x[-last:] + linear(attended, f"{layer}.self_attn.o_proj"))

    normed = stored(_rms_norm(x, model.tensors[f"{layer}.post_attention_layernorm.weight"]))
    gate, up = linear(normed, f"{layer}.mlp.gate_proj"), linear(normed, f"{layer}.mlp.up_proj")
    with np.errstate(over="ignore"):  # a gate far below zero is shut, and e to its negative is infinite
        opened = stored(stored(gate / (1 + np.exp(-gate))) * up)
    x = stored(x + linear(opened, f"{layer}.mlp.down_proj"))
    return linear(stored(_rms_norm(x, model.tensors["model.norm.weight"])), "lm_head")


def generate(model: Model, prompt: str, *, limit: int, precision: Precision = "single") -> str:
    """What the model says after ``prompt``, greedily, until a script's end or ``limit`` tokens."""
    ids = model.vocabulary.encode(prompt)
    said: list[int] = []
    while len(said) < limit:
        token = int(forward(model, [*ids, *said], last=1, precision=precision)[0].argmax())
        if token in model.vocabulary.ends.values():
            break
        said.append(token)
    return model.vocabulary.decode(said)


def smallest_gap(model: Model, prompt: str, name: str, *, precision: Precision = "single") -> float:
    """The least logit gap, over all tokens of a script, between the one it wants and the best other one.

    Positive means: after ``prompt`` the model emits exactly this script, each token following from the last.
    """
    import numpy as np

    wanted = [*model.vocabulary.chains[name], model.vocabulary.ends[name]]
    ids = [*model.vocabulary.encode(prompt), *wanted[:-1]]
    logits = forward(model, ids, last=len(wanted), precision=precision)
    rows = np.arange(len(wanted))
    right = logits[rows, wanted].copy()
    logits[rows, wanted] = -np.inf
    return float((right - logits.max(axis=-1)).min())


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
