"""Places where a recording of a reference endpoint breaks a MUST, each with why that is not its fault."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.types import WireName

RELABELLED = "the recorder wrote application/json over the stream's own media type"
EDITED = (
    "the recorded request is not the one sent: its Content-Length is 40 bytes short, which is just what "
    '`"stream_options":{"include_usage":true},` takes'
)
STUB = "a stub written by hand: a 500 with an empty body and a single header"
UNTYPED = "the recorder kept no headers of the answer"
BEFORE_NUMBERS = "recorded in March 2025, before the events of a stream were numbered"

SignedOff = Mapping[tuple[str, str], str]


def _untyped(*rules: str, files: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """What a missing ``Content-Type`` makes of recordings."""
    return {(file, rule): UNTYPED for file in files for rule in rules}


CHAT: SignedOff = {
    ("chat_completion_streamed.yaml", "sse.content-type"): RELABELLED,
    ("chat_completion_streamed_tokens.yaml", "sse.content-type"): RELABELLED,
    ("chat_completion_tool_call_streamed.yaml", "sse.content-type"): RELABELLED,
    (
        "chat_completion_tool_call_streamed.yaml",
        "chat.response.no-tools-no-calls",
    ): "spliced by hand: the answer to another request (that one had tools) under this one",
    (
        "chat_completion_image_input.yaml",
        "chat.response.choice-required-keys",
    ): "gpt-4-vision-preview (2023) sent finish_details in place of finish_reason",
    ("test_agent_functions_with_streaming.yml", "chat.stream.usage-chunk-present"): EDITED,
    ("test_agent_streaming.yml", "chat.stream.usage-chunk-present"): EDITED,
    ("gpt-3_5-turbo_streamed_chat_with_error_response.yml", "err.json-content-type"): STUB,
    ("gpt-3_5-turbo_streamed_chat_with_error_response.yml", "err.error-object"): STUB,
}

RESPONSES: SignedOff = {
    ("responses_stream.yml", "resp.stream.sequence-number-present"): BEFORE_NUMBERS,
    ("test_openai_responses_stream.yaml", "resp.stream.sequence-number-present"): BEFORE_NUMBERS,
    **_untyped("sse.content-type", files=("OpenAI_gpt52codex.yaml", "OpenAI_gpt52pro.yaml")),
}

ANTHROPIC: SignedOff = {
    **_untyped(
        "sse.content-type",
        files=(
            "Anthropic.yaml",
            "Anthropic_Opus46.yaml",
            "Anthropic_Sonnet45.yaml",
            "test_anthropic_instrumentation_multiple_tool_calling_streaming.yaml",
        ),
    ),
    **_untyped(
        "anth.response.content-type-json",
        files=(
            "test_anthropic_instrumentation_async_messages.yaml",
            "test_anthropic_instrumentation_messages.yaml",
            "test_anthropic_instrumentation_multiple_tool_calling.yaml",
        ),
    ),
}

GEMINI: SignedOff = _untyped(
    "sse.content-type",
    "gem.stream.sse-when-alt-sse",
    files=(
        "Google_Gemini25FlashLite.yaml",
        "Google_Gemini3ProPreview.yaml",
        "test_response_with_multiple_tool_calls[True].yaml",
        "test_streaming_reasoning_with_multiple_tool_calls.yaml",
    ),
)

OLLAMA: SignedOff = {
    **_untyped("oll.error.json-content-type", files=("test_chat_error_records_model_name.yaml",)),
    **_untyped("oll.stream.ndjson", files=("test_async_chat_stream.yaml", "test_chat_stream.yaml")),
    **_untyped(
        "oll.response.content-type-json",
        files=(
            "test_async_chat.yaml",
            "test_chat.yaml",
            "test_chat_with_callable_tool.yaml",
            "test_chat_with_tool_call.yaml",
            "test_context_attributes_propagation.yaml",
            "test_suppress_tracing.yaml",
            "test_trace_config_masking.yaml",
        ),
    ),
}

SIGNED_OFF: Mapping[WireName, SignedOff] = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic-messages": ANTHROPIC,
    "gemini": GEMINI,
    "ollama": OLLAMA,
}
"""By wire: file name and rule, and the reason."""
