"""How texts come about that models write amiss: a dialect renders them well-formed, an edit breaks them.

No edit knows a dialect by name: it looks for the JSON of the arguments, or for markers, in what was rendered,
and where they are not there the dialect has no such text (``None``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from zlib import crc32

from conformance.dialects.dialect import Dialect
from conformance.types import Part, Text, Tool, ToolCall, Turn

Writer: TypeAlias = Callable[[Dialect, Sequence[Tool]], str | None]
"""What a model of a dialect writes, the tools given; ``None`` where the dialect has no such text."""

_PLACEHOLDER = "Q7markup7Q"
_NO_ARGUMENTS = re.compile(r',\s*"(?:arguments|parameters|args|action_input)"\s*:\s*\{\}')
_CALLS_MEMBERS = ({"name", "arguments"}, {"name", "parameters"})


def call(name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
    """A call; arguments given as a text stay as they are spelt.

    Its id is of nine letters and digits: models of Mistral write such a one, and servers wait for it.
    """
    spelt = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(f"q{crc32(f'{name}{spelt}'.encode()):08x}", name, spelt)


def rendered(*parts: Part) -> Writer:
    """Text and calls as the dialect writes them, in their order; texts behind calls only where it can."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        first_call = next((n for n, part in enumerate(parts) if isinstance(part, ToolCall)), len(parts))
        if dialect.text_first and any(isinstance(part, Text) for part in parts[first_call:]):
            return None
        return dialect.render_calls(Turn(parts), tools)

    return write


def edited(one: ToolCall, edit: Callable[[str], str | None]) -> Writer:
    """The call with ``edit`` made to the text of its arguments, where that stands in it as JSON."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text, changed = dialect.render_calls(Turn((one,)), tools), edit(one.arguments)
        if changed is None or text.count(one.arguments) != 1:
            return None
        return text.replace(one.arguments, changed)

    return write


def respaced(one: ToolCall, *, wide: bool) -> Writer:
    """The call with the white space around and in its JSON taken away, or with more than enough of it."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text = dialect.render_calls(Turn((one,)), tools)
        found = _json_in(text, one.arguments)
        if found is None:
            return None
        start, end, value = found
        if wide:
            return f"{text[:start]}\n  {json.dumps(value, ensure_ascii=False, indent=4)} \n\n{text[end:]}"
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text[:start].rstrip() + compact + text[end:].lstrip()

    return write


def arguments_first(one: ToolCall) -> Writer:
    """The call with its name behind its arguments."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text = dialect.render_calls(Turn((one,)), tools)
        found = _json_in(text, one.arguments)
        if found is None or not isinstance(found[2], dict) or set(found[2]) not in _CALLS_MEMBERS:
            return None
        start, end, value = found
        return text[:start] + json.dumps(dict(reversed(value.items())), ensure_ascii=False) + text[end:]

    return write


def extra_member(one: ToolCall, member: str) -> Writer:
    """The call with a further member behind the arguments, in the object that holds them."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text = dialect.render_calls(Turn((one,)), tools)
        before, found, after = text.partition(one.arguments)
        inside = found and before.rstrip().endswith(":") and after.lstrip().startswith(("}", ","))
        return f"{before}{found}, {member}{after}" if inside else None

    return write


def without_arguments(name: str) -> Writer:
    """A call without the member for its arguments."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text = dialect.render_calls(Turn((call(name, {}),)), tools)
        short, count = _NO_ARGUMENTS.subn("", text)
        return short if count == 1 else None

    return write


def with_markup_inside(name: str, member: str, before: str, markup: str, after: str) -> Writer:
    """A call whose argument holds ``markup`` as it is, where the dialect would escape it."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        value = before + _PLACEHOLDER + after
        text = dialect.render_calls(Turn((call(name, {member: value}),)), tools)
        return text.replace(_PLACEHOLDER, markup) if _json_in(text, json.dumps(value)) else None

    return write


def unclosed(one: ToolCall) -> Writer:
    """The call without the markers that end it."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text = dialect.render_calls(Turn((one,)), tools)
        body = _without_end(dialect, text)
        return body if body != text else None

    return write


def in_one_block(*calls: ToolCall, listed: bool = False) -> Writer:
    """Several JSON objects, or a list of them, between one pair of markers that is meant for one."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        texts = [dialect.render_calls(Turn((one,)), tools) for one in calls]
        spans = [_json_in(text, one.arguments) for text, one in zip(texts, calls, strict=True)]
        bodies = [text[span[0] : span[1]] for text, span in zip(texts, spans, strict=True) if span]
        if len(bodies) < len(texts) or not all(
            one.name in body for one, body in zip(calls, bodies, strict=True)
        ):
            return None
        start, end, _ = spans[0] or (0, 0, None)
        if not texts[0][end:].strip():
            return None
        block = f"[{', '.join(bodies)}]" if listed else "\n".join(bodies)
        return texts[0][:start] + block + texts[0][end:]

    return write


def broken_off(before: str, one: ToolCall, after: str) -> Writer:
    """Text and a call that ends right behind ``after``, in the midst of its arguments."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        text = dialect.render_calls(Turn((Text(before), one)), tools)
        at = text.rfind(after)
        return text[: at + len(after)] if at >= 0 else None

    return write


def around(before: str, one: ToolCall, after: str) -> Writer:
    """A call inside of prose, as it stands there."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        if dialect.markers.fences:
            return None
        return before + dialect.render_calls(Turn((one,)), tools) + after

    return write


def of_the_marker(prose: str) -> Writer:
    """Prose about the marker that begins a call; ``{}`` stands for it."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:  # noqa: ARG001
        opening = (m for m in dialect.markers.open if isinstance(m, str))
        tag = next((m for m in opening if re.fullmatch(r"<[a-z_]+>", m)), None)
        return prose.format(tag) if tag else None

    return write


def thinking(before: str, one: ToolCall, after: str, text: str) -> Writer:
    """Reasoning that holds a call, then text."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        inner = dialect.render_calls(Turn((one,)), tools)
        return dialect.render_reasoning(before + inner + after) + dialect.render_calls(Turn((Text(text),)))

    return write


def never_done(thought: str) -> Writer:
    """Reasoning that does not end."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:  # noqa: ARG001
        text = dialect.render_reasoning(thought)
        return text[: text.index(thought) + len(thought)]

    return write


def followed(one: ToolCall, rest: str) -> Writer:
    """A call and raw text behind it."""

    def write(dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        return dialect.render_calls(Turn((one,)), tools) + rest

    return write


def _json_in(text: str, inner: str) -> tuple[int, int, Any] | None:
    """Where the outermost JSON around ``inner`` lies in a text, and its value."""
    at, within = 0, text.find(inner)
    decoder = json.JSONDecoder()
    while within >= 0 and (match := re.compile(r"[{\[]").search(text, at)):
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.end()
            continue
        if match.start() <= within < end:
            return match.start(), end, value
        at = max(end, match.end())
    return None


def _without_end(dialect: Dialect, text: str) -> str:
    body = text.rstrip()
    while end := next((m for m in dialect.markers.close if body.endswith(m)), None):
        body = body.removesuffix(end).rstrip()
    return body
