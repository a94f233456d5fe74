"""What ``serve`` prints: where its personas are, and a line for each request."""

from __future__ import annotations

import time

from rich.console import Console
from rich.text import Text

from conformance.cli.outputs import one_line
from conformance.cli.run import reader_may_leave
from conformance.quirks import catalogue
from conformance.simulator import JournalEntry, Persona, Simulator
from conformance.simulator.runs import DEFAULT

_WIDE = 1_000
_SHOWN = 300
_FEW = 3
"""So many personas are told with their quirks, more with how many they have."""
_STYLES = (("answered", "green"), ("failed", "bold red"), ("", "yellow"))


class ServeLines:
    """Prints to standard output; a reader who leaves ends the printing, not the server."""

    def __init__(self) -> None:
        console = Console(highlight=False)
        # Cut to fit a screen nobody looks at, a URL would be of no use.
        self._console = console if console.is_terminal else Console(highlight=False, width=_WIDE)
        self._requests = 0

    def print_start(self, simulator: Simulator) -> None:
        """Where it listens, how SDKs are pointed at it, then the personas: base URL, quirks, models."""
        personas = list(simulator.personas.values())
        keys = dict.fromkeys(f"key {persona.key}" if persona.key else "any key" for persona in personas)
        rows = [("persona", "base URL", "quirks", "models")]
        rows += [
            (
                persona.name,
                simulator.base_url(persona.name, "anthropic-messages"),
                str(len(_quirks(persona))),
                ", ".join(dict.fromkeys((persona.model, *persona.models))),
            )
            for persona in personas
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        self._print(Text(f"listening on {simulator.origin} (every persona is simulated); Ctrl-C stops"))
        as_it_stands = "the SDKs of Anthropic, Google and Ollama take the base URL as it stands"
        self._print(Text(f"{', '.join(keys)}; {as_it_stands}, OpenAI's with /v1"))
        for number, row in enumerate(rows):
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            self._print(Text("  ".join((*cells, row[3])), style="" if number else "bold"))
        if len(personas) > _FEW:
            self._print(Text("with --persona NAME the quirks of one are named"))
            return
        for persona in personas:
            self._print_quirks(persona)

    def _print_quirks(self, persona: Persona) -> None:
        named = _quirks(persona)
        width = max(map(len, named), default=0)
        for name, title in named.items():
            self._print(Text(f"  {name:<{width}}  {title}".rstrip()))

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

    def _print(self, what: Text) -> None:
        with reader_may_leave():
            self._console.print(what, soft_wrap=True)


def _quirks(persona: Persona) -> dict[str, str]:
    """What it does differently: quirks by id with their titles, behaviours that act out none by name."""
    titles = {quirk: catalogue()[quirk].title for quirk in persona.quirks}
    return titles | {behaviour.name: "" for behaviour, quirks in persona.acts if not quirks}
