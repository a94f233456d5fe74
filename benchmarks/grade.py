"""How fast recordings are graded, next to what merely parses them: ``make bench``.

Prints the time over the dev corpus (``--corpus``) in one process and in two; over its OpenAI part already in
memory, next to the official SDK parsing the same bodies without judging them; and the peak memory over its
exchanges as JSONL, once and ten times. Each in a process of its own. Nothing here is a test: no figure passes
or fails.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from conformance.cli.graded_run import GradedRun
from conformance.grade.files import exchanges
from conformance.grade.grading import Grader, grade
from conformance.grade.jsonl import to_line
from conformance.grade.recognise import recognise
from conformance.grade.recorded import Recorded
from conformance.rules.reading import read
from conformance.types import WireName

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "dev"
OPENAI: tuple[WireName, ...] = ("openai-chat", "openai-responses")
TIMES_LARGER = 10
MB = 1e6


def graded(path: Path, processes: int) -> dict[str, Any]:
    """What ``conformance grade`` does with a path, without printing it."""
    run = GradedRun(Grader(), None, None, None)
    begun = time.perf_counter()
    run.all([path], processes, Console(file=io.StringIO()), quiet=True)
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "exchanges": sum(run.tally.outcomes.values()), **peak()}


def parsed(corpus: Path, times: int) -> list[tuple[str, float, float, int]]:
    """By way of reading the OpenAI part of the corpus: the median of the seconds, MB and exchanges."""
    found = openai_part(corpus)
    bodies = [(body_of(one), wire, streamed) for one, wire, streamed in found]
    size = sum(len(body) for body, _, _ in bodies) / MB
    ways: Sequence[tuple[str, Callable[[], object]]] = (
        ("grade, recordings in memory", lambda: sum(1 for _ in grade([one[0] for one in found], Grader()))),
        ("openai SDK, models built", sdk_parsing(bodies)),
        ("SSE lines and json.loads", lambda: each(plain_parsing, [(body, one) for body, _, one in bodies])),
    )
    rows = []
    for label, work in ways:
        work()
        rows.append((label, statistics.median(timed(work) for _ in range(times)), size, len(found)))
    return rows


def openai_part(corpus: Path) -> list[tuple[Recorded, WireName, bool]]:
    """The successful answers over OpenAI's wires, and whether they are streams."""
    found: list[tuple[Recorded, WireName, bool]] = []
    for one in exchanges([corpus]):
        if isinstance(one, Recorded):
            reading = read(0, one.exchange)
            wire = recognise(reading, one.file, one.wire).wire
            if wire in OPENAI and reading.succeeded and body_of(one).strip():
                found.append((one, wire, reading.stream is not None))
    return found


def body_of(one: Recorded) -> bytes:
    return one.exchange.response.body if one.exchange.response else b""


def sdk_parsing(bodies: Sequence[tuple[bytes, WireName, bool]]) -> Callable[[], object]:
    """The official SDK's own way from bytes to its models: no accumulation of a stream, no judging."""
    from openai._models import construct_type
    from openai._streaming import SSEDecoder
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent

    kinds: dict[tuple[WireName, bool], Any] = {
        ("openai-chat", False): ChatCompletion,
        ("openai-chat", True): ChatCompletionChunk,
        ("openai-responses", False): Response,
        ("openai-responses", True): ResponseStreamEvent,
    }

    def one(body: bytes, wire: WireName, streamed: bool) -> None:
        kind = kinds[wire, streamed]
        if not streamed:
            construct_type(type_=kind, value=json.loads(body))
            return
        for event in SSEDecoder().iter_bytes(iter((body,))):
            if event.data.startswith("[DONE]"):
                break
            construct_type(type_=kind, value=event.json())

    return lambda: each(one, bodies)


def each(work: Callable[..., object], things: Iterable[Sequence[Any]]) -> None:
    """Do it to each and keep nothing: what is kept would cost the garbage collector's time."""
    for thing in things:
        work(*thing)


def plain_parsing(body: bytes, streamed: bool) -> None:
    """The least that anybody has to do."""
    if not streamed:
        json.loads(body)
        return
    for line in body.splitlines():
        if line.startswith(b"data:") and b"[DONE]" not in line:
            json.loads(line[5:])


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def peak() -> dict[str, float]:
    """The most memory that this process and its largest child held, in MB."""
    sides = (("own", resource.RUSAGE_SELF), ("child", resource.RUSAGE_CHILDREN))
    return {name: resource.getrusage(side).ru_maxrss * 1024 / MB for name, side in sides}


def apart(work: Callable[..., Any], *given: Any) -> Any:
    """The result of the work in a fresh process, whose peak of memory is its own."""
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=_into, args=(answers, work, given))
    process.start()
    result = answers.get()
    process.join()
    return result


def _into(answers: Any, work: Callable[..., Any], given: Sequence[Any]) -> None:
    answers.put(work(*given))


def write_lines(corpus: Path, out: Path, times: int) -> None:
    """The exchanges of the corpus as the suite's own JSONL, several times over."""
    lines = [json.dumps(to_line(one)) for one in exchanges([corpus]) if isinstance(one, Recorded)]
    with out.open("w") as file:
        for _ in range(times):
            file.writelines(f"{line}\n" for line in lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"grade: {options.corpus} is not here, nothing is measured")
        return
    size = sum(file.stat().st_size for file in options.corpus.rglob("*") if file.is_file()) / MB
    print(f"grade: {size:.1f} MB of recordings")
    for processes in (1, 2):
        runs = [apart(graded, options.corpus, processes) for _ in range(options.times)]
        one = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
        took = speed(one["seconds"], size, one["exchanges"])
        memory = f"{one['own']:.0f} MB" + (f" and {one['child']:.0f} MB a process" if processes > 1 else "")
        print(f"  {f'{processes} process(es)':<30} {took}, peak {memory}")
    rows = apart(parsed, options.corpus, options.times)
    print(f"OpenAI's wires: {rows[0][3]} answers, {rows[0][2]:.1f} MB of bodies")
    for label, seconds, megabytes, count in rows:
        ratio = seconds / rows[0][1]
        print(f"  {label:<30} {speed(seconds, megabytes, count)}, {ratio:.2f} x grading")
    print("the same exchanges as JSONL")
    with tempfile.TemporaryDirectory() as folder:
        for times in (1, TIMES_LARGER):
            lines = Path(folder) / "log.jsonl"
            apart(write_lines, options.corpus, lines, times)
            one, held = apart(graded, lines, 1), lines.stat().st_size / MB
            took = speed(one["seconds"], held, one["exchanges"])
            print(f"  {f'{held:.0f} MB':<30} {took}, peak {one['own']:.0f} MB")


def speed(seconds: float, megabytes: float, count: int) -> str:
    return f"{seconds:6.2f} s  {megabytes / seconds:6.1f} MB/s  {count / seconds:7.0f} exchanges/s"


if __name__ == "__main__":
    main()
