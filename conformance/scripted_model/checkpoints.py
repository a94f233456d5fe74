"""What the checkpoints of a dialect's models bring along beside the dialect: special tokens and a chat
template.

The templates are ours, one per dialect and as small as can be: the turns as those models know them, calls and
results in the dialect. By the words ``tool_call.name`` mlx-lm knows Hermes' (``_infer_tool_parser`` in
``mlx_lm/tokenizer_utils.py``, 0.32.2), by ``dsml_token`` llama.cpp knows DeepSeek V3.2's
(``common_chat_try_specialized_template`` in ``common/chat.cpp``). Names of tokens, and whether Hugging Face's
``tokenizer_config.json`` calls them ``special``, are those of the models in ``Dialect.families``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The special tokens of a dialect's models, and how their prompts end.

    ``framing`` tokens stand around turns, in prompts only. ``ends`` are those that end a turn: an
    answer, and (the last) one with calls. Markers of the dialect are ``hidden`` (``special: true``:
    engines leave them out of the text unless a parser asks for them) or ``shown``. ``shown_in_gguf``:
    llama.cpp's converter makes the hidden ones shown, for its parser to see (``visible_tokens`` in
    ``convert_hf_to_gguf.py``). ``prompt`` is the end of a prompt, and ``begun`` what of the reasoning
    it has begun already. ``answer`` stands before a text that is all of an answer. ``parts`` are the
    files that make up the chat template.
    """

    parts: tuple[str, ...]
    framing: tuple[str, ...]
    ends: tuple[str, ...]
    prompt: str
    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    begun: str = ""
    answer: str = ""
    shown_in_gguf: bool = False

    @property
    def template(self) -> str:
        """The chat template, in Jinja."""
        folder = files(__package__).joinpath("templates")
        return "".join(folder.joinpath(f"{part}.jinja").read_text("utf-8") for part in self.parts)


_THINK = ("<think>", "</think>")
_CALL = ("<tool_call>", "</tool_call>")
_RESPONSE = ("<tool_response>", "</tool_response>")
_LLAMA = Checkpoint(
    parts=("common", "thinking", "frames/llama"),
    framing=("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"),
    ends=("<|eot_id|>",),
    prompt="<|start_header_id|>assistant<|end_header_id|>\n\n",
)
_CHATML = Checkpoint(
    parts=("common", "thinking", "frames/chatml"),
    framing=("<|im_start|>",),
    ends=("<|im_end|>",),
    prompt="<|im_start|>assistant\n",
)
_DEEPSEEK = Checkpoint(
    parts=("common", "frames/deepseek"),
    framing=("<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
    ends=("<｜end▁of▁sentence｜>",),
    prompt="<｜Assistant｜>",
    shown=_THINK,
)
_DEEPSEEK_CALLS = (
    *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    *("<｜tool▁sep｜>", "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
)
_MISTRAL = Checkpoint(
    parts=("common", "frames/mistral"),
    framing=(
        *(
            "<s>",
            "[INST]",
            "[/INST]",
            "[SYSTEM_PROMPT]",
            "[/SYSTEM_PROMPT]",
            "[AVAILABLE_TOOLS]",
            "[/AVAILABLE_TOOLS]",
        ),
        *("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ),
    ends=("</s>",),
    prompt="[/INST]",
    hidden=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"),
)
_MINIMAX = Checkpoint(
    parts=("common", "thinking", "frames/minimax"),
    framing=("]~!b[", "]~b]"),
    ends=("[e~[",),
    prompt="]~b]ai\n",
    shown=_THINK,
)


def _of(name: str, base: Checkpoint, **changes: tuple[str, ...] | str) -> Checkpoint:
    *before, frame = base.parts
    begun = str(changes.get("begun", ""))
    return replace(base, parts=(*before, name, frame), prompt=base.prompt + begun, **changes)  # type: ignore[arg-type]


CHECKPOINTS: Mapping[str, Checkpoint] = MappingProxyType(
    {
        "hermes": _of("hermes", _CHATML, shown=(*_CALL, *_RESPONSE, *_THINK)),
        "qwen3-coder": _of("qwen3-coder", _CHATML, shown=(*_CALL, *_RESPONSE, *_THINK)),
        "react": _of("react", _CHATML),
        "llama3-json": _of("llama3-json", _LLAMA, hidden=("<|python_tag|>",)),
        "json-action": _of("json-action", _CHATML),
        "llama-function-tag": replace(_of("llama-function-tag", _LLAMA), ends=("<|eot_id|>", "<|eom_id|>")),
        "deepseek-v32": _of("deepseek-v32", _DEEPSEEK, shown=(*_THINK, "｜DSML｜"), begun="<think>"),
        "kimi-k2": Checkpoint(
            parts=("common", "thinking", "kimi-k2", "frames/kimi"),
            framing=("<|im_system|>", "<|im_user|>", "<|im_assistant|>", "<|im_middle|>"),
            ends=("<|im_end|>",),
            prompt="<|im_assistant|>assistant<|im_middle|>",
            shown=(
                *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>"),
                *("<|tool_call_end|>", "<|tool_call_argument_begin|>", *_THINK),
            ),
        ),
        "harmony": Checkpoint(
            parts=("common", "harmony", "frames/harmony"),
            framing=("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"),
            ends=("<|return|>", "<|call|>"),
            prompt="<|start|>assistant",
            hidden=("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"),
            answer="<|channel|>final<|message|>",
        ),
        "pythonic": _of("pythonic", _LLAMA),
        "glm45": Checkpoint(
            parts=("common", "thinking", "glm45", "frames/glm"),
            framing=("[gMASK]", "<sop>", "<|system|>", "<|assistant|>"),
            ends=("<|user|>", "<|observation|>"),
            prompt="<|assistant|>\n",
            shown=(*_CALL, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", *_RESPONSE, *_THINK),
        ),
        "minimax-m2": _of(
            "minimax-m2",
            _MINIMAX,
            shown=("<minimax:tool_call>", "</minimax:tool_call>", *_THINK),
            begun="<think>\n",
        ),
        # Tokenizers before v11 have no other marker (DEPRECATED_SPECIAL_TOKENS in mistral_common, tekken.py).
        "mistral-json": _of("mistral-json", _MISTRAL, hidden=("[TOOL_CALLS]",)),
        "mistral-compact": _of("mistral-compact", _MISTRAL),
        "deepseek-v3": _of(
            "deepseek-v3",
            _DEEPSEEK,
            shown=(*_THINK, *_DEEPSEEK_CALLS, "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"),
        ),
        "function-call-tag": Checkpoint(
            parts=("common", "thinking", "function-call-tag", "frames/granite"),
            framing=(),
            ends=("<|endoftext|>",),
            prompt="ASSISTANT: ",
        ),
        "deepseek-v31": _of("deepseek-v31", _DEEPSEEK, shown=(*_THINK, *_DEEPSEEK_CALLS), begun="<think>"),
        "minimax-m3": _of(
            "minimax-m3", _MINIMAX, shown=("]<]minimax[>[", *_CALL, "<mm:think>", "</mm:think>")
        ),
        "gemma4": Checkpoint(
            parts=("common", "gemma4", "frames/gemma"),
            framing=("<bos>", "<|turn>", "<|tool>", "<tool|>"),
            ends=("<turn|>",),
            prompt="<|turn>model\n",
            hidden=(
                *("<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>"),
                *("<|tool_response>", "<tool_response|>"),
            ),
            shown_in_gguf=True,
        ),
        "deepseek-v41": _of("deepseek-v41", _DEEPSEEK, shown=(*_THINK, "｜DSML｜"), begun="<think>"),
    }
)
"""The checkpoint of every dialect, by the dialect's name."""
