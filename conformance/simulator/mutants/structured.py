"""Mutants of structured output."""

from __future__ import annotations

from conformance.simulator.mutants.edits import (
    ARGUMENTS,
    DELTA,
    MESSAGE,
    accepted_with,
    body,
    crashed,
    event,
    only,
    put,
    rewrite,
    to,
)
from conformance.simulator.mutants.mutant import Mutant

LIMITS = "structured.schema-limits"
STRICT = "structured.json-schema"
UNREADABLE = ("so.json-schema-parses",)

STRUCTURED = (
    Mutant(
        "so.json-object-parses",
        "structured.json-object",
        body(rewrite(*MESSAGE, "content", by=lambda text: f"[{text}]")),
    ),
    Mutant(
        "so.json-schema-nonstrict-valid",
        "structured.json-schema-loose",
        body(put(*MESSAGE, "content", value='{"city": "Nuuk"}')),
    ),
    Mutant("so.strict-tool-arguments", "tools.strict", body(put(*ARGUMENTS, value="{}"))),
    Mutant(
        "so.key-order",
        STRICT,
        body(put(*MESSAGE, "content", value='{"temperature": 31, "city": "Athens"}')),
    ),
    Mutant(
        "so.json-schema-strict-valid",
        "structured.json-schema-stream",
        event(1, put(*DELTA, "content", value='{"town')),
        variant="stream",
    ),
    Mutant(
        "so.refusal-escape",
        STRICT,
        body(put(*MESSAGE, "content", value="I'm sorry, I can't help with that.")),
    ),
    Mutant(
        "so.tools-and-format-together",
        "structured.with-tools",
        only(
            to("structured.with-tools/1"),
            body(put(*MESSAGE, "content", value='{"city": "Izmir"}')),
        ),
        also=("so.json-schema-strict-valid",),
        because="content that does not fit the schema is wrong with and without tools",
    ),
    Mutant("so.schema-name-required", LIMITS, only(to(f"{LIMITS}/0"), accepted_with('{"word": "sun"}'))),
    Mutant("so.strict-needs-closed-objects", LIMITS, only(to(f"{LIMITS}/1"), crashed)),
    Mutant("so.strict-needs-all-required", LIMITS, only(to(f"{LIMITS}/2"), crashed)),
    Mutant(
        "so.unsupported-keyword",
        LIMITS,
        only(
            to(f"{LIMITS}/3"),
            body(put(*MESSAGE, "content", value='{"code": "abc", "visitors": 5}')),
        ),
        also=("so.json-schema-strict-valid",),
        because="what a dropped keyword lets pass is not valid",
    ),
    Mutant("so.invalid-schema-400", LIMITS, only(to(f"{LIMITS}/5"), crashed)),
    Mutant("so.json-schema-parses", STRICT, body(put(*MESSAGE, "content", value='{"city": Athens}'))),
    Mutant("so.json-schema-strict-valid", STRICT, body(put(*MESSAGE, "content", value='{"city": "Athens"}'))),
    Mutant(
        "so.no-code-fence",
        STRICT,
        body(rewrite(*MESSAGE, "content", by=lambda text: f"```json\n{text}\n```")),
    ),
    Mutant(
        "so.no-code-fence",
        STRICT,
        body(rewrite(*MESSAGE, "content", by=lambda text: f"Here you are: {text}")),
        variant="words-before",
    ),
    Mutant(
        "so.no-code-fence",
        "structured.json-object",
        body(rewrite(*MESSAGE, "content", by=lambda text: f"{text}\nAnything else?")),
        variant="words-after",
    ),
    Mutant(
        "so.json-schema-parses",
        STRICT,
        body(put(*MESSAGE, "content", value="It is 31 degrees in Athens.")),
        variant="prose",
    ),
    Mutant(
        "so.json-object-parses",
        "structured.json-object",
        body(put(*MESSAGE, "content", value="I'm sorry, I can't help with that.")),
        variant="prose",
    ),
    Mutant(
        "so.truncation-marked",
        STRICT,
        body(rewrite(*MESSAGE, "content", by=lambda text: text[:-5])),
        also=UNREADABLE,
        because="half a JSON text is none",
    ),
)
