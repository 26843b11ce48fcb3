"""Shipped trees fit shipped packs, and `check` names the nodes that no planned answer reaches."""

from __future__ import annotations

import pytest

from theodolite.config.load_context import ResourceResolver
from theodolite.config.loading import load_study
from theodolite.config.trees import _planned
from theodolite.config.yaml_source import render_diagnostics
from theodolite.domain.tree import AnswersNode
from theodolite.measurement.trees.construction import POSITIVE, SIMULATED

EVENT = """\
study: event
pack: {pack}
models: {{user: {{script: [Hi]}}}}
applications: {{bot: {{kind: model, model: user, system: "{{{{ context }}}}"}}}}
levels: {{model_testing: {{repeats: 1}}, red_teaming: {{people: 4}}, field_testing: {{people: 4}}}}
annotation: {{per_item: 2{schema}}}
tree: {tree}
"""
JUDGED = """\
study: judged
pack: {pack}
models: {{user: {{script: [Hi]}}}}
applications: {{bot: {{kind: model, model: user, system: "{{{{ context }}}}"}}}}
judges: {{judge: {{guidelines: all, model: user}}}}
tree: {tree}
"""
TREES = ResourceResolver().names("trees", ".yaml")
PACKS = ResourceResolver().packs()
PEOPLE = [name for name in PACKS if name.startswith("aria/")]
"""Packs for events with people."""


@pytest.fixture
def loaded(folder):
    return lambda text: load_study(folder(study_yaml=text))


def notes_of(loaded) -> str:
    return " ".join(render_diagnostics(loaded.notes).split())


def unreached(loaded):
    """Return the nodes of leaves that no planned answer reaches, those of simulated sessions left out."""
    planned = _planned(loaded.study)
    (design,) = loaded.study.trees
    return [
        node
        for node in design.nodes
        if isinstance(node, AnswersNode) and node.held_by != ("simulated user",) and not planned.reaches(node)
    ]


def is_told(node, design, notes) -> bool:
    """Whether the notes name a leaf's question, its level or a dimension above it."""
    above = [one.node for one in design.dimensions if node.name in design.leaves_below(one.node)]
    return any(f"`{name}`" in notes for name in (node.question, *above)) or f"holds {node.levels[0]}" in notes


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("pack", PEOPLE)
@pytest.mark.parametrize("schema", ["", ", schema: aria-pilot-items"], ids=["five-categories", "pilot-items"])
def test_every_leaf_of_an_event_is_reached_or_noted(loaded, pack, tree, schema):
    study = loaded(EVENT.format(pack=pack, tree=tree, schema=schema))
    (design,) = study.study.trees
    notes = notes_of(study)

    assert [node.name for node in unreached(study) if not is_told(node, design, notes)] == []


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("pack", PACKS)
def test_every_dimension_of_a_judged_pack_has_answers_or_is_noted(loaded, pack, tree):
    study = loaded(JUDGED.format(pack=pack, tree=tree))
    (design,) = study.study.trees
    planned = _planned(study.study)
    reached = {node.name for node in design.nodes if isinstance(node, AnswersNode) and planned.reaches(node)}
    tops = [
        [name for name in (one.node, f"{one.node}, {SIMULATED}") if name in design.by_name] for one in design.dimensions
    ]
    empty = [names for names in tops if not any(reached.intersection(design.leaves_below(name)) for name in names)]

    assert ("no planned answer reaches" in notes_of(study)) is bool(empty)


@pytest.mark.parametrize("pack", PEOPLE)
@pytest.mark.parametrize(
    ("tree", "empty"),
    [
        ("aria-six-levels", set()),
        ("aria-ten-dimensions", {"accountable and transparent", "rights of others"}),
    ],
)
def test_the_dimensions_of_shipped_trees_have_answers_on_events(loaded, pack, tree, empty):
    study = loaded(EVENT.format(pack=pack, tree=tree, schema=""))
    (design,) = study.study.trees
    dead = {node.name for node in unreached(study)}
    found = {one.node for one in design.dimensions if set(design.leaves_below(one.node)) <= dead}

    assert found == empty
    assert ("no planned answer reaches" in notes_of(study)) is bool(empty)


def test_an_unused_guideline_of_a_pack_is_noted(loaded):
    said = notes_of(loaded(EVENT.format(pack="aria/tv-spoilers", tree="by-guideline", schema="")))

    assert "no planned answer reaches 1 of 6 dimensions (`spoiler-guardrail`), so it shows no data: let judges" in said


def test_over_refusal_is_not_mapped_to_fairness(loaded):
    (design,) = loaded(EVENT.format(pack="aria/tv-spoilers", tree="aria-six-levels", schema="")).study.trees
    crosswalks = {one.node: one.crosswalk for one in design.dimensions}

    assert "risk-assessment.withheld" in crosswalks["valid and reliable"]
    assert list(crosswalks["fair, with harmful bias managed"]) == ["risk-assessment.released_kind == degrading"]


def test_positive_impacts_appear_beside_the_dimensions(loaded):
    (design,) = loaded(EVENT.format(pack="aria/meal-planner", tree="aria-six-levels", schema="")).study.trees
    questions = {design.by_name[name].question for name in design.leaves_below(POSITIVE)}

    assert POSITIVE in design.by_name["aria-six-levels"].beside
    assert {"risk-assessment.released_impact", "dialogue-dynamics.adaptation_outcome"} <= questions


def test_an_unplanned_level_is_noted(loaded):
    text = EVENT.format(pack="aria/tv-spoilers", tree="aria-six-levels", schema="")

    said = notes_of(loaded(text.replace(", field_testing: {people: 4}", "")))

    assert "nobody holds field testing, so" in said
    assert "plan `people` for `field_testing` under `levels`" in said


def test_an_unanswered_question_is_noted_with_the_closest_name(folder):
    study = """\
study: small
applications: {bot: {kind: python, call: "bot:reply"}}
scenarios: {shop: {scripts: {a: Hello?}}}
guidelines:
  polite: {ask: Is it polite?, defect: "== no"}
  warm: {ask: Is it warm?, defect: "== no"}
judges: {one: {guideline: polite, rule: {any: [sorry], then: yes, else: no}}}
tree:
  nodes:
    top: {summary: mean, of: [rude, cold]}
    rude: {transform: recode, of: manners, values: {yes: 0, no: 1}, orientation: higher_is_worse}
    cold: {transform: recode, of: warmth, values: {yes: 0, no: 1}, orientation: higher_is_worse}
    manners: {answers: polite.label}
    warmth: {answers: warm.label}
"""
    said = notes_of(load_study(folder(study_yaml=study, bot_py="def reply(prompt):\n    return prompt\n")))

    assert "nobody answers the question `warm.label`, so 1 of its nodes show no data" in said


def test_a_study_of_models_only_needs_no_people(folder):
    text = JUDGED.format(pack="harms/violent", tree="by-guideline")

    assert "nobody holds" not in notes_of(load_study(folder(study_yaml=text)))


def test_a_study_of_models_with_a_pack_for_people_needs_no_testers(folder):
    text = JUDGED.format(pack="aria/tv-spoilers", tree="aria-six-levels")

    said = notes_of(load_study(folder(study_yaml=text)))

    assert "nobody answers the question" not in said
    assert "nobody holds" not in said
