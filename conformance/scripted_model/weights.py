"""The weights of a scripted model: a one-layer Qwen2 network, computed from its vocabulary.

Attention gathers what decides: seven heads copy the code of the token exactly 1, 2 ... 7 places back, and one
copies the script's code from the last marker. The feed-forward block is a table: each neuron knows one place
of a script by all of these codes, fires if they fit, and writes the code of the token that follows. The
output head finds the token with that code.

The hidden state is a row of labelled dimensions. A token's embedding sets TOKEN[0] (its code), CARRIED (the
code of its script for a marker, of the first script for all others), MARKER or OTHER, and ONE; attention adds
TOKEN[1] to TOKEN[7] and SCRIPT; the feed-forward block adds NEXT. All codes have the same length, so RMSNorm
multiplies every row by the same number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from conformance.scripted_model.codes import SIZE, codes
from conformance.scripted_model.cutting import LOOKBACK
from conformance.scripted_model.table import table
from conformance.scripted_model.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"

HEAD_SIZE = 64  # the smallest that every engine's attention kernels take
HEADS = LOOKBACK  # LOOKBACK - 1 that look back, and the one that finds the last marker
HIDDEN = HEADS * HEAD_SIZE
RMS_EPS = 1e-6  # Qwen2's

_SCRIPT = LOOKBACK * SIZE  # TOKEN[n] begins at n x SIZE
_CARRIED = _SCRIPT + SIZE
_NEXT = _CARRIED + SIZE
_MARKER, _OTHER, _ONE = range(_NEXT + SIZE, _NEXT + SIZE + 3)

# A neuron sums up how much of what it wants is there, in units of one code: all of it is as many units as
# codes it knows, and any other input lacks half a unit or more. The threshold lies in the middle.
SHARP = 64.0
FIRING = SHARP / 4

# A context of n tokens counts START x 3**n, twice as much as all shorter ones together; START itself, which
# fires as long as its script is the current one, loses to any. START x 3**8 x 3/2 fits half precision
# (65,504), and so does what a neuron writes before START.
START = 4.0
LOGIT = 2.0

# Attention scores of the head that finds markers lie in +-PEAK. Two markers differ by PEAK x (radians between
# them): large, so that a few tokens decide; small enough that the products, eight times that before scaling,
# fit half precision. Those that look back prefer their token to its neighbours by about NEAR.
PEAK = 8000.0
NEAR = 40.0

# The slowest rotary pair turns by SPAN over the whole context. A marker's key starts SPAN/2 short of a right
# angle to the query: with growing distance its score only falls. Any other key points away from the query
# and stays below the farthest marker: cos(SPAN/2) = 0.87 against sin(SPAN/2) = 0.5.
SPAN = math.pi / 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network; ``ctx`` in tokens. There are as many key/value heads as query heads."""

    vocab: int
    feed_forward: int
    ctx: int

    @property
    def rope_base(self) -> float:
        """The base whose slowest pair, ``base ** -(1 - 2/HEAD_SIZE)`` a token, turns SPAN in ``ctx``."""
        return float((self.ctx / SPAN) ** (1 / (1 - 2 / HEAD_SIZE)))


@dataclass(frozen=True, slots=True)
class Model:
    """A vocabulary, a shape, and the weights by their Hugging Face names (rows are outputs)."""

    vocabulary: Vocabulary
    shape: Shape
    tensors: Mapping[str, Array]


def compute(vocabulary: Vocabulary, *, ctx: int) -> Model:
    """The model of a vocabulary for contexts of up to ``ctx`` tokens.

    The last marker wins for certain when it is at least ``ctx / 512`` tokens after the one before. That
    holds for a half-precision KV cache, too, whose rounding is what limits it.
    """
    import numpy as np

    embedding, gain = _embedding(vocabulary)
    attention, gain = _attention(gain, ctx)
    feed_forward = _feed_forward(vocabulary, gain)
    head = np.zeros_like(embedding)
    head[:, _NEXT : _NEXT + SIZE] = LOGIT * codes(range(len(head)))
    ones = np.ones(HIDDEN, np.float32)
    layer = (
        attention | feed_forward | {"input_layernorm.weight": ones, "post_attention_layernorm.weight": ones}
    )
    tensors = {"model.embed_tokens.weight": embedding, "model.norm.weight": ones, "lm_head.weight": head}
    tensors |= {f"model.layers.0.{name}": array for name, array in layer.items()}
    shape = Shape(len(vocabulary.tokens), len(feed_forward["mlp.gate_proj.weight"]), ctx)
    return Model(vocabulary, shape, tensors)


def _gain(dimensions: int) -> float:
    """What RMSNorm multiplies a row with, in which so many dimensions are 1 or -1 and the others 0."""
    return math.sqrt(HIDDEN / dimensions)


def _embedding(vocabulary: Vocabulary) -> tuple[Array, float]:
    """The embeddings, and the gain of the norm behind them."""
    import numpy as np

    rows = np.zeros((len(vocabulary.tokens), HIDDEN), np.float32)
    markers = list(vocabulary.markers.values())
    rows[:, :SIZE] = codes(range(len(rows)))
    rows[:, _CARRIED : _CARRIED + SIZE] = codes([0])
    rows[markers, _CARRIED : _CARRIED + SIZE] = codes(range(len(markers)))
    rows[:, _OTHER] = 1
    rows[markers, _OTHER] = 0
    rows[markers, _MARKER] = 1
    rows[:, _ONE] = 1
    return rows, _gain(2 * SIZE + 2)


def _attention(gain: float, ctx: int) -> tuple[dict[str, Array], float]:
    """The attention block behind a norm of that ``gain``, and the gain of the norm behind the block."""
    import numpy as np

    query, key, value, output = (np.zeros((HIDDEN, HIDDEN), np.float32) for _ in range(4))
    query_bias, key_bias = np.zeros(HIDDEN, np.float32), np.zeros(HIDDEN, np.float32)
    pairs = np.arange(HEAD_SIZE // 2)  # RoPE pairs dimension i with i + HEAD_SIZE / 2
    turns = Shape(0, 0, ctx).rope_base ** (-pairs / len(pairs))
    signs = np.arange(SIZE)

    # Query and key are constants, so a score says how far apart two tokens are and nothing else. All pairs of
    # a query are turned back by `back` tokens: they agree with the key exactly there.
    reach = math.sqrt(NEAR * math.sqrt(HEAD_SIZE))  # attention divides products by the root of the head size
    for back in range(1, LOOKBACK):
        head = (back - 1) * HEAD_SIZE
        query_bias[head + pairs] = reach * np.cos(turns * back)
        query_bias[head + len(pairs) + pairs] = -reach * np.sin(turns * back)
        key_bias[head + pairs] = reach
        value[head + signs, signs] = 1 / gain
        output[back * SIZE + signs, head + signs] = 1

    head = (LOOKBACK - 1) * HEAD_SIZE
    reach = math.sqrt(PEAK * math.sqrt(HEAD_SIZE))
    slow, partner = head + len(pairs) - 1, head + HEAD_SIZE - 1
    ahead, away = (
        -(math.pi - SPAN) / 2,
        -(math.pi - SPAN / 2),
    )  # of a marker's key, of any other; before rotation
    query_bias[slow] = reach
    for flag, angle in ((_MARKER, ahead), (_OTHER, away)):
        key[slow, flag] = reach * math.cos(angle) / gain
        key[partner, flag] = reach * math.sin(angle) / gain
    value[head + signs, _CARRIED + signs] = 1 / gain
    output[_SCRIPT + signs, head + signs] = 1

    block = {
        "self_attn.q_proj.weight": query,
        "self_attn.q_proj.bias": query_bias,
        "self_attn.k_proj.weight": key,
        "self_attn.k_proj.bias": key_bias,
        "self_attn.v_proj.weight": value,
        "self_attn.v_proj.bias": np.zeros(HIDDEN, np.float32),
        "self_attn.o_proj.weight": output,
    }
    return block, _gain((LOOKBACK + 2) * SIZE + 2)


def _feed_forward(vocabulary: Vocabulary, gain: float) -> dict[str, Array]:
    """The feed-forward block behind a norm of that ``gain``: a neuron for each entry of the table."""
    import numpy as np

    entries = table(vocabulary)
    size = 64 * math.ceil(len(entries) / 64)  # kernels like round numbers; the rest is zeros, and never fires
    gate, up = np.zeros((size, HIDDEN), np.float32), np.zeros((size, HIDDEN), np.float32)
    down = np.zeros((HIDDEN, size), np.float32)
    unit = SHARP / gain
    for back in range(LOOKBACK):
        rows = [n for n, entry in enumerate(entries) if back < len(entry.context)]
        wanted = codes(entries[n].context[back] for n in rows)
        gate[rows, back * SIZE : (back + 1) * SIZE] = unit / SIZE * wanted
    rows = [n for n, entry in enumerate(entries) if entry.script is not None]
    wanted = codes(entry.script for entry in entries if entry.script is not None)
    gate[rows, _SCRIPT : _SCRIPT + SIZE] = unit / SIZE * wanted
    for n, entry in enumerate(entries):
        gate[n, _ONE] = unit * (1 / 4 - len(entry.context) - (entry.script is not None))
        up[n, _ONE] = 3 ** len(entry.context) / START / gain
    down[_NEXT : _NEXT + SIZE, : len(entries)] = (
        codes(entry.following for entry in entries).T * START**2 / FIRING
    )
    return {"mlp.gate_proj.weight": gate, "mlp.up_proj.weight": up, "mlp.down_proj.weight": down}
