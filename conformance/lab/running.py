"""The lab's folder: what is installed, what runs, and how it is brought up and down."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from conformance.config import DEFAULT_DIALECT
from conformance.lab import environments, model, processes
from conformance.lab.environments import Say
from conformance.lab.errors import LabError
from conformance.lab.recipe import Places, Recipe, check_name, fill, recipes, with_needs

FOLDER_VARIABLE = "CONFORMANCE_LAB"
DEFAULT_FOLDER = "~/.cache/conformance-lab"
ALIAS = "scripted"


@dataclass(frozen=True, slots=True)
class Running:
    """A server that we started: its process, its port, and those of the servers it needs.

    ``since`` is when, in ISO 8601; ``model`` is the digest of the scripted model it loaded, if it did,
    and ``dialect`` the dialect of that, where one was asked for.
    """

    name: str
    pid: int
    began: str
    port: int
    ports: Mapping[str, int] = field(default_factory=dict)
    server: str = ""
    since: str = ""
    model: str = ""
    dialect: str = ""

    @property
    def alive(self) -> bool:
        """Whether that very process still lives."""
        return processes.began(self.pid) == self.began


class Bench:
    """All that the lab keeps in one folder; nothing of it lies elsewhere.

    ``env/NAME`` are environments, ``model`` and ``model-DIALECT`` scripted models, ``logs/NAME.log`` what a
    server wrote, ``logs/NAME.install.log`` its installation, ``run/NAME`` its filled-in configuration and
    home, ``run/NAME.json`` the process.
    """

    def __init__(self, folder: Path | None = None, say: Say = print) -> None:
        chosen = folder or Path(os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER)
        self.folder = chosen.expanduser().absolute()
        self._say = say

    def environment(self, recipe: Recipe) -> Path:
        """Where the recipe's environment is."""
        return self.folder / "env" / recipe.name

    def log(self, name: str) -> Path:
        """What the server wrote since it was last started."""
        return self.folder / "logs" / f"{name}.log"

    def is_installed(self, recipe: Recipe) -> bool:
        """Whether the environment is what the recipe asks for today."""
        return environments.is_installed(recipe, self.environment(recipe))

    def why_not(self, recipe: Recipe) -> str | None:
        """Why this machine can't have it, ``None`` where it can."""
        return environments.why_not(recipe, self.environment(recipe))

    def install(self, name: str) -> None:
        """Install one recipe, not what it needs. Raises `Unavailable` and `LabError`."""
        check_name(name)
        with self._alone("install"):
            self._install(recipes()[name])

    def running(self) -> Mapping[str, Running]:
        """What we started and what has not ended, by name."""
        found = (self._state(path) for path in sorted((self.folder / "run").glob("*.json")))
        return {state.name: state for state in found if state is not None and state.alive}

    def up(
        self,
        names: Sequence[str],
        ports: Mapping[str, int] | None = None,
        scripted: Path | None = None,
        dialect: str | None = None,
    ) -> tuple[Running, ...]:
        """Install and start the named servers after those they need; what runs already stays.

        ``ports`` are other ports than the recipes', ``scripted`` the folder of another scripted model than
        that of the scenarios, ``dialect`` that of the named servers' model where it is not Hermes. Returns
        the named ones and what they need, in the order of starting. Raises `Unavailable` and `LabError`; what
        is up by then stays up.
        """
        for name in ports or {}:
            check_name(name)
        order = tuple(with_needs(tuple(names)))
        if dialect is not None:
            for name in names:
                recipes()[name].endpoint_in(dialect)
        if not all(self.is_installed(recipe) for recipe in order):
            with self._alone("install"):
                for recipe in order:
                    self._install(recipe)
        with self._alone("run"):
            return tuple(
                self._up(recipe, ports or {}, scripted, dialect if recipe.name in names else None)
                for recipe in order
            )

    def down(self, names: Sequence[str] = ()) -> tuple[Running, ...]:
        """Stop the named servers, all without names, and return those that ran."""
        for name in names:
            check_name(name)
        with self._alone("run"):
            # Gateways before what is behind them: they'd write errors about it into their logs.
            chosen = [
                r for r in reversed(tuple(with_needs(tuple(recipes())))) if not names or r.name in names
            ]
            return tuple(state for recipe in chosen if (state := self._down(recipe.name)) is not None)

    def _install(self, recipe: Recipe) -> None:
        log = self.folder / "logs" / f"{recipe.name}.install.log"
        environments.install(recipe, self.environment(recipe), log, self._say)

    def _up(
        self, recipe: Recipe, ports: Mapping[str, int], scripted: Path | None, dialect: str | None
    ) -> Running:
        running = self.running()
        wanted = ports.get(recipe.name, recipe.port)
        behind = {name: running[name].port for name in recipe.needs}
        spoken = dialect or DEFAULT_DIALECT
        model_folder = scripted.absolute() if scripted else self._model(spoken)
        digest = self._digest_of(model_folder, None if scripted else spoken) if recipe.scripted_model else ""
        if (there := running.get(recipe.name)) is not None:
            same = (there.port, there.server, dict(there.ports), there.model)
            if same == (wanted, recipe.server, behind, digest):
                return there
            self._down(recipe.name)
            # A process whose first thread has ended may still have others, and with them the port.
            processes.wait(lambda: not processes.is_taken(wanted), seconds=processes.STOP_S)
        if processes.is_taken(wanted):
            raise LabError(
                f"{recipe.name}: port {wanted} is taken by a process that is not ours; "
                f"another one: --port {recipe.name}=PORT"
            )
        run = self._fresh(self.folder / "run" / recipe.name)
        if recipe.scripted_model:
            # Servers that name a model by its folder then call it "scripted", wherever the lab lies.
            (run / ALIAS).symlink_to(model_folder)
        places = Places(
            environment=self.environment(recipe),
            run=run,
            model=model_folder,
            python=Path(sys.executable),
            keys={name: key_of(recipes()[name]) for name in (recipe.name, *recipe.needs)},
            ports={recipe.name: wanted, **behind},
        )
        values = places.values(recipe)
        for name, place in recipe.files.items():
            self._write_secret(run / place, fill((recipe.folder / name).read_text("utf-8"), values))
        planned = Running(
            recipe.name, 0, "", wanted, behind, recipe.server, model=digest, dialect=dialect or ""
        )
        return self._start(recipe, run, values, planned)

    def _model(self, dialect: str) -> Path:
        return self.folder / ("model" if dialect == DEFAULT_DIALECT else f"model-{dialect}")

    def _digest_of(self, folder: Path, built_in: str | None) -> str:
        return model.build(folder, built_in, self._say) if built_in else model.digest_of(folder)

    def _start(self, recipe: Recipe, run: Path, values: Mapping[str, str], planned: Running) -> Running:
        log = self.log(recipe.name)
        log.parent.mkdir(parents=True, exist_ok=True)
        spoken = recipe.spoken(planned.dialect or DEFAULT_DIALECT)
        given = {**recipe.environ, **spoken.environ}
        environ = {name: fill(value, values) for name, value in given.items()}
        words = (*recipe.command, *spoken.flags)
        command = [fill(word, values) for word in words]
        started = time.monotonic()
        try:
            process = processes.start(
                command, environ=environments.clean_environment(environ), cwd=run, log=log
            )
        except OSError as error:
            raise LabError(f"{recipe.name}: {command[0]}: {error.strerror}") from None
        state = replace(
            planned,
            pid=process.pid,
            began=processes.began(process.pid) or "",
            since=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        self._write_secret(self.folder / "run" / f"{recipe.name}.json", json.dumps(asdict(state)))
        url = f"http://127.0.0.1:{state.port}{recipe.ready.path}"
        wanted = recipe.ready.status
        processes.wait(
            lambda: process.poll() is not None or processes.answers(url, wanted), seconds=recipe.ready.seconds
        )
        if process.poll() is not None or not processes.answers(url, wanted):
            ended = process.poll()
            self._down(recipe.name)
            how = "ended" if ended is not None else f"did not answer {url} in {recipe.ready.seconds:g} s"
            raise LabError(f"{recipe.name}: the server {how}; {environments.tail(log)}")
        self._say(f"{recipe.name}: {recipe.server} is ready after {time.monotonic() - started:.1f} s")
        return state

    def _down(self, name: str) -> Running | None:
        path = self.folder / "run" / f"{name}.json"
        state = self._state(path)
        stopped = state is not None and processes.stop(state.pid, state.began)
        path.unlink(missing_ok=True)
        return state if stopped else None

    def _state(self, path: Path) -> Running | None:
        try:
            state = Running(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return state if state.name in recipes() and state.began else None

    def _fresh(self, folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _write_secret(self, path: Path, text: str) -> None:
        """Write what may hold a key, so that only we can read it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")

    @contextlib.contextmanager
    def _alone(self, what: Literal["install", "run"]) -> Iterator[None]:
        """One command of the lab at a time installs; one starts or stops."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{what}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._say(f"waiting for another lab command in {self.folder}")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def key_of(recipe: Recipe) -> str:
    """The key of the server: what its variable holds, else the recipe's."""
    return (os.environ.get(recipe.key_env) if recipe.key_env else None) or recipe.key


def keys_of(recipe: Recipe) -> dict[str, str]:
    """The keys that the rows of the recipe use, by variable: its own, and those of what it needs."""
    return {r.key_env: key_of(r) for r in with_needs((recipe.name,)) if r.key_env}
