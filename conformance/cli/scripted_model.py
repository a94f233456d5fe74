"""``conformance scripted-model``: the model that says what a script says."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.failing import clearly
from conformance.cli.outputs import one_line

if TYPE_CHECKING:
    from conformance.scripted_model.build import Format, Tokens


@click.group("scripted-model")
def scripted_model() -> None:
    """A model with computed weights, which any inference server can load, and which says what we script."""


@scripted_model.command()
@click.option(
    "--scripts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A JSON object of name: text. Without it: the ideal turns of all scenarios.",
)
@click.option(
    "--dialect", "name", default="hermes", show_default=True, help="See: conformance list dialects."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default="scripted-model", show_default=True
)
@click.option(
    "--format", type=click.Choice(["gguf", "safetensors", "both"]), default="both", show_default=True
)
@click.option(
    "--tokens",
    type=click.Choice(["special", "text"]),
    default="special",
    show_default=True,
    help="The dialect's markers: single tokens as in real checkpoints, or plain text.",
)
@click.option(
    "--split", default="random:0", show_default=True, help="How text is cut: char, random:SEED or whole."
)
@click.option(
    "--ctx",
    type=click.IntRange(256, 1 << 20),
    default=8192,
    show_default=True,
    help="Context in tokens; a byte of a prompt is one.",
)
@clearly
def build(
    scripts: Path | None, name: str, out: Path, format: Format, tokens: Tokens, split: str, ctx: int
) -> int:
    """Compute a model and write it.

    A prompt with the marker [[NAME]] makes it write the script of that name and end its turn; the last
    marker wins, and without one it is the first script. Every script is proved before anything is written.

    The folder then holds model.gguf (llama.cpp and its kin), a Hugging Face folder (transformers, vLLM,
    mlx-lm), and scripts.json: for each script its text, the model it is in, and the message a correct server
    makes of it. More scripts than fit in one model become several, in folders model-1, model-2 ...

    \b
    Example:
      conformance scripted-model build --dialect qwen3-coder --out /tmp/model

    \b
    Exit codes:
      0  built
      2  no such dialect, scripts that can't become a model, or a package that is not installed
    """
    # The products are small and many: on a busy machine threads wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from conformance.dialects import dialect
    from conformance.scripted_model import (
        MissingExtra,
        ScriptError,
        Settings,
        Split,
        from_file,
        from_scenarios,
    )
    from conformance.scripted_model import build as built

    began = time.perf_counter()
    try:
        grammar = dialect(name)
        settings = Settings(grammar.name, tokens, Split.read(split), ctx, format)
        found = from_file(scripts, grammar) if scripts else from_scenarios(grammar)
        models = built(found, out, settings)
    except (LookupError, ScriptError, ValueError, MissingExtra, OSError) as error:
        click.echo(one_line(f"error: {error.args[0] if isinstance(error, LookupError) else error}"), err=True)
        return 2
    for model in models:
        click.echo(f"{model.folder}: {model.scripts} scripts of {grammar.name}, {model.size / 1e6:.1f} MB")
    click.echo(f"every script reproduced; {time.perf_counter() - began:.1f} s")
    return 0
