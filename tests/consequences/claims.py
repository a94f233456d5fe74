"""What a claim about a client is, and the ways in which a program uses the official SDK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from conformance.rules.examples import WEATHER_SCHEMA, Exchanges, piece, start
from conformance.types import HttpResponse

ASKED: dict[str, Any] = {"model": "example-model", "messages": [{"role": "user", "content": "Say hello."}]}
HELLO = (start(), piece(content="Hello."), piece("stop"))
"""The chunks of a clean stream."""
STRICT_TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "strict": True, "parameters": WEATHER_SCHEMA},
}


class City(BaseModel):
    """What a program wants the model to answer with."""

    city: str


@dataclass(frozen=True, slots=True)
class Client:
    """The SDK's client, bound to one answer."""

    sdk: Any
    bound: Any
    response: HttpResponse


Way = Callable[[Client], Any]
Look = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: its class, and a part of its text."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """``words`` of a rule's consequence, and the program that shows them to be true.

    A program that goes the ``way`` ``sees`` this. The answer it gets is the last exchange of
    ``violating``, which breaks the rule: the rule's own example unless another shows it better.
    """

    rule: str
    words: str
    way: Way
    sees: Any
    violating: Exchanges | None = None


def whole(look: Look) -> Way:
    """Asks for a whole answer and looks at the completion."""
    return lambda client: look(client.bound.chat.completions.create(**ASKED))


def parsed(look: Look, **members: Any) -> Way:
    """Asks for a whole answer that is parsed into ``City``, or whose strict tool's arguments are."""
    asked = ASKED | (members or {"response_format": City})
    return lambda client: look(client.bound.chat.completions.parse(**asked))


def chunks(look: Look) -> Way:
    """Asks for a stream and looks at the list of its chunks."""
    return lambda client: look(list(client.bound.chat.completions.create(stream=True, **ASKED)))


def helper(look: Look, **members: Any) -> Way:
    """Asks for a stream through the SDK's helper and looks at the completion that it puts together."""

    def way(client: Client) -> Any:
        with client.bound.chat.completions.stream(**ASKED, **members) as events:
            for _ in events:
                pass
            return look(events.get_final_completion())

    return way


def events(look: Look) -> Way:
    """Asks for a stream through the SDK's helper and looks at the list of the events that it fires."""

    def way(client: Client) -> Any:
        with client.bound.chat.completions.stream(**ASKED) as events:
            return look(list(events))

    return way


def refused(look: Look) -> Way:
    """Asks for a whole answer and looks at the exception."""

    def way(client: Client) -> Any:
        with pytest.raises(client.sdk.APIStatusError) as raised:
            client.bound.chat.completions.create(**ASKED)
        return look(raised.value)

    return way


def typed(look: Look, body: Callable[[bytes], bytes] = bytes) -> Way:
    """Validates the body with one of the SDK's types, which ``look`` finds; the SDK's client does not."""
    return lambda client: look(client.sdk.types).model_validate_json(body(client.response.body))


def pauses(client: Client) -> list[float]:
    """Asks with the SDK's own number of retries; how long it pauses each time, in half seconds rounded up."""
    slept: list[float] = []
    eager = client.bound.with_options(max_retries=client.sdk.DEFAULT_MAX_RETRIES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", slept.append)
        with pytest.raises(client.sdk.APIStatusError):
            eager.chat.completions.create(**ASKED)
    return [-(-pause // 0.5) * 0.5 for pause in slept]


def itself(value: Any) -> Any:
    """The value, whatever it is."""
    return value


def message(completion: Any) -> Any:
    """The message of the first choice."""
    return completion.choices[0].message


def call(completion: Any) -> Any:
    """The first tool call of the first choice."""
    return message(completion).tool_calls[0]


def texts(chunks: list[Any]) -> list[str | None]:
    """The text of each chunk."""
    return [choice.delta.content for chunk in chunks for choice in chunk.choices]


def joined(chunks: list[Any]) -> str:
    """The text that a program puts together."""
    return "".join(text for text in texts(chunks) if text is not None)
