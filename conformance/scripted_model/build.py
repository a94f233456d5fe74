"""From scripts to model files that are known to say them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from conformance.scripted_model.checkpoints import CHECKPOINTS, Checkpoint
from conformance.scripted_model.cutting import RANDOM, ScriptError, Split
from conformance.scripted_model.forward import Network
from conformance.scripted_model.gguf_file import write_gguf
from conformance.scripted_model.hugging_face import FILES as HUGGING_FACE_FILES
from conformance.scripted_model.hugging_face import write_hugging_face
from conformance.scripted_model.library import Scripted
from conformance.scripted_model.vocabulary import MAX_SCRIPTS, Specials, vocabulary
from conformance.scripted_model.weights import Model, compute

Format = Literal["gguf", "safetensors", "both"]
Tokens = Literal["special", "text"]

INDEX = "scripts.json"
FILES = (INDEX, "model.gguf", *HUGGING_FACE_FILES)
MAX_BYTES = 1 << 16
"""Of text in one model, unless a script alone has more: a place in a text costs six kilobytes of weights."""


class MissingExtra(ImportError):
    """A package of the optional extra ``scripted-model`` is not installed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is made. ``tokens``: whether the dialect's markers are special tokens or plain text.

    ``ctx`` in tokens; a byte of a prompt is a token.
    """

    dialect: str = "hermes"
    tokens: Tokens = "special"
    split: Split = RANDOM
    ctx: int = 8192
    format: Format = "both"


@dataclass(frozen=True, slots=True)
class Built:
    """A model that was written: its folder, its scripts, the size of its weights in bytes."""

    folder: Path
    scripts: int
    size: int


def build(scripts: Mapping[str, Scripted], out: Path, settings: Settings) -> tuple[Built, ...]:
    """Write the models of ``scripts`` below ``out``, and ``scripts.json``, which says of each script what and
    where it is.

    One model lies in ``out`` itself, several in ``out/model-1`` and so on; the scripts of a scenario stay
    together. Every script is run through a forward pass before anything is written; files of the same names
    are replaced.

    Raises ``ScriptError`` (see ``vocabulary``; also a script longer than the context) and ``MissingExtra``.
    """
    _check_packages(settings.format)
    checkpoint = CHECKPOINTS[settings.dialect]
    groups = list(_groups(scripts))
    folders = ["."] if len(groups) == 1 else [f"model-{n}" for n in range(1, len(groups) + 1)]
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        unfinished = Path(scratch, "model")
        unfinished.mkdir()
        for folder, group in zip(folders, groups, strict=True):
            model = compute_model({name: scripts[name] for name in group}, settings)
            _write(model, unfinished / folder, settings, checkpoint)
        index = {
            name: _row(scripts[name], folder)
            for folder, group in zip(folders, groups, strict=True)
            for name in group
        }
        (unfinished / INDEX).write_text(json.dumps(index, ensure_ascii=False, indent=1) + "\n", "utf-8")
        _clear(out)
        shutil.copytree(unfinished, out, dirs_exist_ok=True)
    return tuple(
        Built(out / folder, len(group), sum(f.stat().st_size for f in (out / folder).glob("model.*")))
        for folder, group in zip(folders, groups, strict=True)
    )


def _check_packages(format: Format) -> None:
    needed = ("numpy",) if format == "safetensors" else ("numpy", "gguf")
    for package in needed:
        if find_spec(package) is None:
            raise MissingExtra(
                f"the scripted model needs {package}: pip install 'llm-wire-conformance[scripted-model]'"
            )


def _groups(scripts: Mapping[str, Scripted]) -> Iterator[list[str]]:
    """The names of the scripts of each model."""
    group: list[str] = []
    size = 0
    for _, together in groupby(scripts, lambda name: name.rpartition("/")[0] or name):
        names = list(together)
        more = sum(len(scripts[name].script.text.encode(errors="replace")) for name in names)
        if group and (len(group) + len(names) > MAX_SCRIPTS or size + more > MAX_BYTES):
            yield group
            group, size = [], 0
        group, size = [*group, *names], size + more
    yield group


def compute_model(scripts: Mapping[str, Scripted], settings: Settings) -> Model:
    """One model of all these scripts, each of which was run through a forward pass.

    Raises ``ScriptError``: see ``vocabulary``; also for a script longer than the context.
    """
    checkpoint = CHECKPOINTS[settings.dialect]
    control = (*checkpoint.framing, *checkpoint.ends)
    specials = Specials(control)
    if settings.tokens == "special":
        markers = (*checkpoint.shown, *checkpoint.hidden)
        specials = Specials((*control, *checkpoint.hidden), checkpoint.shown, markers)
    words = vocabulary(
        {name: one.script for name, one in scripts.items()},
        specials,
        settings.split,
        prompt=checkpoint.prompt,
    )
    for name, chain in words.chains.items():
        room = settings.ctx - len(words.encode(_prompt(name, checkpoint)))
        if len(chain) > room:
            raise ScriptError(f"script {name!r}: {len(chain)} tokens exceed a context of {settings.ctx}")
    model = compute(words, ctx=settings.ctx)
    network = Network(model, "half-cache")
    for name in scripts:
        if network.smallest_gap(_prompt(name, checkpoint), name) <= 0:
            raise AssertionError(f"script {name!r} is not reproduced: the construction is at fault")
    return model


def _prompt(name: str, checkpoint: Checkpoint) -> str:
    return f"[[{name}]]{checkpoint.ends[0]}\n{checkpoint.prompt}"


def _write(model: Model, folder: Path, settings: Settings, checkpoint: Checkpoint) -> None:
    folder.mkdir(exist_ok=True)
    if settings.format != "safetensors":
        shown = checkpoint.hidden if checkpoint.shown_in_gguf else ()
        write_gguf(model, folder / "model.gguf", template=checkpoint.template, shown=shown)
    if settings.format != "gguf":
        write_hugging_face(model, folder, template=checkpoint.template)


def _clear(out: Path) -> None:
    """Remove what an earlier build wrote: models that the new index does not know must not lie beside it."""
    for folder in (out, *out.glob("model-*")):
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        if folder != out and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _row(one: Scripted, folder: str) -> dict[str, object]:
    row: dict[str, object] = {"model": folder, "text": one.script.text, "end": one.script.end}
    return row if one.message is None else row | {"message": one.message}
