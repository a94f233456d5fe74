"""Gemini's forms for the tests: written from Google's reference, apart from the wire under test."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.types import (
    Audio,
    File,
    HttpResponse,
    Image,
    JsonSchemaFormat,
    Loss,
    Message,
    NamedChoice,
    Part,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
    Usage,
)
from conformance.wires.gemini import Gemini
from conformance.wires.schemas import is_strict

WIRE = Gemini()
STREAM_PATH = "/v1beta/models/m:streamGenerateContent?alt=sse"
SSE = (("Content-Type", "text/event-stream"),)
PNG = "iVBORw0KGgoAAAANSUhEUg=="

words = st.text(min_size=1, max_size=20)
names = st.sampled_from(["f", "get_weather", "_:odd", "1st tool", "größe", "a.b:c"])
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), words, st.sampled_from([0.1, -2.5, 1e300, 2**53 + 1])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(words, json_values, max_size=3)
arguments = objects.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")))
signatures: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.sampled_from(["AAAA", "c2ln"]).map(lambda s: {"gemini": {"thoughtSignature": s}})
)
results = st.one_of(words, arguments, arguments.map(lambda text: json.dumps({"output": text})))


def encode(*messages: Message, **fields: Any) -> dict[str, Any]:
    return WIRE.encode(Request(messages, **fields), model="m", losses=[])


def losses_of(*messages: Message, **fields: Any) -> list[tuple[str, str]]:
    losses: list[Loss] = []
    WIRE.encode(Request(messages, **fields), model="m", losses=losses)
    return [(loss.path, loss.weight) for loss in losses]


def response(
    body: Any, status: int = 200, headers: Any = (("Content-Type", "application/json"),)
) -> HttpResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpResponse(status, headers, data)


def answer(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    """A whole answer of one candidate."""
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0} | candidate]}


def read(*parts: dict[str, Any], **candidate: Any) -> Turn:
    (turn,) = WIRE.decode(response(answer(*parts, **candidate)))
    return turn


def facts(turn: Turn) -> list[tuple[str, str]]:
    return [(fact.name, fact.path) for fact in turn.facts]


def sse(datas: Iterable[str]) -> bytes:
    return "".join(f"data: {data}\r\n\r\n" for data in datas).encode("utf-8", "surrogatepass")


def assemble(chunks: Iterable[Any]) -> tuple[Turn, ...]:
    assembler = WIRE.assembler()
    for chunk in chunks:
        assembler.feed(chunk if isinstance(chunk, str) else json.dumps(chunk))
    return assembler.turns()


def call(name: str = "f", args: Any = None, **rest: Any) -> dict[str, Any]:
    """A part that calls; without ``args`` when they are ``None``."""
    said = {"name": name} | ({} if args is None else {"args": args})
    return {"functionCall": said | rest}


# ------------------------------------------------------------------------------------------ strategies


@st.composite
def media(draw: st.DrawFn) -> Part:
    opaque = draw(
        st.one_of(st.none(), st.just({"gemini": {"mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}}}))
    )
    part: Any = draw(
        st.sampled_from(
            [
                Image(f"data:image/png;base64,{PNG}"),
                Image("https://example.com/a.webp?x=1"),
                Audio("AAAA", "wav"),
                File("data:application/pdf;base64,AAAA", "paper.pdf"),
                File("https://example.com/files/1"),
                File("gs://bucket/film.mp4", "film"),
            ]
        )
    )
    found: Part = replace(part, opaque=opaque)
    return found


@st.composite
def assistant_parts(draw: st.DrawFn, prefix: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for i in range(draw(st.integers(1, 4))):
        opaque = draw(signatures)
        kind = draw(st.sampled_from(["text", "thought", "call", "call", "carried", "media"]))
        if kind == "text":
            parts.append(Text(draw(words), opaque))
        elif kind == "thought":
            parts.append(Reasoning(draw(words), "thought", opaque))
        elif kind == "call":
            parts.append(ToolCall(f"{prefix}{i}", draw(names), draw(arguments), opaque))
        elif kind == "media":
            parts.append(draw(media()))
        else:
            carried = {"executableCode": {"language": "PYTHON", "code": "1"}}
            parts.append(Text("", {"gemini": draw(st.sampled_from([carried, {"thoughtSignature": "AA=="}]))}))
    return tuple(parts)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Messages of the canonical subset."""
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(Message("system", tuple(Text(draw(words)) for _ in range(draw(st.integers(1, 2))))))
    for turn in range(draw(st.integers(1, 3))):
        said = draw(st.lists(st.one_of(words.map(Text), media()), max_size=3))
        if said or not messages or messages[-1].role != "tool":
            messages.append(Message("user", tuple(said)))
        parts = draw(assistant_parts(f"id{turn}_"))
        messages.append(Message("assistant", parts))
        for part in parts:
            if isinstance(part, ToolCall) and draw(st.booleans()):
                shown = draw(st.lists(media(), max_size=1))
                result = (Text(draw(results)), *shown)
                messages.append(Message("tool", result, part.id, is_error=draw(st.booleans())))
    return tuple(messages)


tools = st.lists(
    st.builds(Tool, names, st.sampled_from(["", "Does it."]), objects),
    max_size=2,
    unique_by=lambda tool: tool.name,
).map(tuple)
choices: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["none", "auto", "required", None]), st.builds(NamedChoice, names)
)
extras = st.fixed_dictionaries(
    {},
    optional={
        "top_p": st.floats(0, 1),
        "seed": st.integers(),
        "presence_penalty": st.floats(-2, 2),
        "frequency_penalty": st.floats(-2, 2),
        "logprobs": st.booleans(),
        "top_logprobs": st.integers(0, 20),
        "reasoning_effort": st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh"]),
        "service_tier": st.sampled_from(["default", "flex", "priority"]),
        "store": st.booleans(),
    },
)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    messages = draw(conversations())
    return Request(
        messages,
        tools=draw(tools),
        tool_choice=draw(choices),
        response_format=draw(
            st.one_of(st.none(), objects.map(lambda o: JsonSchemaFormat("response", o, is_strict(o))))
        ),
        stream=draw(st.booleans()),
        max_tokens=draw(st.one_of(st.none(), st.integers(0, 10**6))),
        temperature=draw(st.one_of(st.none(), st.floats(0, 2))),
        stop=draw(st.one_of(st.none(), st.lists(words, max_size=2).map(tuple))),
        n=draw(st.one_of(st.none(), st.integers(1, 8))),
        echo_reasoning=any(isinstance(part, Reasoning) for m in messages for part in m.parts),
        extra=draw(extras),
        native=draw(
            st.sampled_from(
                [
                    {},
                    {
                        "gemini": {
                            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
                            "cachedContent": "cachedContents/1",
                            "generationConfig": {"topK": 3, "thinkingConfig": {"includeThoughts": True}},
                        }
                    },
                    {"gemini": {"toolConfig": {"retrievalConfig": {"languageCode": "is"}}}},
                ]
            )
        ),
    )


usages = st.builds(
    lambda prompt, answered, thought, cached: Usage(
        prompt, answered + (thought or 0), prompt + answered + (thought or 0), cached, None, thought
    ),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.one_of(st.none(), st.integers(0, 10**6)),
    st.one_of(st.none(), st.integers(0, 10**6)),
)


def _joined(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts with unsigned texts of one kind in a row as one, which is how answers are read."""
    out: list[Part] = []
    for part in parts:
        last = out[-1] if out else None
        if (
            isinstance(part, Text | Reasoning)
            and type(last) is type(part)
            and not (last.opaque or part.opaque)
        ):
            out[-1] = replace(last, text=last.text + part.text)
        else:
            out.append(part)
    return tuple(out)


@st.composite
def turn(draw: st.DrawFn, index: int, usage: Usage | None) -> Turn:
    parts = _joined(draw(assistant_parts(f"c{index}_")))
    calls = any(isinstance(part, ToolCall) for part in parts)
    reason, native = draw(
        st.sampled_from(
            [
                ("tool_calls" if calls else "stop", None),
                ("length", None),
                ("content_filter", None),
                ("content_filter", "RECITATION"),
                ("tool_calls" if calls else "stop", "OTHER"),
                (None, None),
            ]
        )
    )
    return Turn(parts, reason, usage, "resp-1", "gemini-x", (), native)


@st.composite
def turns(draw: st.DrawFn) -> tuple[Turn, ...]:
    usage = draw(st.one_of(st.none(), usages))
    return tuple(draw(turn(i, usage)) for i in range(draw(st.integers(1, 3))))


def chunks(body: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    """A whole answer as the chunks of a stream: texts split, candidates interleaved by ``chance``."""
    queues: list[list[dict[str, Any]]] = []
    for candidate in body["candidates"]:
        head = {"index": candidate["index"]}
        queue = []
        for part in candidate["content"]["parts"]:
            for piece in _pieces(part, chance):
                queue.append({**head, "content": {"role": "model", "parts": [piece]}})
        if "finishReason" in candidate:
            last = queue[-1] if queue and chance.random() < 0.5 else None
            if last is None:
                queue.append({**head, "content": {"role": "model", "parts": [{"text": ""}]}})
            queue[-1]["finishReason"] = candidate["finishReason"]
        queues.append(queue)
    head = {key: body[key] for key in ("modelVersion", "responseId") if key in body}
    out: list[dict[str, Any]] = []
    while any(queues):
        queue = chance.choice([queue for queue in queues if queue])
        out.append({"candidates": [queue.pop(0)], **head})
    if "usageMetadata" in body:
        out[-1]["usageMetadata"] = body["usageMetadata"]
    return out


def _pieces(part: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    if not part.get("text") or part.keys() - {"text", "thought"}:
        return [part]
    text = part["text"]
    cuts = sorted(chance.choices(range(len(text) + 1), k=chance.randint(0, 4)))
    return [part | {"text": text[a:b]} for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
