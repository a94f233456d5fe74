"""Tools and the choice among them in a Messages request.

Source: ``ToolUnionParam``, ``BetaToolUnionParam`` and ``ToolChoiceParam`` of anthropic-sdk-python 2.14.0; the
guides "Computer use tool" (its beta headers), "Bash tool", "Text editor tool" and "Memory tool". Tools that
Anthropic runs itself are refused: this endpoint runs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator import anthropic_schema, schemas
from conformance.simulator.answer import encode, refusal
from conformance.simulator.anthropic_blocks import NAME, Block, cache_mark
from conformance.simulator.fields import Fields, missing, wrong_value
from conformance.simulator.tokens import estimate
from conformance.types import NamedChoice, Tool

_MOST = 10_000
_EVERY_TOOL = (
    "type",
    "name",
    "cache_control",
    "allowed_callers",
    "defer_loading",
    "input_examples",
    "strict",
)
_CUSTOM = (*_EVERY_TOOL, "description", "input_schema", "eager_input_streaming")
_DISPLAY = ("display_width_px", "display_height_px", "display_number")

Choice = Literal["none", "auto", "required"] | NamedChoice | None


@dataclass(frozen=True, slots=True)
class _Typed:
    """A tool whose schema the model knows: its fixed name, its ``beta``, its own members."""

    name: str
    schema: Mapping[str, Any]
    beta: str | None = None
    members: tuple[str, ...] = ()


def _object(required: Sequence[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_TEXT = {"type": "string"}
_ACTIONS = (
    "screenshot key type mouse_move left_click left_click_drag right_click middle_click double_click "
    "cursor_position"
)
_LATER_ACTIONS = "triple_click left_mouse_down left_mouse_up scroll hold_key wait"


def _computer(actions: str) -> dict[str, Any]:
    point = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    action = {"type": "string", "enum": actions.split()}
    return _object(["action"], action=action, coordinate=point, text=_TEXT)


def _editor(*commands: str) -> dict[str, Any]:
    return _object(["command", "path"], command={"type": "string", "enum": list(commands)}, path=_TEXT)


_BASH = _object(["command"], command=_TEXT)
_EDITOR = _editor("view", "create", "str_replace", "insert", "undo_edit")
_NEWER_EDITOR = _editor("view", "create", "str_replace", "insert")
_MEMORY = _editor("view", "create", "str_replace", "insert", "delete", "rename")
_FIRST_BETA = "computer-use-2024-10-22"
_TYPED: Mapping[str, _Typed] = {
    "computer_20241022": _Typed("computer", _computer(_ACTIONS), _FIRST_BETA, _DISPLAY),
    "computer_20250124": _Typed(
        "computer", _computer(f"{_ACTIONS} {_LATER_ACTIONS}"), "computer-use-2025-01-24", _DISPLAY
    ),
    "computer_20251124": _Typed(
        "computer",
        _computer(f"{_ACTIONS} {_LATER_ACTIONS} zoom"),
        "computer-use-2025-11-24",
        (*_DISPLAY, "enable_zoom"),
    ),
    "bash_20241022": _Typed("bash", _BASH, _FIRST_BETA),
    "bash_20250124": _Typed("bash", _BASH),
    "text_editor_20241022": _Typed("str_replace_editor", _EDITOR, _FIRST_BETA),
    "text_editor_20250124": _Typed("str_replace_editor", _EDITOR),
    "text_editor_20250429": _Typed("str_replace_based_edit_tool", _NEWER_EDITOR),
    "text_editor_20250728": _Typed("str_replace_based_edit_tool", _NEWER_EDITOR, members=("max_characters",)),
    "memory_20250818": _Typed("memory", _MEMORY),
}


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a request, as the model and as the prompt cache see them."""

    declared: tuple[Tool, ...]
    blocks: tuple[Block, ...]


def read_tools(body: Fields, betas: frozenset[str]) -> Tools:
    """The tools that may be called.

    Raises:
        Refused: Anthropic would refuse them with 400.
    """
    items = body.objects("tools", 0, _MOST) or ()
    declared = tuple(_tool(item, betas) for item in items)
    names = {tool.name for tool in declared}
    if len(names) < len(declared):
        raise refusal("Tool names must be unique.", param="tools", why="400 duplicate-tool-names")
    wrong = anthropic_schema.too_complex(tool.parameters for tool in declared if tool.strict)
    if wrong is not None:
        raise refusal(wrong, code="invalid_function_parameters")
    return Tools(declared, tuple(_block(item, tool) for item, tool in zip(items, declared, strict=True)))


def _block(item: Fields, tool: Tool) -> Block:
    raw = encode({name: item.raw(name) for name in item.names() if name != "cache_control"})
    tokens = 8 + estimate(tool.name + tool.description + str(tool.parameters))
    path = item.param("name").removesuffix(".name")
    return Block("tool", path, "", tokens, raw, mark=cache_mark(item))


def _tool(item: Fields, betas: frozenset[str]) -> Tool:
    kind = item.choice("type", ("custom", *_TYPED))
    if kind not in (None, "custom"):
        return _typed_tool(item, kind or "", betas)
    item.closed(_CUSTOM)
    name = item.needed_text("name")
    if not NAME.fullmatch(name):
        raise wrong_value(item.param("name"), f"String should match pattern '^{NAME.pattern}$'")
    _check_common(item)
    strict = item.boolean("strict")
    item.boolean("eager_input_streaming")
    item.needed_object("input_schema")
    schema = item.raw("input_schema")
    _check_schema(schema, item.param("input_schema"), bool(strict))
    return Tool(name, item.text("description") or "", schema, strict)


def _check_schema(schema: Any, param: str, strict: bool) -> None:
    if "type" not in schema:
        raise missing(f"{param}.type")
    wrong = "type: Input should be 'object'" if schema["type"] != "object" else schemas.problem(schema)
    if wrong is None and strict:
        wrong = anthropic_schema.problem(schema)
    if wrong is not None:
        raise refusal(wrong, param=param, code="invalid_function_parameters")


def _check_common(item: Fields) -> None:
    callers = item.raw("allowed_callers")
    if callers not in (None, ["direct"]):
        raise wrong_value(item.param("allowed_callers"), "only 'direct' calls are supported")
    if item.boolean("defer_loading"):
        raise wrong_value(item.param("defer_loading"), "this model has no tool search")
    item.objects("input_examples", 0, _MOST)


def _typed_tool(item: Fields, kind: str, betas: frozenset[str]) -> Tool:
    typed = _TYPED[kind]
    if typed.beta is not None and typed.beta not in betas:
        message = f"Input tag '{kind}' needs the beta '{typed.beta}' in the header 'anthropic-beta'"
        raise refusal(message, param=item.param("type"), why="400 beta-needed")
    item.closed((*_EVERY_TOOL, *typed.members))
    if item.choice("name", (typed.name,)) is None:
        raise missing(item.param("name"))
    _check_common(item)
    for name in ("display_width_px", "display_height_px"):
        if name in typed.members and item.integer(name, 1, 100_000) is None:
            raise missing(item.param(name))
    item.integer("display_number", 0, 100_000)
    item.integer("max_characters", 1, 2**31 - 1)
    item.boolean("enable_zoom")
    return Tool(typed.name, "", typed.schema, item.boolean("strict"))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice among the tools: which may be called, and whether several at once."""

    choice: Choice
    allowed: frozenset[str]
    parallel: bool


def read_choice(body: Fields, tools: Sequence[Tool]) -> Chosen:
    """The choice among the tools.

    Raises:
        Refused: Anthropic would refuse it with 400.
    """
    names = frozenset(tool.name for tool in tools)
    given = body.object("tool_choice")
    if given is None:
        return Chosen("auto" if tools else None, names, True)
    kind = given.choice("type", ("auto", "any", "tool", "none"))
    if kind is None:
        raise missing(given.param("type"))
    given.closed(
        {"none": ("type",), "tool": ("type", "disable_parallel_tool_use", "name")}.get(
            kind, ("type", "disable_parallel_tool_use")
        )
    )
    if not tools:
        raise refusal("may only be specified while providing tools", param="tool_choice")
    parallel = not given.boolean("disable_parallel_tool_use")
    match kind:
        case "tool":
            name = given.needed_text("name")
            if name not in names:
                raise refusal(f"Tool '{name[:128]}' not found in provided tools", param="tool_choice.name")
            return Chosen(NamedChoice(name), frozenset({name}), parallel)
        case "any":
            return Chosen("required", names, parallel)
        case "none":
            return Chosen("none", names, parallel)
        case _:
            return Chosen("auto", names, parallel)
