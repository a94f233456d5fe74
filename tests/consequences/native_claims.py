"""What breaks in a program that uses Google's or Ollama's SDK at an answer that breaks a rule of its wire."""

from __future__ import annotations

from typing import Any

from conformance.rules.gemini import examples as gemini
from conformance.rules.ollama import examples as ollama
from conformance.rules.reading import ABSENT

from .claims import City, Claim, Client, Look, Raised, Way, itself

ASKED: dict[str, Any] = {"model": "example-model", "contents": "Say hello."}
CHAT: dict[str, Any] = {"model": "example-model", "messages": [{"role": "user", "content": "Say hello."}]}
UNKNOWN = Raised("UnknownApiResponseError")
INVALID = Raised("ValidationError")
NO_JSON = Raised("JSONDecodeError")


def generated(look: Look) -> Way:
    """Asks for a whole answer and looks at it."""
    return lambda client: look(client.bound.models.generate_content(**ASKED))


def parsed(client: Client) -> Any:
    """What a program gets that asks for an object of a class."""
    config = {"response_mime_type": "application/json", "response_schema": City}
    return client.bound.models.generate_content(config=config, **ASKED).parsed


def loose(client: Client) -> Any:
    """What a program gets that asks for JSON."""
    config = {"response_mime_type": "application/json"}
    return client.bound.models.generate_content(config=config, **ASKED).parsed


def chunks(look: Look) -> Way:
    """Asks for a stream and looks at the list of its chunks."""
    return lambda client: look(list(client.bound.models.generate_content_stream(**ASKED)))


def denied(client: Client) -> Any:
    """Asks and looks at the status that the exception has."""
    try:
        client.bound.models.generate_content(**ASKED)
    except client.sdk.errors.APIError as raised:
        return raised.status
    return "no exception"


def spoken(response: Any) -> Any:
    return response.text


def spoken_and_called(response: Any) -> Any:
    return response.text, len(response.function_calls)


def texts(responses: list[Any]) -> list[Any]:
    return [response.text for response in responses]


def counts(response: Any) -> Any:
    return response.usage_metadata


def called(response: Any) -> Any:
    return [call.name for call in response.function_calls]


def is_published(response: Any) -> bool:
    """Whether the finish reason is a member that the SDK itself defines."""
    reason = response.candidates[0].finish_reason
    return reason.name in type(reason).__members__


EMPTY = gemini.dumped([gemini.response()])
SNAKE = gemini.answer({"function_call": {"name": "get_weather", "args": {}}})
NUMBER = gemini.answer(more={"finishReason": 1})
AS_OBJECT = gemini.answer(more={"content": {"role": "model", "parts": {"text": "Hello."}}})
PIECES = gemini.dumped(gemini.told()).replace(b'},{"candidates"', b'}\n,\r\n{"candidates"')
PLAIN_ERROR = gemini.stream(*gemini.told()[:1], {"error": "It broke."})

GEMINI_CLAIMS = (
    Claim("gem.response.json-object", "raises JSONDecodeError", generated(spoken), NO_JSON),
    Claim(
        "gem.response.json-object",
        "of an array it makes an empty response",
        generated(spoken),
        None,
        gemini.answer(raw=EMPTY),
    ),
    Claim("gem.error.status-not-200", "a response with nothing in it", generated(spoken), None),
    Claim("gem.response.candidates-or-feedback", "text is None", generated(spoken), None),
    Claim("gem.response.camel-case", "no counts under usage_metadata", generated(counts), None),
    Claim("gem.response.camel-case", "reads a call so spelt", generated(called), ["get_weather"], SNAKE),
    Claim(
        "gem.response.parts-array",
        "text and function_calls both have it",
        generated(spoken_and_called),
        ("Hello.", 1),
    ),
    Claim(
        "gem.response.parts-array", "no array raise ValidationError", generated(itself), INVALID, AS_OBJECT
    ),
    Claim("gem.response.function-call-shape", "raises ValidationError", generated(itself), INVALID),
    Claim("gem.response.finish-reason-enum", "makes up a member", generated(is_published), False),
    Claim(
        "gem.response.finish-reason-enum",
        "AttributeError for a number",
        generated(itself),
        Raised("AttributeError"),
        NUMBER,
    ),
    Claim("gem.response.usage-metadata", "raises ValidationError for a fraction", generated(itself), INVALID),
    Claim("gem.response.thought-signature-base64", "raises ValidationError", generated(itself), INVALID),
    Claim("gem.response.json-mode", "parsed is None", loose, None),
    Claim(
        "gem.response.schema",
        "parsed is None",
        parsed,
        None,
        gemini.answer(
            gemini.text('{"town":"Oslo"}'),
            asked=gemini.config(
                responseMimeType="application/json",
                responseSchema={
                    "type": "OBJECT",
                    "properties": {"city": {"type": "STRING"}},
                    "required": ["city"],
                },
            ),
        ),
    ),
    Claim(
        "gem.stream.sse-when-alt-sse",
        "raises UnknownApiResponseError",
        chunks(texts),
        UNKNOWN,
        gemini.stream(raw=PIECES, headers={"content-type": "application/json"}),
    ),
    Claim("gem.stream.data-prefix-with-space", "raises UnknownApiResponseError", chunks(texts), UNKNOWN),
    Claim(
        "sse.space-after-colon",
        'UnknownApiResponseError for "data:{"',
        chunks(texts),
        UNKNOWN,
        gemini.stream(b"data:" + gemini.dumped(gemini.told("Hello.")[0]) + b"\n\n"),
    ),
    Claim("gem.stream.no-comments", "raises UnknownApiResponseError", chunks(texts), UNKNOWN),
    Claim("gem.stream.no-done-sentinel", "raises UnknownApiResponseError", chunks(texts), UNKNOWN),
    Claim("gem.stream.chunk-is-response", "an empty response of it", chunks(texts), [None, "lo."]),
    Claim("gem.stream.error-object", "a TypeError", chunks(texts), Raised("TypeError")),
    Claim(
        "gem.stream.error-object", "an AttributeError", chunks(texts), Raised("AttributeError"), PLAIN_ERROR
    ),
    Claim("gem.error.shape", "APIError has no status", denied, None),
)

# -------------------------------------------------------------------------------------------- Ollama


def whole(look: Look) -> Way:
    """Asks for a whole answer and looks at it."""
    return lambda client: look(client.bound.chat(**CHAT))


def lines(look: Look) -> Way:
    """Asks for a stream and looks at the list of its parts."""
    return lambda client: look(list(client.bound.chat(stream=True, **CHAT)))


def refused(client: Client) -> Any:
    """Asks and looks at what the exception says."""
    try:
        client.bound.chat(**CHAT)
    except client.sdk.ResponseError as raised:
        return raised.error
    return "no exception"


NO_MESSAGE = ollama.answer(body={"model": "m", "created_at": "2026-01-31T12:00:00Z", "done": True})
LEFT_OUT = ollama.answer(ollama.call(function={"arguments": ABSENT}))
NO_PROBABILITY = ollama.answer(asked={"logprobs": True}, logprobs=[{"token": "Hello."}])

OLLAMA_CLAIMS = (
    Claim("oll.response.json-object", "raises JSONDecodeError", whole(itself), NO_JSON),
    Claim("oll.response.keys", "its role ollama-python raises ValidationError", whole(itself), INVALID),
    Claim("oll.response.keys", "without message", whole(itself), INVALID, NO_MESSAGE),
    Claim("oll.response.created-at-rfc3339", "raise ValidationError", whole(itself), INVALID),
    Claim("oll.response.message-role", "raises ValidationError", whole(itself), INVALID),
    Claim("oll.response.counts", "raises ValidationError for a fraction", whole(itself), INVALID),
    Claim("oll.response.tool-call-shape", "raises ValidationError", whole(itself), INVALID),
    Claim("oll.response.tool-arguments-object", "raises ValidationError for a text", whole(itself), INVALID),
    Claim(
        "oll.response.tool-arguments-object", "arguments that are left out", whole(itself), INVALID, LEFT_OUT
    ),
    Claim("oll.response.logprobs", "raise ValidationError", whole(itself), INVALID, NO_PROBABILITY),
    Claim(
        "oll.stream.ndjson",
        "JSONDecodeError for a line that is empty or has a prefix",
        lines(itself),
        NO_JSON,
    ),
    Claim(
        "oll.stream.ndjson",
        "a line that is empty",
        lines(itself),
        NO_JSON,
        ollama.stream(*ollama.told()[:1], b"\n", *ollama.told()[1:]),
    ),
    Claim("oll.stream.line-separators-escaped", "raises JSONDecodeError", lines(itself), NO_JSON),
    Claim("oll.stream.error-line", "raises TypeError", lines(itself), Raised("TypeError")),
    Claim("oll.error.status-not-200", "raises ValidationError", whole(itself), INVALID),
    Claim("oll.error.shape", "shows what stands in error as it is", refused, {"message": "bad request"}),
)
