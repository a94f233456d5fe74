"""The tools, turns and small phrases that several chapters share."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from conformance.types import JSON, Message, Part, Raw, Reasoning, Text, Tool, ToolCall, Turn, WireName


def closed(properties: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    """The schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


CHAT: tuple[WireName, ...] = ("openai-chat",)
OPENAI: tuple[WireName, ...] = ("openai-chat", "openai-responses")

THINKING: Mapping[WireName, Mapping[str, JSON]] = {
    "openai-chat": {},
    "openai-responses": {"reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"]},
    "anthropic-messages": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048},
    "gemini": {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
    "ollama": {"think": True},
}
"""How each wire is asked to show the reasoning; Chat has no word for it and shows it or does not."""

WEATHER = Tool(
    name="get_weather",
    description="Get the current weather of a city.",
    parameters=closed({"city": {"type": "string", "description": "Name of the city."}}, ("city",)),
)
TIME = Tool(
    name="get_time",
    description="Get the current local time of a city.",
    parameters=closed({"city": {"type": "string", "description": "Name of the city."}}, ("city",)),
)
PING = Tool(
    name="ping",
    description="Check that the station is reachable. Takes no arguments.",
    parameters=closed({}, ()),
)


def said(text: str) -> Turn:
    """The ideal turn that says ``text`` and stops."""
    return Turn((Text(text),), finish_reason="stop")


def called(*calls: tuple[str, Mapping[str, Any]], text: str = "", reasoning: str = "") -> Turn:
    """The ideal turn that makes ``calls``, perhaps after reasoning and text."""
    parts: list[Part] = []
    if reasoning:
        parts.append(Reasoning(reasoning))
    if text:
        parts.append(Text(text))
    parts += [
        ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return Turn(tuple(parts), finish_reason="tool_calls")


def thought(reasoning: str, text: str) -> Turn:
    """The ideal turn that reasons, then says ``text``."""
    return Turn((Reasoning(reasoning), Text(text)), finish_reason="stop")


def results(turn: Turn, texts: Mapping[str, str]) -> tuple[Message, ...]:
    """One tool message per call of the turn: the text for the tool of that name, or a plain refusal."""
    return tuple(Message.tool(call, texts.get(call.name, "No such station.")) for call in turn.calls)


def calls_to(turn: Turn, name: str) -> tuple[ToolCall, ...]:
    """The turn's calls of the tool of that name."""
    return tuple(call for call in turn.calls if call.name == name)


def raw(body: Mapping[str, Any], probe: str) -> Raw:
    """A chat request of the endpoint's model with this body, which the schema forbids."""
    document = json.dumps({"model": "{{model}}", **body}, ensure_ascii=False)
    return Raw("POST", "@chat", document.encode(), probe=probe, expect="refusal")


def red_square(side: int = 64) -> str:
    """A red square as a PNG in a ``data:`` URL; the same bytes everywhere, since nothing is compressed."""
    rows = (b"\0" + b"\0" * (side // 8)) * side
    stored = struct.pack("<BHH", 1, len(rows), len(rows) ^ 0xFFFF) + rows
    pixels = b"\x78\x01" + stored + struct.pack(">I", zlib.adler32(rows))
    header = struct.pack(">IIBBBBB", side, side, 1, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", b"\xdc\x14\x14"), (b"IDAT", pixels), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()


def stored_zstd(content: bytes) -> bytes:
    """A zstd frame (RFC 8878) that holds up to 255 bytes as they are, with nothing compressed."""
    last_raw_block = (1 | len(content) << 3).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(content)]) + last_raw_block + content


def tone_wav() -> str:
    """A tenth of a second of a square tone at 400 Hz, as a WAV file in base64."""
    samples = (b"\x40" * 10 + b"\xc0" * 10) * 40
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    body = (
        b"WAVEfmt "
        + struct.pack("<I", len(form))
        + form
        + b"data"
        + struct.pack("<I", len(samples))
        + samples
    )
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


def one_line_pdf(line: str) -> str:
    """A PDF of one page with a line of ASCII letters on it, in a ``data:`` URL."""
    drawn = f"BT /F1 24 Tf 20 40 Td ({line}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    pdf, table = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, text in enumerate(objects, 1):
        table += f"{len(pdf):010} 00000 n \n"
        pdf += f"{number} 0 obj\n{text}\nendobj\n"
    size = len(objects) + 1
    end = f"xref\n0 {size}\n{table}trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{len(pdf)}\n%%EOF\n"
    return "data:application/pdf;base64," + base64.b64encode((pdf + end).encode()).decode()
