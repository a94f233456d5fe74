"""Writes a scripted model as a Hugging Face folder: what transformers, vLLM and mlx-lm load."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.scripted_model.vocabulary import ALPHABET, PAD
from conformance.scripted_model.weights import HEAD_SIZE, HEADS, HIDDEN, RMS_EPS, Model

if TYPE_CHECKING:
    from conformance.scripted_model.weights import Array


FILES = (
    *("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"),
    *("chat_template.jinja", "model.safetensors"),
)


def write_hugging_face(model: Model, folder: Path, *, template: str) -> None:
    """Write the files of ``folder``, replacing them; equal models and templates give equal bytes."""
    vocabulary = model.vocabulary
    pad = vocabulary.ids[PAD.encode()]
    ends = list(dict.fromkeys(vocabulary.ends.values()))
    tokenizer = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": vocabulary.spelled(ends[0]),
        "pad_token": PAD,
        "model_max_length": model.shape.ctx,
        "clean_up_tokenization_spaces": False,
        "chat_template": template,
    }
    ended = {"bos_token_id": pad, "pad_token_id": pad, "eos_token_id": ends if len(ends) > 1 else ends[0]}
    files: dict[str, Any] = {
        "config.json": _config(model) | ended,
        "generation_config.json": {"do_sample": False, **ended},
        "tokenizer.json": _tokenizer(model),
        "tokenizer_config.json": tokenizer,
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
    (folder / "chat_template.jinja").write_text(template, "utf-8")
    write_safetensors(model.tensors, folder / "model.safetensors")


def write_safetensors(tensors: Mapping[str, Array], path: Path) -> None:
    """A safetensors file: the length of a JSON header in eight bytes, the header, the arrays one after the
    other.

    Source: the format section in the README of huggingface/safetensors.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + 4 * math.prod(tensor.shape)
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.astype("<f4").tobytes())


def _config(model: Model) -> dict[str, Any]:
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "vocab_size": model.shape.vocab,
        "hidden_size": HIDDEN,
        "intermediate_size": model.shape.feed_forward,
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "head_dim": HEAD_SIZE,
        "hidden_act": "silu",
        "rms_norm_eps": RMS_EPS,
        "max_position_embeddings": model.shape.ctx,
        "rope_theta": model.shape.rope_base,  # transformers before 5
        "rope_parameters": {"rope_type": "default", "rope_theta": model.shape.rope_base},
        "use_sliding_window": False,
        "tie_word_embeddings": False,
        "torch_dtype": "float32",  # transformers before 5
        "dtype": "float32",
    }


def _tokenizer(model: Model) -> dict[str, Any]:
    vocabulary = model.vocabulary
    spelled = [vocabulary.spelled(number) for number in range(model.shape.vocab)]
    whole = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": number, "content": spelled[number], **whole, "special": kind == "control"}
        for number, kind in enumerate(vocabulary.kinds)
        if kind in ("control", "added", "marker")
    ]
    bytes_as_text = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": False,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": bytes_as_text,
        "post_processor": None,
        "decoder": bytes_as_text,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {text: number for number, text in enumerate(spelled)},
            "merges": [[ALPHABET[0], ALPHABET[0]]],
        },
    }
