"""Parameters of a request: how many answers, how long, where to stop, how sure."""

from __future__ import annotations

from dataclasses import replace

from conformance.scenarios.base import CHOICES, LOGPROBS, SEED, STOP, ask, need, request, scenario
from conformance.scenarios.kit import said
from conformance.types import Ask, Message, Script


@scenario("parameters.n", ideal=(said("A small boat called Petrel."),), optional=(CHOICES,))
def several_choices() -> Script:
    """``n: 2`` asks for two choices."""
    yield Ask(replace(request(Message.user("Think up a name for a small boat.")), n=2))


@scenario("parameters.stop", ideal=(said("Monday, Tuesday, Wednesday, Thursday, Friday."),), optional=(STOP,))
def stop() -> Script:
    """A stop sequence ends the text before it shows."""
    question = Message.user("Write the five working days in order, Monday first, separated by commas.")
    turn = yield from ask(replace(request(question), stop=("Thursday", "Thu")))
    need("Tuesday" in turn.text, "come near the stop sequence")


@scenario(
    "parameters.max-tokens",
    ideal=(
        said(
            "Far out at sea there stood a lighthouse, and in it lived a keeper who counted every wave, wrote "
            "the number down each evening, and never once came to the same sum."
        ),
    ),
)
def max_tokens() -> Script:
    """A small cap cuts a text short."""
    story = Message.user("Tell me a story of two hundred words about a lighthouse.")
    yield Ask(replace(request(story), max_tokens=16), probe="token-cap")


@scenario("parameters.seed", ideal=(said("The coin shows heads."),), optional=(SEED,))
def seed() -> Script:
    """A ``seed`` is accepted."""
    yield Ask(request(Message.user("Toss a coin and tell me how it fell."), extra={"seed": 7}))


@scenario(
    "parameters.logprobs",
    ideal=(said("Grass is green, the sky is blue: 🌱."), said("Snow is white.")),
    optional=(LOGPROBS,),
)
def logprobs() -> Script:
    """Log probabilities of the tokens, with three alternatives for each and without any."""
    question = Message.user("What colour is grass? Answer in one short sentence with an emoji.")
    yield Ask(request(question, extra={"logprobs": True, "top_logprobs": 3}))
    yield Ask(request(Message.user("What colour is snow?"), extra={"logprobs": True}))
