"""``conformance lab``: real servers and gateways on this machine."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

from conformance.cli.failing import clearly
from conformance.cli.options import CASSETTES, SCENARIOS
from conformance.cli.outputs import as_json

if TYPE_CHECKING:
    from conformance.lab import Bench, Recipe, Running
    from conformance.types import JSON

P = ParamSpec("P")

HELP = """Install and run real servers and gateways on this machine, with a model that says what we script.

Each recipe pins its versions and installs into an environment of its own under ~/.cache/conformance-lab (or
$CONFORMANCE_LAB), listens on loopback only, and keeps a log there. Nothing else on the machine is touched;
deleting that folder removes everything.

\b
Examples:
  conformance lab list
  conformance lab up llamacpp && LLAMACPP_API_KEY=sk-lab conformance run --live --endpoint llamacpp
  conformance lab record litellm --scenario 'tools.*'
  conformance lab down

\b
Exit codes:
  0  done
  1  record --check: not what the recording says
  2  usage error, or a server could not be installed or started; the message says why
  3  this machine can't have it (Python, Node, disk), or a cell could not be judged
"""


@click.group(help=HELP)
def lab() -> None:
    pass


def in_lab(command: Callable[P, int]) -> Callable[P, None]:
    """Like `clearly`, and for the lab's own errors: 3 for what this machine can't have, else 2."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> int:
        from conformance.lab import LabError, Unavailable

        try:
            return command(*args, **kwargs)
        except LabError as error:
            click.echo(f"error: {error}", err=True)
            return 3 if isinstance(error, Unavailable) else 2

    return clearly(wrapper)


def bench() -> Bench:
    """The lab's folder, which tells on standard error what it does."""
    from conformance.lab import Bench

    return Bench(say=functools.partial(click.echo, err=True))


PORTS = click.option(
    "--port", "ports", multiple=True, metavar="NAME=PORT", help="Another port than the recipe's (repeatable)."
)


DIALECTS = click.option(
    "--dialect",
    "dialects",
    multiple=True,
    metavar="D",
    help="Its row with a scripted model of this dialect (repeatable; all: every one that its recipe knows).",
)


@lab.command("list")
@click.option("--json", "in_json", is_flag=True, help="Write the list as JSON.")
@in_lab
def list_recipes(in_json: bool) -> int:
    """List the recipes: what each is, whether it is installed, runs, or can't be had here and why."""
    from conformance.lab import recipes

    here = bench()
    running = here.running()
    states = {name: state_of(here, recipe, running.get(name)) for name, recipe in recipes().items()}
    if in_json:
        click.echo(as_json([_described(recipe, states[name]) for name, recipe in recipes().items()]))
        return 0
    wide = max(map(len, recipes()))
    for name, recipe in recipes().items():
        click.echo(f"{name:<{wide}}  {recipe.server}: {recipe.about}")
        click.echo(f"{'':<{wide}}  port {recipe.port}, {recipe.disk_mb} MB; {states[name]}")
    return 0


@lab.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@in_lab
def install(names: tuple[str, ...]) -> int:
    """Install servers, each into an environment of its own; those this machine can't have are skipped."""
    from conformance.lab import Unavailable

    here = bench()
    code = 0
    for name in names:
        try:
            here.install(name)
        except Unavailable as error:
            click.echo(f"{name}: skipped: {error}")
            code = 3
        else:
            click.echo(f"{name}: installed")
    return code


@lab.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@PORTS
@click.option(
    "--model",
    default=None,
    metavar="DIR",
    help="A folder that scripted-model build wrote [default: the scenarios' model, in Hermes].",
)
@click.option(
    "--dialect",
    default=None,
    metavar="D",
    help="Serve the scenarios' model of this dialect, parsed natively.",
)
@in_lab
def up(names: tuple[str, ...], ports: tuple[str, ...], model: str | None, dialect: str | None) -> int:
    """Install and start servers, and before them those they need; say how they are reached."""
    from conformance.lab import endpoints_of, keys_of, recipes

    if model and dialect:
        raise click.UsageError("--model is a model that is built already, --dialect one that is built now")
    for running in bench().up(names, ports_of(ports), Path(model) if model else None, dialect):
        recipe = recipes()[running.name]
        click.echo(f"{recipe.server}: process {running.pid}, port {running.port}")
        reached = {**running.ports, running.name: running.port}
        for endpoint in endpoints_of(recipe, (), reached, running.dialect or None):
            variable = endpoint.key_env
            key = f", {variable}={keys_of(recipe)[variable]}" if variable else ""
            click.echo(f"  {endpoint.name}: {endpoint.base_url} ({endpoint.wire}, {endpoint.model}{key})")
    return 0


@lab.command()
@click.option("--json", "in_json", is_flag=True, help="Write what runs as JSON.")
@in_lab
def status(in_json: bool) -> int:
    """Tell which servers of the lab run."""
    here = bench()
    running = here.running()
    if in_json:
        click.echo(
            as_json(
                [{"name": r.name, "pid": r.pid, "port": r.port, "server": r.server} for r in running.values()]
            )
        )
        return 0
    for server in running.values():
        click.echo(
            f"{server.name}: {server.server}, process {server.pid}, port {server.port}, since {server.since}"
        )
        click.echo(f"  log {here.log(server.name)}")
    if not running:
        click.echo("nothing runs")
    return 0


@lab.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@in_lab
def down(names: tuple[str, ...]) -> int:
    """Stop servers that the lab started; all of them without names."""
    stopped = bench().down(names)
    for server in stopped:
        click.echo(f"{server.name}: stopped process {server.pid}")
    if not stopped:
        click.echo("nothing ran")
    return 0


@lab.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@DIALECTS
@in_lab
def rows(names: tuple[str, ...], dialects: tuple[str, ...]) -> int:
    """Write the recipes' endpoints as rows for a providers.yaml (with --dialect: a dialects.yaml)."""
    from conformance.lab import endpoints_of, recipes, to_yaml
    from conformance.lab.recipe import check_name

    for name in names:
        check_name(name)
    chosen = [recipe for name, recipe in recipes().items() if not names or name in names]
    found = [
        row
        for recipe in chosen
        for dialect in (of_recipe(recipe, dialects) if dialects else (None,))
        for row in endpoints_of(recipe, dialect=dialect)
    ]
    click.echo(to_yaml(found), nl=False)
    return 0


@lab.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--config",
    default=None,
    help="Rows with declared quirks [default: providers.yaml; with --dialect dialects.yaml].",
)
@CASSETTES
@click.option("--endpoint", "endpoints", multiple=True, metavar="ROW", help="Only this row (repeatable).")
@SCENARIOS
@click.option("--check", is_flag=True, help="Keep the old recording; exit 1 where the new one differs.")
@DIALECTS
@PORTS
@in_lab
def record(
    names: tuple[str, ...],
    config: str | None,
    cassettes: str | None,
    endpoints: tuple[str, ...],
    scenarios: tuple[str, ...],
    check: bool,
    dialects: tuple[str, ...],
    ports: tuple[str, ...],
) -> int:
    """Bring servers up, record them again, and show what differs from the previous recording.

    With --dialect it is the chapter of parser scenarios, in the rows of dialects.yaml and cassettes-dialects.
    """
    from conformance.cli.lab_record import Recording
    from conformance.lab import LabError, recipes
    from conformance.lab.recipe import check_name

    here = bench()
    before = here.running()
    path = Path(config or ("dialects.yaml" if dialects else "providers.yaml"))
    folder = (
        Path(cassettes) if cassettes else path.parent / ("cassettes-dialects" if dialects else "cassettes")
    )
    recording = Recording(path, folder, endpoints, scenarios or (("parser.*",) if dialects else ()), check)
    codes = []
    for name in names:
        check_name(name)
        if dialects and name in before:
            raise LabError(
                f"{name} runs already, with another model; stop it first: conformance lab down {name}"
            )
        for dialect in of_recipe(recipes()[name], dialects) if dialects else (None,):
            started = here.up([name], ports_of(ports), dialect=dialect)
            try:
                codes.append(recording.of(started[-1]))
            finally:
                # What ran before stays; the rest was only brought up for this.
                fresh = [server.name for server in started if server.name not in before]
                if fresh:
                    here.down(fresh)
    return max(codes)


def of_recipe(recipe: Recipe, given: tuple[str, ...]) -> tuple[str, ...]:
    """The dialects meant: ``all`` are those that the recipe has. Raises `LabError`."""
    from conformance.lab import LabError

    if "all" not in given:
        return given
    if not recipe.dialects:
        raise LabError(f"{recipe.name}: its recipe names no dialects")
    return tuple(recipe.dialects)


def ports_of(given: tuple[str, ...]) -> dict[str, int]:
    """``NAME=PORT`` words as a mapping. Raises `ConfigError`."""
    from conformance.config import ConfigError

    ports: dict[str, int] = {}
    for word in given:
        name, _, port = word.partition("=")
        if not port.isdecimal() or not 1024 <= int(port) <= 65535:
            raise ConfigError(f"--port {word}: wanted NAME=PORT with a port from 1024 to 65535")
        ports[name] = int(port)
    return ports


def state_of(here: Bench, recipe: Recipe, running: Running | None) -> str:
    """Whether the recipe's server runs, is installed, could be, or can't be had and why."""
    if running is not None:
        return f"runs on port {running.port}"
    if here.is_installed(recipe):
        return "installed"
    reason = here.why_not(recipe)
    return f"can't be had here: {reason}" if reason else "not installed"


def _described(recipe: Recipe, state: str) -> dict[str, JSON]:
    return {
        "name": recipe.name,
        "server": recipe.server,
        "port": recipe.port,
        "disk_mb": recipe.disk_mb,
        "needs": list(recipe.needs),
        "endpoints": list(recipe.rows),
        "state": state,
    }
