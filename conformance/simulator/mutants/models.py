"""Mutants of the list of models and its entries."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import body, drop, only, put, refused, to, via
from conformance.simulator.mutants.mutant import Answer, Change, Mutant

LIST = "models.list"
ONE = "models.retrieve"
UNKNOWN = "/models/no-such-model-conformance"


def _listed(edit: Any) -> Change:
    return only(via("GET", "/models"), body(edit))


def _twice(document: Any) -> None:
    document["data"].append(document["data"][0])


def _other(document: Any) -> None:
    document["data"][0]["id"] = "other-model"


def _invented(answer: Answer) -> None:
    answer.status = 200
    answer.body = {"id": "no-such-model-conformance", "object": "model", "created": 1, "owned_by": "nobody"}


MODELS = (
    Mutant("models.list.shape", LIST, _listed(put("object", value="models"))),
    Mutant("models.list.entry-shape", LIST, _listed(drop("data", 0, "created"))),
    Mutant("models.list.ids-unique", LIST, _listed(_twice)),
    Mutant("models.list.tested-model-present", LIST, _listed(_other)),
    Mutant("models.list.listed-works", LIST, only(to(f"{LIST}/0"), refused)),
    Mutant(
        "models.retrieve", ONE, only(via("GET", "/models/reference"), body(put("owned_by", value="another")))
    ),
    Mutant("models.retrieve-unknown-404", ONE, only(via("GET", UNKNOWN), _invented)),
)
