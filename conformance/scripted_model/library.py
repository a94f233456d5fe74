"""Where scripts come from: the suite's own scenarios, or a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.dialects import Dialect
from conformance.scenarios import SCENARIOS, Scenario
from conformance.scenarios.base import asks_of, marker, written_in
from conformance.scenarios.walking import imagined
from conformance.scripted_model.checkpoints import CHECKPOINTS
from conformance.scripted_model.cutting import ScriptError
from conformance.scripted_model.render import script, written
from conformance.scripted_model.vocabulary import Script
from conformance.types import Turn


@dataclass(frozen=True, slots=True)
class Scripted:
    """A script, and the turn that a correct server makes of it, where that is known."""

    script: Script
    turn: Turn | None = None

    @property
    def message(self) -> dict[str, Any] | None:
        """The turn in the words of Chat Completions."""
        if self.turn is None:
            return None
        calls = [{"name": call.name, "arguments": call.arguments} for call in self.turn.calls]
        return {"content": self.turn.text, "reasoning_content": self.turn.reasoning, "tool_calls": calls}


def from_scenarios(dialect: Dialect) -> dict[str, Scripted]:
    """Every ideal turn of every scenario, by the name of its marker, as a model of the dialect writes it.

    Without those that no model of it writes: see `unwritable`.
    """
    return {
        name: said
        for scenario in SCENARIOS.values()
        for name, said in _of(scenario, dialect)
        if isinstance(said, Scripted)
    }


def unwritable(scenario: Scenario, dialect: Dialect) -> str | None:
    """Why no model of the dialect writes the scenario's turns, if that is so.

    The dialect may have no form for a text, or a turn would be over in its midst (a second call in Harmony).
    Nor is a parser asked to read another dialect's markup.
    """
    spelt = any(isinstance(text, str) for text in scenario.written.values())
    if spelt and scenario.chapter == "parser" and dialect.name != _HERMES:
        return f"the text is one of {_HERMES}"
    return next((said for _, said in _of(scenario, dialect) if isinstance(said, str)), None)


_HERMES = "hermes"


def _of(scenario: Scenario, dialect: Dialect) -> Iterator[tuple[str, Scripted | str]]:
    """The scripts of a scenario by name; what no model of the dialect writes is why."""
    texts, ends = written_in(dialect, (scenario,)), CHECKPOINTS[dialect.name].ends
    asks = [ask for step in imagined(scenario) for ask in asks_of(step)] if scenario.ideal else []
    for index, turn in enumerate(scenario.ideal):
        name = marker(scenario.id, index)
        request = asks[index].request
        first = sum(len(Turn(message.parts).calls) for message in request.messages)
        text = texts[name] if name in texts else written(turn, dialect, request.tools, first=first)
        if text is None:
            yield name, f"no model of {dialect.name} writes this: the format has no such text"
            continue
        said = script(text, dialect, calls=bool(turn.calls))
        over = next((end for end in ends if end in said.text), None)
        yield name, f"a turn of {dialect.name} is over at its first {over}" if over else Scripted(said, turn)


def from_file(path: Path, dialect: Dialect) -> dict[str, Scripted]:
    """The texts of a JSON object by name, taken as they are: each has to continue the dialect's prompt.

    One that ends with a token that ends a turn of the dialect's models ends with that. Raises
    ``ScriptError``.
    """
    try:
        texts = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ScriptError(f"{path}: not JSON: {error}") from error
    if not isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts.values()):
        raise ScriptError(f"{path}: wanted a JSON object of name: text")
    ends = CHECKPOINTS[dialect.name].ends
    scripts: dict[str, Scripted] = {}
    for name, text in texts.items():
        end = next((end for end in ends if text.endswith(end)), "")
        scripts[name] = Scripted(Script(text.removesuffix(end), end or ends[0]))
    return scripts
