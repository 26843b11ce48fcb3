"""Trees in study files: found by name, written out, grown over guidelines, and refused with their place."""

from __future__ import annotations

import pytest

from theodolite.config.load_context import ResourceResolver
from theodolite.config.loading import check_study, load_study
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.tree import AnswersNode
from theodolite.measurement.trees.methods import SummaryMethod

STUDY = """\
study: small
applications: {bot: {kind: python, call: "bot:reply"}}
scenarios: {shop: {scripts: {a: Hello?}}}
guidelines:
  polite: {ask: Is it polite?, defect: "== no"}
  warm: {ask: How warm is it?, scale: 1-10, orientation: lower_is_worse, defect: "<= 3"}
judges: {one: {guideline: polite, rule: {any: [sorry], then: yes, else: no}}}
"""
TREE = """\
tree: own
nodes:
  top: {summary: max, of: {cold: 2, rude: 0}}
  cold: {summary: mean, of: cold scaled}
  cold scaled: {transform: rescale, of: cold reversed, scale: 0-1}
  cold reversed: {transform: reverse, of: warmth}
  warmth: {answers: warm.score, levels: model_testing}
  rude: {summary: mean, of: rude coded}
  rude coded: {transform: recode, of: manners, values: {yes: 0, no: 1}, orientation: higher_is_worse}
  manners: {answers: polite.label}
"""


@pytest.fixture
def trees(folder):
    def read(tree: str, study: str = STUDY, **files: str):
        return load_study(folder(study_yaml=f"{study}{tree}", **files)).study.trees

    return read


@pytest.fixture
def faults(trees):
    def read(tree: str, **files: str) -> list[tuple[str, str]]:
        with pytest.raises(InvalidStudyError) as refusal:
            trees(tree, **files)
        return [(fault.place, fault.message) for fault in refusal.value.placed]

    return read


def indented(tree: str) -> str:
    return "tree:\n" + "".join(f"  {line}\n" for line in tree.splitlines())


def test_a_study_without_a_tree_has_none(trees):
    assert trees("") == ()


def test_a_tree_may_be_part_of_the_study_file(trees):
    (design,) = trees(indented(TREE))

    assert design.name == "own"
    assert [(edge.child, edge.weight) for edge in design.by_name["top"].edges] == [("cold", 2), ("rude", 0)]


def test_a_tree_may_have_a_file_of_its_own(trees):
    assert trees("tree: own\n", trees__own_yaml=TREE) == trees(indented(TREE))


def test_scales_of_the_studys_own_questions_are_filled_in(trees):
    (design,) = trees(indented(TREE))
    warmth, manners = design.by_name["warmth"], design.by_name["manners"]

    assert isinstance(warmth, AnswersNode)
    assert (warmth.range.lowest, warmth.range.highest, warmth.orientation) == (1, 10, "lower_is_worse")
    assert warmth.levels == ("model testing",)
    assert manners.labels == ("yes", "no")


def test_several_trees_may_be_named(trees):
    assert [design.name for design in trees("tree: [by-guideline, own]\n", trees__own_yaml=TREE)] == [
        "by-guideline",
        "own",
    ]


@pytest.mark.parametrize("name", ResourceResolver().names("trees", ".yaml"))
def test_every_shipped_tree_fits_any_study(trees, name):
    assert trees(f"tree: {name}\n")[0].name == name


def test_the_ten_dimensions_include_the_seven_characteristics(trees):
    (design,) = trees("tree: aria-ten-dimensions\n")
    named = [dimension.node for dimension in design.dimensions]

    assert len(named) == 10
    assert named[:7] == [
        "valid and reliable", "safe", "secure and resilient", "accountable and transparent",
        "explainable and interpretable", "privacy-enhanced", "fair, with harmful bias managed",
    ]  # fmt: skip
    assert all(dimension.definition and dimension.metrics and dimension.criteria for dimension in design.dimensions)


def test_human_labels_precede_judges_where_a_file_has_both(trees):
    (design,) = trees(
        "tree: by-guideline\n",
        study="study: old\napplications: {bot: {kind: recorded, file: a.csv, prompt: p, response: r}}\n"
        'guidelines: {polite: {ask: Polite?, defect: "== no"}}\n'
        "annotators: {ann: {who: person, guideline: polite, column: ann}}\n",
        a_csv="p,r,ann\nHi,Ho,yes\n",
    )
    leaves = [node for node in design.nodes if isinstance(node, AnswersNode)]

    assert {node.by for node in leaves} == {("person",)}


def test_a_tree_does_not_change_the_requests(folder):
    plain = load_study(folder(study_yaml=STUDY)).study
    with_tree = load_study(folder(study_yaml=f"{STUDY}tree: by-guideline\n")).study

    assert with_tree.run_fingerprint == plain.run_fingerprint


def test_a_summary_of_a_plugin_may_be_named(folder):
    ours = SummaryMethod(name="ours@1", combine=lambda values, weights: min(values))
    path = folder(
        study_yaml=STUDY + indented(TREE).replace("summary: max", "summary: ours@1").replace("rude: 0", "rude: 1")
    )

    assert (
        load_study(path, resolver=ResourceResolver(summaries=(ours,))).study.trees[0].by_name["top"].summary == "ours@1"
    )


@pytest.mark.parametrize(
    ("was", "now", "place", "words"),
    [
        ("of: warmth}", "of: warmht}", "study.yaml:14", "sums up `warmht`, which the tree does not have"),
        ("summary: max", "summary: maxx", "study.yaml:11", "unknown summary `maxx`. Did you mean `max`?"),
        ("warm.score", "warm.scor", "study.yaml:15", "that the study does not ask. Did you mean `warm.score`?"),
        ("transform: reverse", "transform: revers", "study.yaml:14", "is `revers`. Did you mean `reverse`?"),
        ("no: 1}", "nein: 1}", "study.yaml:17", "does not say what becomes of `no`"),
        ("of: cold reversed", "of: warmth", "study.yaml:11", "where lower is worse"),
        ("cold: 2", "cold: -2", "study.yaml:11", "`cold` of `tree` is `-2`; expected at least 0"),
    ],
)  # fmt: skip
def test_an_error_has_its_line(faults, was, now, place, words):
    found = faults(indented(TREE.replace(was, now)))

    assert any(at.startswith(f"{place}:") and words in message for at, message in found), found


def test_an_unknown_tree_is_reported_with_the_closest_name(faults):
    assert faults("tree: by-guidline\n")[0] == (
        "study.yaml:8:7",
        "there is no tree `by-guidline` in the study's folder or among the shipped ones. Did you mean `by-guideline`?",
    )


def test_errors_in_the_file_of_a_tree_are_located_in_it(faults):
    found = faults("tree: own\n", trees__own_yaml=TREE.replace("summary: max", "summary: maks"))

    assert found[0][0] == "trees/own.yaml:3:18"


def test_an_invalid_topology_is_refused(faults):
    found = faults(indented("tree: x\ntopology: six-level\n"))

    assert "mean `six-levels`?" in found[0][1]


CROSSWALK = """\
tree:
  tree: own
  topology: six-levels
  dimensions:
    manners: {crosswalk: [polit, warm]}
"""


def test_questions_missing_in_a_custom_crosswalk_are_noted_with_suggestions(folder):
    (note,) = [one for one in check_study(folder(study_yaml=STUDY + CROSSWALK)) if "the crosswalk of" in one.words]

    assert note.words.startswith("note: the crosswalk of `manners` names `polit`")
    assert note.words.endswith("mean `polite`?")


def test_a_shipped_tree_may_name_more_than_a_study_asks_and_empty_dimensions_are_noted(folder):
    notes = check_study(folder(study_yaml=STUDY + "tree: aria-six-levels\n"))

    assert [one.words for one in notes if "the crosswalk of" in one.words] == []
    assert [one.words for one in notes if "no planned answer reaches 4 of 4 dimensions" in one.words]
