"""Recipes as data: ``data/NAME/recipe.yaml`` and, beside it, its lock file, configurations and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

import conformance
from conformance.config import DEFAULT_DIALECT, Endpoint
from conformance.lab.errors import LabError
from conformance.types import WireName

DATA = Path(__file__).parent / "data"
KEY = "sk-lab"
"""The key of every server unless its variable says otherwise; it guards nothing, all is on loopback."""

_VERSION = re.compile(r"\d+(?:\.\d+)*")


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PythonEnvironment(_Frozen):
    """A virtual environment of its own, from a lock file with hashes and without addresses."""

    minimum: str = Field(pattern=r"^3\.\d+$", description="The oldest Python it runs on.")
    below: str | None = Field(default=None, pattern=r"^3\.\d+$", description="The first that is too new.")
    requirements: str = Field(default="requirements.txt", description="The lock file beside the recipe.")
    first: tuple[str, ...] = Field(
        default=(),
        description="Installed before the lock by exact version and without a hash, so that a machine which "
        "offers a build of its own (PyTorch for the CPU) uses it.",
    )
    after: str | None = Field(
        default=None, description="A script beside the recipe that the environment's Python runs at last."
    )
    build: Mapping[str, str] = Field(
        default_factory=dict,
        description="Set while the lock is installed, for a package that is compiled (CMAKE_ARGS and such); "
        "the compiler's progress then shows in the installation's log.",
    )


class NodeEnvironment(_Frozen):
    """A folder of npm packages, from package.json and package-lock.json beside the recipe."""

    minimum: int = Field(ge=18, description="The oldest Node.js it runs on.")


class Ready(_Frozen):
    """How it is known that a server answers: a GET with the status within a bound."""

    path: str = Field(pattern="^/")
    status: int = Field(default=200, ge=200, le=499, description="Another than 200 where no path has that.")
    seconds: float = Field(default=60, gt=0, le=900)


class Row(_Frozen):
    """A row of providers.yaml that this server answers, without what all rows of the lab have in common."""

    path: str = Field(default="/v1", description="What follows host and port in the base URL.")
    wire: WireName = "openai-chat"
    model: str = "scripted"
    dialect: str | None = None
    bearer: bool = False
    headers: Mapping[str, str] = Field(default_factory=dict)
    same_server_as: str | None = None
    unsupported: tuple[str, ...] = ()
    concurrency: int = Field(default=4, ge=1)
    behind: str | None = Field(
        default=None, description="The recipe of the server behind this gateway; a persona as simulator/NAME."
    )


class Spoken(_Frozen):
    """How the server is started for a model of one dialect, and what it then does not claim."""

    flags: tuple[str, ...] = Field(
        default=(), description="Words behind the command, such as a parser's name."
    )
    environ: Mapping[str, str] = Field(
        default_factory=dict, description="Set for the server's process, beside what the recipe sets."
    )
    unsupported: Mapping[str, str] = Field(
        default_factory=dict, description="Capabilities it does not claim in this dialect, and why."
    )
    supported: tuple[str, ...] = Field(
        default=(), description="Capabilities it claims in this dialect, although its rows do not."
    )


class Recipe(_Frozen):
    """One server or gateway: what is installed, how it starts, and the endpoints it then has."""

    name: str = Field(default="", exclude=True, description="Filled from the folder's name.")
    title: str = Field(description="What it is, as reports show it, without the version.")
    version: str = Field(description="The release that the lock pins.")
    about: str = Field(description="One line for `lab list`.")
    python: PythonEnvironment | None = None
    node: NodeEnvironment | None = None
    disk_mb: int = Field(default=0, ge=0, description="What the installed environment takes.")
    needs: tuple[str, ...] = Field(default=(), description="Recipes that are brought up before it.")
    scripted_model: bool = Field(default=False, description="It loads the scripted model itself.")
    files: Mapping[str, str] = Field(
        default_factory=dict,
        description="Files beside the recipe that are filled in, and where below ${run} they then lie.",
    )
    command: tuple[str, ...] = Field(min_length=1)
    environ: Mapping[str, str] = Field(default_factory=dict, description="Set for the server's process.")
    port: int = Field(ge=1024, le=65535)
    key_env: str | None = Field(default=None, description="The variable that holds the key; none: no key.")
    key: str = Field(default=KEY, description="The key where the variable is not set.")
    passes_key: bool = Field(
        default=False, description="A gateway without a key of its own: the one it is sent goes on as it is."
    )
    ready: Ready
    rows: Mapping[str, Row] = Field(default_factory=dict)
    dialects: Mapping[str, Spoken] = Field(
        default_factory=dict, description="The dialects of the scripted model that it can be started with."
    )

    @model_validator(mode="after")
    def _one_environment(self) -> Self:
        if self.python and self.node:
            raise ValueError("an environment is of Python or of Node, not both")
        return self

    @property
    def folder(self) -> Path:
        """Where the recipe and the files beside it lie."""
        return DATA / self.name

    @property
    def server(self) -> str:
        """Title and version."""
        return f"{self.title} {self.version}"

    def spoken(self, dialect: str) -> Spoken:
        """How it is started for a model of that dialect. Raises `LabError` where nothing is known of it."""
        if dialect in self.dialects:
            return self.dialects[dialect]
        if dialect == DEFAULT_DIALECT:
            return Spoken()
        known = ", ".join(self.dialects) or "none beside hermes"
        raise LabError(f"{self.name}: nothing is known of a model in {dialect}; its dialects: {known}")

    def endpoint_in(self, dialect: str, ports: Mapping[str, int] | None = None) -> Endpoint:
        """Its first row, with a model of that dialect. Raises `LabError` as `spoken` does."""
        if not self.scripted_model:
            raise LabError(f"{self.name} loads no model; --dialect is for a server that does")
        spoken = self.spoken(dialect)
        own = self.endpoint(next(iter(self.rows)), ports)
        always = (name for name in own.unsupported if name not in spoken.supported)
        lacks = dict.fromkeys(always, "so is the server itself") | dict(spoken.unsupported)
        settings = (f"{name}={value}" for name, value in spoken.environ.items())
        return own.model_copy(
            update={
                "name": f"{own.name}-{dialect}",
                "scripted": dialect,
                "unsupported": lacks or (),
                "server": " ".join((self.server, *settings, *spoken.flags)),
                "recipe": f"conformance lab up {self.name} --dialect {dialect}",
            }
        )

    def _key_env(self, row: Row) -> str | None:
        behind = _behind(row) if self.passes_key else None
        return behind.key_env if behind else self.key_env

    def endpoint(self, name: str, ports: Mapping[str, int] | None = None) -> Endpoint:
        """The row ``name`` as an endpoint; ``ports`` are those that differ from the recipes' own."""
        row = self.rows[name]
        port = (ports or {}).get(self.name, self.port)
        places = _places(self, ports or {})
        return Endpoint(
            name=name,
            base_url=f"http://127.0.0.1:{port}{row.path}",
            wire=row.wire,
            model=row.model,
            dialect=row.dialect,
            key_env=self._key_env(row),
            bearer=row.bearer,
            headers={key: fill(value, places) for key, value in row.headers.items()},
            same_server_as=row.same_server_as,
            unsupported=row.unsupported,
            server=self.server + (f", in front of {_server_of(row.behind)}" if row.behind else ""),
            recipe=f"conformance lab up {self.name}",
            scripted=True,
            attempts=1,
            concurrency=row.concurrency,
            timeout=300,
        )


def _behind(row: Row) -> Recipe | None:
    """The server behind a gateway's row."""
    return recipes()[row.behind.partition("/")[0]] if row.behind else None


def _server_of(behind: str) -> str:
    name, _, persona = behind.partition("/")
    return f"our simulator, persona {persona}" if persona else recipes()[name].server


def _places(recipe: Recipe, ports: Mapping[str, int]) -> dict[str, str]:
    """The addresses of this server and of those it needs, for `fill`."""
    places = {"port": str(ports.get(recipe.name, recipe.port))}
    for name in recipe.needs:
        port = ports.get(name, recipes()[name].port)
        places[f"{name.replace('-', '_')}_origin"] = f"http://127.0.0.1:{port}"
    return places


def fill(text: str, values: Mapping[str, str]) -> str:
    """``text`` with every ``${word}`` replaced. Raises `LabError` for a word that nothing is known for."""
    try:
        return Template(text).substitute(values)
    except (KeyError, ValueError) as error:
        raise LabError(f"a recipe has a placeholder nothing is known for: {error}") from None


@dataclass(frozen=True, slots=True)
class Places:
    """Where what a recipe's placeholders name is, for one start of its server.

    ``environment`` is its installed environment, ``run`` its folder of this start, ``model`` that of the
    scripted model, ``python`` the interpreter that runs this suite; ``keys`` and ``ports`` are by recipe, its
    own and those of what it needs.
    """

    environment: Path
    run: Path
    model: Path
    python: Path
    keys: Mapping[str, str]
    ports: Mapping[str, int]

    def values(self, recipe: Recipe) -> dict[str, str]:
        """What each placeholder stands for."""
        keys = {f"{name.replace('-', '_')}_key": self.keys[name] for name in (recipe.name, *recipe.needs)}
        return {
            **_places(recipe, self.ports),
            **keys,
            "key": self.keys[recipe.name],
            "env": str(self.environment),
            "run": str(self.run),
            "model": str(self.model),
            "recipe": str(recipe.folder),
            "suite": str(Path(conformance.__file__).parents[1]),
            "suite_python": str(self.python),
        }


@cache
def recipes() -> Mapping[str, Recipe]:
    """All recipes by name. Raises `LabError` naming file and key where one is wrong."""
    found = {path.parent.name: _load(path) for path in sorted(DATA.glob("*/recipe.yaml"))}
    for recipe in found.values():
        unknown = [name for name in recipe.needs if name not in found]
        if unknown:
            raise LabError(f"{recipe.name}/recipe.yaml: needs: no recipe {unknown[0]}")
    return found


def _load(path: Path) -> Recipe:
    try:
        data: Any = yaml.safe_load(path.read_text("utf-8"))
        return Recipe.model_validate(data).model_copy(update={"name": path.parent.name})
    except (yaml.YAMLError, ValidationError) as error:
        raise LabError(f"{path.parent.name}/recipe.yaml: {error}") from None


def with_needs(names: tuple[str, ...]) -> Iterator[Recipe]:
    """The named recipes and all that they need, each after what it needs.

    Raises `LabError` for an unknown name.
    """
    known = recipes()
    done: set[str] = set()

    def visit(name: str) -> Iterator[Recipe]:
        if name in done:
            return
        done.add(name)
        for needed in known[name].needs:
            yield from visit(needed)
        yield known[name]

    for name in names:
        check_name(name)
        yield from visit(name)


def check_name(name: str) -> None:
    """Raises `LabError` where no recipe has that name."""
    if name not in recipes():
        raise LabError(f"no recipe {name}; conformance lab list shows them: {', '.join(recipes())}")


def version_tuple(text: str) -> tuple[int, ...]:
    """The numbers of the first version in a text, ``()`` where there is none."""
    match = _VERSION.search(text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
