"""``conformance certify``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from conformance.cli.failing import clearly
from conformance.cli.options import INTRUSIVE, KNOWN, MATRIX_AS_JSON, MIN_JUDGED, RULES, SCENARIOS, VERBOSE
from conformance.cli.run import command_line, prepare, print_drill_down, reader_may_leave

if TYPE_CHECKING:
    from conformance.config import Endpoint
    from conformance.engine.drive import Plan
    from conformance.engine.options import Options
    from conformance.scenarios import Scenario

WRITTEN_BY = "# Written by conformance certify: replays the recording beside it."

HELP = """Certify one endpoint: run every scenario live, record it, show what holds and what does not.

BASE_URL is what an SDK of the wire is given: everything before /chat/completions, /responses, /v1/messages,
/v1beta/models or /api/chat, e.g. http://127.0.0.1:8080/v1. No configuration file is needed. The recording,
with a providers.yaml that replays it, goes to OUT; simulator:PERSONA certifies the embedded simulator.

\b
Examples:
  conformance certify http://127.0.0.1:8080/v1 --model my-model
  conformance certify https://api.example.com/v1 --model m --key-env EXAMPLE_API_KEY --dry-run
  conformance certify simulator:reference --model reference --wire gemini
  conformance certify simulator:hermes-text --model reference --dialect hermes
  conformance certify http://127.0.0.1:8080/v1 --model scripted --scripted --dialect qwen3-coder
"""


@click.command(help=HELP)
@click.argument("base_url")
@click.option("--model", required=True, metavar="M", help="Model name to send.")
@click.option("--wire", default="openai-chat", show_default=True, metavar="WIRE", help="See: list wires.")
@click.option(
    "--dialect",
    default=None,
    metavar="NAME",
    help="Tools travel in the prompt, calls in the text, so written (see: list dialects); with --scripted: "
    "what the scripted model there writes and the server parses [default: hermes].",
)
@click.option("--key-env", default=None, metavar="VAR", help="Environment variable that holds the key.")
@click.option("--name", default=None, metavar="NAME", help="Name in reports [default: made from the URL].")
@SCENARIOS
@RULES
@click.option("--dry-run", is_flag=True, help="Say what would be sent, send nothing.")
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    default=None,
    metavar="N",
    help="Never send more than N requests.",
)
@KNOWN
@click.option(
    "--out", default=None, metavar="DIR", help="Where everything goes [default: reports/certify-NAME]."
)
@click.option("--scripted", is_flag=True, help="The model there is our scripted model: add its markers.")
@click.option(
    "--parity/--no-parity",
    default=None,
    help="Ask each request both ways, streamed and whole, and compare [default: with --scripted].",
)
@click.option(
    "--server", default=None, metavar="TEXT", help="What answers there, with version and flags; for reports."
)
@click.option(
    "--attempts",
    type=click.IntRange(1, 10),
    default=None,
    help="How often a scenario is run when the model does not do what it needs [default: 3; scripted: 1].",
)
@click.option(
    "--fail-on-warns", is_flag=True, help="Exit 1 where a SHOULD does not hold, too (for git bisect)."
)
@INTRUSIVE
@MIN_JUDGED
@MATRIX_AS_JSON
@VERBOSE
@clearly
def certify(
    base_url: str,
    model: str,
    wire: str,
    dialect: str | None,
    key_env: str | None,
    name: str | None,
    scenarios: tuple[str, ...],
    rules: tuple[str, ...],
    dry_run: bool,
    max_requests: int | None,
    known: str | None,
    out: str | None,
    scripted: bool,
    parity: bool | None,
    server: str | None,
    attempts: int | None,
    fail_on_warns: bool,
    intrusive: bool,
    min_judged: float,
    as_json: bool,
    verbose: int,
) -> int:
    from rich.console import Console

    from conformance.cli.progress import RunProgress
    from conformance.config import ConfigError
    from conformance.engine.options import Options, scenarios_matching
    from conformance.engine.run import exit_code
    from conformance.engine.run import run as run_engine
    from conformance.engine.sources import row_of, source_of
    from conformance.known import load_known
    from conformance.report import write_all
    from conformance.report.jsonfile import to_document
    from conformance.report.terminal import print_tree
    from conformance.scenarios.quirks import QUIRK_SCENARIOS

    if key_env and not os.environ.get(key_env):
        raise ConfigError(f"--key-env {key_env}: this variable is not set")
    name = name or name_of(base_url)
    folder = Path(out) if out else Path("reports") / f"certify-{name}"
    row: dict[str, object] = {"model": model, "wire": wire, "attempts": attempts or (1 if scripted else 3)}
    if base_url.startswith("simulator:"):
        row |= {"persona": base_url.removeprefix("simulator:"), "scripted": True}
    else:
        row |= {"base_url": base_url, "scripted": (dialect or True) if scripted else False}
    if parity and not row["scripted"]:
        raise ConfigError(
            "--parity: only the scripted model says the same both times: add --scripted where it is served"
        )
    if parity and dialect and not isinstance(row["scripted"], str):
        raise ConfigError("--parity: where calls travel in the text there is no second parser to compare")
    if parity is not None:
        row["parity"] = parity
    if key_env:
        row["key_env"] = key_env
    if server:
        row["server"] = server
    if dialect and not isinstance(row["scripted"], str):
        row["dialect"] = dialect
    options = Options(
        config=str(folder / "providers.yaml"),
        mode="record",
        scenarios=scenarios,
        rules=rules,
        intrusive=intrusive,
        max_requests=max_requests,
    )
    entries = load_known(Path(known)) if known else ()
    errors = Console(stderr=True)
    console = errors if as_json else Console()
    text = configuration(name, row)
    endpoint = checked(text, name, options)
    if (source := source_of(endpoint, options)).kind == "none":
        raise ConfigError(source.reason)
    # A quirk's own scenario is for rows that declare it, or asked for by name.
    matching = scenarios_matching(scenarios, intrusive)
    chosen = tuple(one for one in matching if scenarios or one.id not in QUIRK_SCENARIOS)
    once, most = cost(endpoint, chosen, max_requests)
    tokens = f"{once.output_tokens:,} output and about {once.prompt_bytes // 3:,} prompt tokens"
    console.print(
        f"{name}: {len(chosen)} scenarios, {once.requests} requests, at most {tokens}; "
        f"with repeats at most {most.requests} requests, {most.output_tokens:,} output tokens",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    if dry_run:
        return 0
    prepare(folder)
    write_configuration(folder, text)
    with RunProgress([row_of(endpoint, source)], len(chosen), errors, quiet=as_json) as progress:
        outcome = run_engine(options, known=entries, on_cell=progress.on_cell, command=command_line())
    write_all(outcome.matrix, folder)
    code = exit_code(outcome, [name], min_judged)
    if fail_on_warns and code in (0, 3) and any(cell.verdict == "warns" for cell in outcome.matrix.cells):
        code = 1
    with reader_may_leave():
        if as_json:
            click.echo(json.dumps(to_document(outcome.matrix), ensure_ascii=False, indent=1))
        print_tree(outcome.matrix, console)
        print_drill_down(outcome.matrix, console, verbose)
        console.print(f"written: {folder}/", markup=False, highlight=False, soft_wrap=True)
        if any((folder / "cassettes").rglob("*.yaml")):
            again = f"replay it: conformance run --config {folder}/providers.yaml"
            console.print(again, markup=False, highlight=False, soft_wrap=True)
    return code


def name_of(base_url: str) -> str:
    """A row name made from a URL: host and port, or the persona."""
    if base_url.startswith("simulator:"):
        return base_url.removeprefix("simulator:").lower()
    slug = re.sub(r"[^a-z0-9.]+", "-", (urlsplit(base_url).netloc or base_url).rpartition("@")[2].lower())
    return slug.strip("-.")[:64] or "endpoint"


def configuration(name: str, row: Mapping[str, object]) -> str:
    """``providers.yaml`` of a certification, so that its recording can be replayed."""
    import yaml

    body = yaml.safe_dump({"endpoints": {name: dict(row)}}, sort_keys=False, allow_unicode=True)
    return f"{WRITTEN_BY}\n{body}"


def checked(text: str, name: str, options: Options) -> Endpoint:
    """The endpoint of that configuration. Raises `ConfigError` that speaks of options, not of a file."""
    from conformance.config import ConfigError, parse
    from conformance.engine.options import check_rules, unknown_dialect
    from conformance.simulator.personas import PERSONAS

    check_rules(options.rules)
    try:
        (endpoint,) = parse(text, "")
    except ConfigError as error:
        said = re.sub(r"^:\d+: endpoints\.", "", str(error).splitlines()[0]).removeprefix(f"{name}.")
        raise ConfigError(said) from None
    if endpoint.persona is not None and endpoint.persona not in PERSONAS:
        known = ", ".join(PERSONAS)
        raise ConfigError(f"simulator:{endpoint.persona}: no such persona; there are {known}")
    for named in (endpoint.dialect, endpoint.written_in):
        if named and (wrong := unknown_dialect(named)):
            raise ConfigError(f"--dialect: {wrong}")
    return endpoint


def write_configuration(folder: Path, text: str) -> None:
    """Write ``providers.yaml``, over one of ours but never over anybody else's. Raises `ConfigError`."""
    from conformance.config import ConfigError

    path = folder / "providers.yaml"
    if path.exists() and not path.read_text("utf-8", errors="replace").startswith(WRITTEN_BY):
        raise ConfigError(
            f"{path} is not of conformance certify and would be overwritten: choose another --out"
        )
    path.write_text(text, "utf-8")


def cost(endpoint: Endpoint, scenarios: Sequence[Scenario], cap: int | None) -> tuple[Plan, Plan]:
    """What is sent when every scenario counts at once, and at most, with repeats and the request cap."""
    from conformance.dialects import dialect
    from conformance.engine.cells import unsupported
    from conformance.engine.drive import Plan, plan
    from conformance.wires import wire

    once = most = Plan(0, 0, 0)
    spoken = wire(endpoint.wire)
    worded = dialect(endpoint.dialect) if endpoint.dialect else None
    for scenario in scenarios:
        if unsupported(endpoint, scenario, spoken, worded) is None:
            one = plan(scenario, spoken, worded, parity=endpoint.asks_both_ways)
            once += one
            most += one.times(endpoint.attempts)
    if cap is not None:
        once = Plan(min(once.requests, cap), once.output_tokens, once.prompt_bytes)
        most = Plan(min(most.requests, cap), most.output_tokens, most.prompt_bytes)
    return once, most
