"""The command ``conformance``: the engine's face."""

from __future__ import annotations

import sys

import click

from conformance import __version__
from conformance.cli.calibration import calibrate_command
from conformance.cli.catalogue import list_group, schema
from conformance.cli.certify import certify
from conformance.cli.check_request import check_request
from conformance.cli.diff import diff
from conformance.cli.docs import docs
from conformance.cli.doctor import doctor
from conformance.cli.explain import explain
from conformance.cli.field_notes import field_notes
from conformance.cli.grade import grade
from conformance.cli.lab import lab
from conformance.cli.parse import parse
from conformance.cli.run import run
from conformance.cli.scripted_model import scripted_model
from conformance.cli.serve import serve
from conformance.cli.translate import translate

EXIT_CODES = """
\b
Exit codes:
  0    no violation (conforms, warns, quirk, refused, inconclusive, unsupported)
  1    violations that no quirk or known finding declares
  2    usage or configuration error; the message names file, line and key
  3    something asked for could not be judged (error, a named endpoint not run)
  130  interrupted; what was finished is written
"""

EXAMPLES = """
\b
Start here:
  conformance run                      replay every recording, offline
  conformance certify http://127.0.0.1:8080/v1 --model my-model
  conformance grade tests/cassettes    judge traffic that was recorded elsewhere
  conformance explain tools.parallel-calls
  conformance serve                    simulated providers on this machine, for tests of adapters
"""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Conformance suite for LLM endpoints that call themselves OpenAI-compatible.\n\n"
    "Protocol and model are judged apart: every verdict says which, and shows the bytes.\n"
    + EXAMPLES
    + EXIT_CODES,
)
@click.version_option(__version__, prog_name="conformance")
def cli() -> None:
    pass


for command in (
    run,
    certify,
    grade,
    serve,
    explain,
    list_group,
    schema,
    doctor,
    docs,
    calibrate_command,
    field_notes,
    translate,
    parse,
    check_request,
    scripted_model,
    diff,
    lab,
):
    cli.add_command(command)


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that can't print a character must not end a run with a traceback.
            stream.reconfigure(errors="backslashreplace")
    cli()
