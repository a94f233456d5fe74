"""Building model files."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from conformance.scripted_model import CHECKPOINTS, ScriptError, Settings, Split, build
from conformance.scripted_model.vocabulary import MAX_SCRIPTS

from .models import CALL, scripted

TEXTS = {"chat.plain/0": "Hello there.", "tools.single-call/0": CALL % "Oslo"}
HUGGING_FACE = {
    *("config.json", "generation_config.json", "model.safetensors"),
    *("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"),
}


def field(reader: gguf.GGUFReader, name: str) -> Any:
    found = reader.get_field(name)
    assert found is not None
    return found.contents()


def index(out: Path) -> dict[str, dict[str, Any]]:
    return dict(json.loads((out / "scripts.json").read_text("utf-8")))


def files(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def read_safetensors(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert header.pop("__metadata__") == {"format": "pt"}
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], "<f4").reshape(entry["shape"])
    return arrays


@pytest.mark.parametrize(
    ("format", "written"),
    [("gguf", {"model.gguf"}), ("safetensors", HUGGING_FACE), ("both", {"model.gguf", *HUGGING_FACE})],
)
def test_the_format_says_which_files_there_are(format: Any, written: set[str], tmp_path: Path) -> None:
    (built,) = build(scripted(TEXTS), tmp_path / "out", Settings(format=format))
    assert files(tmp_path / "out") == {"scripts.json", *written}
    assert (built.folder, built.scripts) == (tmp_path / "out", 2)
    assert built.size == sum(path.stat().st_size for path in built.folder.glob("model.*"))


def test_the_index_says_what_each_script_is(tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings(format="gguf"))
    assert index(tmp_path) == {
        name: {"model": ".", "text": text, "end": "<|im_end|>"} for name, text in TEXTS.items()
    }


def test_the_gguf_reads_back_as_a_qwen2_model_with_its_tokens_and_template(tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings(ctx=4096))
    reader = gguf.GGUFReader(tmp_path / "model.gguf")
    tokens = field(reader, "tokenizer.ggml.tokens")
    types = dict(zip(tokens, field(reader, "tokenizer.ggml.token_type"), strict=True))
    assert field(reader, "general.architecture") == "qwen2"
    assert field(reader, "qwen2.context_length") == 4096
    assert field(reader, "tokenizer.chat_template") == CHECKPOINTS["hermes"].template
    assert tokens[field(reader, "tokenizer.ggml.eos_token_id")] == "<|im_end|>"
    assert types["<|im_end|>"] == gguf.TokenType.CONTROL
    assert types["<tool_call>"] == types["[[chat.plain/0]]"] == gguf.TokenType.USER_DEFINED


def test_the_gguf_holds_every_tensor_of_the_architecture(tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings())
    reader = gguf.GGUFReader(tmp_path / "model.gguf")
    sizes = {tensor.name: tensor.data.shape for tensor in reader.tensors}
    vocab = len(field(reader, "tokenizer.ggml.tokens"))
    assert sizes["token_embd.weight"] == sizes["output.weight"] == (vocab, 512)
    wanted = gguf.MODEL_TENSORS[gguf.MODEL_ARCH.QWEN2]
    names = {gguf.TENSOR_NAMES[tensor].format(bid=0) for tensor in wanted} - {"rope_freqs"}
    assert names <= {name.rpartition(".")[0] for name in sizes}
    assert all(np.isfinite(tensor.data).all() for tensor in reader.tensors)


def test_both_formats_hold_the_same_numbers(tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings())
    arrays = read_safetensors(tmp_path / "model.safetensors")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, 1)
    tensors = {tensor.name: tensor.data for tensor in gguf.GGUFReader(tmp_path / "model.gguf").tensors}
    assert len(arrays) == len(tensors)
    for name, array in arrays.items():
        module, _, suffix = name.rpartition(".")
        assert np.array_equal(array, tensors[f"{names.get_name(module)}.{suffix}"])


def test_the_configuration_fits_the_tensors(tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings(ctx=2048))
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    arrays = read_safetensors(tmp_path / "model.safetensors")
    assert arrays["model.embed_tokens.weight"].shape == (config["vocab_size"], config["hidden_size"])
    gate = arrays["model.layers.0.mlp.gate_proj.weight"]
    assert gate.shape == (config["intermediate_size"], config["hidden_size"])
    assert config["max_position_embeddings"] == 2048
    assert config["rope_parameters"]["rope_theta"] == config["rope_theta"]


def test_a_marker_of_the_dialect_is_special_in_files_only_where_real_checkpoints_say_so(
    tmp_path: Path,
) -> None:
    for dialect, token, special in (("hermes", "<tool_call>", False), ("mistral-json", "[TOOL_CALLS]", True)):
        text = {"a": replace(scripted({"a": token})["a"].script, end=CHECKPOINTS[dialect].ends[0])}
        scripts = {name: replace(scripted({"a": ""})["a"], script=script) for name, script in text.items()}
        build(scripts, tmp_path / dialect, Settings(dialect=dialect))
        tokenizer = json.loads((tmp_path / dialect / "tokenizer.json").read_text("utf-8"))
        (found,) = [added for added in tokenizer["added_tokens"] if added["content"] == token]
        assert found["special"] is special
        assert tokenizer["model"]["vocab"][token] == found["id"]


def test_as_text_a_marker_of_the_dialect_is_no_token_at_all(tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings(tokens="text", format="safetensors"))
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert "<tool_call>" not in tokenizer["model"]["vocab"]


def test_a_marker_that_llama_cpps_converter_shows_is_shown_in_gguf_alone(tmp_path: Path) -> None:
    script = replace(scripted({"a": "<|tool_call>"})["a"].script, end="<turn|>")
    build({"a": replace(scripted({"a": ""})["a"], script=script)}, tmp_path, Settings(dialect="gemma4"))
    reader = gguf.GGUFReader(tmp_path / "model.gguf")
    tokens = field(reader, "tokenizer.ggml.tokens")
    types = field(reader, "tokenizer.ggml.token_type")
    assert types[tokens.index("<|tool_call>")] == gguf.TokenType.USER_DEFINED
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert {t["content"]: t["special"] for t in tokenizer["added_tokens"]}["<|tool_call>"] is True


@pytest.mark.parametrize("split", ["random:3", "char", "whole"])
@pytest.mark.parametrize("tokens", ["special", "text"])
def test_whatever_the_setting_the_index_has_the_same_texts(tokens: Any, split: str, tmp_path: Path) -> None:
    build(scripted(TEXTS), tmp_path, Settings(tokens=tokens, split=Split.read(split), format="gguf"))
    assert {name: row["text"] for name, row in index(tmp_path).items()} == TEXTS


def test_equal_scripts_give_equal_bytes(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        build(scripted(TEXTS), tmp_path / name, Settings())
        whole = b"".join((tmp_path / name / file).read_bytes() for file in sorted(files(tmp_path / name)))
        digests.add(hashlib.sha256(whole).hexdigest())
    assert len(digests) == 1


def test_more_scripts_than_one_model_holds_become_several_and_scenarios_stay_whole(tmp_path: Path) -> None:
    texts = {f"chapter.s{n // 3}/{n % 3}": f"Number {n}." for n in range(MAX_SCRIPTS + 1)}
    built = build(scripted(texts), tmp_path, Settings(format="gguf"))
    assert [(one.folder.name, one.scripts) for one in built] == [("model-1", 510), ("model-2", 3)]
    rows = index(tmp_path)
    assert {row["model"] for name, row in rows.items() if name.startswith("chapter.s170/")} == {"model-2"}
    for one in built:
        reader = gguf.GGUFReader(one.folder / "model.gguf")
        own = {f"[[{name}]]" for name, row in rows.items() if row["model"] == one.folder.name}
        assert own == {token for token in field(reader, "tokenizer.ggml.tokens") if token.startswith("[[")}


def test_so_does_more_text_than_one_model_should_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[build.__module__], "MAX_BYTES", 100)
    texts = {f"s{n}/0": f"{n} is the number of this text, which is as long as that." for n in range(5)}
    texts["long/0"] = "This text alone is longer than all that should be in one model. " * 3
    built = build(scripted(texts), tmp_path, Settings(format="gguf"))
    assert [one.scripts for one in built] == [1, 1, 1, 1, 1, 1]
    assert index(tmp_path)["long/0"]["model"] == "model-6"


def test_what_an_earlier_build_left_goes(tmp_path: Path) -> None:
    texts = {f"s/{n}": f"Number {n}." for n in range(MAX_SCRIPTS)} | {"t/0": "One more."}
    build(scripted(texts), tmp_path, Settings(format="gguf"))
    (tmp_path / "model-2" / "mine.txt").write_text("kept")
    build(scripted(TEXTS), tmp_path, Settings(format="gguf"))
    assert files(tmp_path) == {"scripts.json", "model.gguf", "model-2/mine.txt"}


def test_a_script_longer_than_the_context_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"'long': .* context of 64"):
        build(scripted({"long": "One word after the other. " * 9}), tmp_path / "out", Settings(ctx=64))
    assert files(tmp_path) == set()
