"""Plugins are a value that is found, not a side effect of importing."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from theodolite.config.load_context import ResourceResolver
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.personas import shipped_personas
from theodolite.domain.errors import InputError
from theodolite.domain.persona import PersonaTemplate
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.plugins import GROUP, PluginApplication, PluginJudge, hooks, installed_plugins
from theodolite.plugins.discovery import HOOKS

STUDY = """\
study: small
models:
  large: {script: ["{}"]}
applications:
  bot: {kind: model, model: large}
scenarios:
  talk: {scripts: {hello: "Hello?"}}
judges:
  grounded: {guideline: groundedness, model: large}
"""


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("our_house")
    monkeypatch.setitem(sys.modules, "our_house", module)
    return module


def _point(name: str = "our-house", value: str = "our_house") -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


def test_a_plugin_provides_a_folder_of_resources(plugin: ModuleType, tmp_path: Path) -> None:
    plugin.resources = lambda: tmp_path

    assert installed_plugins([_point()]).resources == (("our-house", tmp_path),)


def test_a_plugin_need_not_answer_any_hook(plugin: ModuleType) -> None:
    found = installed_plugins([_point()])

    assert found.names == ("our-house",)
    assert found.resources == ()


def test_a_plugin_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(InputError, match=r"plugin `broken` .* cannot be loaded: ModuleNotFoundError"):
        installed_plugins([_point("broken", "no_such_module_here")])


def test_resources_must_be_a_folder(plugin: ModuleType) -> None:
    plugin.resources = lambda: 7

    with pytest.raises(InputError, match="must return a folder, got int"):
        installed_plugins([_point()])


class Distribution:
    """What an installed package says of itself."""

    name = "acme-parts"
    version = "2.1"


def test_a_broken_plugin_is_named_with_its_package_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="acme", value="no_such_module_here", group=GROUP)
    monkeypatch.setitem(vars(point), "dist", Distribution())

    with pytest.raises(InputError) as raised:
        installed_plugins([point])

    assert str(raised.value) == (
        "plugin `acme` (package acme-parts 2.1, no_such_module_here) cannot be loaded: ModuleNotFoundError: No module"
        " named 'no_such_module_here'. Update or remove the package:  pip uninstall acme-parts"
    )


def test_all_broken_plugins_are_named_at_once() -> None:
    with pytest.raises(InputError, match=r"(?s)plugin `a`.*plugin `b`"):
        installed_plugins([_point("b", "no_such_module_b"), _point("a", "no_such_module_a")])


def test_two_plugins_with_a_part_of_the_same_name_are_both_named(plugin: ModuleType) -> None:
    plugin.judges = lambda: [PluginJudge(name="our-house/tone", target="our_house:tone", version="1")]

    with pytest.raises(InputError, match=r"plugins `first` and `second` both have the judge `our-house/tone`"):
        installed_plugins([_point("second"), _point("first")])


@pytest.mark.parametrize(
    "hook", ["applications", "judges", "models", "personas", "measures", "charts", "importers", "exporters"]
)
def test_each_hook_refuses_invalid_parts(plugin: ModuleType, hook: str) -> None:
    setattr(plugin, hook, lambda: [7])

    with pytest.raises(InputError, match=rf"`{hook}\(\)` must return {HOOKS[hook].expected}, got int"):
        installed_plugins([_point()])


def test_a_part_names_its_plugin(plugin: ModuleType) -> None:
    plugin.applications = lambda: [PluginApplication(name="echo", target="our_house:echo")]

    with pytest.raises(InputError, match=r"`echo` is not a valid name of a part; expected e\.g\. `our-house/echo`"):
        installed_plugins([_point()])


def test_every_hook_of_the_table_is_a_documented_function() -> None:
    for hook in [*HOOKS, "resources"]:
        function = getattr(hooks, hook)
        assert function() in ((), None)
        assert function.__doc__


def test_without_plugins_there_are_no_parts() -> None:
    assert installed_plugins([]).names == ()


def test_a_guideline_of_a_plugin_precedes_the_shipped_one(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    (shelf / "guidelines").mkdir(parents=True)
    ours = 'edition: "9.9"\nask: "Is it ours?"\ndefect: "== no"\n'
    (shelf / "guidelines" / "groundedness.yaml").write_text(ours, encoding="utf-8")
    study = tmp_path / "study.yaml"
    study.write_text(STUDY, encoding="utf-8")

    loaded = load_study(study, resolver=ResourceResolver((("our-house", shelf),)))

    assert loaded.study.guideline("groundedness").edition == "9.9"
    assert [(found.name, found.where) for found in loaded.found] == [("groundedness", "our-house")]


USERS = """\
study: users
models:
  large: {script: ["{}"]}
applications:
  bot: {kind: model, model: large}
scenarios:
  talk: {task: question_answering, goal: Open?, turns: 1}
personas:
  callers: {template: TEMPLATE, rows: [{name: Ana}], model: large}
judges:
  grounded: {guideline: groundedness, model: large}
"""


def _load_users(folder: Path, template: str, text: str) -> LoadedStudy:
    study = folder / "study.yaml"
    study.write_text(USERS.replace("TEMPLATE", template), encoding="utf-8")
    caller = PersonaTemplate(name="our-house/caller", text=text, edition="3", shipped=True)
    return load_study(study, resolver=ResourceResolver(personas=(("our-house", caller),)))


def test_a_study_names_the_persona_template_of_a_plugin(tmp_path: Path) -> None:
    loaded = _load_users(tmp_path, "our-house/caller", "You are {{ name }}. {{ goal }}")

    [group] = loaded.study.personas
    assert (group.template.text, group.template.edition) == ("You are {{ name }}. {{ goal }}", "3")
    assert not group.template.shipped
    assert ("our-house/caller", "our-house") in [(found.name, found.where) for found in loaded.found]


def test_the_built_in_templates_are_parts_of_the_same_format(tmp_path: Path) -> None:
    loaded = _load_users(tmp_path, "customer", "")

    [group] = loaded.study.personas
    [shipped] = shipped_personas()
    assert (group.template.name, group.template.text) == (shipped.name, shipped.text)
    assert group.template.shipped


@pytest.mark.parametrize(
    ("template", "text", "message"),
    [
        ("our-house/caler", "", "Did you mean `our-house/caller`?"),
        ("our-house/caller", "{{ city }}", "(persona template `our-house/caller`, plugin our-house)"),
    ],
    ids=["misspelt", "empty slot"],
)
def test_errors_of_a_persona_template_name_the_plugin(tmp_path: Path, template: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        _load_users(tmp_path, template, text)

    assert message in " ".join(str(refused.value).split())


def test_a_plugin_provides_summaries_for_trees(plugin: ModuleType) -> None:
    ours = SummaryMethod(name="our-house/least@1", combine=lambda values, weights: min(values))
    plugin.summaries = lambda: [ours]

    assert installed_plugins([_point()]).summaries == (ours,)


def test_summaries_must_be_summary_methods(plugin: ModuleType) -> None:
    plugin.summaries = lambda: [min]

    with pytest.raises(InputError, match=r"`summaries\(\)` must return summary methods, got builtin_function"):
        installed_plugins([_point()])
