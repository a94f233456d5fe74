"""The fields of a ``GenerateContentRequest``.

Source: google-genai 3.6.1, ``google/genai/types.py`` (the members by alias) and ``models.py`` (which of them
the Gemini API takes); Gemini API reference, "Generating content". What only Vertex AI knows is unknown here.
"""

from __future__ import annotations

from typing import Any

from conformance.simulator.gemini_json import (
    Reader,
    anything,
    boolean,
    data,
    enum,
    int32,
    integer,
    mapping,
    message,
    number,
    repeated,
    struct,
    text,
)

TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")


def _schema(value: Any, path: str) -> Any:
    return _SCHEMA(value, path)


# The Gemini API has no additionalProperties, $ref or oneOf here: those need parametersJsonSchema.
_SCHEMA: Reader = message(
    {
        "type": enum("TYPE_UNSPECIFIED", *TYPES),
        "format": text,
        "title": text,
        "description": text,
        "nullable": boolean,
        "enum": repeated(text),
        "items": _schema,
        "maxItems": integer,
        "minItems": integer,
        "properties": mapping(_schema),
        "required": repeated(text),
        "minProperties": integer,
        "maxProperties": integer,
        "minLength": integer,
        "maxLength": integer,
        "pattern": text,
        "example": anything,
        "anyOf": repeated(_schema),
        "propertyOrdering": repeated(text),
        "default": anything,
        "minimum": number,
        "maximum": number,
    }
)

_BLOB = message({"mimeType": text, "data": data, "displayName": text})
_FILE = message({"mimeType": text, "fileUri": text, "displayName": text})
_LANGUAGE = enum("LANGUAGE_UNSPECIFIED", "PYTHON")
_OUTCOME = enum("OUTCOME_UNSPECIFIED", "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
_SCHEDULING = enum("SCHEDULING_UNSPECIFIED", "SILENT", "WHEN_IDLE", "INTERRUPT")
_RESPONSE_PART = message({"inlineData": _BLOB, "fileData": _FILE}, frozenset({"inlineData", "fileData"}))

PART_DATA = frozenset(
    {
        "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
        "codeExecutionResult", "toolCall", "toolResponse",
    }
)  # fmt: skip
"""The members of a part of which it has exactly one."""

_PART = message(
    {
        "text": text,
        "inlineData": _BLOB,
        "fileData": _FILE,
        "functionCall": message({"id": text, "name": text, "args": struct}),
        "functionResponse": message(
            {
                "id": text,
                "name": text,
                "response": struct,
                "parts": repeated(_RESPONSE_PART),
                "willContinue": boolean,
                "scheduling": _SCHEDULING,
            }
        ),
        "executableCode": message({"id": text, "language": _LANGUAGE, "code": text}),
        "codeExecutionResult": message({"id": text, "outcome": _OUTCOME, "output": text}),
        "toolCall": struct,
        "toolResponse": struct,
        "thought": boolean,
        "thoughtSignature": data,
        "videoMetadata": struct,
        "mediaResolution": struct,
        "partMetadata": struct,
    },
    PART_DATA,
)
_CONTENT = message({"role": text, "parts": repeated(_PART)})

_DECLARATION = message(
    {
        "name": text,
        "description": text,
        "parameters": _schema,
        "parametersJsonSchema": anything,
        "response": _schema,
        "responseJsonSchema": anything,
        "behavior": enum("UNSPECIFIED", "BLOCKING", "NON_BLOCKING"),
    }
)
SERVER_TOOLS = (
    "googleSearch", "googleSearchRetrieval", "googleMaps", "codeExecution", "urlContext", "computerUse",
    "fileSearch",
)  # fmt: skip
"""Tools that Google runs itself."""

_TOOL = message(
    {
        "functionDeclarations": repeated(_DECLARATION),
        "mcpServers": repeated(struct),
        **dict.fromkeys(SERVER_TOOLS, struct),
    }
)
_TOOL_CONFIG = message(
    {
        "functionCallingConfig": message(
            {
                "mode": enum("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"),
                "allowedFunctionNames": repeated(text),
            }
        ),
        "retrievalConfig": struct,
        "includeServerSideToolInvocations": boolean,
    }
)

_THINKING = message(
    {
        "includeThoughts": boolean,
        "thinkingBudget": int32,
        "thinkingLevel": enum("THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"),
    }
)
_RESOLUTIONS = ("UNSPECIFIED", "LOW", "MEDIUM", "HIGH")
_GENERATION = message(
    {
        "candidateCount": int32,
        "stopSequences": repeated(text),
        "maxOutputTokens": int32,
        "temperature": number,
        "topP": number,
        "topK": number,
        "seed": int32,
        "presencePenalty": number,
        "frequencyPenalty": number,
        "responseLogprobs": boolean,
        "logprobs": int32,
        "responseMimeType": text,
        "responseSchema": _schema,
        "responseJsonSchema": anything,
        "responseModalities": repeated(enum("MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO", "VIDEO")),
        "thinkingConfig": _THINKING,
        "mediaResolution": enum(*(f"MEDIA_RESOLUTION_{name}" for name in _RESOLUTIONS)),
        "enableEnhancedCivicAnswers": boolean,
        "speechConfig": struct,
        "imageConfig": struct,
        "audioTranscriptionConfig": struct,
        "continuationToken": data,
    }
)

_HARMS = (
    "UNSPECIFIED", "HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "CIVIC_INTEGRITY",
    "JAILBREAK",
)  # fmt: skip
_SAFETY = message(
    {
        "category": enum(*(f"HARM_CATEGORY_{name}" for name in _HARMS)),
        "threshold": enum(
            "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
            "BLOCK_LOW_AND_ABOVE",
            "BLOCK_MEDIUM_AND_ABOVE",
            "BLOCK_ONLY_HIGH",
            "BLOCK_NONE",
            "OFF",
        ),
    }
)

REQUEST: Reader = message(
    {
        "model": text,
        "contents": repeated(_CONTENT),
        "systemInstruction": _CONTENT,
        "tools": repeated(_TOOL),
        "toolConfig": _TOOL_CONFIG,
        "safetySettings": repeated(_SAFETY),
        "generationConfig": _GENERATION,
        "cachedContent": text,
        "labels": mapping(text),
        "serviceTier": enum("UNSPECIFIED", "FLEX", "STANDARD", "PRIORITY"),
        "store": boolean,
    }
)
"""Reads a body into its members by lowerCamelCase name."""
