"""Matrices that look like real runs."""

from __future__ import annotations

import json
from typing import Any

from conformance.types import Cell, EndpointRow, Finding, Matrix, ScenarioRow

SUITE = {"name": "conformance", "version": "0.1.0", "rulebook": "default", "date": "2026-11-02"}

SCENARIOS = (
    ScenarioRow("chat.plain", "A plain answer", "chat"),
    ScenarioRow("chat.multi-turn", "Three turns keep their context", "chat"),
    ScenarioRow("tools.single-call", "One call with a typed argument", "tools"),
    ScenarioRow("tools.mixed-text-and-tool-use", "Prose and a call in one turn", "tools"),
    ScenarioRow("tools.duplicate-names", "A tool name occurs twice in the request", "tools"),
    ScenarioRow("tools.choice-required", "tool_choice: required brings a call", "tools"),
    ScenarioRow("stream.plain", "A streamed answer", "stream"),
    ScenarioRow("stream.parallel-calls", "Two streamed calls, stitched by index", "stream"),
    ScenarioRow("reasoning.echo", "Reasoning is echoed back in the next turn", "reasoning"),
    ScenarioRow("errors.bad-key", "A wrong key is refused with 401", "errors"),
)

FINISH = Finding(
    rule="chat.stream.finish-reason-last",
    level="MUST",
    basis="schema",
    path="/exchanges/0/response/events/7/data/choices/0/finish_reason",
    message="The last chunk of a choice carries its finish_reason.",
    wanted='"stop"',
    got="null",
    event=7,
    ms=212.4,
    consequence="a client cannot tell an ended answer from a cut one",
)

CODE = Finding(
    rule="chat.error.code-key",
    level="SHOULD",
    basis="convention",
    path="/exchanges/0/response/body/error",
    message="The error object has the keys message, type, param and code.",
    wanted="the four keys",
    got='{"code": 401, "message": "Invalid API Key"}',
)

DUPLICATE = Finding(
    rule="chat.request.duplicate-names-accepted",
    level="MUST",
    basis="derived",
    path="/exchanges/0/response/status",
    message="A list of tools in which a name occurs twice is accepted.",
    wanted="200",
    got="400: Tool names must be unique.",
    quirk="duplicate-names-refused",
)


def evidence(**changes: Any) -> dict[str, Any]:
    """One exchange as a cell carries it."""
    body = {
        "id": "chatcmpl-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}}],
    }
    exchange: dict[str, Any] = {
        "request": {
            "method": "POST",
            "url": "http://127.0.0.1:8080/v1/chat/completions",
            "headers": [["authorization", "Bearer [redacted]"], ["content-type", "application/json"]],
            "body": '{"model":"scripted","messages":[{"role":"user","content":"Say hello."}]}',
        },
        "response": {
            "status": 200,
            "http_version": "HTTP/1.1",
            "headers": [["Content-Type", "application/json; charset=utf-8"]],
            "body": json.dumps(body),
            "parts": [[11.5, 90], [12.25, 31]],
        },
        "ending": "complete",
        "failure": None,
        "elapsed_ms": 13.0,
        "probe": None,
        "truncated": False,
    }
    return exchange | changes


def run(endpoint: str, **special: Cell) -> tuple[Cell, ...]:
    """A conforming cell per scenario, or the ``special`` one (``__`` stands for ``.``, ``_`` for ``-``)."""
    named = {key.replace("__", ".").replace("_", "-"): cell for key, cell in special.items()}
    return tuple(
        named.get(row.id)
        or Cell(endpoint, row.id, "strict", "conforms", evidence=(evidence(),), requests=1, elapsed_ms=13.0)
        for row in SCENARIOS
    )


def one_endpoint() -> Matrix:
    """What ``certify`` sees of a server with a broken stream and terse errors."""
    name = "llama-server"
    cells = run(
        name,
        stream__plain=Cell(
            name, "stream.plain", "strict", "violates", findings=(FINISH,), evidence=(evidence(),)
        ),
        stream__parallel_calls=Cell(
            name,
            "stream.parallel-calls",
            "strict",
            "violates",
            findings=(FINISH, CODE),
            evidence=(evidence(),),
        ),
        errors__bad_key=Cell(
            name, "errors.bad-key", "strict", "warns", findings=(CODE,), evidence=(evidence(),)
        ),
        reasoning__echo=Cell(
            name, "reasoning.echo", "strict", "inconclusive", reason="the model sent no reasoning", attempts=3
        ),
    )
    row = EndpointRow(
        name,
        "openai-chat",
        "scripted",
        "http://127.0.0.1:8080/v1",
        "cassette",
        server="llama.cpp b6900",
        recorded="2026-10-30",
    )
    return Matrix(SUITE, (row,), SCENARIOS, cells)


def several_endpoints() -> Matrix:
    """What ``run`` sees: recorded, simulated, adapted and offline endpoints, and two without keys."""
    deepseek, gateway = "deepseek-like", "private-gateway-eu-west-1"
    first = one_endpoint()
    duplicate = Cell(
        deepseek, "tools.duplicate-names", "strict", "quirk", findings=(DUPLICATE,), evidence=(evidence(),)
    )
    stale = Cell(deepseek, "reasoning.echo", "strict", "conforms", flags=("simulated", "stale"))
    adapted = Cell(deepseek, "tools.duplicate-names", "adapted", "conforms", flags=("simulated",))
    offline = tuple(
        Cell(gateway, row.id, "strict", "error", reason="connection refused: http://10.0.0.7:8000/v1")
        for row in SCENARIOS[:3]
    )
    rows = (
        EndpointRow(
            "reference", "openai-chat", "scripted", "embedded:", "simulator", server="conformance 0.1.0"
        ),
        EndpointRow(
            deepseek,
            "openai-chat",
            "scripted",
            "embedded:",
            "simulator",
            quirks=("duplicate-names-refused", "reasoning-echo-required"),
        ),
        EndpointRow(gateway, "openai-chat", "llama-3.3-70b", "http://10.0.0.7:8000/v1", "live"),
        *(
            EndpointRow(
                name,
                "openai-chat",
                "m",
                "https://api.example/v1",
                "none",
                status="not-run",
                reason=f"{key} is not set; record it with: conformance run --record --endpoint {name}",
            )
            for name, key in (("groq", "GROQ_API_KEY"), ("mistral", "MISTRAL_API_KEY"))
        ),
    )
    cells = (
        *run("reference"),
        *run(deepseek, tools__duplicate_names=duplicate, reasoning__echo=stale),
        adapted,
        *offline,
    )
    notes = ("known finding expired on 2026-10-01: llama-server stream.usage",)
    return Matrix(SUITE, first.endpoints + rows, SCENARIOS, first.cells + cells, notes)
