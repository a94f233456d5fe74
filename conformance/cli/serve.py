"""``conformance serve``."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.failing import clearly

if TYPE_CHECKING:
    from conformance.simulator import Simulator

PORT = 8089

HELP = """Simulate LLM endpoints on this machine, with the quirks of real providers, to test adapters against.

Each persona has a path of its own on one loopback port and speaks every wire: http://127.0.0.1:8089/p/deepseek
is the base URL for the SDKs of Anthropic, Google and Ollama, the same with /v1 the one for OpenAI's. All want
the key sk-reference and serve the model "reference", names of their provider's, and what --model says. A
persona is a simulation made from the catalogue of quirks, never the provider itself.

Every request is told in a line: what was done with it and why. "refused: duplicate-tool-names-rejected" names
a quirk; `conformance explain` shows it, with its sources and a workaround.

\b
What the model says:
  a prompt that names a tool    the tool is called, with arguments that fit its schema
  results of calls              are told in a text, so that any agent loop ends
  a JSON format asked for       an answer that fits the schema
  anything else                 "You wrote: ..."
  [[tools.single-call/1]]       the ideal answer to that step of a scenario (conformance list scenarios)
  --script turns.yaml           whatever you write there:
\b
    turns:                      # the first that fits answers; without a condition: once
      - contains: weather       # or matches: REGEX, marker: NAME, number: 1, after: tools
        calls: [{name: get_weather, arguments: {city: Paris}}]
      - {contains: weather, after: tools, text: It is sunny in Paris.}
      - fault: rate-limited     # GET /__conformance/faults lists them
\b
For tests in any language (the header X-Conformance-Run, or /r/RUN before /p/, keeps runs apart):
  GET    /__conformance/journal?persona=deepseek&action=refused
  POST   /__conformance/faults   {"fault": "html-502", "times": 2}
  DELETE /__conformance/reset
  GET    /__conformance/personas, /quirks, /health

\b
Examples:
  conformance serve
  conformance serve --persona deepseek --log traffic.jsonl && conformance grade traffic.jsonl
  conformance serve --quirk duplicate-tool-names-rejected --model '*' --no-key
  conformance serve --seed 1 --latency 0 --gap 0 --port 0

\b
Exit codes:
  0    stopped by Ctrl-C or SIGTERM
  2    usage or configuration error, a port that is taken; the message names what to change
"""


@click.command(help=HELP)
@click.option("--persona", "personas", multiple=True, metavar="NAME", help="Only this persona (repeatable).")
@click.option(
    "--quirk",
    "quirks",
    multiple=True,
    metavar="ID",
    help='Add this quirk to the one --persona given, else to the reference as persona "custom" (repeatable).',
)
@click.option(
    "--model", "models", multiple=True, metavar="GLOB", help="Serve models like this, too (repeatable)."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="P",
    help="Port; 0: a free one.",
)
@click.option(
    "--latency",
    "latency_ms",
    type=click.FloatRange(0, 600_000),
    default=0.0,
    metavar="MS",
    help="Wait so many milliseconds before each answer.",
)
@click.option(
    "--gap",
    "gap_ms",
    type=click.FloatRange(0, 60_000),
    default=1.0,
    show_default=True,
    metavar="MS",
    help="Milliseconds between the events of a stream.",
)
@click.option(
    "--seed",
    type=int,
    default=None,
    metavar="N",
    help="The same requests bring the same bytes: ids, padding and dates are fixed.",
)
@click.option("--script", default=None, metavar="FILE", help="Fixes the model's turns (YAML, see above).")
@click.option(
    "--log", default=None, metavar="FILE", help="Write every exchange, redacted, as a line of JSON for grade."
)
@click.option("--no-key", is_flag=True, help="Let in any key, and none.")
@clearly
def serve(
    personas: tuple[str, ...],
    quirks: tuple[str, ...],
    models: tuple[str, ...],
    port: int,
    latency_ms: float,
    gap_ms: float,
    seed: int | None,
    script: str | None,
    log: str | None,
    no_key: bool,
) -> int:
    from conformance.cli.serve_log import ServeLog
    from conformance.cli.served import ServeLines
    from conformance.scenarios import scripts
    from conformance.simulator import Simulator
    from conformance.simulator.choosing import choose
    from conformance.simulator.faults import FAULTS_BY_NAME
    from conformance.simulator.script import Script, load_script

    served = choose(personas, quirks, models, any_key=no_key)
    turns = load_script(Path(script), tuple(FAULTS_BY_NAME)) if script else Script()
    with contextlib.ExitStack() as stack:
        lines = ServeLines()
        written = None
        if log is not None:
            keys = tuple(persona.key for persona in served)
            written = ServeLog(Path(log), keys, lambda problem: click.echo(problem, err=True))
            stack.callback(written.close)
        simulator = Simulator(
            served,
            scripts(),
            latency_s=latency_ms / 1000,
            gap_s=gap_ms / 1000,
            script=turns,
            seed=seed,
            on_entry=lines.on_entry,
            on_exchange=written.add if written else None,
        )
        asyncio.run(_until_stopped(simulator, port, lambda: lines.print_start(simulator)))
    lines.print_end(log)
    return 0


async def _until_stopped(simulator: Simulator, port: int, started: Callable[[], None]) -> None:
    """Host the simulator until Ctrl-C or SIGTERM. Raises `ConfigError` where the port can't be had."""
    from conformance.config import ConfigError

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await simulator.start(port)
    except OSError as error:
        why = "is taken" if error.errno == errno.EADDRINUSE else f"can't be had: {error.strerror}"
        raise ConfigError(f"--port {port}: {why}; --port 0 takes a free one") from None
    started()
    try:
        await stop.wait()
    finally:
        await simulator.stop()
