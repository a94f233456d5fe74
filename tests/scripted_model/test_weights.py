"""The law of the construction, proved by a forward pass that knows nothing of it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.scripted_model.cutting import ScriptError
from conformance.scripted_model.forward import Network, Precision
from conformance.scripted_model.vocabulary import Specials

from .models import CALL, END, PROMPT, SPECIAL, TEXT, asked, model_of

SCRIPTS = {
    "chat.plain/0": "Hello there, nice to meet you.",
    "tools.parallel-calls/0": f"{CALL % 'Rome'}\n{CALL % 'Rome'}\n{CALL % 'Oslo'}",
    "reasoning.echo/0": '<think>\nIt wants 東京 🌦.</think>\n\n“Sure”, "sure" \\ <b>sure</b>.',
    "empty/0": "",
    "one-byte/0": "4",
    "long-runs/0": "ha" * 60 + "!",
}
SPLITS = ("random:0", "random:1", "char", "whole")
CALM = 20.0
"""A lead in logits that no sampling at temperature 1 ever makes up: e**-20 is one in 485 million."""


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("specials", [SPECIAL, TEXT], ids=["special", "text"])
def test_a_marker_makes_the_model_say_its_script(split: str, specials: Specials) -> None:
    network = Network(model_of(SCRIPTS, split=split, specials=specials))
    for name, text in SCRIPTS.items():
        assert network.generate(asked(f"Say [[{name}]]!"), limit=400) == text


@pytest.mark.parametrize("precision", ["single", "half-cache", "half", "bfloat"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("specials", [SPECIAL, TEXT], ids=["special", "text"])
def test_the_right_token_leads_by_so_much_that_neither_temperature_nor_rounding_matters(
    precision: Precision, split: str, specials: Specials
) -> None:
    network = Network(model_of(SCRIPTS, split=split, specials=specials), precision)
    assert min(network.smallest_gap(asked(f"[[{name}]]"), name) for name in SCRIPTS) > CALM


def test_without_a_marker_it_says_the_first_script() -> None:
    network = Network(model_of(SCRIPTS), "bfloat")
    assert network.smallest_gap(asked("Say something."), "chat.plain/0") > CALM


def test_the_last_marker_wins() -> None:
    conversation = asked("[[chat.plain/0]]") + f"Hello there.{END}\n" + asked("And [[reasoning.echo/0]]?")
    assert Network(model_of(SCRIPTS)).generate(conversation, limit=200) == SCRIPTS["reasoning.echo/0"]


@pytest.mark.parametrize(("precision", "apart"), [("half-cache", 512), ("half", 512), ("bfloat", 64)])
@pytest.mark.parametrize("ctx", [2048, 8192])
@pytest.mark.parametrize("where", ["start", "middle", "end"])
def test_the_last_marker_wins_anywhere_in_the_context(
    precision: Precision, apart: int, ctx: int, where: str
) -> None:
    network = Network(model_of({"a": "alpha text", "b": "beta text"}, ctx=ctx), precision)
    between = ctx // apart - 1  # the two markers are as close as they may be
    room = ctx - between - 20
    before = {"start": 0, "middle": room // 2, "end": room - 1}[where]
    prompt = "x" * before + "[[a]]" + "x" * between + "[[b]]" + "x" * (room - before)
    assert network.smallest_gap(prompt, "b") > CALM


def test_many_scripts_of_like_text_stay_apart() -> None:
    texts = {f"s/{n}": f"The weather in city number {n} is fine, {n * n} degrees." for n in range(512)}
    network = Network(model_of(texts), "bfloat")
    assert all(network.smallest_gap(asked(f"[[s/{n}]] "), f"s/{n}") > CALM for n in range(0, 512, 31))


def test_a_prompt_that_ends_like_a_script_goes_on_does_not_lead_astray() -> None:
    texts = {"a": f"\n{PROMPT}Hello there.", "b": "Hello you.", "c": "\nHello."}
    network = Network(model_of(texts, split="char", prompt=PROMPT))
    assert {name: network.generate(asked(f"[[{name}]]"), limit=80) for name in texts} == texts


def test_a_later_token_does_not_change_what_was_said_before() -> None:
    network = Network(model_of(SCRIPTS))
    ids = network.model.vocabulary.encode("Say [[chat.plain/0]] or [[empty/0]]")
    assert network.logits(ids, last=3)[0] == pytest.approx(network.logits(ids[:-2], last=1)[0], abs=1e-2)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b/0", "c.d/1"]),
        st.text(
            st.sampled_from("ab \n\"'\\{}<>/éß東京语🌦👩‍👧\u2028") | st.characters(codec="utf-8"), max_size=30
        ),
        min_size=1,
    ),
    st.text(max_size=20),
    st.sampled_from(SPLITS),
)
def test_any_scripts_are_reproduced_after_any_text(scripts: dict[str, str], noise: str, split: str) -> None:
    assume("[[" not in noise)
    try:
        network = Network(model_of(scripts, split=split), "bfloat")
    except ScriptError:
        assume(False)
    for name in scripts:
        assert network.smallest_gap(f"{noise}[[{name}]]{noise}{asked('')}", name) > CALM
