"""``conformance translate``: requests and answers from one wire into another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.failing import clearly
from conformance.cli.inputs import InputError, name_of, read_input
from conformance.cli.outputs import as_json, one_line
from conformance.types import WIRES

if TYPE_CHECKING:
    from conformance.wires.translation import Kind

_FORMATS = (*WIRES, "langchain")


@click.command()
@click.option("--from", "source", type=click.Choice(_FORMATS), required=True, help="What the input is.")
@click.option("--to", "target", type=click.Choice(_FORMATS), required=True, help="What to write.")
@click.option(
    "--kind", type=click.Choice(["request", "response"]), help="What to take the input for, by force."
)
@click.option("--model", default="", help="The model to name, instead of the input's.")
@click.option("--strict", is_flag=True, help="Exit 1 when anything is lost.")
@click.argument("file", default="-")
@clearly
def translate(source: str, target: str, kind: Kind | None, model: str, strict: bool, file: str) -> int:
    """Translate a request or an answer of one wire into another.

    FILE (standard input without one, or for -) holds a request body, a whole answer, or a recorded
    stream (server-sent events, or JSON lines) as an answer. The result is JSON on standard output.
    `langchain` stands for LangChain messages, as messages_to_dict gives them.

    Everything goes through one canonical form, OpenAI Chat's vocabulary. What is lost on the way is told on
    standard error, a line each: where, what, and whether its meaning is gone or only its form. The place is
    one in that form (/extra has Chat's further members, /native those of one wire), or in FILE where the
    line says "in the input". What was odd in an answer and could be read all the same comes after "note:".

    \b
    Example:
      echo '{"model": "m", "seed": 7, "messages": [{"role": "user", "content": "hi"}]}' \\
        | conformance translate --from openai-chat --to anthropic-messages

    \b
    Exit codes:
      0  translated
      1  translated, with losses, under --strict
      2  the input is not what it was said to be
    """
    from conformance.wires.translation import Unusable
    from conformance.wires.translation import translate as translated

    try:
        found = translated(source, target, read_input(file), kind=kind, model=model)
        text = as_json(found.value)
    except InputError as error:
        click.echo(one_line(f"error: {error}"), err=True)
        return 2
    except Unusable as error:
        click.echo(one_line(f"error: {name_of(file)}: {error}"), err=True)
        return 2
    click.echo(text)
    for fact in found.facts:
        click.echo(one_line(f"note: {fact.path}: {fact.name} {fact.detail}".rstrip()), err=True)
    for loss in found.losses:
        click.echo(one_line(f"{loss.path or '/'}: {loss.what} ({loss.weight})"), err=True)
    return 1 if strict and found.losses else 0
