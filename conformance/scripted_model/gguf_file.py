"""Writes a scripted model as GGUF, the file format of llama.cpp and what is built on it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from conformance.scripted_model.vocabulary import ALPHABET, PAD
from conformance.scripted_model.weights import HEADS, HIDDEN, RMS_EPS, Model


def write_gguf(model: Model, path: Path, *, template: str, shown: Collection[str] = ()) -> None:
    """Write ``path`` (replacing it) with ``template`` as the chat template; equal models give equal bytes.

    Control tokens in ``shown`` are written into the text all the same.
    """
    import gguf

    vocabulary, shape = model.vocabulary, model.shape
    types = {
        "control": gguf.TokenType.CONTROL,
        # llama.cpp writes these into the text, and finds them in any prompt text, too.
        "added": gguf.TokenType.USER_DEFINED,
        "marker": gguf.TokenType.USER_DEFINED,
        "byte": gguf.TokenType.NORMAL,
        "piece": gguf.TokenType.NORMAL,
    }
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name("scripted")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_block_count(1)
    writer.add_context_length(shape.ctx)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(RMS_EPS)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([vocabulary.spelled(number) for number in range(shape.vocab)])
    visible = {vocabulary.ids[token.encode()] for token in shown if token.encode() in vocabulary.ids}
    kinds = ("added" if number in visible else kind for number, kind in enumerate(vocabulary.kinds))
    writer.add_token_types([types[kind] for kind in kinds])
    writer.add_token_merges([f"{ALPHABET[0]} {ALPHABET[0]}"])
    pad = vocabulary.ids[PAD.encode()]
    writer.add_bos_token_id(pad)
    writer.add_pad_token_id(pad)
    # A file has room for three that end a turn; the names are llama.cpp's for what they mean in other models.
    ends = (writer.add_eos_token_id, writer.add_eot_token_id, writer.add_eom_token_id)
    for add, end in zip(ends, dict.fromkeys(vocabulary.ends.values()), strict=False):
        add(end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, 1)
    for name, tensor in model.tensors.items():
        module, _, suffix = name.rpartition(".")
        writer.add_tensor(f"{names.get_name(module)}.{suffix}", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
