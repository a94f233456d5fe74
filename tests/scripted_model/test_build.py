"""Building a model file."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from conformance.scripted_model import ScriptError, build, hermes_template
from conformance.scripted_model.__main__ import main

SCRIPTS = {"chat.plain/0": "Hello there.", "tools.single-call/0": '<tool_call>\n{"name": "f"}\n</tool_call>'}


def field(reader: gguf.GGUFReader, name: str) -> Any:
    found = reader.get_field(name)
    assert found is not None
    return found.contents()


def test_the_file_reads_back_as_a_qwen2_model_with_its_tokens_and_template(tmp_path: Path) -> None:
    reader = gguf.GGUFReader(build(SCRIPTS, tmp_path, ctx=4096, template="{{ messages }}"))
    tokens = field(reader, "tokenizer.ggml.tokens")
    types = field(reader, "tokenizer.ggml.token_type")
    assert field(reader, "general.architecture") == "qwen2"
    assert field(reader, "qwen2.context_length") == 4096
    assert field(reader, "tokenizer.chat_template") == "{{ messages }}"
    assert tokens[field(reader, "tokenizer.ggml.eos_token_id")] == "<|im_end|>"
    assert types[tokens.index("[[tools.single-call/0]]")] == gguf.TokenType.USER_DEFINED
    assert len(tokens) == len(types)


def test_the_file_holds_every_tensor_of_the_architecture(tmp_path: Path) -> None:
    reader = gguf.GGUFReader(build(SCRIPTS, tmp_path, template=""))
    sizes = {tensor.name: tensor.data.shape for tensor in reader.tensors}
    vocab = len(field(reader, "tokenizer.ggml.tokens"))
    assert sizes["token_embd.weight"] == sizes["output.weight"] == (vocab, 512)
    wanted = gguf.MODEL_TENSORS[gguf.MODEL_ARCH.QWEN2]
    names = {gguf.TENSOR_NAMES[tensor].format(bid=0) for tensor in wanted} - {"rope_freqs"}
    assert names <= {name.rpartition(".")[0] for name in sizes}
    assert all(np.isfinite(tensor.data).all() for tensor in reader.tensors)


def test_equal_scripts_give_equal_bytes(tmp_path: Path) -> None:
    paths = [build(SCRIPTS, tmp_path / name, template=hermes_template()) for name in ("one", "two")]
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    assert len(digests) == 1


def test_another_end_token_becomes_the_models(tmp_path: Path) -> None:
    reader = gguf.GGUFReader(build(SCRIPTS, tmp_path, template="", eos="<|eot_id|>"))
    assert (
        field(reader, "tokenizer.ggml.tokens")[field(reader, "tokenizer.ggml.eos_token_id")] == "<|eot_id|>"
    )


def test_a_script_longer_than_the_context_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"'long': .* context of 64"):
        build({"long": "One word after the other. " * 4}, tmp_path / "out", ctx=64, template="")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("package", ["numpy", "gguf"])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(package: str, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\nfrom conformance.scripted_model.__main__ import main\n"
    )
    scripts = tmp_path / "scripts.json"
    scripts.write_text(json.dumps(SCRIPTS))
    code += f"sys.exit(main(['--scripts', {str(scripts)!r}, '--out', {str(tmp_path)!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert package in done.stderr
    assert "llm-wire-conformance[scripted-model]" in done.stderr


def test_the_command_builds_from_a_file_and_lists_the_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scripts.json").write_text(json.dumps(SCRIPTS))
    assert main(["--scripts", str(tmp_path / "scripts.json"), "--out", str(tmp_path / "out")]) == 0
    listed = json.loads((tmp_path / "out" / "scripts.json").read_text("utf-8"))
    assert {name: entry["text"] for name, entry in listed.items()} == SCRIPTS
    assert "2 scripts" in capsys.readouterr().out


def test_the_command_builds_every_ideal_turn_of_the_scenarios(tmp_path: Path) -> None:
    from conformance.scenarios import scripts

    assert main(["--out", str(tmp_path)]) == 0
    assert list(json.loads((tmp_path / "scripts.json").read_text("utf-8"))) == list(scripts())


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}'])
def test_the_command_refuses_a_file_that_is_no_object_of_texts(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scripts.json").write_text(content)
    assert main(["--scripts", str(tmp_path / "scripts.json"), "--out", str(tmp_path / "out")]) == 2
    assert "scripts.json" in capsys.readouterr().err
