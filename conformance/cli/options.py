"""Options that several commands have, so that they mean the same in each."""

from __future__ import annotations

import click

SCENARIOS = click.option(
    "--scenario", "scenarios", multiple=True, metavar="GLOB", help="Only scenarios like this (repeatable)."
)
RULES = click.option(
    "--rule", "rules", multiple=True, metavar="GLOB", help="Judge only rules like this (repeatable)."
)
CASSETTES = click.option(
    "--cassettes", default=None, metavar="DIR", help="Recordings [default: cassettes/ beside the config]."
)
KNOWN = click.option("--known", default=None, metavar="FILE", help="Known findings that don't fail the run.")
RULEBOOK = click.option(
    "--rulebook",
    type=click.Choice(["default", "literal"]),
    default="default",
    show_default=True,
    help="literal: what the published schema says word for word.",
)
INTRUSIVE = click.option("--intrusive", is_flag=True, help="Also run scenarios that cost or annoy.")
MIN_JUDGED = click.option(
    "--min-judged",
    type=click.FloatRange(0, 100),
    default=0.0,
    metavar="PERCENT",
    help="Exit 3 when less than this share of the cells was judged.",
)
MATRIX_AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="The matrix on stdout, everything else on stderr."
)
VERBOSE = click.option(
    "-v", "--verbose", count=True, help="Show the exchanges of the cells with findings (-vv: of all)."
)
