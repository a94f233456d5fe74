"""``providers.yaml`` -> endpoints, with errors that name the file, the line and the key."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from conformance.types import WireName

MAX_CONFIG_BYTES = 4 * 1024 * 1024
_SECRET_HEADER = re.compile(r"authorization|api[-_]?key|token|secret|cookie|password", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


DEFAULT_DIALECT = "hermes"
"""What a scripted model writes unless it was built in another dialect."""


class ConfigError(Exception):
    """A configuration that can't be used; the message names file, line and key, and the fix."""


class FromEnv(BaseModel):
    """A value that is read from the environment when the endpoint is used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    env: str = Field(min_length=1, description="Name of the environment variable that holds the value.")


class Endpoint(BaseModel):
    """One base URL + wire + model + credentials (by environment-variable name)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(default="", exclude=True, description="Filled from the key of the row; don't write it.")
    base_url: str | None = Field(
        default=None,
        description=(
            "What an SDK of the wire is given: everything before /chat/completions, /responses, "
            "/v1/messages, /v1beta/models or /api/chat, e.g. https://api.example.com/v1."
        ),
    )
    persona: str | None = Field(
        default=None, description="Instead of base_url: a persona of the embedded simulator."
    )
    wire: WireName = Field(default="openai-chat", description="The wire format the endpoint speaks.")
    model: str = Field(min_length=1, description="Model name sent with every request.")
    key_env: str | None = Field(
        default=None, description="Name of the environment variable that holds the key; none: no key is sent."
    )
    bearer: bool = Field(
        default=False,
        description="Send the key as Authorization: Bearer also where the wire's own header is another one "
        "(x-api-key), for servers that know this one only.",
    )
    headers: Mapping[str, str | FromEnv] = Field(
        default_factory=dict, description="Extra request headers; secrets as {env: NAME}."
    )
    query: Mapping[str, str | FromEnv] = Field(
        default_factory=dict, description="Extra query parameters; secrets as {env: NAME}."
    )
    extra_body: Mapping[str, Any] = Field(
        default_factory=dict, description="Members merged into the body of every canonical request."
    )
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="The name under which the output cap is sent."
    )
    proxy: str | None = Field(default=None, description="URL of an HTTP proxy (http:// or https://).")
    ca_file: str | None = Field(
        default=None, description="PEM file of certificate authorities to trust instead of the usual ones."
    )
    timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=60, description="Seconds without a byte before an answer counts as stalled."
    )
    concurrency: Annotated[int, Field(ge=1, le=256)] = Field(
        default=16, description="How many requests may be under way at once."
    )
    max_requests: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Never send more requests than this in one run."
    )
    attempts: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="How often a scenario is run when the model does not do what it needs."
    )
    profile: str | None = Field(
        default=None,
        description="The provider family whose workarounds an adapted run uses; by default told by the row.",
    )
    fallback_model: str | None = Field(
        default=None,
        min_length=1,
        description="In an adapted run, the model that is asked when the retries of the first are spent.",
    )
    dialect: str | None = Field(
        default=None,
        description="Tools travel in the system prompt, calls in the text, written in this dialect.",
    )
    same_server_as: str | None = Field(
        default=None,
        description="A row of the same server over another wire: answers to the same scenarios are compared.",
    )
    scripted: bool | str = Field(
        default=False,
        description="The model is our scripted model, built in this dialect (true: hermes), which the server "
        "parses itself: add the model's markers to the prompts.",
    )
    parity: bool | None = Field(
        default=None,
        description="Ask each request both ways, streamed and whole, and compare the answers: needs a model "
        "that repeats itself. By default where the model is our scripted model and no persona's; never with "
        "dialect, nor where streaming is unsupported.",
    )
    unsupported: tuple[str, ...] | Mapping[str, str] = Field(
        default=(),
        description="Capabilities the endpoint does not claim, alone or each with the reason; scenarios that "
        "need one don't run.",
    )
    quirks: tuple[str, ...] = Field(
        default=(),
        description="Ids of catalogued deviations that this endpoint is known for; persona: its persona's.",
    )
    server: str | None = Field(
        default=None, description="What answers there, with its version; goes into recordings."
    )
    recipe: str | None = Field(
        default=None, description="How to start the same server again; goes into recordings."
    )

    @field_validator("headers", "query")
    @classmethod
    def _no_literal_secret(cls, value: Mapping[str, str | FromEnv]) -> Mapping[str, str | FromEnv]:
        for key, given in value.items():
            if isinstance(given, str) and _SECRET_HEADER.search(key):
                raise ValueError(f"{key} looks like a credential: write {{env: NAME}} instead of its value")
        return value

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"https?://[^/\s@?#]+(?:/[^\s?#]*)?", value):
            raise ValueError(
                "must begin with http:// or https:// and hold no user name or password, query or fragment"
            )
        return value.rstrip("/") if value else value

    @field_validator("proxy")
    @classmethod
    def _is_http_proxy(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"https?://[^/\s]+", value):
            raise ValueError("must begin with http:// or https://")
        return value

    @field_validator("extra_body")
    @classmethod
    def _is_json(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError("holds something JSON has no word for (a date? write it in quotes)") from None
        return value

    @model_validator(mode="after")
    def _one_place(self) -> Endpoint:
        if (self.base_url is None) == (self.persona is None):
            raise ValueError("needs either base_url or persona")
        return self

    @model_validator(mode="after")
    def _has_two_ways(self) -> Endpoint:
        if self.parity:
            if not self.scripted:
                raise ValueError("parity needs scripted: only our scripted model says the same both times")
            if self.dialect is not None or "streaming" in self.unsupported:
                raise ValueError("parity goes with neither dialect nor unsupported: [streaming]")
        return self

    @property
    def written_in(self) -> str | None:
        """The dialect that its scripted model writes; ``None`` where the model is none of ours."""
        if isinstance(self.scripted, str):
            return self.scripted
        return DEFAULT_DIALECT if self.scripted else None

    @property
    def asks_both_ways(self) -> bool:
        """Whether each request is asked streamed and whole; not where the calls are in the text."""
        usual = bool(self.scripted) and self.persona is None
        chosen = usual if self.parity is None else self.parity
        return chosen and self.dialect is None and "streaming" not in self.unsupported

    @property
    def shown_url(self) -> str:
        """The base URL as reports show it; ``simulator:NAME`` for an embedded persona."""
        return self.base_url or f"simulator:{self.persona}"


class Providers(BaseModel):
    """The whole of ``providers.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="providers.yaml of llm-wire-conformance")

    endpoints: Mapping[str, Endpoint] = Field(min_length=1, description="One row per endpoint, by name.")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of ``providers.yaml``, for editors."""
    schema = Providers.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$defs"]["Endpoint"]["properties"].pop("name")
    return schema


def load(path: Path) -> tuple[Endpoint, ...]:
    """The endpoints of a configuration file, in its order.

    Raises `ConfigError` whose message reads ``FILE:LINE: key: what is wrong (hint)``.
    """
    try:
        text = path.read_bytes()[: MAX_CONFIG_BYTES + 1].decode("utf-8")
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file. Give one with --config, or certify a single endpoint without a "
            "configuration: conformance certify BASE_URL --model MODEL"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read: {error}") from None
    if len(text) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_CONFIG_BYTES} bytes, that is no configuration")
    return parse(text, str(path))


def parse(text: str, file: str) -> tuple[Endpoint, ...]:
    """Like `load`, from text; ``file`` is the name used in messages."""
    node, data = read_yaml(text, file)
    if not isinstance(data, dict):
        raise ConfigError(f"{file}:1: a mapping with the key endpoints is wanted, this is a {_kind(data)}")
    try:
        providers = Providers.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_explain(error, node, file)) from None
    for name in providers.endpoints:
        if not _NAME.fullmatch(name):
            line = _line(node, ("endpoints", name))
            raise ConfigError(
                f"{file}:{line}: endpoints.{name}: a name is made of a-z, 0-9, '.', '-' and '_'"
            )
    return tuple(row.model_copy(update={"name": name}) for name, row in providers.endpoints.items())


def read_yaml(text: str, file: str) -> tuple[yaml.Node | None, Any]:
    """The nodes of a YAML text, which know their lines, and its value; no key may occur twice.

    Raises `ConfigError` whose message begins with ``FILE:LINE:``.
    """
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _refuse_repeats(node, file)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{file}:{line}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{file}:1: not YAML: {str(error).splitlines()[0]}") from None
    return node, data


def line_of(path: Path, keys: tuple[str | int, ...]) -> int:
    """The 1-based line of a key of the file, for messages about what only a higher layer can check."""
    return _line(yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader), keys)


def did_you_mean(word: str, known: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    """`` (did you mean X?)``, or nothing when no known word is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


_KINDS = ("str", "FromEnv", "bool", "tuple[str, ...]", "mapping[str,str]")
"""What pydantic names the members of a union by, in the place of an error."""


def _explain(error: ValidationError, node: yaml.Node | None, file: str) -> str:
    lines = []
    for problem in error.errors():
        keys = tuple(key for key in problem["loc"] if key not in _KINDS)
        where = ".".join(str(key) for key in keys)
        line = _line(node, keys)
        if problem["type"] == "extra_forbidden":
            fields = (
                Endpoint.model_fields if keys[0] == "endpoints" and len(keys) > 1 else Providers.model_fields
            )
            known = [name for name in fields if name != "name"]
            said = f"unknown key{did_you_mean(str(keys[-1]), known)}"
        elif problem["type"] == "missing":
            said = "is missing"
        else:
            got = json.dumps(problem["input"], default=str, ensure_ascii=False)
            said = problem["msg"].removeprefix("Value error, ")
            if not isinstance(problem["input"], dict) and "@" not in got:
                said += f", got {got[:80]}"
        text = f"{file}:{line}: {where}: {said}"
        if text not in lines:
            lines.append(text)
    return "\n".join(lines)


def _line(node: yaml.Node | None, keys: tuple[str | int, ...]) -> int:
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if name.value == str(key):
                    line, node = name.start_mark.line + 1, value
                    break
            else:
                return line
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            return line
    return line


def _refuse_repeats(root: yaml.Node | None, file: str) -> None:
    # Aliases make the node graph shared: without `done` a small file could cost exponential time.
    done: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in done:
            continue
        done.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise ConfigError(f"{file}:{key.start_mark.line + 1}: a key must be plain text")
                if key.value in seen:
                    raise ConfigError(f"{file}:{key.start_mark.line + 1}: {key.value}: this key occurs twice")
                seen.add(key.value)
                waiting.append(value)


def _kind(value: object) -> str:
    return {"NoneType": "blank file", "str": "text", "list": "list"}.get(type(value).__name__, "single value")
