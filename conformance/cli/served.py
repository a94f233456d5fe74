"""What ``serve`` prints: where its personas are, and a line for each request."""

from __future__ import annotations

import time
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.cli.outputs import one_line
from conformance.cli.run import reader_may_leave
from conformance.simulator import JournalEntry, Persona, Simulator
from conformance.simulator.runs import DEFAULT
from conformance.types import WIRES, WireName

_WIDE = 1_000
_SHOWN = 300
_STYLES = (("answered", "green"), ("failed", "bold red"), ("", "yellow"))


class ServeLines:
    """Prints to standard output; a reader who leaves ends the printing, not the server."""

    def __init__(self) -> None:
        console = Console(highlight=False)
        # Cut to fit a screen nobody looks at, a URL would be of no use.
        self._console = console if console.is_terminal else Console(highlight=False, width=_WIDE)
        self._requests = 0

    def print_start(self, simulator: Simulator) -> None:
        """Where it listens, then each persona: wires, base URL, key, quirks."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("persona", "wire", "base URL", "key", "quirks"):
            table.add_column(heading, overflow="fold", no_wrap=heading == "base URL")
        for persona in simulator.personas.values():

            def base(wire: WireName, name: str = persona.name) -> str:
                return simulator.base_url(name, wire)

            first = True
            for url, wires in groupby(sorted(WIRES, key=base), key=base):
                cells = (persona.name, persona.key or "any", _quirks(persona)) if first else ("", "", "")
                table.add_row(cells[0], ", ".join(wires), url, cells[1], cells[2])
                first = False
        self._print(Text(f"listening on {simulator.origin} (every persona is simulated); Ctrl-C stops"))
        self._print(table)

    def on_entry(self, entry: JournalEntry) -> None:
        """A line that says what was done with a request, and why."""
        self._requests += 1
        style = next(style for beginning, style in _STYLES if entry.action.startswith(beginning))
        where = entry.path.removeprefix(f"/p/{entry.persona}")
        line = Text(time.strftime("%H:%M:%S "), style="dim")
        line.append(f"{one_line(entry.persona)[:40] or '-'} ", style="cyan")
        line.append(f"{entry.wire or '-'} {one_line(f'{entry.method} {where}')[:_SHOWN]} ", style="default")
        line.append(f"{entry.status or '---'} {one_line(entry.action)[:_SHOWN]}", style=style)
        shaped = [quirk for quirk in entry.quirks if quirk not in entry.action]
        if shaped:
            line.append(f" ({', '.join(shaped)})", style="yellow")
        if entry.run not in ("", DEFAULT):
            line.append(f" run {entry.run}", style="dim")
        self._print(line)

    def print_end(self, log: str | None) -> None:
        """What was done in all."""
        written = f"; written: {log}" if log else ""
        self._print(Text(f"stopped after {self._requests} requests{written}"))

    def _print(self, what: Text | Table) -> None:
        with reader_may_leave():
            self._console.print(what, soft_wrap=isinstance(what, Text))


def _quirks(persona: Persona) -> str:
    """What it does differently: quirks of the catalogue by id, behaviours that act out none by name."""
    others = [behaviour.name for behaviour, quirks in persona.acts if not quirks]
    return ", ".join((*persona.quirks, *others)) or "-"
