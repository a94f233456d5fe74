"""Acquires the cells of endpoints concurrently, in a background thread, while pytest reports in order."""

from __future__ import annotations

import asyncio
import datetime
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from conformance import config
from conformance.config import Endpoint, FromEnv
from conformance.dialects import dialect
from conformance.engine.adapted import client_for, declared_quirks
from conformance.engine.cells import Acquired, broken, failed, unmeasured, unobserved, unrecorded, unsupported
from conformance.engine.drive import Target, plan, run_script
from conformance.engine.evidence import evidence, redacted
from conformance.engine.exchange_log import append
from conformance.engine.options import Options
from conformance.engine.pacing import Paced
from conformance.engine.recording import keep
from conformance.engine.sources import Source, cassette_path, record_command, source_of
from conformance.judge import Judgement, judge, judge_attempt, worth_keeping
from conformance.scenarios import Scenario, scripts
from conformance.simulator.personas import PERSONAS
from conformance.simulator.server import Simulator
from conformance.transport import tape
from conformance.transport.client import Limits, LiveTransport, Transport
from conformance.transport.redact import Redactor
from conformance.types import Attempt, Cell, Exchange, Flag, VerdictName
from conformance.wires import wire

OLD_AFTER = datetime.timedelta(days=180)
"""A recording older than this is flagged ``old``: providers change."""

INTERRUPT_POLL_S = 0.2
"""How often a wait for a cell looks whether the run was interrupted."""

T = TypeVar("T")
OnCell = Callable[[str, str, VerdictName], None]
"""Called from the background thread whenever a cell is finished: endpoint, scenario, verdict."""


class Acquirer:
    """Owns the background loop, the embedded simulator and every transport of a run.

    Use as a context manager; leaving it cancels what is still under way and closes everything.
    """

    def __init__(
        self,
        options: Options,
        env: Mapping[str, str] = os.environ,
        on_cell: OnCell | None = None,
        interrupted: threading.Event | None = None,
    ) -> None:
        self._options = options
        self._interrupted = interrupted or threading.Event()
        self._env = env
        self._on_cell = on_cell
        self._loop = asyncio.new_event_loop()
        # Judging and redacting cost time of ours: on the loop, every endpoint's answers would wait for it.
        self._judging = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judging")
        self._thread = threading.Thread(target=self._loop.run_forever, name="acquirer", daemon=True)
        self._cells: dict[str, dict[str, Future[Cell]]] = {}
        self._simulator: asyncio.Task[Simulator] | None = None
        self._firsts: dict[tuple[str, str], asyncio.Future[Attempt | None]] = {}
        self._notes: list[str] = []
        self._unanswered: dict[str, list[str]] = {}

    def __enter__(self) -> Acquirer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result(timeout=30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()
        self._judging.shutdown(wait=False, cancel_futures=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know beside the cells: recordings refused, and why."""
        return (*self._notes, *(_unanswered(name, found) for name, found in self._unanswered.items()))

    def start(self, endpoint: Endpoint, source: Source, scenarios: Sequence[Scenario]) -> None:
        """Begin to acquire the endpoint's cells; returns at once, and does nothing the second time."""
        if endpoint.name in self._cells:
            return
        self._cells[endpoint.name] = {scenario.id: Future() for scenario in scenarios}
        self._submit(self._acquire(endpoint, source, scenarios))

    def cell(self, endpoint: str, scenario: str) -> Cell:
        """The finished cell; waits for it. Raises what went wrong in our own code, if anything did.

        Raises `KeyboardInterrupt` once the run is interrupted: the exception that the signal itself raises
        can be lost in code that is not ours, and this wait could last.
        """
        future = self._cells[endpoint][scenario]
        while not self._interrupted.is_set():
            try:
                return future.result(timeout=INTERRUPT_POLL_S)
            except TimeoutError:
                if future.done():
                    raise
        raise KeyboardInterrupt

    def finished(self) -> tuple[Cell, ...]:
        """The cells that are finished by now: what is left to report after an interruption."""
        futures = [future for cells in self._cells.values() for future in cells.values()]
        return tuple(f.result() for f in futures if f.done() and not f.cancelled() and not f.exception())

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _shut_down(self) -> None:
        current = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not current and task is not self._simulator]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._simulator is not None:
            await (await self._simulator).stop()

    async def _acquire(self, endpoint: Endpoint, source: Source, scenarios: Sequence[Scenario]) -> None:
        futures = self._cells[endpoint.name]
        try:
            target, redactor = await self._target(endpoint)
            transport = self._transport(endpoint, source)

            async def finish(scenario: Scenario) -> None:
                try:
                    cell = await self._cell(endpoint, source, scenario, target, transport, redactor)
                except Exception as error:
                    cell = broken(endpoint, scenario, error)
                cell = self._in_mode(cell)
                self._first(endpoint.name, scenario.id, None)
                futures[scenario.id].set_result(cell)
                if self._on_cell is not None:
                    self._on_cell(endpoint.name, scenario.id, cell.verdict)

            if transport is None:
                # Nothing is waited for here; side by side, recordings would keep live ones from the loop.
                for scenario in scenarios:
                    await finish(scenario)
                return
            # The longest chains start first, so that none of them begins when all the others have ended.
            order = sorted(scenarios, key=lambda s: -plan(s, target.wire, target.dialect).requests)
            try:
                await asyncio.gather(*map(finish, order))
            finally:
                await transport.aclose()
        except BaseException as error:
            for scenario in scenarios:
                future = futures[scenario.id]
                if future.done():
                    continue
                if isinstance(error, Exception):
                    future.set_result(self._in_mode(broken(endpoint, scenario, error)))
                else:
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise

    async def _cell(
        self,
        endpoint: Endpoint,
        source: Source,
        scenario: Scenario,
        target: Target,
        transport: Transport | None,
        redactor: Redactor,
    ) -> Cell:
        cell = unsupported(endpoint, scenario, target.wire, target.dialect)
        cell = cell or (unobserved(endpoint, scenario) if self._options.adapted else None)
        if cell is None and transport is None:
            path = cassette_path(endpoint, scenario.id, self._options)
            cell = unmeasured(endpoint, scenario, path, record_command(endpoint, self._options))
        if cell is None:
            if transport is None:
                acquired, flags = await self._replay(endpoint, scenario, target, redactor)
            else:
                beside = await self._beside(endpoint, scenario)
                acquired = await self._attempts(endpoint, scenario, target, transport, beside)
                flags = ("simulated",) if source.kind == "simulator" else ()
                if source.kind == "live" and self._options.mode == "record":
                    await self._aside(self._record, endpoint, scenario, acquired.attempts, redactor)
            self._first(endpoint.name, scenario.id, acquired.attempts[0])
            shown_as = (target.base_url, endpoint.shown_url)
            cell = await self._aside(self._judged, endpoint, scenario, acquired, flags, redactor, shown_as)
        return cell

    def _in_mode(self, cell: Cell) -> Cell:
        return replace(cell, mode="adapted") if self._options.adapted else cell

    async def _aside(self, work: Callable[..., T], *arguments: Any) -> T:
        return await self._loop.run_in_executor(self._judging, work, *arguments)

    def _judged(
        self,
        endpoint: Endpoint,
        scenario: Scenario,
        acquired: Acquired,
        flags: tuple[Flag, ...],
        redactor: Redactor,
        shown_as: tuple[str, str],
    ) -> Cell:
        attempts = acquired.attempts
        if self._options.exchanges is not None:
            exchanges = [exchange for attempt in attempts for exchange in attempt.sent]
            log = Path(self._options.exchanges)
            self._notes += append(log, exchanges, (endpoint.name, scenario.id), redactor)
        cell = judge(endpoint.name, scenario, attempts, acquired.judgements, flags)
        decided = attempts[cell.decided_by]
        return replace(
            cell,
            reason=redactor.text(cell.reason),
            findings=tuple(redacted(finding, redactor) for finding in cell.findings),
            observations=tuple(replace(o, detail=redactor.text(o.detail)) for o in cell.observations),
            evidence=evidence(decided.shown, redactor, shown_as, decided.behind),
        )

    async def _attempts(
        self,
        endpoint: Endpoint,
        scenario: Scenario,
        target: Target,
        transport: Transport,
        beside: Sequence[Exchange] = (),
        unplayed: Callable[[], int] | None = None,
    ) -> Acquired:
        """Run the scenario until it counts, `attempts` times at most; in a replay as often as recorded.

        Each attempt is judged once: the same judgement says whether to go on and what the cell is.
        """
        attempts: list[Attempt] = []
        judgements: list[Judgement] = []
        quirks, strictness = declared_quirks(endpoint, self._options), self._options.strictness
        client = client_for(endpoint, scenario, self._options, waits=unplayed is None)
        while True:
            attempt = await run_script(scenario, target, transport, client)
            judgement = await self._aside(judge_attempt, scenario, attempt, quirks, strictness, beside)
            attempts.append(attempt)
            judgements.append(judgement)
            if unplayed:
                more = unplayed() > 0 and not unrecorded(attempt)
            else:
                more = judgement.verdict == "inconclusive" and len(attempts) < endpoint.attempts
            if not more:
                return Acquired(attempts, judgements)

    async def _replay(
        self, endpoint: Endpoint, scenario: Scenario, target: Target, redactor: Redactor
    ) -> tuple[Acquired, tuple[Flag, ...]]:
        path = cassette_path(endpoint, scenario.id, self._options)
        command = record_command(endpoint, self._options, scenario.id)
        try:
            recording = await self._aside(tape.load, path)
        except tape.CassetteError as error:
            return failed(scenario, target, "no-cassette", f"{error}; record it: {command}"), ()
        transport = tape.ReplayTransport(recording, path, redactor)
        beside = await self._beside(endpoint, scenario)
        acquired = await self._attempts(endpoint, scenario, target, transport, beside, transport.unplayed)
        if transport.unplayed() or any(map(unrecorded, acquired.attempts)):
            known = "cassette is of an older scenario, or its row was set otherwise"
            message = f"{known}: {path}; re-record it: {command}"
            return failed(scenario, target, "older-scenario", message), ()
        return acquired, _age(recording.metadata)

    def _first(self, endpoint: str, scenario: str, attempt: Attempt | None) -> None:
        """Tell who waits for it what the first attempt brought, if anything; only the first word counts."""
        future = self._firsts.setdefault((endpoint, scenario), self._loop.create_future())
        if not future.done():
            future.set_result(attempt)

    async def _beside(self, endpoint: Endpoint, scenario: Scenario) -> Sequence[Exchange]:
        """The exchanges of the same scenario with the same server over another wire, where they can be had.

        Where the other row is run elsewhere (by another worker), a simulated or recorded one is asked again.
        """
        name = endpoint.same_server_as
        if name is None or not endpoint.scripted:
            return ()
        if name in self._cells:
            waiting = self._firsts.setdefault((name, scenario.id), self._loop.create_future())
            attempt = await waiting if scenario.id in self._cells[name] else None
        else:
            attempt = await self._again(name, scenario)
        return attempt.exchanges if attempt is not None and attempt.outcome == "done" else ()

    async def _again(self, name: str, scenario: Scenario) -> Attempt | None:
        other = next(row for row in config.load(Path(self._options.config)) if row.name == name)
        source = source_of(other, self._options, self._env)
        target, redactor = await self._target(other)
        target = replace(target, parity=False)
        if unsupported(other, scenario, target.wire, target.dialect) is not None:
            return None
        if source.kind == "cassette":
            try:
                path = cassette_path(other, scenario.id, self._options)
                recording = await self._aside(tape.load, path)
            except tape.CassetteError:
                return None
            replayed = tape.ReplayTransport(recording, path, redactor)
            client = client_for(other, scenario, self._options, waits=False)
            return await run_script(scenario, target, replayed, client)
        transport = self._transport(other, source) if source.kind == "simulator" else None
        if transport is None:
            return None
        try:
            client = client_for(other, scenario, self._options, waits=True)
            return await run_script(scenario, target, transport, client)
        finally:
            await transport.aclose()

    def _record(
        self, endpoint: Endpoint, scenario: Scenario, attempts: Sequence[Attempt], redactor: Redactor
    ) -> None:
        if not worth_keeping(scenario, attempts, declared_quirks(endpoint, self._options)):
            self._unanswered.setdefault(endpoint.name, []).append(scenario.id)
            return
        refused = keep(endpoint, scenario, attempts, redactor, self._options)
        self._notes += [refused] if refused is not None else []

    def _transport(self, endpoint: Endpoint, source: Source) -> Paced | None:
        """The transport to the endpoint, or ``None`` when its answers come from cassettes."""
        if source.kind == "cassette":
            return None
        proxy, ca_file = endpoint.proxy, endpoint.ca_file
        if ca_file is not None:
            ca_file = str(Path(self._options.config).parent / ca_file)
        limits = Limits(idle_s=endpoint.timeout, total_s=max(120.0, 2 * endpoint.timeout))
        live = LiveTransport(limits, proxy=proxy, ca_file=ca_file)
        caps = [cap for cap in (endpoint.max_requests, self._options.max_requests) if cap is not None]
        return Paced(live, endpoint.concurrency, min(caps) if caps else None)

    async def _target(self, endpoint: Endpoint) -> tuple[Target, Redactor]:
        env = self._env
        key = env.get(endpoint.key_env) if endpoint.key_env else None
        base_url = endpoint.base_url
        if endpoint.persona is not None:
            simulator = await self._simulated()
            base_url = simulator.base_url(endpoint.persona, endpoint.wire)
            key = PERSONAS[endpoint.persona].key
        assert base_url is not None
        headers = tuple((name, _value(value, env)) for name, value in endpoint.headers.items())
        query = tuple((name, _value(value, env)) for name, value in endpoint.query.items())
        given = {**endpoint.headers, **endpoint.query}.values()
        secrets = [env.get(value.env, "") for value in given if isinstance(value, FromEnv)]
        target = Target(
            base_url=base_url,
            wire=wire(endpoint.wire),
            model=endpoint.model,
            key=key,
            bearer=endpoint.bearer,
            headers=headers,
            query=query,
            extra_body=dict(endpoint.extra_body),
            max_tokens_field=endpoint.max_tokens_field,
            scripted=bool(endpoint.scripted),
            dialect=dialect(endpoint.dialect) if endpoint.dialect else None,
            parity=endpoint.asks_both_ways and not self._options.adapted,
            stream_usage="usage-in-stream" not in endpoint.unsupported,
        )
        return target, Redactor([secret for secret in (*secrets, key or "") if secret])

    async def _simulated(self) -> Simulator:
        # One task, awaited by all: two endpoints that start together must not start two simulators.
        if self._simulator is None:
            self._simulator = asyncio.create_task(_started(Simulator(tuple(PERSONAS.values()), scripts())))
        return await asyncio.shield(self._simulator)


async def _started(simulator: Simulator) -> Simulator:
    await simulator.start()
    return simulator


def _age(metadata: Mapping[str, str]) -> tuple[Flag, ...]:
    try:
        recorded = datetime.date.fromisoformat(metadata.get("date", ""))
    except ValueError:
        return ()
    return ("old",) if datetime.date.today() - recorded > OLD_AFTER else ()


def _value(value: str | FromEnv, env: Mapping[str, str]) -> str:
    return env.get(value.env, "") if isinstance(value, FromEnv) else value


def _unanswered(endpoint: str, scenarios: Sequence[str]) -> str:
    if len(scenarios) == 1:
        return f"{endpoint}: {scenarios[0]} was not recorded: it was not answered"
    return f"{endpoint}: {len(scenarios)} scenarios were not recorded: they were not answered"
