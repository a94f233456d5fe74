"""xAI's Grok."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, efforts, schemas, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked
from conformance.profiles.reading import Reading
from conformance.types import Request

RESERVED = frozenset({"web_search", "tool_search"})
NOT_REASONING = r"non-reasoning"
EFFORTS = efforts.table({r"grok": "low medium high"})


class XAI(Compatible):
    """api.x.ai."""

    name = "xai"
    providers: ClassVar[tuple[str, ...]] = ("xai",)
    reading = Reading(reserved=RESERVED)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "reserved-tool-names-xai",
        "xai-no-allof",
        "xai-nonreasoning-rejects-effort",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `xai-no-allof`. Works around quirk `reserved-tool-names-xai`: another name on
        the wire, and back in the answer.
        """
        request = tools.with_schemas(super().prepare_tools(request, asked), schemas.without_all_of)
        return tools.aliased(request, self.reading.reserved)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `xai-nonreasoning-rejects-effort`. Works around quirk
        `reasoning-effort-vocabulary-mismatch`.
        """
        if bodies.matches(NOT_REASONING, asked.model):
            return efforts.with_extra(request, reasoning_effort=None)
        return efforts.clamped(request, asked.model, EFFORTS)
