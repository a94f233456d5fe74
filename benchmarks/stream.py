"""How fast a long stream is judged, next to what merely parses it: ``make bench``.

Prints the time of each over the same 20,000-chunk stream in one run, and the ratios. Nothing here is a
test: no figure passes or fails.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

from conformance.rules import RULES, check
from conformance.rules import examples as ex
from conformance.transport import sse
from conformance.types import Exchange
from conformance.wires import wire

WORDS = ("alpha ", "beta", ", gamma", " Δelta", " é", "\n", ' "quoted"', " 漢字")


def text_stream(chunks: int) -> Exchange:
    """A streamed text of that many content chunks."""
    pieces = (ex.piece(content=WORDS[number % len(WORDS)]) for number in range(chunks))
    (exchange,) = ex.stream(ex.start(), *pieces, ex.piece("stop"))
    return exchange


def call_stream(chunks: int) -> Exchange:
    """A streamed call whose arguments come in that many pieces."""
    pieces = (ex.tool_piece(0, f"{number}, ") for number in range(chunks))
    begin, end = ex.tool_piece(0, '{"city": "'), ex.tool_piece(0, '"}')
    (exchange,) = ex.tool_stream(ex.opened(), begin, *pieces, end)
    return exchange


def seconds(work: Callable[[], object], times: int) -> float:
    """The median of several runs."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def each(work: Callable[[Any], object], things: Iterable[Any]) -> None:
    """Do it to each and keep nothing: what is kept would cost the garbage collector's time."""
    for thing in things:
        work(thing)


def openai_assembly(payloads: list[str]) -> Callable[[], object]:
    """The official SDK's own accumulation of the same chunks, parsing included."""
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    def work() -> object:
        state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
        for payload in payloads:
            state.handle_chunk(ChatCompletionChunk.model_validate(json.loads(payload)))
        return state

    return work


def main() -> None:
    """Measure and print."""
    import orjson

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    for name, exchange in (("text", text_stream(options.chunks)), ("call", call_stream(options.chunks))):
        assert exchange.response is not None
        response = exchange.response
        payloads = [e.data for e in sse.parse(response.body).events if e.data != "[DONE]"]
        lines = [payload.encode() for payload in payloads]
        assert not [f for f in check((exchange,)) if f.level != "MAY"]
        rows = [
            (f"judge ({len(RULES)} rules)", seconds(lambda e=exchange: check((e,)), options.times)),
            ("decode to a turn", seconds(lambda r=response: wire("openai-chat").decode(r), options.times)),
            ("openai SDK assembly", seconds(openai_assembly(payloads), 1)),
            ("orjson.loads", seconds(lambda ls=lines: each(orjson.loads, ls), options.times)),
            ("json.loads", seconds(lambda ps=payloads: each(json.loads, ps), options.times)),
        ]
        judged = rows[0][1]
        print(f"{name}: {len(payloads)} chunks, {len(response.body) / 1e6:.1f} MB")
        for label, taken in rows:
            per_chunk = 1e6 * taken / len(payloads)
            print(
                f"  {label:<22} {taken:7.3f} s  {per_chunk:7.2f} µs a chunk  {taken / judged:6.2f} x judging"
            )


if __name__ == "__main__":
    main()
