"""Groq: reasoning must not come back, and a call that fits no schema is an error."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from conformance.profiles import bodies, documents
from conformance.profiles.calls import new_id
from conformance.profiles.compatible import Compatible
from conformance.profiles.messages import with_user
from conformance.profiles.profile import Again, Asked, Body, Echo, Refusal
from conformance.profiles.whole import asked_whole
from conformance.types import ToolCall
from conformance.wires.body import parse

FAILED = "tool_use_failed"
TOLD = "Your last tool call could not be used:"
RETRY = "Call the tool again, with arguments that fit its schema."
MAX_SAID = 2_000


class Groq(Compatible):
    """api.groq.com: refuses the reasoning that DeepSeek demands back."""

    name = "groq"
    providers: ClassVar[tuple[str, ...]] = ("groq",)
    echo: ClassVar[Echo] = "never"
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "groq-reasoning-fields-unsupported",
        "groq-tool-use-failed",
        "groq-tool-use-failed-after-text",
        "unknown-message-fields-rejected",
        "unknown-top-level-field-rejected",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """No reasoning and no foreign members in messages, no parameters of others.

        Works around quirk `groq-reasoning-fields-unsupported`. Works around quirk
        `unknown-message-fields-rejected`. Works around quirk `unknown-top-level-field-rejected`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        return bodies.without(bodies.known_members(body), bodies.OTHERS_PARAMETERS)

    def again(self, failure: Refusal | str, asked: Asked) -> Again | None:
        """After ``tool_use_failed`` the model is shown what it said; a turn begun in a stream is thrown away.

        Works around quirk `groq-tool-use-failed`. Works around quirk `groq-tool-use-failed-after-text`.
        """
        if isinstance(failure, str) or FAILED not in failure.text:
            return super().again(failure, asked)
        if TOLD in str(asked.request.messages[-1:]) + str(asked.request.extra.get("messages")):
            return asked_whole(asked)
        said = _generation(failure.document)[:MAX_SAID] or "it was malformed."
        told = with_user(asked.request, f"{TOLD} {said}\n{RETRY}")
        return Again(told, "told what went wrong")

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """A call that fits no schema is an answer elsewhere, and so it is one here, where it can be read.

        Works around quirk `groq-tool-use-failed`.
        """
        generated = _generated(_generation(document))
        if status != 400 or generated is None or asked.wire != "openai-chat":
            return super().repair_error(status, document, asked)
        name, arguments = generated
        call = documents.entry(ToolCall(new_id(asked, name, ()), name, arguments))
        message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
        reason = "tool_calls" if _is_json(arguments) else "length"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        return 200, {
            "id": f"chatcmpl-{call['id']}",
            "object": "chat.completion",
            "created": asked.at,
            "model": asked.model,
            "choices": [choice],
        }


_GENERATED = re.compile(
    r'"name"\s{0,9}:\s{0,9}"([^"]{1,128})"\s{0,9},\s{0,9}"(?:arguments|parameters)"\s{0,9}:(.*)', re.DOTALL
)


def _generation(document: Any) -> str:
    error = document.get("error") if isinstance(document, dict) else None
    said = error.get("failed_generation") if isinstance(error, dict) else None
    return said if isinstance(said, str) else ""


def _generated(text: str) -> tuple[str, str] | None:
    """Name and arguments of the first call in what the model wrote; arguments in a text are that text."""
    try:
        document = parse(text)
    except ValueError:
        document = None
    first = document[0] if isinstance(document, list) and document else document
    if isinstance(first, dict) and isinstance(first.get("name"), str):
        told = first.get("arguments", first.get("parameters"))
        if isinstance(told, str):
            return first["name"], told
    found = _GENERATED.search(text)
    if found is None:
        return None
    arguments = found[2].strip()
    return found[1], arguments.removesuffix("}") if arguments.count("}") > arguments.count("{") else arguments


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
