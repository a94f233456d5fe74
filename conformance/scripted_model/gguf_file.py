"""Writes a scripted model as GGUF, the file format of llama.cpp and what is built on it."""

from __future__ import annotations

from pathlib import Path

from conformance.scripted_model.weights import FEED_FORWARD, RMS_EPS, Model


def write_gguf(model: Model, path: Path, *, template: str) -> None:
    """Write ``path`` (replacing it) with ``template`` as the chat template; equal models give equal bytes."""
    import gguf

    vocabulary, shape = model.vocabulary, model.shape
    types = {
        "special": gguf.TokenType.CONTROL,
        # llama.cpp finds user-defined tokens in any prompt text, control tokens only in the template's own.
        "marker": gguf.TokenType.USER_DEFINED,
        "plain": gguf.TokenType.NORMAL,
        "step": gguf.TokenType.NORMAL,
    }
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name("scripted")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_block_count(1)
    writer.add_context_length(shape.ctx)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_layer_norm_rms_eps(RMS_EPS)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types([types[kind] for kind in vocabulary.kinds])
    writer.add_token_merges([" ".join(vocabulary.merge)])
    writer.add_bos_token_id(0)
    writer.add_pad_token_id(0)
    writer.add_eos_token_id(vocabulary.eos)
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
