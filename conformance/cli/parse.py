"""``conformance parse``: the turn that a text in some dialect says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.failing import clearly
from conformance.cli.inputs import InputError, name_of, read_input
from conformance.cli.outputs import as_json, one_line

if TYPE_CHECKING:
    from conformance.types import JSON, Part, Tool

_FINE = ("quoted", "builtin", "final")
"""Flags that tell what a text is, not what is wrong with it."""


@click.command()
@click.option("--dialect", "name", required=True, help="See: conformance list dialects.")
@click.option(
    "--tools", "tools_file", help="A JSON list of the tools that were offered, as in a Chat request."
)
@click.option("--thinking", is_flag=True, help="The prompt has opened the reasoning already.")
@click.option("--strict", is_flag=True, help="Read nothing leniently; exit 1 when something is wrong.")
@click.argument("file", default="-")
@clearly
def parse(name: str, tools_file: str | None, thinking: bool, strict: bool, file: str) -> int:
    """Read the tool calls in a model's text.

    FILE (standard input without one, or for -) holds what the model wrote. The result is JSON on standard
    output: the turn as a Chat `message`, its `parts` in the order of the text, its `finish_reason`, and
    `flags` that say what was odd about the text (unclosed, malformed, repaired, unknown-tool ...).

    \b
    Example:
      printf '<tool_call>\\n{"name": "f", "arguments": {"a": 1}}\\n</tool_call>' \\
        | conformance parse --dialect hermes

    \b
    Exit codes:
      0  read
      1  read, with something wrong, under --strict
      2  no such dialect, or input that can't be read
    """
    from conformance.dialects import dialect

    if tools_file == file == "-":
        click.echo("error: the text and its tools can't both come from standard input", err=True)
        return 2
    try:
        grammar = dialect(name)
        tools = read_tools(read_input(tools_file), tools_file) if tools_file else ()
        text = _text(read_input(file), file)
    except (LookupError, InputError) as error:
        click.echo(one_line(f"error: {error.args[0]}"), err=True)
        return 2
    parsed = grammar.parse(text, tools, strict=strict, thinking=thinking)
    turn = parsed.to_turn()
    from conformance.wires.openai_chat import to_chat

    flags = sorted(parsed.flags)
    out: JSON = {
        "dialect": grammar.name,
        "message": to_chat(turn),
        "finish_reason": turn.finish_reason,
        "parts": [_part(part) for part in turn.parts],
        "flags": [*flags],
    }
    click.echo(as_json(out))
    return 1 if strict and set(flags) - {*_FINE} else 0


def read_tools(body: bytes, file: str) -> tuple[Tool, ...]:
    """Tools as Chat requests have them, or their functions alone. Raises ``InputError``."""
    from conformance.wires.openai_chat import OpenAIChat

    where = name_of(file)
    try:
        value: Any = json.loads(_text(body, file))
    except ValueError as error:
        raise InputError(f"{where}: not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
    if not isinstance(value, list):
        raise InputError(f"{where}: not a list of tools")
    for i, item in enumerate(value):
        whole = (
            item if isinstance(item, dict) and "function" in item else {"type": "function", "function": item}
        )
        request = OpenAIChat().decode_request({"messages": [], "tools": [whole]})
        if not request.tools:
            raise InputError(f"{where}: tool {i}: not a function with name, description and parameters")
        value[i] = request.tools[0]
    return tuple(value)


def _text(body: bytes, file: str) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name_of(file)}: not UTF-8: byte {error.start}") from None


def _part(part: Part) -> JSON:
    from conformance.types import Reasoning, ToolCall

    if isinstance(part, ToolCall):
        return {"type": "call", "id": part.id, "name": part.name, "arguments": part.arguments}
    return {"type": "reasoning" if isinstance(part, Reasoning) else "text", "text": getattr(part, "text", "")}
