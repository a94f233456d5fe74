"""Parameters of a request: how many answers, how long, where to stop, how sure."""

from __future__ import annotations

from dataclasses import replace

from conformance.scenarios.base import (
    CHOICES,
    LOGPROBS,
    SAMPLING,
    SEED,
    STOP,
    ask,
    need,
    request,
    scenario,
)
from conformance.scenarios.kit import CHAT, said
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


@scenario(
    "parameters.max-completion-tokens",
    wires=CHAT,
    ideal=(
        said(
            "High up in the hills there stood a mill, and in it lived a miller who weighed every sack, wrote "
            "the weight down each morning, and never once found that a grain was missing."
        ),
    ),
)
def max_completion_tokens() -> Script:
    """The cap under its newer name, which few endpoints know: it may be refused, but not ignored."""
    other = replace(
        request(Message.user("Tell me a story of two hundred words about a mill.")), max_tokens=None
    )
    yield Ask(
        replace(other, extra={"max_completion_tokens": 16}), probe="completion-token-cap", expect="either"
    )


@scenario("parameters.seed", ideal=(said("The coin shows heads."),) * 2, optional=(SEED,))
def seed() -> Script:
    """A ``seed`` is accepted, and the same one brings the same answer as far as that can be promised."""
    asked = request(Message.user("Toss a coin and tell me how it fell."), extra={"seed": 7})
    yield Ask(asked)
    yield Ask(asked, probe="same-seed", expect="either")


@scenario(
    "parameters.sampling",
    ideal=(said("Frost is cold and steam is hot."),),
    optional=(SAMPLING,),
)
def sampling() -> Script:
    """Temperature and nucleus at a modest value."""
    yield Ask(replace(request(Message.user("Is frost cold?"), extra={"top_p": 0.9}), temperature=0.5))


@scenario(
    "parameters.penalties",
    ideal=(said("Steam is hot, and I do not repeat myself."),),
    optional=(SAMPLING,),
)
def penalties() -> Script:
    """Penalties at modest values."""
    modest = {"frequency_penalty": 0.1, "presence_penalty": 0.1}
    yield Ask(request(Message.user("Is steam hot?"), extra=modest))


@scenario("parameters.logit-bias", ideal=(said("Fog is damp."),), optional=(SAMPLING,))
def logit_bias() -> Script:
    """A bias against a token."""
    yield Ask(request(Message.user("Is fog damp?"), extra={"logit_bias": {"50256": -1}}))


@scenario(
    "parameters.bookkeeping",
    ideal=(said("For the record, ice is frozen water."),),
    optional=(SAMPLING,),
)
def bookkeeping() -> Script:
    """What goes into the books: labels, storage, the service tier, who asks."""
    books = {"metadata": {"suite": "test"}, "store": False, "service_tier": "auto", "user": "ada"}
    yield Ask(request(Message.user("What is ice?"), extra=books))


NULLABLE = (
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "metadata",
    "n",
    "presence_penalty",
    "seed",
    "service_tier",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
)


@scenario("parameters.null", wires=CHAT, ideal=(said("Nothing was set, so all is as usual."),))
def null() -> Script:
    """Optional parameters that are null, as typed clients send them; the schema allows it of each."""
    yield Ask(request(Message.user("Say that all is as usual."), extra=dict.fromkeys(NULLABLE)))


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


@scenario(
    "parameters.counted-choices",
    ideal=(said("A small mouse called Pim."),),
    optional=(CHOICES, LOGPROBS),
)
def counted_choices() -> Script:
    """Two choices whose tokens are told: the usage counts those of both."""
    asked = request(Message.user("Think up a name for a small mouse."), extra={"logprobs": True})
    yield Ask(replace(asked, n=2))


@scenario("parameters.unknown-member", wires=CHAT, ideal=(said("Hello, and welcome."),))
def unknown_member() -> Script:
    """A member that the schema doesn't list: it may be refused, but an answer is an answer."""
    asked = replace(request(Message.user("Greet me in four words.")), extra={"x_conformance": True})
    yield Ask(asked, probe="extension")
