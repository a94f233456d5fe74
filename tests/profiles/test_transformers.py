"""transformers serve: a whole text ends before its stop sequence."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.profiles import profile
from conformance.profiles.profile import Asked
from conformance.types import Message, Request

TRANSFORMERS = profile("transformers")


def said(text: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@pytest.mark.parametrize(
    ("stops", "came", "told"),
    [
        (("Thu",), "Wednesday, Thu", "Wednesday, "),
        (("Thursday", "Thu"), "Wednesday, Thursd", "Wednesday, "),
        (("b", "a"), "1a2b3", "1"),
        (("Thu",), "Wednesday", "Wednesday"),
        (("",), "Wednesday", "Wednesday"),
        (None, "Wednesday, Thu", "Wednesday, Thu"),
        (("Thu",), None, None),
    ],
)
def test_a_text_is_cut_at_the_first_stop_sequence_in_it(
    stops: tuple[str, ...] | None, came: str | None, told: str | None
) -> None:
    asked = Asked(Request((Message.user("?"),), stop=stops))
    assert TRANSFORMERS.repair_document(said(came), asked)["choices"][0]["message"]["content"] == told


@pytest.mark.parametrize(
    "choices", [None, 7, [], [None], [{}], [{"message": 7}], [{"message": {"content": 7}}]]
)
def test_no_document_makes_it_fail(choices: Any) -> None:
    asked = Asked(Request((Message.user("?"),), stop=("Thu",)))
    TRANSFORMERS.repair_document({"choices": choices}, asked)
