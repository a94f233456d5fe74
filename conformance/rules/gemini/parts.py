"""The parts of a candidate: what each holds, calls, thoughts and their signatures."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from conformance.rules.gemini.examples import (
    SIGNATURE,
    WIRES,
    answer,
    call,
    config,
    function,
    offering,
    said,
    stream,
    text,
    thought,
)
from conformance.rules.gemini.views import Candidate, Part, Piece
from conformance.rules.markup import think_markup
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.schemas import first_error
from conformance.rules.scripted import names
from conformance.rules.sources import PROTO_JSON, gemini_docs, gemini_sdk
from conformance.rules.views import Violation, lookup

PART = gemini_sdk("types.py Part")
CALL = gemini_sdk("types.py FunctionCall")
SIGNATURES = gemini_docs("thought-signatures")
DATA = frozenset(
    {
        *("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"),
        *("codeExecutionResult", "toolCall", "toolResponse"),
    }
)
"""The members of a part of which it has exactly one."""
BESIDE = frozenset(
    {"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata", "mediaProcessing"}
)
"""The members that say something of it."""
SHORTEST_REPEAT = 16
"""Characters of thoughts below which an answer may begin with them by chance."""
SIGNED = {"thoughtSignature": SIGNATURE}
REPEATED = "They ask for 81, which is 9 times 9."


@rule(
    "gem.response.content-role-model",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=gemini_sdk("types.py Content.role"),
    violating=answer(more={"content": {"role": "assistant", "parts": [text()]}}),
    conforming=answer(),
    consequence="sent back as it came it is refused: a content has the role user or model",
)
def role(one: Piece) -> Iterator[Violation]:
    """The role of a candidate's content is model."""
    content = one.get("content")
    if isinstance(content, dict) and content and content.get("role") != "model":
        yield one.found("content", "role", wanted='"model"')


@rule(
    "gem.response.parts-array",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{PART} (exactly one field)",
    violating=answer({**text(), **call()}),
    conforming=answer(text(), call()),
    consequence="google-genai's text and function_calls both have it; parts that are no array raise "
    "ValidationError",
)
def parts_array(one: Piece) -> Iterator[Violation]:
    """content.parts is an array of objects with one data member each.

    Corrected: parts may be missing, as they are where nothing was said. A member that is not known counts as
    data of a newer kind.
    """
    parts = one.get("content", "parts")
    if parts is not ABSENT and not isinstance(parts, list):
        yield one.found("content", "parts", wanted="an array")
    for place, part in enumerate(one.parts):
        known = [name for name in part if name in DATA] if isinstance(part, dict) else []
        if not isinstance(part, dict):
            yield one.found("content", "parts", place, wanted="an object")
        elif len(known) > 1 or (not known and part.keys() <= BESIDE):
            saw = " and ".join(known) or "no data"
            yield one.found("content", "parts", place, wanted="one data member", saw=saw)


@rule(
    "gem.response.function-call-shape",
    wires=WIRES,
    level="MUST",
    basis="schema",
    needs=("request",),
    source=CALL,
    violating=answer(call(args='{"city":"Oslo"}')),
    conforming=answer(call(args=ABSENT)),
    consequence="google-genai 3.6.1 raises ValidationError for args that are a text or an array",
)
def call_shape(one: Part) -> Iterator[Violation]:
    """functionCall has a name, a non-empty string, and args, an object.

    args may be left out, which means none. A call in pieces (Vertex AI) has its name in the first of them.
    """
    if one.call is ABSENT:
        return
    if not isinstance(one.call, dict):
        yield one.found("functionCall", wanted="an object")
        return
    name, args = one.get("functionCall", "name"), one.get("functionCall", "args")
    in_pieces = one.asked.streams_arguments or not one.asked.known
    if not (isinstance(name, str) and name.strip()) and not in_pieces:
        yield one.found("functionCall", "name", wanted="a non-empty string")
    if args is not ABSENT and args is not None and not isinstance(args, dict):
        yield one.found("functionCall", "args", wanted="an object")


@rule(
    "gem.response.function-call-id",
    wires=WIRES,
    level="MAY",
    basis="schema",
    needs=("request",),
    source=f"{CALL}.id",
    violating=answer(call(1), call(1)),
    conforming=answer(call(1), call(2, id=ABSENT)),
    consequence="results of parallel calls can't be told apart by id",
)
def call_id(one: Candidate) -> Iterator[Violation]:
    """functionCall.id, if sent, is a non-empty string that no other call of the answer has."""
    seen: set[str] = set()
    for part in one.calls:
        given = part.get("functionCall", "id")
        if given is ABSENT or one.asked.streams_arguments:
            continue
        if not (isinstance(given, str) and given) or given in seen:
            yield part.found("functionCall", "id", wanted="an id of its own")
        else:
            seen.add(given)


@rule(
    "gem.response.function-call-declared",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=f"{CALL}.name (matches a FunctionDeclaration.name)",
    subject="model",
    violating=answer(call(name="default_api.get_weather")),
    conforming=answer(call()),
    consequence="the client knows no function of that name and fails the turn",
)
def call_declared(one: Part) -> Iterator[Violation]:
    """functionCall.name is that of a declared function.

    Not in the catalogue. Judges the model: nothing tells an invented name from one that a server changed.
    """
    name = one.get("functionCall", "name")
    if not isinstance(name, str) or names(one.reading, name):
        return
    if name and one.asked.functions and name not in one.asked.functions:
        yield one.found("functionCall", "name", wanted="one of " + ", ".join(one.asked.functions))


@rule(
    "gem.response.no-functions-no-calls",
    wires=WIRES,
    level="MUST",
    basis="derived",
    needs=("request",),
    source=CALL,
    violating=answer(call(), asked={"tools": ABSENT}),
    conforming=answer(),
    consequence="a client without tools has no code for a call and shows an empty answer",
)
def no_functions(one: Candidate) -> Iterator[Violation]:
    """Without declared functions no answer calls one.

    Not in the catalogue. Cached content may have declared some.
    """
    declared = one.asked.functions or one.asked.cached or not one.asked.known
    if one.calls and not declared:
        yield one.calls[0].found("functionCall", wanted="no call: no function was declared")


@rule(
    "gem.response.args-schema",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=(CALL, gemini_sdk("types.py FunctionDeclaration.parameters_json_schema")),
    subject="model",
    violating=answer(call(args={"town": "Oslo"})),
    conforming=answer(call()),
    consequence="the function refuses its arguments and the turn is lost",
)
def args_schema(one: Part) -> Iterator[Violation]:
    """args fit the JSON Schema of the declared function.

    Not in the catalogue. Judges the model: outside the mode VALIDATED nothing holds it to the schema.
    """
    name, args = one.get("functionCall", "name"), one.get("functionCall", "args")
    declared = one.asked.functions.get(name) if isinstance(name, str) else None
    if declared is None or not one.settled or not isinstance(args, dict):
        return
    if wrong := first_error(lookup(declared, ("parametersJsonSchema",)), args):
        yield one.found("functionCall", "args", wanted="arguments that fit the schema", saw=wrong)


# ---------------------------------------------------------------------------------------- thoughts


@rule(
    "gem.response.thought-flag",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=f"{PART}.thought",
    violating=answer(text("<think>Greet them.</think>Hello.")),
    conforming=answer(thought(), text()),
    consequence="the user sees the thoughts, and they are sent back as if they had been said",
)
def thought_flag(one: Candidate) -> Iterator[Violation]:
    """What the model thought is in text parts with thought true, and not repeated in the answer's text."""
    for part in one.parts:
        if not isinstance(part.value.get("thought", False), bool):
            yield part.found("thought", wanted="true or false")
    spoken = one.spoken
    if spoken is None:
        return
    if leak := think_markup(one.text):
        yield spoken.found("text", wanted="thoughts in parts of their own", saw=leak)
    thoughts = one.thoughts.strip()
    if len(thoughts) >= SHORTEST_REPEAT and one.text.lstrip().startswith(thoughts):
        yield spoken.found("text", wanted="the answer without the thoughts before it")


@rule(
    "gem.response.thoughts-only-if-asked",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=gemini_sdk("types.py ThinkingConfig.include_thoughts"),
    violating=answer(thought(), text(), asked={"generationConfig": ABSENT}),
    conforming=answer(thought(), text(), asked=config(thinkingConfig={"includeThoughts": True})),
    consequence="clients that join all text parts show the thoughts as part of the answer",
)
def thoughts_asked(one: Candidate) -> Iterator[Violation]:
    """Thoughts are returned where includeThoughts asks for them, and only there.

    Not in the catalogue.
    """
    shown = next((part for part in one.parts if part.is_thought and part.text), None)
    if shown is not None and one.asked.known and not one.asked.shows_thoughts:
        yield shown.found("thought", wanted="no thoughts (includeThoughts was not set)")


@rule(
    "gem.response.thought-signature-base64",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(f"{PART}.thought_signature", PROTO_JSON),
    violating=answer(text(thoughtSignature="sig@1")),
    conforming=answer(text(thoughtSignature="-_8")),
    consequence="google-genai 3.6.1 raises ValidationError and the whole answer is lost",
)
def signature_base64(one: Part) -> Iterator[Violation]:
    """thoughtSignature is base64, of either alphabet, padded or not."""
    signature = one.get("thoughtSignature")
    if signature is not ABSENT and not _is_base64(signature):
        yield one.found("thoughtSignature", wanted="base64")


@rule(
    "gem.response.thought-signature-on-first-call",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=SIGNATURES,
    violating=answer(call(1), call(2, part=SIGNED)),
    conforming=stream(said(call(1, part=SIGNED)), said(call(2), finish="STOP")),
    consequence="clients keep the signature of the first call: sent back without it the turn is refused",
)
def signature_first(one: Candidate) -> Iterator[Violation]:
    """Where calls are signed, the first of them is."""
    signed = [part for part in one.calls if "thoughtSignature" in part.value]
    if signed and signed[0] is not one.calls[0]:
        yield one.calls[0].found("thoughtSignature", wanted="a signature, as on a later call")


# ------------------------------------------------------------------------------- modes of calling


@rule(
    "gem.response.mode-none",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=gemini_sdk("types.py FunctionCallingConfigMode.NONE"),
    violating=answer(call(), asked=offering(mode="NONE")),
    conforming=answer(asked=offering(mode="NONE")),
    consequence="a loop that asked for a closing text gets one more call, for ever",
)
def mode_none(one: Candidate) -> Iterator[Violation]:
    """The mode NONE yields no functionCall."""
    if one.asked.mode == "NONE" and one.asked.functions and one.calls:
        yield one.calls[0].found("functionCall", wanted="no call (the mode was NONE)")


@rule(
    "gem.response.mode-any",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=gemini_sdk("types.py FunctionCallingConfigMode.ANY"),
    violating=answer(text("It is mild."), asked=offering(mode="ANY")),
    conforming=answer(
        call(), asked=offering(function(), function("get_time"), mode="ANY", only=("get_weather",))
    ),
    consequence="a client that extracts data through a forced call gets prose, or another's arguments",
)
def mode_any(one: Candidate) -> Iterator[Violation]:
    """The mode ANY yields calls only, of functions in allowedFunctionNames where that is given.

    Thoughts aside. An answer that the cap or a filter cut is left alone.
    """
    if one.asked.mode != "ANY" or not one.asked.functions or not one.settled:
        return
    if one.spoken is not None and one.spoken.text.strip():
        yield one.spoken.found("text", wanted="calls only (the mode was ANY)")
    elif not one.calls:
        yield one.pieces[-1].found("content", wanted="a call (the mode was ANY)")
    for part in one.calls:
        name = part.get("functionCall", "name")
        if isinstance(name, str) and name in one.asked.functions and name not in one.asked.callable:
            yield part.found("functionCall", "name", wanted="one of " + ", ".join(sorted(one.asked.callable)))


def _is_base64(value: object) -> bool:
    if not isinstance(value, str):
        return False
    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
