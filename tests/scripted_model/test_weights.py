"""The law of the construction, proved by a forward pass that knows nothing of it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.scripted_model.forward import forward, generate, smallest_gap
from conformance.scripted_model.steps import ScriptError
from conformance.scripted_model.vocabulary import vocabulary
from conformance.scripted_model.weights import Model, compute

SCRIPTS = {
    "chat.plain/0": "Hello there, nice to meet you.",
    "tools.parallel-calls/0": (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "get_time", "arguments": {"city": "Rome"}}\n</tool_call>'
    ),
    "reasoning.echo/0": '<think>\nIt wants 東京 🌦.</think>\n\n“Sure”, "sure" \\ <b>sure</b>.',
    "empty/0": "",
}


def model_of(scripts: dict[str, str], ctx: int = 8192) -> Model:
    return compute(vocabulary(scripts, eos="<|im_end|>"), ctx=ctx)


def asked(text: str) -> str:
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("half", [False, True], ids=["single-precision", "half-precision-cache"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_marker_makes_the_model_say_its_script(name: str, half: bool) -> None:
    assert generate(model_of(SCRIPTS), asked(f"Say [[{name}]]!"), limit=200, half=half) == SCRIPTS[name]


def test_without_a_marker_it_says_the_first_script() -> None:
    assert generate(model_of(SCRIPTS), asked("Say something."), limit=200) == SCRIPTS["chat.plain/0"]


def test_the_last_marker_wins() -> None:
    conversation = asked("[[chat.plain/0]]") + "Hello there.<|im_end|>\n" + asked("And [[reasoning.echo/0]]?")
    assert generate(model_of(SCRIPTS), conversation, limit=200) == SCRIPTS["reasoning.echo/0"]


@pytest.mark.parametrize("ctx", [2048, 8192])
@pytest.mark.parametrize("where", ["start", "middle", "end"])
def test_the_last_marker_wins_anywhere_in_the_context(ctx: int, where: str) -> None:
    model = model_of({"a": "alpha text", "b": "beta text"}, ctx)
    between = ctx // 512 - 1  # the two markers are as close as they may be
    room = ctx - between - 20
    before = {"start": 0, "middle": room // 2, "end": room - 1}[where]
    prompt = "x" * before + "[[a]]" + "x" * between + "[[b]]" + "x" * (room - before)
    assert smallest_gap(model, prompt, "b", half=True) > 30


def test_many_scripts_of_like_text_stay_apart() -> None:
    scripts = {f"s/{n}": f"The weather in city number {n} is fine, {n * n} degrees." for n in range(512)}
    model = model_of(scripts)
    assert model.shape.hidden == 1536
    assert all(smallest_gap(model, f"[[s/{n}]] ", f"s/{n}", half=True) > 30 for n in range(0, 512, 31))


def test_the_right_token_leads_by_so_much_that_temperature_does_not_matter() -> None:
    model = model_of(SCRIPTS)
    assert min(smallest_gap(model, asked(f"[[{name}]]"), name) for name in SCRIPTS) > 50


def test_every_embedding_has_the_same_length_so_that_normalising_changes_none() -> None:
    lengths = (model_of(SCRIPTS).tensors["model.embed_tokens.weight"] ** 2).sum(axis=1)
    assert lengths.min() == lengths.max() == 2


def test_a_later_token_does_not_change_what_was_said_before() -> None:
    model = model_of(SCRIPTS)
    ids = model.vocabulary.encode("Say [[chat.plain/0]] or [[empty/0]]")
    assert forward(model, ids, last=3)[0] == pytest.approx(forward(model, ids[:-2], last=1)[0], abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b/0", "c.d/1"]),
        st.text(
            st.sampled_from("ab \n\"'\\{}<>/éß東京语🌦👩‍👧\u2028") | st.characters(codec="utf-8"), max_size=30
        ),
        min_size=1,
    ),
    st.text(max_size=20),
)
def test_any_scripts_are_reproduced_after_any_text(scripts: dict[str, str], noise: str) -> None:
    assume("[[" not in noise)
    try:
        model = model_of(scripts)
    except ScriptError:
        assume(False)
    for name, text in scripts.items():
        assert generate(model, f"{noise}[[{name}]]{noise}\n", limit=60) == text
