"""Starting a simulator in the background, and handing out runs of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.scenarios import scripts
from conformance.simulator import Simulator, running
from conformance.simulator.choosing import choose
from conformance.simulator.faults import FAULTS_BY_NAME
from conformance.simulator.script import Script, load_script
from conformance.testing.simulated import Simulated


@dataclass(frozen=True, slots=True)
class Options:
    """What is simulated, as ``conformance serve`` has it.

    Without ``personas`` all are there. ``quirks`` go to the one persona named, or else to a further one,
    ``custom``. ``models`` are names or patterns that all personas serve beside their own. ``script`` is a
    file that fixes turns. ``seed`` makes the same requests bring the same bytes; with ``None`` no two ids are
    alike.
    """

    personas: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    script: Path | None = None
    seed: int | None = 0
    latency_ms: float = 0.0
    gap_ms: float = 0.0


class Server:
    """A running simulator, whose runs keep what they remember apart."""

    def __init__(self, hosted: Simulator) -> None:
        self._hosted = hosted
        self._numbers = itertools.count(1)

    def run(self, name: str | None = None) -> Simulated:
        """The run of that name (1 to 100 of A-Z a-z 0-9 . _ ~ -), or else a fresh one.

        Raises:
            ValueError: that is no name for a run.
        """
        return Simulated(self._hosted, f"test-{next(self._numbers)}" if name is None else name)


@contextmanager
def serving(options: Options = Options()) -> Iterator[Server]:
    """A simulator on a free loopback port, in a thread of its own, while the context lasts.

    Raises:
        ConfigError: an option can't be used; the message says which, and what to change.
    """
    script = load_script(options.script, tuple(FAULTS_BY_NAME)) if options.script else Script()
    hosted = Simulator(
        choose(options.personas, options.quirks, options.models),
        scripts(),
        latency_s=options.latency_ms / 1000,
        gap_s=options.gap_ms / 1000,
        script=script,
        seed=options.seed,
    )
    with running(hosted):
        yield Server(hosted)


@contextmanager
def simulator(options: Options = Options()) -> Iterator[Simulated]:
    """A simulator of one's own while the context lasts. Raises as `serving` does."""
    with serving(options) as server:
        yield server.run()
