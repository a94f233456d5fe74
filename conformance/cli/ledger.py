"""The ledger of quirks: what is simulated, detected and worked around, and why not where it isn't."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.quirks import Quirk

_LEGEND = """\
A quirk is *simulated* when `conformance serve --quirk ID` acts it out, *detected* when a rule finds it, or an
answer breaks off, in the scenarios named (`quirk` where a row declares it; where none does, `violates` or
`warns`, and `error` for what breaks off; `stale` where it is declared and shows no longer), *worked around*
when the profiles named mend it (`run --adapted`). Tests play every row of this table (`tests/quirks`).
`conformance explain ID` tells more of each.
"""
_COLUMNS = ("quirk", "who", "confidence", "simulated", "detected", "worked around", "sources")


def ledger_page(generated: str) -> str:
    """The page; ``generated`` is the note that it must not be edited."""
    from conformance.cli.docs import cell
    from conformance.profiles import PROFILES
    from conformance.quirks import catalogue

    quirks = list(catalogue().values())
    around = {quirk.id: [p.name for p in PROFILES.values() if quirk.id in p.works_around] for quirk in quirks}
    lines = [f"# Quirks\n\n{generated}\n{_LEGEND}\n", _counted(quirks, around)]
    lines.append(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}\n")
    for quirk in quirks:
        row = (
            f"`{quirk.id}` {quirk.title}",
            ", ".join(quirk.providers),
            quirk.confidence,
            _simulated(quirk),
            _detected(quirk),
            _worked_around(quirk, around[quirk.id], len(PROFILES)),
            "; ".join(quirk.sources),
        )
        lines.append("| " + " | ".join(map(cell, row)) + " |\n")
    return "".join(lines)


def _counted(quirks: list[Quirk], around: Mapping[str, list[str]]) -> str:
    firm = [quirk for quirk in quirks if quirk.confidence != "unconfirmed"]
    simulated = [quirk for quirk in quirks if quirk.simulated]
    counts = (
        f"{len(quirks)} quirks, {len(quirks) - len(firm)} of them unconfirmed",
        f"{sum(quirk.simulated for quirk in firm)} of the {len(firm)} others simulated",
        f"{sum(quirk.detected for quirk in simulated)} of the {len(simulated)} simulated ones detected",
        f"{sum(bool(names) for names in around.values())} worked around, "
        f"{sum(quirk.no_workaround is not None for quirk in quirks)} no client's work",
    )
    return "; ".join(counts) + ".\n\n"


def _simulated(quirk: Quirk) -> str:
    return "yes" if quirk.simulated else f"no: {quirk.unsimulated}"


def _detected(quirk: Quirk) -> str:
    patterns = [*(name for shows in quirk.shows for name in shows.scenarios), *quirk.breaks]
    names = dict.fromkeys(name for name in patterns if "*" not in name)
    if not quirk.detected:
        return f"no: {quirk.undetected}"
    if not names:
        return "wherever it shows"
    shown = [f"`{name}`" for name in list(names)[:3]]
    return ", ".join(shown) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _worked_around(quirk: Quirk, names: list[str], profiles: int) -> str:
    if not names:
        return f"no: {quirk.no_workaround}"
    if len(names) > profiles // 2:
        return "by all profiles of compatible endpoints"
    return ", ".join(names)
