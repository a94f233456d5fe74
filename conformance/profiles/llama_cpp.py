"""llama.cpp's server, over Chat, Responses and Messages."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from conformance.profiles import bodies, llama_cpp_answers
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Again, Asked, Body, Refusal
from conformance.profiles.repairs import Repairer
from conformance.profiles.vllm import VLLM
from conformance.profiles.whole import asked_whole

UNREAD = "Failed to parse"
_OUR_FAULT = re.compile(
    r"^Failed to parse (?!tool call arguments|input)|(?:image|audio) input is not supported"
)
"""500s that say what is wrong with the request."""


class LlamaCpp(VLLM):
    """llama.cpp's server."""

    name = "llama.cpp"
    providers: ClassVar[tuple[str, ...]] = ("llama.cpp",)
    works_around: ClassVar[tuple[str, ...]] = (
        *VLLM.works_around,
        "llamacpp-500-on-argument-parse",
        "llamacpp-anthropic-errors-in-openais-form",
        "llamacpp-anthropic-media-500",
        "llamacpp-anthropic-stop-sequence-end-turn",
        "llamacpp-anthropic-tool-start-without-input",
        "llamacpp-created-per-chunk",
        "llamacpp-error-code-integer",
        "llamacpp-error-without-param",
        "llamacpp-history-arguments-500",
        "llamacpp-malformed-requests-500",
        "llamacpp-media-500",
        "llamacpp-one-line-call-leaks",
        "parallel-tool-calls-false-ignored",
        "llamacpp-request-id-null-rejected",
        "llamacpp-responses-events-unnumbered",
        "llamacpp-responses-media-500",
        "llamacpp-stream-parse-error",
        "llamacpp-usage-absent-not-null",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """No id that is null, no past arguments that are no JSON: its parser fails on both.

        Works around quirk `llamacpp-request-id-null-rejected`. Works around quirk
        `llamacpp-500-on-argument-parse`. Works around quirk `llamacpp-history-arguments-500`.
        """
        body = super().prepare_body(body, asked)
        return bodies.json_arguments(bodies.without_null_ids(body)) if asked.wire == "openai-chat" else body

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """A matched stop sequence is why an answer stopped, over Messages.

        Works around quirk `llamacpp-anthropic-stop-sequence-end-turn`. Over Chat the base reads calls that
        leaked, and keeps the first where one was asked for: Works around quirk
        `llamacpp-one-line-call-leaks`. Works around quirk `parallel-tool-calls-false-ignored`.
        """
        document = super().repair_document(document, asked)
        return llama_cpp_answers.stopped(document) if asked.wire == "anthropic-messages" else document

    def repair_stream(self, asked: Asked) -> Repairer:
        """Works around quirk `llamacpp-anthropic-tool-start-without-input`. Works around quirk
        `llamacpp-responses-events-unnumbered`. Over Chat the base has one time of creation in all chunks,
        and null where there is no usage yet: Works around quirk `llamacpp-created-per-chunk`. Works around
        quirk `llamacpp-usage-absent-not-null`.
        """
        if asked.wire == "anthropic-messages":
            return llama_cpp_answers.MessagesStream()
        inner = super().repair_stream(asked)
        return llama_cpp_answers.Numbered(inner) if asked.wire == "openai-responses" else inner

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """What can't be read or seen is the request's fault, whatever the status says; nobody tries
        it again.

        Works around quirk `llamacpp-request-id-null-rejected`. Works around quirk
        `llamacpp-malformed-requests-500`. Works around quirk `llamacpp-media-500`. Works around quirk
        `llamacpp-responses-media-500`. Works around quirk `llamacpp-anthropic-media-500`. Over
        Messages errors have that wire's form: Works around quirk
        `llamacpp-anthropic-errors-in-openais-form`; over Chat a text for a code and a param, be it
        null: Works around quirk `llamacpp-error-code-integer`. Works around quirk
        `llamacpp-error-without-param`.
        """
        error = document.get("error") if isinstance(document, dict) else None
        said = error.get("message") if isinstance(error, dict) else None
        if status == 500 and isinstance(said, str) and _OUR_FAULT.search(said):
            status = 400
        if asked.wire == "anthropic-messages":
            return status, llama_cpp_answers.error(status, document)
        return super().repair_error(status, document, asked)

    def again(self, failure: Refusal | str, asked: Asked) -> Again | None:
        """Its parser's failures are chance: Works around quirk `llamacpp-500-on-argument-parse`, as any 500.

        In a stream the same is asked for whole: Works around quirk `llamacpp-stream-parse-error`.
        """
        if not isinstance(failure, str) and UNREAD in failure.text:
            return asked_whole(asked)
        return super().again(failure, asked)


class LlamaCppPython(Compatible):
    """The server of llama-cpp-python, llama.cpp's Python binding; llama.cpp's own server is another."""

    name = "llama-cpp-python"
    providers: ClassVar[tuple[str, ...]] = ("llama-cpp-python",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "llama-cpp-python-null-content-500",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `llama-cpp-python-null-content-500`."""
        return bodies.empty_content(super().prepare_body(body, asked))
