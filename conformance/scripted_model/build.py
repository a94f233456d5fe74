"""From scripts to a model file that is known to say them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.scripted_model.forward import Network
from conformance.scripted_model.gguf_file import write_gguf
from conformance.scripted_model.cutting import ScriptError, Split
from conformance.scripted_model.vocabulary import Script, Specials, vocabulary
from conformance.scripted_model.weights import Model, compute


class MissingExtra(ImportError):
    """A package of the optional extra ``scripted-model`` is not installed."""


def build(
    scripts: Mapping[str, str], out: Path, *, ctx: int = 8192, template: str, eos: str = "<|im_end|>"
) -> Path:
    """Write ``out/model.gguf``, a model of ``scripts`` for contexts of ``ctx`` tokens; return its path.

    Every script is run through a forward pass before anything is written. Names may hold letters, digits and
    ``. _ / -``; texts take about a token per four bytes, prompts a token per byte.

    Raises ``ScriptError`` (see ``vocabulary``; also a script longer than the context) and ``MissingExtra``.
    """
    try:
        import gguf  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"the scripted model needs {error.name}: pip install 'llm-wire-conformance[scripted-model]'"
        ) from error
    model = compute(
        vocabulary(
            {n: Script(t, eos) for n, t in scripts.items()}, Specials(("<|im_start|>", eos)), Split("random")
        ),
        ctx=ctx,
    )
    _prove(model)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "model.gguf"
    unfinished = out / "model.gguf.part"
    write_gguf(model, unfinished, template=template)
    unfinished.replace(path)
    return path


def _prove(model: Model) -> None:
    network = Network(model, 'half-cache')
    for name, chain in model.vocabulary.chains.items():
        prompt = f"<|im_start|>user\n[[{name}]]<|im_end|>\n<|im_start|>assistant\n"
        if len(chain) + len(prompt) > model.shape.ctx:
            raise ScriptError(f"script {name!r}: {len(chain)} tokens exceed a context of {model.shape.ctx}")
        if smallest_gap(model, prompt, name, precision="half-cache") <= 0:
            raise AssertionError(f"script {name!r} is not reproduced: the construction is at fault")
