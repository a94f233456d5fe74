"""What is wrong, as a terminal shows it: each deviation with its proof, reasons, flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.text import Text

from conformance.report.findings import Deviation, cells_of, deviations, informational, moment, reasons
from conformance.report.page import Page
from conformance.report.verdicts import BY_GRAVITY, STYLES, bears, shown_flags
from conformance.types import Cell, Finding

_MANY = 40
"""Lines of declared quirks above which each endpoint has one."""


def print_deviations(page: Page, cells: Sequence[Cell], verbose: bool, name_endpoints: bool) -> None:
    """What is not declared in full; what is, a line per quirk, unless ``verbose`` wants its excerpts too.

    Where there are many, an endpoint has one line.
    """
    found = deviations(cells)
    by_rule: dict[str, list[Deviation]] = {}
    for deviation in sorted(found, key=_gravity):
        if verbose or not all(finding.quirk for _, finding in deviation.places):
            by_rule.setdefault(deviation.rule, []).append(deviation)
    if by_rule:
        _undeclared(page, by_rule, verbose, name_endpoints)
    if not verbose:
        _declared(page, cells, name_endpoints)


def _declared(page: Page, cells: Iterable[Cell], name_endpoints: bool) -> None:
    shown: dict[tuple[str, str], int] = {}
    for cell in cells:
        for quirk in {finding.quirk for finding in cell.findings if finding.quirk is not None}:
            shown[cell.endpoint, quirk] = shown.get((cell.endpoint, quirk), 0) + 1
    if not shown:
        return
    if name_endpoints and len(shown) > _MANY:
        _counted_quirks(page, shown)
        return
    page.title("Declared quirks that show (conformance explain QUIRK; -v shows the bytes)")
    for (endpoint, quirk), times in sorted(shown.items()):
        whose = f"{endpoint} " if name_endpoints else ""
        told = page.foreign(f"  {whose}{cells_of(times)}")
        page.print(page.mark("quirk"), Text(" "), page.foreign(quirk, STYLES["quirk"]), told)


def _counted_quirks(page: Page, shown: Mapping[tuple[str, str], int]) -> None:
    page.title("Declared quirks that show (run --endpoint NAME names them, -v shows the bytes)")
    numbers = Counter(endpoint for endpoint, _ in shown)
    width = max(page.foreign(endpoint).cell_len for endpoint in numbers)
    for endpoint, number in sorted(numbers.items()):
        name = page.foreign(endpoint)
        told = page.own(f"{number} {'quirk' if number == 1 else 'quirks'}")
        page.print(page.mark("quirk"), Text(" "), name, Text(" " * (width - name.cell_len + 2)), told)


def _undeclared(page: Page, by_rule: dict[str, list[Deviation]], verbose: bool, name_endpoints: bool) -> None:
    page.title(f"What deviates: {len(by_rule)} {'rule' if len(by_rule) == 1 else 'rules'}")
    for rule, told in by_rule.items():
        worst = min((finding for _, finding in told[0].places), key=_finding_gravity)
        page.gap()
        page.print(
            page.mark(bears(worst)),
            Text(" "),
            page.foreign(rule, STYLES[bears(worst)]),
            page.own(f"  {worst.level} ({worst.basis})", "dim"),
        )
        for deviation in told:
            _deviation(page, deviation, verbose, name_endpoints)


def _deviation(page: Page, deviation: Deviation, verbose: bool, name_endpoints: bool) -> None:
    page.print(page.foreign(deviation.message), indent=2)
    places = sorted(deviation.places, key=lambda place: _finding_gravity(place[1]))
    for number, (cell, finding) in enumerate(places if verbose else places[:1]):
        page.rows(
            [
                (page.own("in", "dim"), _places(page, [cell], name_endpoints)),
                (page.own("at", "dim"), page.whole(finding.path)),
                *_moment(page, finding),
                (page.own("wanted", "dim"), page.foreign(finding.wanted, "green")),
                (page.own("got", "dim"), page.foreign(finding.got, "red")),
                *_counted(page, finding),
                *(_breaking(page, deviation) if number == 0 else []),
                *_explained(page, finding),
            ],
            indent=4,
        )
    told = _place(places[0][0])
    rest = [cell for cell, _ in places if _place(cell) != told]
    if rest and not verbose:
        also = _places(page, rest, name_endpoints)
        page.print(page.own("also in ", "dim"), also, indent=4)


def _moment(page: Page, finding: Finding) -> list[tuple[Text, Text]]:
    told = moment(finding)
    return [(page.own("when", "dim"), page.own(told))] if told else []


def _counted(page: Page, finding: Finding) -> list[tuple[Text, Text]]:
    if not finding.more:
        return []
    return [(page.own("and", "dim"), page.own(f"{finding.more} more in this exchange"))]


def _breaking(page: Page, deviation: Deviation) -> list[tuple[Text, Text]]:
    if not deviation.consequence:
        return []
    return [(page.own("breaks", "dim"), page.foreign(deviation.consequence))]


def _explained(page: Page, finding: Finding) -> list[tuple[Text, Text]]:
    told = (("flavour", finding.flavour), ("declared quirk", finding.quirk), ("known", finding.known))
    return [(page.own(label, "dim"), page.foreign(text)) for label, text in told if text is not None]


def _place(cell: Cell) -> tuple[str, str, str]:
    return cell.endpoint, cell.scenario, cell.mode


def _places(page: Page, cells: Iterable[Cell], name_endpoints: bool) -> Text:
    """Which cells, each endpoint and each scenario named once."""
    by_endpoint: dict[str, dict[str, None]] = {}
    for cell in cells:
        mode = " (adapted)" if cell.mode == "adapted" else ""
        by_endpoint.setdefault(cell.endpoint, {})[cell.scenario + mode] = None
    told = [
        (f"{endpoint} " if name_endpoints else "") + ", ".join(scenarios)
        for endpoint, scenarios in by_endpoint.items()
    ]
    return page.foreign("; ".join(told), limit=10_000)


def _finding_gravity(finding: Finding) -> tuple[int, int]:
    return BY_GRAVITY.index(bears(finding)), ("MUST", "SHOULD", "MAY").index(finding.level)


def _gravity(deviation: Deviation) -> tuple[tuple[int, int], int]:
    return min(_finding_gravity(finding) for _, finding in deviation.places), -len(deviation.places)


def print_reasons(page: Page, cells: Iterable[Cell], name_endpoints: bool, verbose: bool) -> None:
    """Why cells that no finding speaks for are not simply conforming; of `unsupported` a count, or each."""
    found = reasons(cells)
    if not found:
        return
    page.title("What else to know")
    for reason in sorted(found, key=lambda reason: BY_GRAVITY.index(reason.verdict)):
        if reason.verdict == "unsupported" and not verbose:
            continue
        page.print(page.mark(reason.verdict), page.own(f" {reason.verdict}: "), page.foreign(reason.text))
        page.print(_places(page, reason.cells, name_endpoints), indent=4)
    left = [cell for reason in found if reason.verdict == "unsupported" for cell in reason.cells]
    if left and not verbose:
        page.print(page.mark("unsupported"), page.own(" unsupported: -v says why of each scenario"))
        counted = Counter(cell.endpoint for cell in left)
        told = ", ".join(f"{endpoint} {number}" for endpoint, number in counted.items())
        page.print(page.foreign(told, limit=10_000), indent=4)


def print_information(page: Page, cells: Iterable[Cell], counted: bool) -> None:
    """The MAY rules that do not hold, by name alone: none of them counts."""
    told = informational(cells)
    if told:
        page.gap()
        names = ", ".join(
            f"{rule} ({cells_of(number)})" if counted else rule for rule, (_, number) in told.items()
        )
        page.print(page.own("For information (MAY): ", "dim"), page.foreign(names, limit=10_000))


def print_flags(page: Page, cells: Iterable[Cell]) -> None:
    """Which cells have flags, and which."""
    flagged = [(cell, flags) for cell in cells if (flags := shown_flags(cell))]
    if flagged:
        page.gap()
    page.rows([(page.own("* " + ", ".join(flags)), _places(page, [cell], True)) for cell, flags in flagged])
