"""The list of models."""

from __future__ import annotations

from conformance.scenarios.base import request, scenario
from conformance.scenarios.kit import OPENAI, said
from conformance.types import Ask, Message, Raw, Script


@scenario("models.list", wires=OPENAI, ideal=(said("Listed, and at your service."),), needs=("models",))
def list_models() -> Script:
    """The endpoint lists its models, the one under test among them, and that one answers."""
    yield Raw("GET", "@models", probe="models-list", expect="answer")
    yield Ask(request(Message.user("Say that you are at my service.")), probe="listed-model")


@scenario("models.retrieve", wires=OPENAI, needs=("models",))
def retrieve() -> Script:
    """The entry of a model can be asked for alone; for one that is unknown there is 404."""
    yield Raw("GET", "@models", probe="models-list", expect="answer")
    yield Raw("GET", "@models/{{model}}", probe="models-retrieve", expect="answer")
    yield Raw("GET", "@models/no-such-model-conformance", probe="retrieve-unknown", expect="refusal")
