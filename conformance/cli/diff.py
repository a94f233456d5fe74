"""``conformance diff``: what changed between two runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from conformance.cli.failing import clearly
from conformance.cli.outputs import as_json

if TYPE_CHECKING:
    from conformance.types import Matrix


@click.command()
@click.option("--json", "in_json", is_flag=True, help="Write the changes as JSON.")
@click.option("--markdown", is_flag=True, help="Write them as Markdown, for a pull request.")
@click.option(
    "--fail-on",
    type=click.Choice(["MUST", "SHOULD", "never"]),
    default="MUST",
    show_default=True,
    help="Which broken rules make the exit code 1.",
)
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
@clearly
def diff(in_json: bool, markdown: bool, fail_on: str, old: str, new: str) -> int:
    """Tell what changed from the run OLD to the run NEW, two files matrix.json.

    Regressions (a rule holds no longer), fixes, what is no longer judged or is again, what is new or gone,
    and declared quirks that no longer show.

    \b
    Examples:
      conformance diff main/matrix.json reports/latest/matrix.json
      conformance diff --markdown before.json after.json > comment.md

    \b
    Exit codes:
      0  no regression
      1  a rule of the level of --fail-on, or a stronger one, holds no longer
      2  a file is no matrix
    """
    from conformance.report.difference import difference
    from conformance.report.difference_text import to_json, to_markdown, to_text

    found = difference(read_matrix(Path(old)), read_matrix(Path(new)))
    if in_json:
        click.echo(as_json(to_json(found)))
    elif markdown:
        click.echo(to_markdown(found))
    else:
        click.echo(to_text(found))
    if fail_on == "never":
        return 0
    return 1 if found.regressed(cast("Literal['MUST', 'SHOULD']", fail_on)) else 0


def read_matrix(path: Path) -> Matrix:
    """The matrix in a file. Raises `ConfigError` where there is none, naming the place."""
    from conformance.config import ConfigError
    from conformance.report.jsonfile import from_document

    try:
        return from_document(json.loads(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {str(error)[:500]}") from None
