"""What a scenario is, and the few words its text is written in.

A scenario is a sans-I/O generator: it yields steps in canonical vocabulary and is sent replies. It
sees no HTTP client, no clock, no pytest. One text serves live runs, cassettes, the simulator, every
wire and every adapter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from conformance.dialects import DIALECTS, Dialect
from conformance.types import (
    JSON,
    WIRES,
    Ask,
    Cancel,
    Expect,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Reply,
    Request,
    Script,
    Step,
    Text,
    Together,
    Tool,
    Turn,
    WireName,
)

MAX_TOKENS = 1024
"""Output cap of every request, in tokens: room for a thinking model, small enough to bound the bill."""

CAPABILITIES: Mapping[str, str] = {
    "auth": "refuses requests without a valid key",
    "developer-role": "knows the developer role",
    "duplicate-tool-names": "has a policy worth asking about when two tools share a name",
    "json-schema": "constrains output to a JSON Schema",
    "models": "lists its models",
    "parallel-tools": "can answer with several calls in one turn",
    "reasoning": "shows the model's reasoning",
    "scripted": "serves our scripted model, which writes what no other can be made to write",
    "streaming": "streams its answers",
    "tools": "accepts tools and returns calls",
    "usage-in-stream": "reports usage in a stream on request",
}
"""What a scenario may need and an endpoint may declare it lacks (``unsupported:`` in the configuration)."""


@dataclass(frozen=True, slots=True)
class Feature:
    """An optional feature that an endpoint may decline honestly.

    ``named_by``: a pattern; a 4xx whose error matches it names the feature and counts as ``refused``
    (not for credentials, credit, quota, or an unknown model).
    """

    name: str
    named_by: re.Pattern[str]


def feature(name: str, pattern: str) -> Feature:
    return Feature(name, re.compile(pattern, re.IGNORECASE))


# As vLLM, OpenAI, Ollama, OpenRouter, pydantic and older servers put it. Not meant: a tool_choice, parallel
# calls, strict tools or a member of a tool, which are declined by themselves.
TOOLS = feature(
    "tools",
    r"(?:does not|doesn't|not) support (?:tools?|functions?)\b(?![ -]?choice)"
    r"|(?<!parallel )(?<!strict )\b(?:tools?|(?:tool|function)[ _-]?call(?:s|ing)?|tool[ _-]?use)\b['\"`]* "
    r"(?:is|are) (?:currently )?(?:not (?:supported|enabled|available)|unsupported)"
    r"|(?:unrecognized|unknown|unexpected) (?:request )?(?:arguments?|parameters?|fields?)(?: supplied)?: ?"
    r"(?:[\w'\"`]+, )*['\"`]?tools\b(?![.\[])"
    r"|unsupported parameters?: ?['\"`]?tools\b(?![.\[])"
    r"|tool choice requires --enable-auto-tool-choice"
    r"|no endpoints found that support tool use"
    r"|\bbody\.tools (?:extra (?:inputs|fields)|unexpected)",
)
REASONING = feature("reasoning", r"reasoning_effort|does not support (?:reasoning|thinking)")
JSON_SCHEMA = feature("response_format", r"response_format|json_schema|structured output")
STREAM_USAGE = feature("stream_options", r"stream_options|include_usage")
OBFUSCATION = feature("include_obfuscation", r"obfuscation|stream_options")
CHOICES = feature(
    "n", r"['\"`]n['\"`]|\bn (?:must|should|is|has|=|>)|(?:multiple|only one|number of) (?:choice|completion)"
)
STOP = feature("stop", r"\bstop\b")
SEED = feature("seed", r"\bseed\b")
LOGPROBS = feature("logprobs", r"logprobs|log probabilit")
IMAGES = feature("images", r"image|vision|multi-?modal")
PARALLEL = feature("parallel_tool_calls", r"parallel")
STRICT_TOOLS = feature("strict tools", r"\bstrict\b")
ALLOWED_TOOLS = feature("allowed_tools", r"allowed_tools|tool_choice")
SAMPLING = feature(
    "sampling parameters", r"temperature|top_p|penalty|logit_bias|\buser\b|metadata|\bstore\b|service_tier"
)
JSON_MODE = feature("json_object", r"response_format|json_object|json mode")


Writing: TypeAlias = Callable[[Dialect], str | None]
"""What a model of a dialect writes; ``None`` where the dialect has no such text."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A script with what it needs and what a perfect model would answer.

    ``ideal`` has one turn per `Ask`, in the order in which the script yields them: the simulator's
    clean persona, the scripted model and the adapters' expected results all come from it.
    ``wires`` are those whose own words it uses; a canonical request runs on every wire that can say it.
    ``written`` is what the scripted model writes where that is not the plain form of the ideal turn of that
    number: Hermes text, or what a function makes of any dialect. One that measures a ``policy`` is judged
    by no rule but that its two paths agree: whatever the endpoint does is observed. Its ideal turns are
    what a model says that nothing binds and that was told nothing, so that what an answer has beyond them
    is the endpoint's doing.
    """

    id: str
    title: str
    doc: str
    script: Callable[[], Script]
    ideal: tuple[Turn, ...]
    needs: tuple[str, ...] = ()
    optional: tuple[Feature, ...] = ()
    intrusive: bool = False
    wires: tuple[WireName, ...] = WIRES
    written: Mapping[int, str | Writing] = field(default_factory=dict)
    policy: str = ""

    @property
    def chapter(self) -> str:
        """The part of the id before the first dot."""
        return self.id.partition(".")[0]


SCENARIOS: dict[str, Scenario] = {}
"""Every scenario by id, in the order of the chapters; filled by the chapter modules."""


def scenario(
    id: str,
    *,
    ideal: tuple[Turn, ...] = (),
    needs: tuple[str, ...] = (),
    optional: tuple[Feature, ...] = (),
    intrusive: bool = False,
    wires: tuple[WireName, ...] = WIRES,
    written: Mapping[int, str | Writing] | None = None,
    policy: str = "",
) -> Callable[[Callable[[], Script]], Callable[[], Script]]:
    """Register the decorated generator function; its docstring is title and explanation.

    Raises `ValueError` on a repeated id, a missing docstring or an unknown capability.
    """

    def register(script: Callable[[], Script]) -> Callable[[], Script]:
        title, _, doc = (script.__doc__ or "").strip().partition("\n")
        if not title or id in SCENARIOS:
            raise ValueError(f"scenario {id}: needs a docstring and an id of its own")
        if unknown := set(needs) - set(CAPABILITIES):
            raise ValueError(f"scenario {id}: unknown capability {', '.join(sorted(unknown))}")
        text = " ".join(line.strip() for line in doc.strip().splitlines())
        SCENARIOS[id] = Scenario(
            id,
            title.rstrip("."),
            text,
            script,
            ideal,
            needs,
            optional,
            intrusive,
            wires,
            written or {},
            policy,
        )
        return script

    return register


_HERMES = DIALECTS["hermes"]


# ----------------------------------------------------------------------------- words scripts are made of


class ModelDidNot(Exception):
    """The model did not do what the scenario needs; says nothing about the endpoint."""


class Stuck(Exception):
    """A step brought no turn, so the script cannot go on; the rules say why."""


def need(condition: object, what: str) -> None:
    """Unless ``condition`` holds, the scenario does not count: `ModelDidNot` with ``what``."""
    if not condition:
        raise ModelDidNot(what)


def request(
    *messages: Message,
    tools: tuple[Tool, ...] = (),
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None,
    response_format: JsonSchemaFormat | None = None,
    stream: bool = False,
    include_usage: bool | None = None,
    echo_reasoning: bool = False,
    extra: Mapping[str, Any] | None = None,
    native: Mapping[WireName, Mapping[str, JSON]] | None = None,
) -> Request:
    """A canonical request with the suite's output cap; everything not named is left out."""
    return Request(
        messages=messages,
        tools=tools,
        tool_choice=tool_choice,
        response_format=response_format,
        stream=stream,
        include_usage=include_usage,
        echo_reasoning=echo_reasoning,
        max_tokens=MAX_TOKENS,
        extra=extra or {},
        native=native or {},
    )


Asking: TypeAlias = Generator[Step, "Reply | tuple[Reply, ...]", Turn]
"""What ``turn = yield from ask(...)`` delegates to."""


def ask(
    request: Request,
    *,
    probe: str | None = None,
    expect: Expect = "answer",
) -> Asking:
    """Send one request and return its turn; raises `Stuck` when none could be decoded."""
    reply = yield Ask(request, probe=probe, expect=expect)
    return going_on(reply)


def going_on(reply: Reply | tuple[Reply, ...]) -> Turn:
    """The turn of a single reply; raises `Stuck` when there is none."""
    if isinstance(reply, tuple) or reply.turn is None or not reply.ok:
        raise Stuck
    return reply.turn


# ------------------------------------------------------------------------------------- ideal turns, markers


def marker(scenario_id: str, index: int) -> str:
    """The name under which the ideal turn of the scenario's ``index``-th request is scripted."""
    return f"{scenario_id}/{index}"


def scripts() -> Mapping[str, Turn]:
    """Every ideal turn of every scenario by its marker name."""
    return {
        marker(scenario.id, index): turn
        for scenario in SCENARIOS.values()
        for index, turn in enumerate(scenario.ideal)
    }


def written() -> Mapping[str, str]:
    """What the scripted model writes word for word in Hermes text, by marker name.

    All else is rendered from `scripts`.
    """
    return {name: text for name, text in written_in(_HERMES).items() if text is not None}


def written_in(dialect: Dialect, chosen: Iterable[Scenario] | None = None) -> Mapping[str, str | None]:
    """What the scripted model of a dialect writes word for word, by marker name.

    Of all scenarios, or of those ``chosen``. What is ``None`` no model of the dialect writes: it is no
    script, and its scenario can't run there. What has a spelling in Hermes text alone is rendered from
    `scripts` for all others.
    """
    found: dict[str, str | None] = {}
    for scenario in SCENARIOS.values() if chosen is None else chosen:
        for index, text in scenario.written.items():
            if not isinstance(text, str):
                found[marker(scenario.id, index)] = text(dialect)
            elif dialect is _HERMES:
                found[marker(scenario.id, index)] = text
    return found


def marked(request: Request, name: str) -> Request:
    """The request with ``[[name]]`` appended to its last user or tool message.

    Only for endpoints configured ``scripted: true``: the scripted model and the simulator answer
    with the turn of the last marker they see. Scenario texts never carry one. Messages that go out
    verbatim (``extra``) are marked in the same way, and in those of a wire's own (``native``) the last plain
    text of the user is.
    """
    request = replace(
        request, native={wire: _marked_native(body, name) for wire, body in request.native.items()}
    )
    verbatim = request.extra.get("messages")
    if isinstance(verbatim, list):
        return replace(request, extra={**request.extra, "messages": _marked_verbatim(verbatim, name)})
    messages = list(request.messages)
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message.role in ("user", "tool"):
            parts = list(message.parts)
            if parts and isinstance(parts[-1], Text):
                parts[-1] = replace(parts[-1], text=f"{parts[-1].text}\n[[{name}]]")
            else:
                parts.append(Text(f"[[{name}]]"))
            messages[position] = replace(message, parts=tuple(parts))
            break
    return replace(request, messages=tuple(messages))


def _marked_verbatim(messages: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    last = max((i for i, m in enumerate(messages) if m["role"] in ("user", "tool")), default=None)
    if last is None:
        return messages
    content = messages[last]["content"]
    marker = f"\n[[{name}]]"
    marked = content + marker if isinstance(content, str) else [*content, {"type": "text", "text": marker}]
    return [*messages[:last], {**messages[last], "content": marked}, *messages[last + 1 :]]


def _marked_native(body: Mapping[str, JSON], name: str) -> Mapping[str, JSON]:
    """The members of a wire's own body, marked in its history, if they hold one."""
    key = next((key for key in ("messages", "input", "contents") if isinstance(body.get(key), list)), None)
    items: Any = body[key] if key else ()
    for position in range(len(items) - 1, -1, -1):
        item = items[position]
        if item.get("role") != "user":
            continue
        if isinstance(item.get("content"), str) and item["content"]:
            marked = {**item, "content": f"{item['content']}\n[[{name}]]"}
        elif isinstance(item.get("parts"), list) and item["parts"] and item["parts"][-1].get("text"):
            last = {**item["parts"][-1], "text": f"{item['parts'][-1]['text']}\n[[{name}]]"}
            marked = {**item, "parts": [*item["parts"][:-1], last]}
        else:
            continue
        return {**body, str(key): [*items[:position], marked, *items[position + 1 :]]}
    return body


def asks_of(step: Step) -> tuple[Ask, ...]:
    """The canonical requests in a step, in order; none for a raw step."""
    if isinstance(step, Ask):
        return (step,)
    if isinstance(step, Cancel):
        return (step.ask,)
    if isinstance(step, Together):
        return step.asks
    return ()
