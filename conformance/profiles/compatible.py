"""What every client of a compatible endpoint does: harmless where nothing is wrong, and enough for most of
it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from conformance.profiles import (
    bodies,
    documents,
    echoes,
    efforts,
    errors,
    messages,
    responses_answers,
    texts,
    tools,
)
from conformance.profiles.chat_stream import ChatStream
from conformance.profiles.gate import Gate
from conformance.profiles.ids import unique_per_turn
from conformance.profiles.profile import Again, Asked, Body, Echo, Profile, Refusal, in_canonical_form
from conformance.profiles.reading import Reading
from conformance.profiles.repairs import Plain, Repairer
from conformance.profiles.whole import NO_CALL, asked_whole, broken_calls, called_for
from conformance.types import Part, Request, Turn

OPENAI_WIRES = ("openai-chat", "openai-responses")
_NO_STREAM_OPTIONS = ("stream_options", "include_usage")
_NO_SYSTEM_ROLE = re.compile(
    r"system role (?:is )?not supported|does not support '(?:system|developer)'", re.IGNORECASE
)


class Compatible(Profile):
    """An endpoint that nothing more is known of."""

    name = "compatible"
    works_around: ClassVar[tuple[str, ...]] = (
        "arguments-control-chars",
        "arguments-empty-string",
        "arguments-null-literal",
        "arguments-object-not-string",
        "content-as-block-list",
        "context-overflow-wording-varies",
        "deepseek-cache-usage-fields",
        "deepseek-dsml-leak",
        "developer-role-unsupported",
        "duplicate-id-in-one-turn",
        "duplicate-tool-names-rejected",
        "duplicate-tool-names-silently-merged",
        "empty-string-id",
        "empty-tools-array",
        "finish-reason-empty-or-null",
        "finish-reason-foreign-vocabulary",
        "finish-reason-integer",
        "finish-split-from-call-chunk",
        "harmony-token-leak-in-name",
        "http-200-error-body",
        "local-finish-stop-with-calls",
        "lone-surrogate-rejected",
        "midstream-error-200",
        "missing-id-nonstream",
        "multi-tool-use-parallel-hallucinated",
        "nonstandard-service-tier-created",
        "nonstream-envelope-wrapped",
        "reasoning-effort-vocabulary-mismatch",
        "reasoning-field-name-varies",
        "reasoning-only-response",
        "response-id-changes-per-chunk",
        "responses-null-text",
        "sse-bare-data-heartbeat",
        "sse-comment-keepalive",
        "sse-done-missing",
        "sse-no-space-after-colon",
        "sse-payload-on-next-line",
        "stream-all-index-zero",
        "stream-arguments-missing-head",
        "stream-arguments-none",
        "stream-custom-event-tool-generating",
        "stream-empty-name-continuation",
        "stream-eof-without-finish",
        "stream-finish-on-every-chunk",
        "stream-full-name-every-chunk",
        "stream-index-missing",
        "stream-metadata-repeated-final",
        "stream-name-after-arguments",
        "stream-null-id-type-final",
        "stream-options-refused",
        "stream-role-empty-string",
        "stream-role-missing",
        "system-role-unsupported",
        "text-leaked-tool-call-xml",
        "tool-calls-in-message-max-128",
        "tool-name-pattern-64",
        "usage-every-chunk",
        "usage-reasoning-exceeds-completion",
    )
    reading: ClassVar[Reading] = Reading()
    unique_call_ids: ClassVar[bool] = False
    """Call ids of the Responses wire are made unique over the conversation."""
    echo: ClassVar[Echo] = "as-asked"
    keeps_developer: ClassVar[bool] = False

    # ------------------------------------------------------------------------------------- requests

    def paired(self, request: Request, asked: Asked) -> Request:
        """The request with every call and result in its place, unless it asks whether that is refused."""
        return request if asked.probing else messages.changed(request, messages.paired)

    def prepare_tools(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Each name once, none said where there are none, past names in the reference's alphabet.

        Works around quirk `duplicate-tool-names-rejected`. Works around quirk
        `duplicate-tool-names-silently-merged`. Works around quirk `empty-tools-array`. Works around quirk
        `tool-name-pattern-64`.
        """
        return tools.coerced_history(tools.none_left_out(tools.unique(request)))

    def prepare_messages(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """No message of reasoning alone, no message of too many calls, ``developer`` as ``system``.

        Works around quirk `reasoning-only-response`. Works around quirk `tool-calls-in-message-max-128`.
        Works around quirk `developer-role-unsupported`.
        """
        request = messages.changed(request, messages.without_reasoning_only)
        request = messages.changed(request, messages.few_calls)
        return request if self.keeps_developer else messages.changed(request, messages.developer_as_system)

    def prepare_ids(self, request: Request, asked: Asked) -> Request:
        """Ids are opaque and go back as they came; only what pairs nothing is put right.

        Works around quirk `duplicate-id-in-one-turn`.
        """
        return request if asked.probing else unique_per_turn(request)

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Reasoning goes back under the name it came under, where it goes back at all.

        Works around quirk `reasoning-field-name-varies`.
        """
        match self.echo:
            case "never":
                return echoes.never(request)
            case "as-it-came":
                return echoes.as_it_came(request)
            case "reasoning_content":
                return echoes.as_reasoning_content(request, pad=False)
            case "as-asked":
                return request

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `reasoning-effort-vocabulary-mismatch`: the nearest weaker effort that
        there is.
        """
        return efforts.clamped(request, asked.model, ())

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """No lone surrogate, no tool twice, no past call without arguments.

        Works around quirk `lone-surrogate-rejected`. Works around quirk `arguments-empty-string`.
        """
        body = bodies.without_surrogates_in(tools.unique_in_body(body))
        return bodies.arguments_said(body) if asked.wire == "openai-chat" else body

    # -------------------------------------------------------------------------------------- answers

    def names(self, asked: Asked) -> Mapping[str, str]:
        """What aliases of the request's tools stand for."""
        return tools.aliases(asked.request, self.reading.reserved)

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """A whole answer.

        Works around quirk `arguments-control-chars`. Works around quirk `arguments-null-literal`. Works
        around quirk `arguments-object-not-string`. Works around quirk `content-as-block-list`. Works around
        quirk `deepseek-cache-usage-fields`. Works around quirk `empty-string-id`. Works around quirk
        `finish-reason-empty-or-null`. Works around quirk `finish-reason-foreign-vocabulary`. Works around
        quirk `finish-reason-integer`. Works around quirk `harmony-token-leak-in-name`. Works around quirk
        `local-finish-stop-with-calls`. Works around quirk `missing-id-nonstream`. Works around quirk
        `multi-tool-use-parallel-hallucinated`. Works around quirk `nonstandard-service-tier-created`. Works
        around quirk `nonstream-envelope-wrapped`. Works around quirk `responses-null-text`. Works around
        quirk `usage-reasoning-exceeds-completion`.
        """
        if asked.wire == "openai-chat":
            return documents.repaired(
                document, asked, self.reading, self.names(asked), lambda text: self.repair_text(text, asked)
            )
        if asked.wire == "openai-responses":
            return responses_answers.repaired(document, self.names(asked), qualified=self.unique_call_ids)
        return document

    def repair_stream(self, asked: Asked) -> Repairer:
        """A stream, event by event.

        Works around quirk `finish-split-from-call-chunk`. Works around quirk `response-id-changes-per-chunk`.
        Works around quirk `sse-bare-data-heartbeat`. Works around quirk `sse-comment-keepalive`. Works around
        quirk `sse-done-missing`. Works around quirk `sse-no-space-after-colon`. Works around quirk
        `sse-payload-on-next-line`. Works around quirk `stream-all-index-zero`. Works around quirk
        `stream-empty-name-continuation`. Works around quirk `stream-finish-on-every-chunk`. Works around
        quirk `stream-full-name-every-chunk`. Works around quirk `stream-index-missing`. Works around quirk
        `stream-metadata-repeated-final`. Works around quirk `stream-name-after-arguments`. Works around quirk
        `stream-null-id-type-final`. Works around quirk `stream-role-empty-string`. Works around quirk
        `stream-role-missing`. Works around quirk `usage-every-chunk`.
        """
        if asked.wire == "openai-responses":
            return responses_answers.ResponsesStream(self.names(asked), self.unique_call_ids)
        if asked.wire != "openai-chat":
            return Plain()
        chat = ChatStream(
            asked, self.reading, self.names(asked), lambda found: self.repair_error(200, found, asked)[1]
        )
        reads = self.reading.leaks and bool(asked.offered)
        if not (reads or self.reading.inline_reasoning):
            return chat
        think = self.reading.inline_reasoning
        return Gate(chat, asked, lambda text: self.repair_text(text, asked), think=think)

    def repair_text(self, text: str, asked: Asked) -> tuple[Part, ...] | None:
        """Calls of offered tools that no parser took out; where the family needs it, reasoning in tags.

        Works around quirk `text-leaked-tool-call-xml`. Works around quirk `deepseek-dsml-leak`.
        """
        found: tuple[Part, ...] | None = None
        if self.reading.inline_reasoning:
            found = texts.thought(text) or texts.harmony(text)
        if self.reading.leaks and asked.offered:
            found = texts.with_calls_in(found, text, asked.offered)
        return found

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """Errors in OpenAI's form, under the status that they mean.

        Works around quirk `http-200-error-body`. Works around quirk `midstream-error-200`. Works around quirk
        `context-overflow-wording-varies`.
        """
        if asked.wire not in OPENAI_WIRES:
            return status, document
        return errors.in_openais_form(status, document)

    # ---------------------------------------------------------------------------- the reference client

    def unusable(self, turn: Turn, asked: Asked) -> str | None:
        """No answer: reasoning and nothing else, calls that are cut off in front or were not made
        where one is forced, a stream without its end.

        Works around quirk `stream-eof-without-finish`.
        """
        if tools.is_forced(asked.request) and turn.finish_reason == "stop" and not turn.calls:
            return NO_CALL
        said = turn.text.strip() or turn.refusal or turn.calls
        if not said and turn.reasoning.strip() and turn.finish_reason in ("stop", None, ""):
            return "the answer holds reasoning and nothing else"
        if asked.request.stream and turn.finish_reason is None:
            return "the stream ended without saying that the answer had"
        return broken_calls(turn, asked)

    def again(self, failure: Refusal | str, asked: Asked) -> Again | None:
        """Whole where a stream's calls were unusable; without ``stream_options`` where these are refused,
        without a system role where there is none.

        Works around quirk `stream-arguments-none`. Works around quirk `stream-arguments-missing-head`. Works
        around quirk `stream-custom-event-tool-generating`. Works around quirk `stream-options-refused`. Works
        around quirk `system-role-unsupported`.
        """
        if failure == NO_CALL:
            return called_for(asked)
        if isinstance(failure, str):
            return asked_whole(asked)
        named = failure.status in (400, 422) and any(w in failure.text for w in _NO_STREAM_OPTIONS)
        if named and asked.request.include_usage is not None:
            less = replace(asked.request, include_usage=None)
            return Again(less, "without stream_options, which is refused", concedes=True)
        if failure.status in (400, 422) and _NO_SYSTEM_ROLE.search(failure.text):
            told = messages.changed(in_canonical_form(asked.request), messages.system_as_user)
            return Again(told, "instructions as the user's words: there is no system role")
        return None
