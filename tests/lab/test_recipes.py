"""The recipes are complete, pinned, on loopback, and agree with providers.yaml."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance import config
from conformance.dialects import DIALECTS
from conformance.engine.options import Options, select
from conformance.lab import Recipe, endpoints_of, recipes, to_yaml
from conformance.lab.errors import LabError
from conformance.lab.recipe import Places, Spoken, fill, with_needs

ROOT = Path(__file__).parents[2]
ALL = [pytest.param(recipe, id=name) for name, recipe in recipes().items()]
PYTHON = [pytest.param(r, id=name) for name, r in recipes().items() if r.python]
NODE = [pytest.param(r, id=name) for name, r in recipes().items() if r.node]


def values(recipe: Recipe) -> dict[str, str]:
    names = (recipe.name, *recipe.needs)
    places = Places(
        environment=Path("ENV"),
        run=Path("RUN"),
        model=Path("MODEL"),
        python=Path("PYTHON"),
        keys=dict.fromkeys(names, "KEY"),
        ports={name: recipes()[name].port for name in names},
    )
    return places.values(recipe)


@pytest.mark.parametrize("recipe", ALL)
def test_every_placeholder_is_known(recipe: Recipe) -> None:
    texts = [*recipe.command, *recipe.environ.values()]
    texts += [(recipe.folder / name).read_text("utf-8") for name in recipe.files]
    for text in texts:
        assert "${" not in fill(text, values(recipe))


@pytest.mark.parametrize("recipe", ALL)
def test_the_server_is_told_its_port(recipe: Recipe) -> None:
    texts = [*recipe.command, *((recipe.folder / name).read_text("utf-8") for name in recipe.files)]
    assert any("${port}" in text for text in texts)


@pytest.mark.parametrize("recipe", PYTHON)
def test_a_python_lock_pins_every_package_with_hashes_and_without_addresses(recipe: Recipe) -> None:
    assert recipe.python is not None
    text = (recipe.folder / recipe.python.requirements).read_text("utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert entries
    for entry in entries:
        first, *hashes = entry.split("\\\n")
        assert re.match(r"[A-Za-z0-9._-]+(?:\[[a-z,]+\])?==\S+", first), first
        assert hashes, first
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64} ?", line) for line in hashes), first
    assert "://" not in text
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", name) for name in recipe.python.first)


@pytest.mark.parametrize("recipe", NODE)
def test_an_npm_lock_has_hashes_and_no_addresses(recipe: Recipe) -> None:
    lock = json.loads((recipe.folder / "package-lock.json").read_text("utf-8"))
    package = json.loads((recipe.folder / "package.json").read_text("utf-8"))
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["dependencies"].values())
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry
        assert not name or entry["integrity"].startswith("sha512-")


@pytest.mark.parametrize(
    "recipe", [r for r in recipes().values() if r.python or r.node], ids=lambda r: r.name
)
def test_the_version_that_reports_name_is_the_one_that_is_pinned(recipe: Recipe) -> None:
    names = ["requirements.txt"] if recipe.python else ["package-lock.json"]
    text = "".join((recipe.folder / name).read_text("utf-8") for name in names)
    number = re.findall(r"\d+\.\d+\.\d+", recipe.version)[0]
    assert re.search(rf'(?:=="?|"version": "){re.escape(number)}\b', text)


def test_ports_are_distinct() -> None:
    ports = [recipe.port for recipe in recipes().values()]
    assert len(set(ports)) == len(ports)


def test_rows_are_distinct_and_compared_within_their_server_only() -> None:
    names = [name for recipe in recipes().values() for name in recipe.rows]
    assert len(set(names)) == len(names)
    for recipe in recipes().values():
        for row in recipe.rows.values():
            assert row.same_server_as is None or row.same_server_as in recipe.rows


@pytest.mark.parametrize("recipe", ALL)
def test_what_a_gateway_stands_in_front_of_is_brought_up_with_it(recipe: Recipe) -> None:
    for row in recipe.rows.values():
        assert row.behind is None or row.behind.partition("/")[0] in recipe.needs


@pytest.mark.parametrize("recipe", ALL)
def test_the_rows_of_a_recipe_are_a_configuration(recipe: Recipe, tmp_path: Path) -> None:
    rows = endpoints_of(recipe)
    path = tmp_path / "providers.yaml"
    path.write_text(to_yaml(rows), "utf-8")
    assert select(Options(config=str(path))).endpoints == rows


@pytest.mark.parametrize("recipe", ALL)
def test_providers_yaml_says_the_same_of_the_rows_it_has(recipe: Recipe) -> None:
    configured = {endpoint.name: endpoint for endpoint in config.load(ROOT / "providers.yaml")}
    for row in endpoints_of(recipe):
        there = configured.get(row.name)
        if there is not None:
            assert there.model_copy(update={"quirks": (), "recipe": row.recipe}) == row


def test_a_row_names_the_whole_chain() -> None:
    row = recipes()["litellm"].endpoint("litellm")
    assert row.server == f"{recipes()['litellm'].server}, in front of {recipes()['llamacpp'].server}"
    assert recipes()["litellm"].endpoint("litellm-deepseek").server == (
        f"{recipes()['litellm'].server}, in front of our simulator, persona deepseek"
    )


def test_a_gateway_without_a_key_of_its_own_is_sent_that_of_the_server_behind_it() -> None:
    portkey = recipes()["portkey"]
    assert portkey.endpoint("portkey").key_env == recipes()["llamacpp"].key_env
    assert portkey.endpoint("portkey-reference").key_env == recipes()["simulator"].key_env


def test_another_port_reaches_base_url_and_headers() -> None:
    row = recipes()["portkey"].endpoint("portkey", {"portkey": 4001, "llamacpp": 4002})
    assert row.base_url == "http://127.0.0.1:4001/v1"
    assert row.headers["x-portkey-custom-host"] == "http://127.0.0.1:4002/v1"


def test_a_configured_row_keeps_its_quirks_and_gets_the_port() -> None:
    recipe = recipes()["llamacpp"]
    own = recipe.endpoint("llamacpp").model_copy(update={"quirks": ("llamacpp-media-500",)})
    row = endpoints_of(recipe, [own], {"llamacpp": 4002})[0]
    assert row.quirks == ("llamacpp-media-500",)
    assert row.base_url == "http://127.0.0.1:4002/v1"


def test_what_is_needed_comes_first_and_once() -> None:
    order = [recipe.name for recipe in with_needs(("litellm", "portkey"))]
    assert order == ["llamacpp", "simulator", "litellm", "portkey"]


def test_an_unknown_recipe_is_told_with_those_there_are() -> None:
    with pytest.raises(LabError, match=r"no recipe nope; .*llamacpp"):
        list(with_needs(("nope",)))


def test_an_unknown_placeholder_is_an_error() -> None:
    with pytest.raises(LabError, match="colour"):
        fill("${colour}", {})


SPEAKING = [pytest.param(r, d, id=f"{n}-{d}") for n, r in recipes().items() for d in r.dialects]


@pytest.mark.parametrize(("recipe", "name"), SPEAKING)
def test_the_dialects_of_a_recipe_are_ours_and_what_it_does_not_claim_is_a_capability(
    recipe: Recipe, name: str, tmp_path: Path
) -> None:
    assert name in DIALECTS
    path = tmp_path / "dialects.yaml"
    path.write_text(to_yaml([recipe.endpoint_in(name)]), "utf-8")
    (row,) = select(Options(config=str(path))).endpoints
    assert row == recipe.endpoint_in(name)


def test_a_row_of_a_dialect_names_it_with_the_flags_that_it_takes() -> None:
    recipe = recipes()["llamacpp"].model_copy(
        update={"dialects": {"kimi-k2": Spoken(flags=("--parser=kimi",), unsupported={"reasoning": "why"})}}
    )
    row = recipe.endpoint_in("kimi-k2", {"llamacpp": 4002})
    assert row.name == "llamacpp-kimi-k2"
    assert row.scripted == "kimi-k2"
    assert row.server == f"{recipe.server} --parser=kimi"
    assert row.base_url == "http://127.0.0.1:4002/v1"
    assert row.unsupported == {"reasoning": "why"}
    assert row.recipe == "conformance lab up llamacpp --dialect kimi-k2"


def test_a_dialect_that_a_recipe_says_nothing_of_is_an_error() -> None:
    with pytest.raises(LabError, match=r"simulator loads no model"):
        recipes()["simulator"].endpoint_in("kimi-k2")
    with pytest.raises(LabError, match=r"llamacpp: nothing is known of a model in kimi; .*kimi-k2"):
        recipes()["llamacpp"].spoken("kimi")


def test_hermes_needs_no_word_of_a_recipe() -> None:
    assert recipes()["mlx-lm"].model_copy(update={"dialects": {}}).spoken("hermes") == Spoken()


def test_a_configured_row_of_a_dialect_counts() -> None:
    recipe = recipes()["llamacpp"]
    own = recipe.endpoint_in("kimi-k2").model_copy(update={"quirks": ("llamacpp-media-500",)})
    assert endpoints_of(recipe, [own], {}, "kimi-k2") == (own,)


def test_dialects_yaml_says_the_same_as_the_recipes() -> None:
    for row in config.load(ROOT / "dialects.yaml"):
        name, _, dialect = str(row.recipe).removeprefix("conformance lab up ").partition(" --dialect ")
        assert row.model_copy(update={"quirks": ()}) == recipes()[name].endpoint_in(dialect)
