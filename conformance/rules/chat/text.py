"""The visible text: whole characters, and nothing in it that belongs to the machinery behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.rules.chat.reasoning import FIELDS
from conformance.rules.chat.views import Message
from conformance.rules.examples import answer, piece, start, stream, tool
from conformance.rules.markup import call_markup, control_tokens
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.scripted import keeps_markup
from conformance.rules.views import Violation, lookup

REPLACEMENT = "\ufffd"
ROLE_LINE = re.compile(r"\s*(?:assistant|user|system|model)[ \t]*\n")
ROLE_AFTER = re.compile(r"\s*(?:<[|｜]?)?(?:assistant|model)\b", re.IGNORECASE)
SHORTEST_ECHO = 16
"""Characters of a user's text below which an answer may begin with it by chance."""


@rule(
    "chat.response.no-special-token-leak",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source="the chat templates of the model families",
    violating=answer(message={"content": "Hello.<|im_end|>"}),
    conforming=answer(message={"content": "Qwen ends a turn with `<|im_end|>`."}),
    consequence="the user sees the token, and in the history it ends or begins turns that never were",
)
def no_control_tokens(message: Message) -> Iterator[Violation]:
    """content holds no chat-template control tokens, and reasoning does not end in one.

    Tokens in code spans and fences are quotation, and so are those that the request itself has. Raw markup of
    calls is chat.response.no-call-markup-leak's; reasoning may think of it.
    """
    for name in FIELDS:
        thought = message.get(name) if isinstance(message.get(name), str) else ""
        *_, last = ("", *control_tokens(thought))
        if last and thought.rstrip().endswith(last) and not (message.asked and message.asked.says(last)):
            yield message.found(name, wanted="reasoning without control tokens", saw=last)
            return
    if message.asked and message.asked.offers_tools and any(call_markup(message.content)):
        return
    if keeps_markup(message.reading):
        return
    for token in control_tokens(message.content):
        if not (message.asked and message.asked.says(token)):
            yield message.found("content", wanted="text without control tokens", saw=token)
            return


@rule(
    "chat.response.no-call-json-leak",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source="the tool-call formats of Llama 3 and others, which have no markup around the JSON",
    violating=answer(
        asked={"tools": [tool()]},
        message={"content": '{"name":"get_weather","parameters":{"city":"Oslo"}}'},
    ),
    conforming=answer(asked={"tools": [tool()]}, message={"content": '{"city":"Oslo"}'}),
    consequence="the call never runs and the user sees its JSON",
)
def no_call_json(message: Message) -> Iterator[Violation]:
    """content is not the JSON of a call of an offered function.

    The rule is this suite's own, and about the whole content: JSON inside a text may be an explanation.
    """
    if message.asked is None or not message.content.lstrip().startswith(("{", "[")):
        return
    if keeps_markup(message.reading):
        return
    value = read_json(message.content).value
    for one in value if isinstance(value, list) else [value]:
        name = lookup(one, ("name",))
        given = any(isinstance(lookup(one, (key,)), dict) for key in ("arguments", "parameters"))
        if given and isinstance(name, str) and name in message.asked.functions:
            yield message.found("content", wanted=f"the call of {name} in tool_calls, not in the text")
            return


@rule(
    "chat.response.content-unicode-intact",
    level="SHOULD",
    basis="spec",
    needs=("request",),
    source=("RFC 8259 section 8.2", "RFC 3629 section 3"),
    violating=answer(message={"content": "K\ufffdbenhavn"}),
    conforming=answer(message={"content": "København"}),
    consequence="characters are lost for good; an unpaired surrogate makes encoding the text raise",
)
def unicode_intact(message: Message) -> Iterator[Violation]:
    """content has no replacement characters or unpaired surrogates produced by the server.

    Corrected: SHOULD, not MUST. RFC 8259 calls unpaired surrogates unpredictable, not forbidden, and a model
    may itself write U+FFFD, or bytes that are no character. What the request has, and the last character
    of a text that was cut, is left alone.
    """
    text = message.content if message.settled else message.content.rstrip(REPLACEMENT)
    bad = next((c for c in text if c == REPLACEMENT or "\ud800" <= c <= "\udfff"), None)
    if bad is not None and not (message.asked and message.asked.says(bad)):
        at = text.index(bad)
        around = text[max(0, at - 20) : at + 20]
        yield message.found("content", wanted="whole characters", saw=f"U+{ord(bad):04X} in {around}")


@rule(
    "chat.response.content-no-echoed-prompt",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source="the chat templates of the model families",
    violating=stream(start(), piece(content="assistant\n\n"), piece(content="Hi."), piece("stop")),
    conforming=answer(message={"content": "Assistant, in a play, is a thankless part."}),
    consequence="the user sees the template's scaffolding before every answer",
)
def no_echo(message: Message) -> Iterator[Violation]:
    """content does not begin with the rendered prompt or role header.

    A role alone on the first line, or the user's whole text and then the assistant's role.
    """
    text = message.content
    if ROLE_LINE.match(text):
        yield message.found("content", wanted="the answer alone", saw=text[:60])
        return
    for said in _last_said(message):
        if len(said) >= SHORTEST_ECHO and text.startswith(said) and ROLE_AFTER.match(text, len(said)):
            yield message.found(
                "content", wanted="the answer alone", saw=f"the user's text, then {text[:60]}"
            )


def _last_said(message: Message) -> Iterator[str]:
    """The last message's text, where that is a user's."""
    messages = message.asked.body.get("messages") if message.asked else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    if lookup(last, ("role",)) == "user":
        content = lookup(last, ("content",))
        parts = content if isinstance(content, list) else [{"text": content}]
        for part in parts:
            said = lookup(part, ("text",))
            if said is not ABSENT and isinstance(said, str):
                yield said.strip()
