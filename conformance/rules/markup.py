"""Raw markup of tool calls and thoughts, as models write it when no parser stands behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)

# One alternative per text format: each needs the opening marker *and* the body that belongs to it, so that
# prose about a format is no leak.
_CALL = re.compile(
    r"""
      <tool_call>\s*(?:[{\[]|<function=|[\w.-]+\s*(?:<arg_key>|</tool_call>))   # Hermes, Qwen, GLM
    | <function=[\w.-]+>\s*(?:\{|<parameter=|</function>)                       # Llama 3.1, Qwen3-Coder
    | <function\ name="                                                         # Functionary, MiniMax M3
    | <function_calls?>\s*[{\[<]                                                # Granite and others
    | <\|python_tag\|>                                                          # Llama 3
    | \[TOOL_CALLS\]                                                            # Mistral
    | <[|｜]tool[▁_]calls?[▁_](?:section[▁_])?begin[|｜]>                        # DeepSeek, Kimi
    | <[|｜]DSML[|｜]                                                            # DeepSeek V3.2 and later
    | <minimax:tool_call>
    | <invoke\ name="
    | <\|channel\|>\s*commentary                                              # gpt-oss harmony
    | \bto=functions\.\w+                                                       # the same, half stripped
    | <\|tool_call>                                                             # Gemma 4
    | <\|action_start\|>                                                        # InternLM
    """,
    re.VERBOSE,
)
# ``</s>`` is also HTML's, which then opens before it closes.
_CONTROL = re.compile(
    r"<\|[a-z][a-z0-9_]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|\A<s>|</s>\s*\Z"
)
_THINK = re.compile(r"</?think(?:ing)?>")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def without_code(text: str) -> str:
    """The text with fenced and inline code blanked: markup quoted there is no leak."""
    return _CODE.sub(" ", text)


def without_json_strings(text: str) -> str:
    """A text that begins as a JSON object, with its strings emptied: markup in them is data and no leak.

    Any other text stays as it is.
    """
    return _JSON_STRING.sub('""', text) if text.lstrip().startswith("{") else text


def call_markup(text: str) -> Iterator[str]:
    """Each piece of raw tool-call markup outside code, with a little of what follows."""
    plain = without_code(text)
    for match in _CALL.finditer(plain):
        yield plain[match.start() : match.start() + 80]


def think_markup(text: str) -> str | None:
    """The first think tag outside code, with a little of what follows."""
    plain = without_code(text)
    match = _THINK.search(plain)
    return plain[match.start() : match.start() + 80] if match else None


def control_tokens(text: str) -> Iterator[str]:
    """Each control token of a chat template outside code."""
    plain = without_code(text)
    for match in _CONTROL.finditer(plain):
        token = match.group().strip()
        if token not in ("<s>", "</s>") or not ("<s>" in plain and "</s>" in plain):
            yield token


_OPENERS = (
    "<tool_call>",
    "<function=",
    "<function_call>",
    "<function_calls>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<｜tool▁calls▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<minimax:tool_call>",
    "<|tool_call>",
    "<|action_start|>",
)
_SHORTEST_OPENER = 3
"""Characters of an opener below which it may be anything: ``<`` alone ends many a text."""


def call_prelude(text: str) -> str | None:
    """The beginning of a call's markup, whole or in part, that a text ends with, if it does."""
    end = text.rstrip()
    for opener in _OPENERS:
        for size in range(len(opener), _SHORTEST_OPENER - 1, -1):
            if end.endswith(opener[:size]):
                return opener[:size]
    return None
