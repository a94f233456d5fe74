"""The weights of a scripted model: a one-layer Qwen2 network, computed from its vocabulary.

The hidden state is a row of labelled dimensions. Every embedding is the sum of two orthogonal unit vectors:

=============================================  =============================================
token                                          dimensions set
=============================================  =============================================
prompt token                                   STAGE[0], REST
marker of script ``j``                         SEEN[j], MARKER
step with one successor                        CODE (the successor's unit vector), REST
step after which scripts part, the ``n``-th    STAGE[n], REST
=============================================  =============================================

So all rows have the same length, and RMSNorm multiplies each by the same number. Attention finds the last
marker and copies its SEEN[j] to START[j]. The output head then adds up: a token's own CODE counts most; where
there is none, the token wins that has both START[j] and STAGE[n]. Without a marker, STAGE[n] decides, and
counts a little more for the first script.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from conformance.scripted_model.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"

HEAD_SIZE = 64  # the smallest that every engine's attention kernels take
FEED_FORWARD = 64  # the feed-forward block is all zeros; engines want one, so it is small
RMS_EPS = 1e-6  # Qwen2's
CODE_SIZE = 256  # +-1/16 each: unit length exactly, and codes of 10,000 steps overlap by less than a third

# Logits before the final norm's gain. START and STAGE decide together, so either alone is half of what wins.
# DEFAULT lifts the first script's STAGE, and must stay below START. NEXT beats START plus a third of NEXT.
NEXT, START, STAGE, DEFAULT = 24.0, 8.0, 8.0, 4.0

# Attention scores lie in +-PEAK. Two markers differ by PEAK x (radians between them): large, so that a few
# tokens decide; small enough that the products, eight times that before scaling, fit half precision (65,504).
PEAK = 8000.0

# The slowest rotary pair turns by SPAN over the whole context. A marker's key starts SPAN/2 short of a right
# angle to the query: with growing distance its score only falls. Any other key points away from the query
# and stays below the farthest marker: cos(SPAN/2) = 0.87 against sin(SPAN/2) = 0.5.
SPAN = math.pi / 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network; ``ctx`` in tokens. There are as many key/value heads as query heads."""

    vocab: int
    hidden: int
    ctx: int

    @property
    def heads(self) -> int:
        return self.hidden // HEAD_SIZE

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

    scripts = len(vocabulary.markers)
    parting = _parting(vocabulary)
    first = set(next(iter(vocabulary.chains.values()))) or {vocabulary.eos}
    stages = 1 + max(sum(step in parting for step in chain) for chain in vocabulary.chains.values())
    seen, start, code = 0, scripts, 2 * scripts
    stage = code + CODE_SIZE
    rest, marker = stage + stages, stage + stages + 1
    hidden = 512 * math.ceil((marker + 1) / 512)
    shape = Shape(vocab=len(vocabulary.tokens), hidden=hidden, ctx=ctx)

    embed = np.zeros((shape.vocab, hidden), np.float32)
    head = np.zeros((shape.vocab, hidden), np.float32)
    embed[:, rest] = 1
    for token, kind in enumerate(vocabulary.kinds):
        embed[token, stage] = kind != "step"
    for j, (name, token) in enumerate(vocabulary.markers.items()):
        embed[token] = 0
        embed[token, [seen + j, marker]] = 1
        column = stage - 1
        for step, following in pairwise((token, *vocabulary.chains[name], vocabulary.eos)):
            if step == token or step in parting:
                column += 1
                if step in parting:
                    embed[step, column] = 1
                head[following, start + j] = START
                head[following, column] = STAGE + DEFAULT * (following in first)
            else:
                embed[step, code : code + CODE_SIZE] = _code(following)
                head[following, code : code + CODE_SIZE] = NEXT * _code(following)

    gain = math.sqrt(hidden / 2)  # what RMSNorm multiplies a row of squared length 2 by
    reach = math.sqrt(PEAK * math.sqrt(HEAD_SIZE))  # attention divides products by the root of the head size
    slow, slow_partner = HEAD_SIZE // 2 - 1, HEAD_SIZE - 1  # RoPE pairs dimension i with i + HEAD_SIZE / 2
    query_bias = np.zeros(hidden, np.float32)
    key = np.zeros((hidden, hidden), np.float32)
    key_bias = np.zeros(hidden, np.float32)
    value = np.zeros((hidden, hidden), np.float32)
    output = np.zeros((hidden, hidden), np.float32)
    # The angle of a key from the query, before rotation: of a marker's, of any other.
    ahead, away = -(math.pi - SPAN) / 2, -(math.pi - SPAN / 2)
    for group in range(0, scripts, HEAD_SIZE):  # one head carries the markers of 64 scripts
        query_bias[group + slow] = reach
        for dimension, ratio in ((slow, math.cos), (slow_partner, math.sin)):
            key_bias[group + dimension] = reach * ratio(away)
            key[group + dimension, marker] = reach * (ratio(ahead) - ratio(away)) / gain
    for j in range(scripts):
        value[j, seen + j] = 1 / gain
        output[start + j, j] = 1

    def zeros(*size: int) -> Array:
        return np.zeros(size, np.float32)

    ones = np.ones(hidden, np.float32)
    layer = {
        "input_layernorm.weight": ones,
        "self_attn.q_proj.weight": zeros(hidden, hidden),
        "self_attn.q_proj.bias": query_bias,
        "self_attn.k_proj.weight": key,
        "self_attn.k_proj.bias": key_bias,
        "self_attn.v_proj.weight": value,
        "self_attn.v_proj.bias": zeros(hidden),
        "self_attn.o_proj.weight": output,
        "post_attention_layernorm.weight": ones,
        "mlp.gate_proj.weight": zeros(FEED_FORWARD, hidden),
        "mlp.up_proj.weight": zeros(FEED_FORWARD, hidden),
        "mlp.down_proj.weight": zeros(hidden, FEED_FORWARD),
    }
    tensors = {"model.embed_tokens.weight": embed, "model.norm.weight": ones, "lm_head.weight": head}
    tensors |= {f"model.layers.0.{name}": array for name, array in layer.items()}
    return Model(vocabulary, shape, tensors)


def _parting(vocabulary: Vocabulary) -> set[int]:
    """The steps with more than one successor."""
    successors: dict[int, set[int]] = {}
    for chain in vocabulary.chains.values():
        for step, following in pairwise((*chain, vocabulary.eos)):
            successors.setdefault(step, set()).add(following)
    return {step for step, following in successors.items() if len(following) > 1}


def _code(token: int) -> Array:
    """A unit vector of signs from hash bits: unlike a random generator's, the same with every numpy."""
    import numpy as np

    digest = hashlib.shake_256(str(token).encode()).digest(CODE_SIZE // 8)
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))
    return (bits.astype(np.float32) * 2 - 1) / np.float32(math.sqrt(CODE_SIZE))
