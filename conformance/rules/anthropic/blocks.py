"""Content blocks: their members, their ids, their order."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.anthropic.examples import (
    THINKING,
    WIRES,
    answer,
    stream,
    text,
    thinking,
    told,
    tool,
    tool_use,
)
from conformance.rules.anthropic.views import Block, Message, WholeBlock
from conformance.rules.registry import rule
from conformance.rules.scripted import names
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Violation

CALLS = anthropic_docs("agents-and-tools/tool-use/handle-tool-calls")
PARTS = ("text", "thinking", "redacted_thinking", "tool_use")
"""The blocks of a message in which no tool of the server's own had a part."""


@rule(
    "anth.response.text-block",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/text_block.py"),
    violating=answer({"type": "text"}),
    conforming=answer(text()),
    consequence="anthropic 2.14.0 gives None for the text, and what joins the texts raises TypeError",
)
def text_block(block: WholeBlock) -> Iterator[Violation]:
    """A text block has a text string."""
    if block.type == "text" and not isinstance(block.get("text"), str):
        yield block.found("text", wanted="a string")


@rule(
    "anth.response.text-not-empty",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source="api.anthropic.com's own refusal: text content blocks must be non-empty",
    violating=answer(text("")),
    conforming=answer(text("Hello.")),
    consequence="a client that sends the message back, as agents do, is refused by Anthropic for it",
)
def text_not_empty(block: Block) -> Iterator[Violation]:
    """A text block of a message that came to its end is not empty.

    Split off from anth.response.text-block, whose schema allows the empty string.
    """
    if block.settled and block.type == "text" and block.get("text") == "":
        yield block.found("text", wanted="a text, or no block")


@rule(
    "anth.response.tool-use-block",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/tool_use_block.py"),
    violating=answer(tool_use(input='{"city":"Oslo"}')),
    conforming=answer(tool_use()),
    consequence="anthropic 2.14.0 hands out the string as it is, and a tool that takes named arguments fails",
)
def tool_use_block(block: WholeBlock) -> Iterator[Violation]:
    """A tool_use block has id, name and an input object.

    In streams anth.stream.tool-start-identity and anth.stream.partial-json-concat say so.
    """
    if block.type != "tool_use":
        return
    for name in ("id", "name"):
        value = block.get(name)
        if not (isinstance(value, str) and value):
            yield block.found(name, wanted="a non-empty string")
    if not isinstance(block.get("input"), dict):
        yield block.found("input", wanted="an object")


@rule(
    "anth.response.tool-use-id-unique",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("values",),
    source=CALLS,
    violating=answer(tool_use(1), tool_use(1, input={"city": "Lima"})),
    conforming=answer(tool_use(1), tool_use(2, input={"city": "Lima"})),
    consequence="the result of one call is taken for that of the other, and Anthropic refuses the history",
)
def id_unique(message: Message) -> Iterator[Violation]:
    """tool_use ids are unique in a message.

    The guide calls the id a unique identifier of the block.
    """
    seen: set[str] = set()
    for block in message.calls:
        given = block.get("id")
        if isinstance(given, str) and given in seen:
            yield block.found("id", wanted="an id that no other call of the message has")
        elif isinstance(given, str):
            seen.add(given)


@rule(
    "anth.response.tool-name-declared",
    wires=WIRES,
    level="SHOULD",
    basis="derived",
    needs=("request",),
    source=anthropic_sdk("types/message_create_params.py tools"),
    violating=answer(tool_use(name="get_time")),
    conforming=stream(told(tool_use(name="get_time")), asked={"tools": [tool("get_time")]}),
    consequence="a client has nothing to run, and stops or crashes",
)
def name_declared(block: Block) -> Iterator[Violation]:
    """A tool_use names a tool that the request offers.

    The rule is this suite's own; the catalogue has it for Chat alone. Toolsets bring names of their own.
    """
    asked = block.asked
    if block.type != "tool_use" or asked is None or asked.offers_toolset:
        return
    name = block.get("name")
    if isinstance(name, str) and name and name not in asked.tools and not names(block.reading, name):
        yield block.found("name", wanted="the name of an offered tool")


SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": ""}}


@rule(
    "anth.response.server-tool-offered",
    wires=WIRES,
    level="SHOULD",
    basis="derived",
    needs=("request",),
    source=anthropic_docs("agents-and-tools/tool-use/web-search-tool"),
    violating=answer(SEARCH, text(), stop_reason="end_turn"),
    conforming=answer(
        SEARCH,
        text(),
        stop_reason="end_turn",
        asked={"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    ),
    consequence="the history tells of a search that nobody made, and what does not know the block refuses it",
)
def server_tool_offered(block: Block) -> Iterator[Violation]:
    """A server_tool_use comes only where the request offers a tool that the server runs.

    The rule is this suite's own; one tool may be used under several names, so names are not compared.
    """
    asked = block.asked
    if block.type == "server_tool_use" and asked is not None and not asked.offers_server_tools:
        yield block.found("type", wanted="no use of the server's own tools, of which none was offered")


@rule(
    "anth.response.thinking-block",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/thinking_block.py"),
    violating=answer({"type": "thinking", "thinking": "Hm."}, text(), asked=THINKING),
    conforming=answer(thinking(""), text(), asked=THINKING),
    consequence="anthropic 2.14.0 gives None for the signature, and the block can't go back to Anthropic",
)
def thinking_block(block: WholeBlock) -> Iterator[Violation]:
    """A thinking block has a thinking string and a non-empty signature string.

    A server that signs nothing still has to send a token: clients send the block back with it. The thinking
    itself is empty where its display is omitted.
    """
    if block.type != "thinking":
        return
    if not isinstance(block.get("thinking"), str):
        yield block.found("thinking", wanted="a string")
    signature = block.get("signature")
    if not (isinstance(signature, str) and signature):
        yield block.found("signature", wanted="a non-empty string")


@rule(
    "anth.response.redacted-thinking-block",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/redacted_thinking_block.py"),
    violating=answer({"type": "redacted_thinking"}, text(), asked=THINKING),
    conforming=answer({"type": "redacted_thinking", "data": "EmwKAhgB"}, text(), asked=THINKING),
    consequence="there is nothing to send back: the next request is refused or loses the reasoning",
)
def redacted_block(block: Block) -> Iterator[Violation]:
    """A redacted_thinking block has a data string.

    In a stream it comes whole, in its content_block_start.
    """
    if block.type == "redacted_thinking" and not isinstance(block.get("data"), str):
        yield block.found("data", wanted="a string")


@rule(
    "anth.response.thinking-first",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=anthropic_docs("build-with-claude/extended-thinking"),
    violating=answer(text(), thinking(), asked=THINKING),
    conforming=answer(thinking(), text(), asked=THINKING),
    consequence="sent back with thinking enabled, a turn that begins otherwise is refused by Anthropic",
)
def thinking_first(message: Message) -> Iterator[Violation]:
    """Thinking blocks precede the text and tool_use blocks they led to.

    Where thinking alternates with what it leads to (interleaved, adaptive, tools of the server's own) any
    order is right.
    """
    if message.asked is None or not message.asked.thinks_first:
        return
    if any(block.type not in PARTS for block in message.blocks):
        return
    led = False
    for block in message.blocks:
        if led and "thinking" in block.type:
            yield block.found(wanted="thinking before what it leads to", saw=f"{block.type} after it")
        led = led or block.type in ("text", "tool_use")
