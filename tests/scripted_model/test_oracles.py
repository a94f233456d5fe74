"""The files as the libraries read them that engines load models with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.dialects import DIALECTS, dialect
from conformance.scripted_model import CHECKPOINTS, Scripted, Settings, Split
from conformance.scripted_model.build import compute_model
from conformance.scripted_model.hugging_face import write_hugging_face
from conformance.scripted_model.render import script, written
from conformance.types import Reasoning, Text, ToolCall, Turn

TURNS = {
    "text": Turn((Text("Grüße, 東京 🌦!"),)),
    "call": Turn((Reasoning("Hm."), Text("I look."), ToolCall("", "get_weather", '{"city": "Zürich"}'))),
}


def folder_of(settings: Settings, folder: Path) -> Path:
    grammar = dialect(settings.dialect)
    said = {
        name: script(written(turn, grammar), grammar, calls=bool(turn.calls)) for name, turn in TURNS.items()
    }
    model = compute_model({name: Scripted(one) for name, one in said.items()}, settings)
    write_hugging_face(model, folder, template=CHECKPOINTS[settings.dialect].template)
    ids = {name: [*chain, model.vocabulary.ends[name]] for name, chain in model.vocabulary.chains.items()}
    prompt = f"é[[call]]{CHECKPOINTS[settings.dialect].prompt}"
    expected = {"ids": ids, "texts": {n: s.text + s.end for n, s in said.items()}, "prompt": prompt}
    (folder / "expected.json").write_text(json.dumps(expected | {"encoded": model.vocabulary.encode(prompt)}))
    return folder


@pytest.mark.parametrize(
    "settings",
    [
        *(Settings(name, ctx=2048) for name in DIALECTS),
        Settings(tokens="text", split=Split("char"), ctx=2048),
        Settings(split=Split("whole"), ctx=2048),
    ],
    ids=lambda s: f"{s.dialect}-{s.tokens}-{s.split.kind}",
)
def test_the_tokenizer_finds_the_same_tokens_and_texts(settings: Settings, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="reading tokenizer.json needs tokenizers")
    folder = folder_of(settings, tmp_path)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    assert tokenizer.encode(expected["prompt"]).ids == expected["encoded"]
    for name, ids in expected["ids"].items():
        assert tokenizer.decode(ids, skip_special_tokens=False) == expected["texts"][name]


def test_safetensors_reads_the_arrays(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy", reason="reading model.safetensors needs safetensors")
    folder = folder_of(Settings(ctx=2048), tmp_path)
    arrays = library.load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert arrays["lm_head.weight"].shape == (config["vocab_size"], config["hidden_size"])
    assert len(arrays) == 15
