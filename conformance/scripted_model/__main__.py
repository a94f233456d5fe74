"""``python -m conformance.scripted_model --out DIR``: build the model of the suite's own scenarios.

Writes ``DIR/model.gguf`` and ``DIR/scripts.json``: per script its ``text`` and, where it comes from a
scenario, the ``message`` (Chat Completions form) a server should make of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.scripted_model.build import MissingExtra, build
from conformance.scripted_model.render import render_hermes
from conformance.scripted_model.cutting import ScriptError
from conformance.scripted_model.template import hermes_template
from conformance.types import Turn


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, or 2 with one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m conformance.scripted_model", description=__doc__)
    parser.add_argument("--scripts", type=Path, help="JSON object of name: text; default: every ideal turn")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ctx", type=int, default=8192, help="context in tokens (a prompt byte is a token)")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        entries = _from_file(options.scripts) if options.scripts else _from_scenarios()
        texts = {name: entry["text"] for name, entry in entries.items()}
        path = build(texts, options.out, ctx=options.ctx, template=hermes_template())
    except (ScriptError, MissingExtra, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    index = json.dumps(entries, ensure_ascii=False, indent=1)
    (options.out / "scripts.json").write_text(index + "\n", "utf-8")
    size, seconds = path.stat().st_size / 1e6, time.perf_counter() - began
    print(f"{path}: {len(texts)} scripts, each reproduced, {size:.1f} MB in {seconds:.1f} s")
    return 0


def _from_file(path: Path) -> dict[str, dict[str, Any]]:
    try:
        texts = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ScriptError(f"{path}: not JSON: {error}") from error
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ScriptError(f"{path}: wanted a JSON object of name: text")
    return {name: {"text": text} for name, text in texts.items()}


def _from_scenarios() -> dict[str, dict[str, Any]]:
    from conformance.scenarios import scripts, written

    turns: Mapping[str, Turn] = scripts()
    texts = written()
    return {
        name: {"text": texts.get(name) or render_hermes(turn), "message": _message(turn)}
        for name, turn in turns.items()
    }


def _message(turn: Turn) -> dict[str, Any]:
    calls = [{"name": call.name, "arguments": call.arguments} for call in turn.calls]
    return {"content": turn.text, "reasoning_content": turn.reasoning, "tool_calls": calls}


if __name__ == "__main__":
    raise SystemExit(main())
