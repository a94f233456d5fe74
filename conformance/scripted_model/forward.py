"""A forward pass of the Qwen2 architecture in numpy: the proof that computed weights do what they should.

Nothing here knows how the weights were made. Architecture as in ``transformers`` (``modeling_qwen2.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.scripted_model.weights import HEAD_SIZE, RMS_EPS, Model

if TYPE_CHECKING:
    from conformance.scripted_model.weights import Array


def forward(model: Model, ids: Sequence[int], *, last: int, half: bool = False) -> Array:
    """The logits after each of the ``last`` last tokens of ``ids``: an array ``[last, vocab]``.

    ``half`` rounds queries, keys and values to 16 bits, as engines with a half-precision KV cache do.
    """
    import numpy as np

    shape, tensors = model.shape, model.tensors

    def weight(name: str) -> Array:
        return tensors[f"model.layers.0.{name}.weight"]

    def project(name: str, x: Array) -> Array:
        y = x @ weight(f"self_attn.{name}").T + tensors[f"model.layers.0.self_attn.{name}.bias"]
        return y.reshape(len(x), shape.heads, HEAD_SIZE).transpose(1, 0, 2)  # [head, token, HEAD_SIZE]

    def stored(x: Array) -> Array:
        return x.astype(np.float16).astype(np.float32) if half else x

    x = tensors["model.embed_tokens.weight"][list(ids)]
    positions = np.arange(len(ids), dtype=np.float32)
    normed = _rms_norm(x, weight("input_layernorm"))
    query = stored(_rope(project("q_proj", normed[-last:]), positions[-last:], shape.rope_base))
    key = stored(_rope(project("k_proj", normed), positions, shape.rope_base))
    value = stored(project("v_proj", normed))
    scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(HEAD_SIZE))
    scores = np.where(positions <= positions[-last:, None], scores, np.float32(-np.inf))
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attended = scores / scores.sum(axis=-1, keepdims=True) @ value
    x = x[-last:] + attended.transpose(1, 0, 2).reshape(last, shape.hidden) @ weight("self_attn.o_proj").T

    normed = _rms_norm(x, weight("post_attention_layernorm"))
    gate, up = normed @ weight("mlp.gate_proj").T, normed @ weight("mlp.up_proj").T
    x = x + (gate / (1 + np.exp(-gate)) * up) @ weight("mlp.down_proj").T
    logits: Array = _rms_norm(x, tensors["model.norm.weight"]) @ tensors["lm_head.weight"].T
    return logits


def generate(model: Model, prompt: str, *, limit: int, half: bool = False) -> str:
    """What the model says after ``prompt``, greedily, until end-of-turn or ``limit`` tokens."""
    ids = model.vocabulary.encode(prompt)
    said: list[int] = []
    while len(said) < limit:
        token = int(forward(model, [*ids, *said], last=1, half=half)[0].argmax())
        if token == model.vocabulary.eos:
            break
        said.append(token)
    return model.vocabulary.decode(said)


def smallest_gap(model: Model, prompt: str, name: str, *, half: bool = False) -> float:
    """The least logit gap, over all steps of a script, between the token it wants and the best other one.

    Positive means: after ``prompt`` the model emits exactly this script, each step following from the last.
    """
    import numpy as np

    wanted = [*model.vocabulary.chains[name], model.vocabulary.eos]
    ids = [*model.vocabulary.encode(prompt), *wanted[:-1]]
    logits = forward(model, ids, last=len(wanted), half=half)
    rows = np.arange(len(wanted))
    right = logits[rows, wanted].copy()
    logits[rows, wanted] = -np.inf
    return float((right - logits.max(axis=-1)).min())


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
