"""A console as the terminal report needs it: untrusted text, marks and indents it can show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from conformance.report.clean import clean_block, clean_line
from conformance.report.verdicts import ASCII_MARKS, MARKS, STYLES
from conformance.types import VerdictName

_ASCII = str.maketrans({"·": "-", "—": "-", "…": "...", "│": "|", "┐": ".", "─": "-"})

_NARROWEST = 12  # a last column narrower than this is not worth aligning


class Page:
    """Prints ``Text`` only, so nothing is ever read as markup, and only what the encoding can hold."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = console.width
        self._utf = console.encoding.lower().startswith("utf")

    def mark(self, verdict: VerdictName) -> Text:
        """The verdict's symbol; its colour only repeats what the symbol says."""
        return Text((MARKS if self._utf else ASCII_MARKS)[verdict], STYLES[verdict])

    def own(self, text: str, style: str = "") -> Text:
        """Text of ours."""
        return Text(text if self._utf else text.translate(_ASCII), style)

    def foreign(self, text: str, style: str = "", limit: int = 400) -> Text:
        """Text from outside, on one line."""
        return Text(self._encodable(clean_line(text, limit)), style)

    def whole(self, text: str, style: str = "") -> Text:
        """Text from outside that is there to be copied: never folded, on a line of its own if need be."""
        shown = self.foreign(text, style)
        shown.no_wrap = True
        return shown

    def block(self, text: str, style: str = "") -> Text:
        """Text from outside, with its line feeds."""
        return Text(self._encodable(clean_block(text)), style)

    def _encodable(self, text: str) -> str:
        if self._utf:
            return text
        return (
            text.translate(_ASCII)
            .encode(self.console.encoding, "backslashreplace")
            .decode(self.console.encoding)
        )

    def print(self, *pieces: Text, indent: int = 0) -> None:
        """One paragraph, folded to the width with every line indented."""
        self._hang(Text(" " * min(indent, self.width // 2)), Text.assemble(*pieces))

    def gap(self) -> None:
        """An empty line."""
        self.console.print()

    def title(self, text: str) -> None:
        """A section's heading, after an empty line."""
        self.gap()
        self.print(self.own(text, "bold"))

    def rows(self, rows: Iterable[tuple[Text, ...]], indent: int = 0) -> None:
        """Rows of aligned columns; the last one folds into what is left of the width."""
        rows = list(rows)
        widths = [max(text.cell_len for text in column) + 2 for column in zip(*rows, strict=True)][:-1]
        for row in rows:
            if row[-1].no_wrap:
                self._whole(_padded(indent, row, widths), row[-1])
            elif indent + sum(widths) + _NARROWEST > self.width:
                self.print(Text("  ").join(row), indent=indent)
            else:
                self._hang(_padded(indent, row, widths), row[-1])

    def line(self, text: Text, indent: int = 0) -> None:
        """One line that is not folded."""
        self._whole(Text(" " * indent), text)

    def _whole(self, lead: Text, body: Text) -> None:
        """``body`` in one piece: beside ``lead`` where it fits, else below it, for the terminal to wrap."""
        if lead.cell_len + body.cell_len <= self.width:
            lines = [lead + body]
        else:
            lines = [lead, body] if lead.plain.strip() else [body]
        for line in lines:
            line.rstrip()
            self.console.print(line, soft_wrap=True)

    def _hang(self, lead: Text, body: Text) -> None:
        """``body`` folded into lines that all start where ``lead`` ends."""
        lines = body.wrap(self.console, max(2, self.width - lead.cell_len), overflow="fold") or [Text()]
        for number, line in enumerate(lines):
            whole = (lead if number == 0 else Text(" " * lead.cell_len)) + line
            whole.rstrip()
            self.console.print(whole, soft_wrap=True)


def _padded(indent: int, row: Sequence[Text], widths: Sequence[int]) -> Text:
    """All but the last column of ``row``."""
    cells = (text + Text(" " * (width - text.cell_len)) for text, width in zip(row, widths, strict=False))
    return Text.assemble(" " * indent, *cells)
