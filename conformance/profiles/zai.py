"""Z.ai's GLM, and other servers of it."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.profiles import efforts, messages
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Echo
from conformance.profiles.reading import Reading
from conformance.types import Request, Role

MESSAGES_ILLEGAL = "1214"
EFFORTS = efforts.table(
    {r"glm-5\.3": "low medium high xhigh max", r"glm-5": "high max", r"step": "low medium high"}
)


class ZAI(Compatible):
    """api.z.ai and open.bigmodel.cn: ids of one call that change from delta to delta, at one index."""

    name = "zai"
    providers: ClassVar[tuple[str, ...]] = ("zai", "stepfun")
    reading = Reading(new_id_on_index="same-call")
    echo: ClassVar[Echo] = "as-it-came"
    works_around: ClassVar[tuple[str, ...]] = (
        *(quirk for quirk in Compatible.works_around if quirk != "stream-all-index-zero"),
        "new-id-per-delta",
        "zai-1214-messages-illegal",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `zai-1214-messages-illegal`: no message that says nothing, results with their
        calls, something that a user says.
        """
        request = super().prepare_messages(request, asked)
        roles: tuple[Role, ...] = ("assistant", "user", "system")
        request = messages.changed(request, lambda given: messages.without_empty(given, roles))
        return self.paired(messages.changed(request, messages.some_user), asked)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `reasoning-effort-vocabulary-mismatch`.

        In streams a further id at an index is the same call's: Works around quirk `new-id-per-delta`.
        """
        return efforts.clamped(request, asked.model, EFFORTS)

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """Works around quirk `zai-1214-messages-illegal`: the code says which parameter is meant."""
        status, document = super().repair_error(status, document, asked)
        error = document.get("error") if isinstance(document, dict) else None
        if not isinstance(error, dict) or error.get("code") != MESSAGES_ILLEGAL or error.get("param"):
            return status, document
        return status, {**document, "error": {**error, "param": "messages"}}
