"""Gemini, over its own wire and behind an OpenAI front."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.profiles import bodies, messages, schemas, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body
from conformance.profiles.reading import Reading
from conformance.types import Request

SIGNATURE = "skip_thought_signature_validator"
"""What Gemini 3 takes in place of the signature of a call it did not make (ai.google.dev, "Thought
signatures").
"""

GEMMA = r"(?:^|/)gemma"
UNSIGNED = r"gemini-[12]\b|gemma"
"""Models that give no signatures to calls, or don't ask for them."""
_BODY = (
    "contents", "systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config",
    "generationConfig", "generation_config", "safetySettings", "safety_settings", "cachedContent",
    "cached_content", "labels", "model", "store", "serviceTier", "service_tier",
)  # fmt: skip
"""Members of a GenerateContentRequest (ai.google.dev, API reference)."""


class GoogleGemini(Compatible):
    """generativelanguage.googleapis.com, and Gemini behind Vertex and other fronts."""

    name = "google-gemini"
    providers: ClassVar[tuple[str, ...]] = ("google-gemini", "gemini-front", "google-vertex", "gcli2api")
    reading = Reading(keeps_first=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "gemini-call-response-parity",
        "gemini-config-without-declarations",
        "gemini-const-and-null-union",
        "gemini-duplicate-function-declaration",
        "gemini-error-body-array",
        "gemini-model-ids-prefixed",
        "gemini-native-unknown-body-keys",
        "gemini-parallel-tool-calls-rejected",
        "gemini-schema-required-not-in-properties",
        "gemini-schema-unknown-keys",
        "gemini-stream-finish-stop",
        "gemini-thought-signature-required",
        "gemini-tool-choice-required-unreliable",
        "gemma-thinking-config-rejected",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Schemas in which all that is required is declared; each name once, in declarations too.

        Works around quirk `gemini-schema-required-not-in-properties`. Works around quirk
        `gemini-duplicate-function-declaration`.
        """
        request = super().prepare_tools(request, asked)
        return tools.with_schemas(request, schemas.required_declared)

    def prepare_choice(self, request: Request, asked: Asked) -> Request:
        """On a compatible front a forced call is asked for in words; Gemini's own wire has the mode ``ANY``.

        Works around quirk `gemini-tool-choice-required-unreliable`.
        """
        return tools.softened(request) if asked.wire == "openai-chat" else request

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """As many results as calls; Gemma's system said by the user.

        Works around quirk `gemini-call-response-parity`. Works around quirk `system-role-unsupported`.
        """
        request = self.paired(super().prepare_messages(request, asked), asked)
        if not bodies.matches(GEMMA, asked.model):
            return request
        return messages.changed(request, messages.system_as_user)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `gemini-parallel-tool-calls-rejected`: of several calls the first is kept,
        then.
        """
        request = super().prepare_parameters(request, asked)
        return replace(request, parallel_tool_calls=None) if asked.wire == "openai-chat" else request

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `gemini-thought-signature-required`: a call's own signature goes back
        with it, and a call of somebody else's gets the one that stands for none.

        On Gemini's own wire, nothing but its own words: Works around quirk
        `gemini-native-unknown-body-keys`. Works around quirk `gemini-schema-unknown-keys`. Works
        around quirk `gemini-config-without-declarations`. Works around quirk
        `gemini-const-and-null-union`. Works around quirk `gemma-thinking-config-rejected`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire == "openai-chat":
            unsigned = bodies.matches(UNSIGNED, asked.model)
            return body if unsigned else bodies.messages(body, _signed_message)
        if asked.wire != "gemini":
            return body
        body = _configured({key: value for key, value in body.items() if key in _BODY})
        return _without_thinking(body) if bodies.matches(GEMMA, asked.model) else body

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """Model ids without the prefix that no request needs: Works around quirk `gemini-model-ids-prefixed`.

        That a stream says ``stop`` beside calls the base puts right, and it takes errors out of their array:
        Works around quirk `gemini-stream-finish-stop`. Works around quirk `gemini-error-body-array`.
        """
        document = super().repair_document(document, asked)
        listed = isinstance(document, dict) and document.get("object") == "list"
        if listed and isinstance(document.get("data"), list) and asked.wire == "openai-chat":
            return {**document, "data": [_unprefixed(row) for row in document["data"]]}
        return (
            _unprefixed(document)
            if isinstance(document, dict) and document.get("object") == "model"
            else document
        )


def _signed_message(message: Body) -> Body:
    calls = message.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    if not isinstance(first, dict) or "extra_content" in first:
        return message
    signature = {"google": {"thought_signature": SIGNATURE}}
    return {**message, "tool_calls": [{**first, "extra_content": signature}, *(calls or ())[1:]]}


def _unprefixed(row: Any) -> Any:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return row
    return {**row, "id": row["id"].removeprefix("models/")}


def _configured(body: Body) -> Body:
    """Function calling configured only where functions are declared; their plain schemas in Gemini's
    words.
    """
    given = body.get("tools")
    declared = False
    out: list[Any] = []
    for tool in given if isinstance(given, list) else ():
        named = tool if isinstance(tool, dict) else {}
        key = next((k for k in ("functionDeclarations", "function_declarations") if k in named), None)
        if key is not None and isinstance(tool[key], list):
            declared = declared or bool(tool[key])
            tool = {**tool, key: [_declared(one) for one in tool[key]]}
        out.append(tool)
    body = {**body, "tools": out} if isinstance(given, list) else body
    return body if declared else bodies.without(body, ("toolConfig", "tool_config"))


def _declared(declaration: Any) -> Any:
    """A declaration with its schema in Gemini's own words; where it is a JSON Schema, without ``const``."""
    if not isinstance(declaration, dict):
        return declaration
    out = dict(declaration)
    if isinstance(out.get("parameters"), dict):
        out["parameters"] = schemas.for_gemini(out["parameters"])
    if isinstance(out.get("parametersJsonSchema"), dict):
        out["parametersJsonSchema"] = schemas.const_as_enum(out["parametersJsonSchema"])
    return out


def _without_thinking(body: Body) -> Body:
    for key in ("generationConfig", "generation_config"):
        if isinstance(body.get(key), dict):
            body = {**body, key: bodies.without(body[key], ("thinkingConfig", "thinking_config"))}
    return body
