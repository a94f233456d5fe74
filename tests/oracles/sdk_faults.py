"""Where the official SDKs and we disagree, and the SDK is at fault: each with the test that proves it.

A proof fails when its SDK is mended; then the row goes, and what makes allowance for it in the oracles.
"""

from __future__ import annotations

from dataclasses import dataclass

HERE = "tests/oracles/test_sdk_faults.py"


@dataclass(frozen=True, slots=True)
class SdkFault:
    """``proof`` is a file and the name of what proves it there; ``why`` says what the SDK's fault is."""

    name: str
    sdk: str
    version: str
    what: str
    why: str
    proof: tuple[str, str]


def _openai(name: str, what: str, why: str, proof: tuple[str, str]) -> SdkFault:
    return SdkFault(f"openai-{name}", "openai", "3.57.0", what, why, proof)


def _anthropic(name: str, what: str, why: str, proof: tuple[str, str]) -> SdkFault:
    return SdkFault(f"anthropic-{name}", "anthropic", "2.14.0", what, why, proof)


def _genai(name: str, what: str, why: str, proof: tuple[str, str]) -> SdkFault:
    return SdkFault(f"genai-{name}", "google-genai", "3.6.1", what, why, proof)


def _ollama(name: str, what: str, why: str, proof: tuple[str, str]) -> SdkFault:
    return SdkFault(f"ollama-{name}", "ollama", "0.6.3", what, why, proof)


SSE = "the HTML standard, 9.2.6 (interpreting an event stream)"

FAULTS: tuple[SdkFault, ...] = (
    _openai(
        "incomplete-response",
        "`responses.stream()` has no final response of an incomplete one: `get_final_response` raises",
        "the response is there, in the event `response.incomplete`, which ends a stream as `completed` does",
        (
            "tests/simulator/test_responses_sdk.py",
            "test_the_sdks_helper_has_no_final_response_of_an_incomplete_one",
        ),
    ),
    _openai(
        "error-event",
        "the event `error` of a Responses stream raises nothing; `get_final_response` raises, but not why",
        "an error in a Chat stream raises APIError; here a loop over the events ends as if all was well",
        (HERE, "test_an_error_event_of_responses_raises_nothing"),
    ),
    _openai(
        "tool-search-identity",
        "`responses.stream()` raises RuntimeError where the call_id of a tool_search_call changes",
        "OpenAI's own API streams it so",
        (
            "tests/wires/test_openai_responses_corpus.py",
            "test_the_sdk_refuses_a_stream_of_its_own_provider_that_decodes_here",
        ),
    ),
    _openai(
        "bom",
        "a byte order mark before a stream costs its first chunk, silently",
        f"{SSE}: one leading U+FEFF is ignored",
        ("tests/consequences/framing.py", "sse.no-bom"),
    ),
    _openai(
        "dataless-event",
        "a block without data (`retry:` or `id:` alone, after an id any comment) raises JSONDecodeError",
        f"{SSE}: an empty data buffer is no event",
        ("tests/consequences/framing.py", "sse.no-retry-field"),
    ),
    _anthropic(
        "cut-input",
        "`messages.stream()` takes the input of a call that max_tokens cut for whole",
        "it parses in partial mode to the end and tells nobody: half a text is executed as if it were all",
        (
            "tests/wires/test_anthropic_sdk.py",
            "test_the_sdk_takes_a_cut_input_for_whole_where_we_keep_the_text",
        ),
    ),
    _anthropic(
        "no-sampling",
        "`temperature`, `top_p`, `top_k` are neither arguments nor in the types of a request",
        "the API takes them from the models that have them; they go through `extra_body`",
        (HERE, "test_sampling_is_no_argument_of_anthropics"),
    ),
    _anthropic(
        "bom",
        "a byte order mark before a stream costs the message_start, and with it the whole message",
        f"{SSE}: one leading U+FEFF is ignored",
        (HERE, "test_a_byte_order_mark_costs_anthropics_message"),
    ),
    _genai(
        "sse",
        "a comment, `data:` without a space, any other field, a byte order mark: UnknownApiResponseError",
        f"{SSE}: all four are allowed, and gateways send comments to keep a connection open",
        (HERE, "test_regular_event_streams_are_no_json_to_google"),
    ),
    _genai(
        "closed-client",
        "`Client().models` stops working once nobody holds the client: it closes the connections it shares",
        "the object that is used is alive",
        (HERE, "test_a_client_of_googles_closes_under_its_models"),
    ),
    _genai(
        "numbered-finish",
        "a `finishReason` by number raises AttributeError",
        "ProtoJSON parsers take the number of an enum value for its name",
        (HERE, "test_a_numbered_finish_reason_is_too_much_for_google"),
    ),
    _ollama(
        "schema",
        "of a tool's property only type, items, description and enum are sent: anyOf and nested properties"
        " are dropped silently, so that such a parameter has no type, or is an object of nothing",
        "the server has both (api.ToolProperty); what else is dropped ($ref, const …) it would drop itself",
        (HERE, "test_ollamas_sdk_drops_much_of_a_schema"),
    ),
    _ollama(
        "call-ids",
        "ids of calls are dropped from answers",
        "the server sends them (api.ToolCall), and two calls of one tool can't be told apart without",
        ("tests/wires/test_ollama_sdk.py", "test_the_sdk_drops_the_ids_of_calls"),
    ),
    _ollama(
        "sent-calls",
        "of the calls in a history only name and arguments are sent, `tool_call_id` of a result not at all",
        "the server has id and index of a call (api.ToolCall), and tool_call_id (api.Message)",
        (HERE, "test_ollamas_sdk_drops_what_pairs_calls_with_results"),
    ),
    _ollama(
        "empty-content",
        "an empty content is left out of a request",
        "the API's schema requires content (docs/openapi.yaml)",
        ("tests/wires/test_ollama_sdk.py", "test_what_we_send_is_what_the_sdk_would_send"),
    ),
    _ollama(
        "answer-pictures",
        "the pictures that an answer may hold raise ValidationError",
        "its type of an image is made for requests",
        ("tests/wires/test_ollama_sdk.py", "test_the_sdk_refuses_the_pictures_that_an_answer_may_hold"),
    ),
    _ollama(
        "line-ends",
        "U+0085 inside a text breaks a stream (and U+2028, which Ollama escapes): JSONDecodeError",
        "JSON lines end at a line feed; httpx's iter_lines ends them at every line boundary of Unicode",
        (
            "tests/simulator/test_ollama_sdk.py",
            "test_the_sdk_s_line_reader_breaks_at_a_next_line_character",
        ),
    ),
    _ollama(
        "error-object",
        "`ResponseError.error`, typed as text, is an object where the error is one",
        "a gateway's error (OpenAI's form) then has no text",
        (HERE, "test_an_error_object_is_no_text_to_ollama"),
    ),
)
