"""Tools and tool choices, changed for who can't take them as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Literal

from conformance.types import Message, NamedChoice, Request, Text, Tool, ToolCall

MAX_NAME = 64
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")

NUDGE = "You must call one of the tools now."
NUDGE_NAMED = "You must call the tool {name} now."
PLACEHOLDER = Tool("no_tool", "Stands here because earlier turns called tools. Never call it.", {})
"""An inert tool: there must be one where a history holds calls."""

ALIAS = "x_"


def unique(request: Request) -> Request:
    """Each tool name once, the first definition winning, wherever tools come in.

    That is the request's tools, and whole lists in Chat's own words or a wire's (``extra``, ``native``), flat
    and in namespaces or in Gemini's ``functionDeclarations``.
    """
    seen: set[str] = set()
    tools = tuple(tool for tool in request.tools if not _known(tool.name, seen))
    extra, native = dict(request.extra), dict(request.native)
    if isinstance(extra.get("tools"), list):
        extra["tools"] = _unique_list(extra["tools"], set(seen))
    for wire, members in request.native.items():
        if isinstance(members.get("tools"), list):
            # A wire's own list takes the place of the request's, so it is looked at by itself.
            native[wire] = {**members, "tools": _unique_list(members["tools"], set())}
    return replace(request, tools=tools, extra=extra, native=native)


def unique_in_body(body: dict[str, Any]) -> dict[str, Any]:
    """Each tool name once in a body of any wire, the first definition winning."""
    given = body.get("tools")
    return {**body, "tools": _unique_list(given, set())} if isinstance(given, list) else body


def _unique_list(items: Any, seen: set[str]) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        if not isinstance(item, dict):
            kept.append(item)
            continue
        inner = next((k for k in ("functionDeclarations", "function_declarations", "tools") if k in item), "")
        if isinstance(item.get(inner), list):
            kept.append({**item, inner: _unique_list(item[inner], seen)})
        elif not ((name := _name_in(item)) and _known(name, seen)):
            kept.append(item)
    return kept


def _name_in(item: Mapping[str, Any]) -> str:
    kind = item.get("type")
    function = item.get(kind) if isinstance(kind, str) else None
    name = function.get("name") if isinstance(function, dict) else item.get("name")
    return name if isinstance(name, str) else ""


def _known(name: str, seen: set[str]) -> bool:
    known = name in seen
    seen.add(name)
    return known


def none_left_out(request: Request) -> Request:
    """Without tools neither an empty list nor a choice among them is said."""
    extra = {k: v for k, v in request.extra.items() if not (k == "tools" and v == [])}
    if request.tools or extra.get("tools") or any("tools" in given for given in request.native.values()):
        return replace(request, extra=extra)
    extra.pop("tool_choice", None)
    return replace(request, extra=extra, tool_choice=None, parallel_tool_calls=None)


def coerced_history(request: Request) -> Request:
    """Names of past calls as the reference takes them (``[A-Za-z0-9_-]``, 64 at most).

    Live definitions are never renamed, and a past name that one of them has stays what it is.
    """
    live = {tool.name for tool in request.tools}

    def renamed(call: ToolCall) -> ToolCall:
        if call.name in live or _NAME.fullmatch(call.name):
            return call
        return replace(call, name=_ODD.sub("_", call.name)[:MAX_NAME] or "_")

    return with_calls(request, renamed)


def with_calls(request: Request, change: Callable[[ToolCall], ToolCall]) -> Request:
    """The request with every call of its history changed."""
    return replace(
        request,
        messages=tuple(
            replace(m, parts=tuple(change(p) if isinstance(p, ToolCall) else p for p in m.parts))
            for m in request.messages
        ),
    )


def at_most(request: Request, most: int) -> Request:
    """No more tools than ``most``: those that are forced or were called stay, then the first ones."""
    if len(request.tools) <= most:
        return request
    wanted = {
        part.name for message in request.messages for part in message.parts if isinstance(part, ToolCall)
    }
    if isinstance(request.tool_choice, NamedChoice):
        wanted.add(request.tool_choice.name)
    ranked = sorted(range(len(request.tools)), key=lambda i: (request.tools[i].name not in wanted, i))
    kept = sorted(ranked[:most])
    return replace(request, tools=tuple(request.tools[i] for i in kept))


def allowed_alone(request: Request) -> Request:
    """A choice of ``allowed_tools`` as these tools alone, and its mode as the choice."""
    choice = request.extra.get("tool_choice")
    allowed = choice.get("allowed_tools") if isinstance(choice, dict) else None
    listed = allowed.get("tools") if isinstance(allowed, dict) else None
    if not isinstance(allowed, dict) or not isinstance(listed, list):
        return request
    named = {_name_in(item) for item in listed if isinstance(item, dict)}
    mode: Literal["required", "auto"] = "required" if allowed.get("mode") == "required" else "auto"
    extra = {key: value for key, value in request.extra.items() if key != "tool_choice"}
    kept = tuple(tool for tool in request.tools if tool.name in named)
    return replace(request, tools=kept or request.tools, tool_choice=mode, extra=extra)


def is_forced(request: Request) -> bool:
    """Whether a call is forced: by ``required``, by name, or among those allowed."""
    choice = allowed_alone(request).tool_choice
    return choice == "required" or isinstance(choice, NamedChoice)


def softened(request: Request) -> Request:
    """A forced call as ``auto`` and words that ask for it; of a named one only that tool is offered."""
    request = allowed_alone(request)
    choice = request.tool_choice
    if choice == "required":
        return instructed(replace(request, tool_choice="auto"), NUDGE)
    if isinstance(choice, NamedChoice):
        narrow = replace(narrowed(request, choice.name), tool_choice="auto")
        return instructed(narrow, NUDGE_NAMED.format(name=choice.name))
    return request


def by_name_as_required(request: Request) -> Request:
    """A named choice as ``required`` among one tool."""
    choice = request.tool_choice
    if not isinstance(choice, NamedChoice):
        return request
    return replace(narrowed(request, choice.name), tool_choice="required")


def narrowed(request: Request, name: str) -> Request:
    """Only the tool of that name, where there is one."""
    kept = tuple(tool for tool in request.tools if tool.name == name)
    return replace(request, tools=kept) if kept else request


def none_by_absence(request: Request) -> Request:
    """``tool_choice: "none"`` as a request without tools."""
    if request.tool_choice != "none":
        return request
    extra = {k: v for k, v in request.extra.items() if k != "tools"}
    return replace(request, tools=(), tool_choice=None, parallel_tool_calls=None, extra=extra)


def instructed(request: Request, text: str) -> Request:
    """The instruction at the end of the leading system message, or as one."""
    verbatim = request.extra.get("messages")
    if isinstance(verbatim, list):
        system = {"role": "system", "content": text}
        return replace(request, extra={**request.extra, "messages": [system, *verbatim]})
    first, *rest = request.messages or (None,)
    if first is not None and first.role in ("system", "developer"):
        return replace(request, messages=(replace(first, parts=(*first.parts, Text(f"\n\n{text}"))), *rest))
    return replace(request, messages=(Message.system(text), *request.messages))


def with_placeholder(request: Request) -> Request:
    """An inert tool where the history holds calls or results and no tools are offered."""
    called = any(m.role == "tool" or any(isinstance(p, ToolCall) for p in m.parts) for m in request.messages)
    if request.tools or not called or request.extra.get("tools"):
        return request
    return replace(request, tools=(PLACEHOLDER,))


def aliased(request: Request, reserved: Collection[str]) -> Request:
    """Tools of reserved names under another one, in definitions, history and choice alike."""

    def renamed(name: str) -> str:
        return ALIAS + name if name in reserved else name

    choice = request.tool_choice
    if isinstance(choice, NamedChoice):
        choice = NamedChoice(renamed(choice.name))
    changed = with_calls(request, lambda call: replace(call, name=renamed(call.name)))
    tools = tuple(replace(tool, name=renamed(tool.name)) for tool in request.tools)
    return replace(changed, tools=tools, tool_choice=choice)


def aliases(request: Request, reserved: Collection[str]) -> Mapping[str, str]:
    """The names that ``aliased`` gave the request's tools, and what they stand for: of this request alone."""
    return {ALIAS + tool.name: tool.name for tool in request.tools if tool.name in reserved}


def without_strict(request: Request) -> Request:
    """No tool says ``strict``."""
    return replace(request, tools=tuple(replace(tool, strict=None) for tool in request.tools))


def uniformly_strict(request: Request) -> Request:
    """All tools strict, or none: a mixture is none."""
    if len({tool.strict is True for tool in request.tools}) < 2:
        return request
    return without_strict(request)


def strict_at_most(request: Request, most: int) -> Request:
    """No more strict tools than ``most``; the first ones stay strict."""
    left = most
    tools: list[Tool] = []
    for tool in request.tools:
        if tool.strict and left <= 0:
            tool = replace(tool, strict=False)
        left -= tool.strict is True
        tools.append(tool)
    return replace(request, tools=tuple(tools))


def with_schemas(request: Request, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Request:
    """Every tool's parameters changed."""
    tools = tuple(replace(tool, parameters=change(tool.parameters)) for tool in request.tools)
    return replace(request, tools=tools)
