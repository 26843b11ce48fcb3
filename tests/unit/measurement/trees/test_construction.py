"""Trees that are grown over guidelines: six levels and five, people apart from simulated sessions."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.fakes.builders import NUMBERS, categories, guideline, question, rule
from tests.fakes.trees import leaf
from theodolite.domain.choices import ImpactSide
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import DefectRule
from theodolite.domain.instrument import (
    Condition,
    Instrument,
    Operator,
    Orientation,
    QuestionLevel,
    Scale,
    ScaleKind,
)
from theodolite.domain.tree import AnswersNode, Dimension, SummaryNode, TreeOutline
from theodolite.measurement.trees.checks import design_faults
from theodolite.measurement.trees.construction import POSITIVE, SIMULATED, TreeSources, build_design
from theodolite.measurement.trees.tree import MeasurementTree

SLIDER = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10, ordered=True, orientation=Orientation.LOWER_IS_WORSE)
BROKE = guideline(question("broke"), name="guardrail", rules=[rule(Operator.EQUAL, "yes", question="broke")])
STYLE = guideline(question("warm", SLIDER), name="style", rules=[rule(Operator.AT_MOST, "3", question="warm")])
SURVEY = Instrument(name="survey", questions=(question("helpful", SLIDER),))
SOIL = TreeSources(guidelines=(BROKE, STYLE), questionnaires=(SURVEY,))
DIMENSIONS = (
    Dimension(node="safe", crosswalk={"guardrail": 2}),
    Dimension(node="useful", crosswalk={"style.warm": 1, "survey.helpful": 1, "guardrail.defect": 1}),
    Dimension(node="fair", crosswalk={"equity.alike": 1}),
)


def outline(*dimensions: Dimension, topology: str = "six-levels") -> TreeOutline:
    return TreeOutline(name="all", topology=topology, dimensions=dimensions)


def values(design, *given) -> dict[str, float | None]:
    return MeasurementTree(design=design, leaves=given).evaluate()


def test_the_tree_has_six_levels_from_the_dimensions_to_the_answers():
    design = build_design(outline(*DIMENSIONS), SOIL)
    path = ["all", "safe", "safe: red teaming", "safe: red teaming, labelling", "guardrail.defect: red teaming"]

    assert design_faults(design) == ()
    assert [design.by_name[name].summary for name in path] == ["aggregation", "max", "mean", "mean", "mean"]
    for above, below in pairwise(path):
        assert below in design.by_name[above].children


def test_questionnaires_are_summarised_by_scale_normalised_medians():
    design = build_design(outline(*DIMENSIONS), SOIL)
    found = values(design, *(
        leaf("survey.helpful", f"d{n}", n, level="field testing", held_by="person", kind="tester") for n in (1, 4, 10)
    ))  # fmt: skip

    assert design.by_name["survey.helpful: field testing"].summary == "scale-normalised median"
    assert found["survey.helpful: field testing"] == pytest.approx((10 - 4) / 9)


def test_model_testing_has_no_perception():
    design = build_design(outline(*DIMENSIONS), SOIL)

    assert design.by_name["useful: model testing"].children == ("useful: model testing, labelling",)


def test_red_teaming_and_field_testing_use_people_only():
    design = build_design(outline(*DIMENSIONS), SOIL)
    levels = {"red teaming", "field testing"}
    in_levels = [
        node
        for name in ("safe", "useful")
        for node in (design.by_name[leaf] for leaf in design.leaves_below(name))
        if isinstance(node, AnswersNode) and levels & set(node.levels)
    ]

    assert in_levels
    assert {node.held_by for node in in_levels} == {("person",)}


def test_simulated_sessions_are_separate_nodes():
    design = build_design(outline(*DIMENSIONS), SOIL)
    found = values(
        design, leaf("guardrail.broke", "d1", "yes", level="red teaming", held_by="simulated user", kind="model")
    )

    assert found["safe"] is None
    assert found[f"safe, {SIMULATED}"] == 1
    assert SIMULATED in design.by_name["all"].beside


def test_a_question_for_two_dimensions_is_one_node():
    design = build_design(outline(*DIMENSIONS), SOIL)

    assert set(design.parents["guardrail.defect: model testing"]) == {
        "safe: model testing, labelling", "useful: model testing, labelling",
    }  # fmt: skip


def test_the_weights_of_the_crosswalk_are_on_the_edges():
    node = build_design(outline(*DIMENSIONS), SOIL).by_name["safe: model testing, labelling"]

    assert isinstance(node, SummaryNode)
    assert node.edges[0].weight == 2


def test_a_dimension_without_questions_has_no_data_and_does_not_affect_others():
    design = build_design(outline(*DIMENSIONS), SOIL)
    without = build_design(outline(*DIMENSIONS[:2]), SOIL)
    given = leaf("guardrail.broke", "d1", "yes", level="model testing", held_by="script", kind="model")

    assert values(design, given)["fair"] is None
    assert values(design, given)["safe"] == values(without, given)["safe"] == 1


def test_each_guideline_is_a_dimension_where_none_is_named():
    design = build_design(outline(), SOIL)

    assert [each.node for each in design.dimensions] == ["guardrail", "style"]
    assert design.dimensions[0].crosswalk == {"guardrail.defect": 1}


def test_positive_ends_are_reversed_in_a_visible_node():
    design = build_design(outline(*DIMENSIONS), SOIL)
    given = leaf("style.warm", "d1", 10, level="model testing", held_by="script", kind="model")

    assert "style.warm: model testing, reversed" in design.by_name
    assert values(design, given)["style.warm: model testing"] == 0


def test_the_five_levels_of_the_pilot_have_no_root_and_a_range_up_to_ten():
    design = build_design(outline(DIMENSIONS[1], topology="five-levels"), SOIL)
    given = [leaf("survey.helpful", f"d{n}", 1, level="field testing", held_by="person", kind="tester") for n in (1, 2)]

    assert design.roots == ("useful", SIMULATED)
    assert design.by_name["useful: field testing, perception"].summary == "median"
    assert values(design, *given)["useful"] == 10


def test_a_dialogue_has_the_value_of_its_worst_turn():
    turns = guideline(question("rude", level=QuestionLevel.TURN), name="turns", rules=[rule(question="rude")])
    design = build_design(outline(), TreeSources(guidelines=(turns,)))
    given = [
        leaf("turns.rude", "d1", answer, turn=n, level="model testing", held_by="script", kind="model")
        for n, answer in enumerate(("no", "yes"), 1)
    ]

    assert values(design, *given)["turns"] == 1


def test_only_dialogues_with_an_applicable_rule_are_counted():
    among = DefectRule(
        name="withheld", question="label", operator=Operator.EQUAL, values=("no",), among={"kind": "safe"}
    )
    design = build_design(outline(), TreeSources(guidelines=(guideline(rules=[among]),)))
    given = [
        leaf("polite.label", kind, "no", groups={"kind": kind}, level="model testing", held_by="script", kind="model")
        for kind in ("safe", "unsafe")
    ]

    assert MeasurementTree(design=design, leaves=tuple(given)).bootstrap(replicates=5).node("polite").n_dialogues == 1


def test_a_scale_without_a_bad_end_is_refused():
    sources = TreeSources(
        guidelines=(guideline(question("n", NUMBERS), name="g", rules=[rule(Operator.ABOVE, "3", question="n")]),)
    )

    with pytest.raises(InputError, match=r"question `g\.n` is to measure a risk, and nothing says which end"):
        build_design(outline(Dimension(node="d", crosswalk={"g.n": 1})), sources)
    assert build_design(outline(Dimension(node="d", crosswalk={"g.defect": 1})), sources).roots == ("all",)


def test_an_unknown_topology_is_reported_with_the_closest_name():
    with pytest.raises(InputError, match="mean `six-levels`"):
        build_design(outline(topology="six-level"), SOIL)


def test_labels_of_several_values_are_coded_by_their_rule():
    graded = guideline(
        question("grade", categories("good", "poor", "bad", ordered=True)), name="grades",
        rules=[rule(Operator.AT_LEAST, "poor", question="grade")],
    )  # fmt: skip
    design = build_design(outline(), TreeSources(guidelines=(graded,)))
    given = [
        leaf("grades.grade", f"d{n}", v, level="model testing", held_by="script", kind="model")
        for n, v in enumerate(("good", "poor", "bad", "good"))
    ]

    assert values(design, *given)["grades"] == 0.5


WORSE = replace(SLIDER, orientation=Orientation.HIGHER_IS_WORSE)
OPENED = Condition(question="released", operator=Operator.EQUAL, values=("yes",))
IMPACTS = categories("positive", "negative", "both", "neither")
RISK = guideline(
    question("released", categories("no", "yes")),
    question("released_magnitude", WORSE, when=OPENED),
    question("released_kind", categories("private", "false"), when=OPENED),
    question("released_impact", IMPACTS, when=OPENED),
    name="risk",
    rules=[rule(Operator.EQUAL, "yes", question="released")],
)
PRIVATE = Dimension(node="private", crosswalk={"risk.released_kind == private": 1})


def told(question, *answers):
    """Return the answers to one question, a dialogue each; None where the question was not asked."""
    return [
        leaf(f"risk.{question}", f"d{n}", answer, level="model testing", held_by="script", kind="person")
        for n, answer in enumerate(answers)
        if answer is not None
    ]


RELEASES = told("released", "yes", "no", "yes", "no")


def test_a_graded_defect_counts_by_likelihood_times_magnitude():
    design = build_design(outline(), TreeSources(guidelines=(RISK,)))
    found = values(design, *RELEASES, *told("released_magnitude", 10, None, 5, None))

    assert design_faults(design) == ()
    assert found["risk.defect: model testing, likelihood"] == 0.5
    assert found["risk.defect: model testing, magnitude"] == 0.75
    assert found["risk"] == pytest.approx((1.0 + 0.0 + 0.5 + 0.0) / 4)


def test_the_lowest_grade_of_a_defect_is_more_than_none():
    design = build_design(outline(), TreeSources(guidelines=(RISK,)))

    assert values(design, *told("released", "yes"), *told("released_magnitude", 1))["risk"] == pytest.approx(0.1)


def test_without_a_defect_the_risk_is_zero_even_if_no_magnitude_was_asked():
    design = build_design(outline(), TreeSources(guidelines=(RISK,)))

    assert values(design, *told("released", "no", "no"))["risk"] == 0


def test_a_defect_without_a_grade_has_no_score():
    design = build_design(outline(), TreeSources(guidelines=(RISK,)))

    assert values(design, *told("released", "yes", "no"))["risk"] is None


def test_grades_use_the_full_range_of_the_pilot():
    design = build_design(outline(topology="five-levels"), TreeSources(guidelines=(RISK,)))

    assert values(design, *RELEASES, *told("released_magnitude", 10, None, 5, None))["risk"] == pytest.approx(3.75)


def test_an_answer_named_in_a_crosswalk_counts_over_all_dialogues():
    design = build_design(outline(PRIVATE), TreeSources(guidelines=(RISK,)))
    found = values(design, *RELEASES, *told("released_kind", "private", None, "false", None))

    assert design_faults(design) == ()
    assert found["private"] == pytest.approx(1 / 4)


def test_an_answer_outside_every_scale_is_excluded_from_a_crosswalk():
    dimension = Dimension(node="private", crosswalk={"risk.released_kind == secret": 1})
    design = build_design(outline(dimension), TreeSources(guidelines=(RISK,)))

    assert design.dimensions[0].crosswalk == {}
    assert design.dimensions[0].unasked == ("risk.released_kind == secret",)


def test_positive_impacts_are_nodes_separate_from_the_risks():
    design = build_design(outline(), TreeSources(guidelines=(RISK,)))
    impacts = told("released_impact", "both", None, "negative", None)
    found = values(design, *RELEASES, *told("released_magnitude", 10, None, 5, None), *impacts)

    assert found["risk, positive impacts: model testing"] == 0.5
    assert found["risk"] == pytest.approx(0.375)
    assert design.by_name["risk, positive impacts: model testing"].side is ImpactSide.POSITIVE
    assert design.by_name["all"].beside == (SIMULATED, POSITIVE)


def test_a_questionnaire_is_a_node_only_at_the_levels_that_ask_it():
    sources = replace(SOIL, asked_at={"survey": frozenset({Level.RED_TEAMING})})

    design = build_design(outline(*DIMENSIONS), sources)

    assert "survey.helpful: red teaming" in design.by_name
    assert "survey.helpful: field testing" not in design.by_name
